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

// The same colour for a framework everywhere, also in the figures; those of Okabe and Ito (2008), which colour-blind people tell apart, and some of Tol (2021).
const COLOURS = {
  torch: '#d55e00', tensorflow: '#009e73', jax: '#0072b2', numpy: '#666666', keras: '#cc79a7', lightning: '#56b4e9',
  flax: '#e69f00', haiku: '#aa4499', tflite: '#56b4e9', tensorflow1: '#882255', theano: '#999933',
};
const OTHERS = ['#cc79a7', '#56b4e9', '#e69f00', '#8c6bb1', '#666666'];
const taken = columns.map((column) => COLOURS[column.key]);
const left = OTHERS.filter((colour) => !taken.includes(colour));
const others = [...new Set(columns.map((column) => column.key))].filter((key) => !Object.hasOwn(COLOURS, key));

function colourOf(column) {
  return Object.hasOwn(COLOURS, column.key) ? COLOURS[column.key] : (left.length ? left : OTHERS)[others.indexOf(column.key) % (left.length || OTHERS.length)];
}
