// Makes elements of the page. Text enters the page here only, and as text: nothing that is shown is read as markup.

/** Make an element: make('a', {href: '#top', onclick: go}, 'text', child, …). Missing children are left out. */
function make(name, attributes = {}, ...children) {
  return equip(document.createElement(name), attributes, children);
}

/** Make an element of a drawing. */
function draw(name, attributes = {}, ...children) {
  return equip(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function equip(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}

/** Show `children` in place of what an element holds. */
function show(id, ...children) {
  document.getElementById(id).replaceChildren(...children.flat(Infinity).filter(Boolean));
}

/** A list of names and values; empty values are left out. */
function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return make('dl', { class: 'facts' }, shown.map(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]));
}
