// Holds what the reader chose. All of it is in the address, so that an address shows the same page to others.

/** The choice: `axes` has the chosen values of each axis, none of which is all of them. */
const choice = { axes: {}, baseline: null, sort: '', down: false, filter: '', show: 'speedups', figure: '', cell: '' };

function readAddress() {
  const found = new Map();
  for (const part of location.hash.slice(1).split('&')) {
    const [name, value = ''] = part.split('=');
    try {
      found.set(decodeURIComponent(name), value.split(',').map(decodeURIComponent).filter((one) => one !== ''));
    } catch { /* an address that was cut short */ }
  }
  const one = (name) => (found.get(name) ?? [])[0] ?? '';
  choice.axes = {};
  for (const axis of varying) {
    const chosen = (found.get(axis) ?? []).filter((value) => valuesOf(axis).includes(value));
    if (chosen.length) choice.axes[axis] = new Set(chosen);
  }
  choice.baseline = columnById.get(one('baseline')) ?? columnById.get(data.baseline) ?? columnById.get(data.start) ?? null;
  choice.sort = one('sort').replace(/^-/, '');
  choice.down = one('sort').startsWith('-');
  choice.filter = one('filter');
  choice.show = one('show') === 'times' || !choice.baseline || ALONE ? 'times' : 'speedups';
  choice.figure = one('figure');
  choice.cell = one('cell');
}

function address() {
  const parts = [];
  const add = (name, ...values) => parts.push(`${name}=${values.map(encodeURIComponent).join(',')}`);
  for (const axis of varying) if (choice.axes[axis]) add(axis, ...choice.axes[axis]);
  if (choice.baseline && choice.baseline.id !== data.baseline) add('baseline', choice.baseline.id);
  if (choice.sort) add('sort', (choice.down ? '-' : '') + choice.sort);
  if (choice.filter) add('filter', choice.filter);
  if (choice.show === 'times' && choice.baseline && !ALONE) add('show', 'times');
  if (choice.figure) add('figure', choice.figure);
  if (choice.cell) add('cell', choice.cell);
  return `#${parts.join('&')}`;
}

/** Change the choice, the address and the page. */
function choose(changes) {
  Object.assign(choice, changes);
  history.replaceState(null, '', address());
  render(Object.keys(changes));
}

function toggle(axis, value) {
  const chosen = new Set(choice.axes[axis] ?? []);
  if (!chosen.delete(value)) chosen.add(value);
  const axes = { ...choice.axes, [axis]: chosen };
  if (!chosen.size) delete axes[axis];
  choose({ axes });
}

function isChosen(one, axes) {
  return axes.every((axis) => !choice.axes[axis] || choice.axes[axis].has(one[axis]));
}

/** The columns to show, the baseline first. */
function chosenColumns() {
  const kept = columns.filter((column) => column === choice.baseline || isChosen(column, varying.filter((axis) => COLUMN_AXES.has(axis))));
  return kept.sort((a, b) => (b === choice.baseline) - (a === choice.baseline) || a.number - b.number);
}

function chosenRows(shown) {
  const axes = varying.filter((axis) => !COLUMN_AXES.has(axis));
  const wanted = choice.filter.toLowerCase();
  const kept = rows.filter((row) => isChosen(row, axes) && row.name.toLowerCase().includes(wanted));
  return sorted(kept.filter((row) => shown.some((column) => row.cells[column.number])));
}

function sorted(kept) {
  if (!choice.sort) return kept;
  const column = columnById.get(choice.sort), sign = choice.down ? -1 : 1;
  if (!column) return kept.sort((a, b) => sign * a.name.localeCompare(b.name));
  const values = new Map(kept.map((row) => [row, sortValue(row.cells[column.number])]));
  // Rows without a value come last in either direction.
  return kept.sort((a, b) => {
    const x = values.get(a), y = values.get(b);
    return x === y ? 0 : x === null ? 1 : y === null ? -1 : sign * (x - y);
  });
}

function sortValue(cell) {
  if (!cell) return null;
  const speedup = choice.show === 'times' || cell.column === choice.baseline ? null : speedupOf(cell);
  if (choice.show === 'times' || cell.column === choice.baseline) return cell.usable ? cell.step : null;
  return speedup ? speedup.value : null;
}

// A narrow screen shows the results first: what there is to choose takes a screen of its own.
const narrow = matchMedia('(max-width: 560px)');
narrow.addEventListener('change', () => render(['axes']));
let axesOpen = false;

/** The part of the page in which the choice is made. */
function choiceControls() {
  const baselines = make('select', { id: 'baseline', onchange: (event) => choose({ baseline: columnById.get(event.target.value), show: 'speedups' }) },
    choice.baseline ? null : make('option', { value: '', disabled: true, selected: true }, '–'), columns.map((column) => make('option', { value: column.id, selected: column === choice.baseline },
      column.label + (column.id === data.baseline ? ` (${W.first})` : ''))));
  return [
    make('h2', { class: 'unseen' }, W.choose),
    make('details', { class: 'axes', open: !narrow.matches || axesOpen, ontoggle: (event) => { axesOpen = narrow.matches && event.target.open; } },
      make('summary', {}, W.choose), varying.map(axisControl)),
    make('div', { class: 'controls' },
      ALONE ? null : make('label', {}, make('span', {}, W.baseline), baselines),
      ALONE ? null : make('div', { class: 'chips', role: 'group', 'aria-label': W.show },
        ['speedups', 'times'].map((one) => chip(W[one], choice.show === one, () => choose({ show: one })))),
      make('label', {}, make('span', {}, W.filter), make('input', {
        id: 'filter', type: 'search', value: choice.filter, placeholder: W.filterHint,
        oninput: (event) => choose({ filter: event.target.value }),
      })),
      make('button', { type: 'button', class: 'plain', onclick: () => { history.replaceState(null, '', '#'); readAddress(); render(); } }, W.reset)),
  ];
}

const VALUES_AT_ONCE = 60;
const unfolded = new Set();

function axisControl(axis) {
  const chosen = choice.axes[axis], values = valuesOf(axis);
  // Nobody walks through hundreds of buttons: the filter finds a row sooner.
  const shown = unfolded.has(axis) ? values : values.filter((value, i) => i < VALUES_AT_ONCE || chosen?.has(value));
  const hidden = values.filter((value) => !shown.includes(value));
  const unfold = () => { unfolded.add(axis); render(['axes']); };
  return make('div', { class: 'axis', role: 'group', 'aria-label': W[axis] },
    make('span', { class: 'name' }, W[axis]),
    make('div', { class: 'chips' },
      shown.map((value) => chip(value, Boolean(chosen?.has(value)), () => toggle(axis, value), `${axis}=${value}`)),
      // Its key is that of the first value behind it, which then has the focus.
      hidden.length ? make('button', { type: 'button', class: 'plain', 'data-key': `${axis}=${hidden[0]}`, onclick: unfold }, fill(W.moreValues, { count: hidden.length })) : null));
}

function chip(text, pressed, onclick, key = text) {
  return make('button', { type: 'button', class: 'chip', 'aria-pressed': String(pressed), 'data-key': key, onclick }, text);
}
