// Draws further figures of what is shown, one at a time and only when a reader asks for it.

const FIGURES = { breakEven, distributions, scaling, memory, profile, roofline };
// Figures that name every column in its place.
const NAMED = new Set(['distributions', 'memory']);
// Figures whose columns have marks, and no lines.
const MARKED = new Set(['roofline']);
const PLOT = { width: 380, height: 230, left: 62, right: 16, top: 8, bottom: 34 };
// What a figure needs of the run; without it there is no choice of rows and columns that it could show.
const NEEDS = { scaling: () => sizesOf(rows).some((sizes) => sizes.length > 1), roofline: () => data.roofs.length > 0 };

function figures(shownRows, shownColumns) {
  const offered = Object.keys(FIGURES).filter((one) => !NEEDS[one] || NEEDS[one]());
  const name = choice.figure, drawn = Object.hasOwn(FIGURES, name) ? FIGURES[name](shownRows, shownColumns) : [];
  return [
    make('h2', {}, W.figures),
    make('div', { class: 'chips', role: 'group', 'aria-label': W.figures },
      offered.map((one) => chip(W[`${one}Figure`], name === one, () => choose({ figure: name === one ? '' : one }), `figure=${one}`))),
    drawn.length ? [make('p', { class: 'hint' }, W[`${name}Hint`]), NAMED.has(name) ? null : key(columnsIn(drawn, shownColumns), MARKED.has(name)), make('div', { class: 'panels' }, drawn)] : null,
    Object.hasOwn(FIGURES, name) && !drawn.length ? make('p', { class: 'hint' }, W.noFigure) : null,
    drawn.length === MOST_PANELS && shownRows.length > MOST_PANELS ? make('p', { class: 'hint' }, fill(W.moreRows, { shown: MOST_PANELS, count: shownRows.length })) : null,
  ];
}

/** The columns that have a line or a mark in one of the panels. */
function columnsIn(panels, shownColumns) {
  const drawn = new Set(panels.flatMap((panel) => plotted.get(panel) ?? []));
  return shownColumns.filter((column) => drawn.has(column));
}

/** The first panels that there is something to draw in. */
function firstPanels(all, panelFor) {
  const found = [];
  for (const one of all) {
    const panel = found.length < MOST_PANELS ? panelFor(one) : null;
    if (panel) found.push(panel);
  }
  return found;
}

/** Which line, or which mark, is which column. */
function key(shownColumns, marked) {
  return make('p', { class: 'legend' }, shownColumns.map((column) => make('span', {},
    draw('svg', { class: marked ? 'mark' : 'line', viewBox: marked ? '0 0 12 12' : '0 0 50 10', 'aria-hidden': 'true' },
      marked ? marksOf(column, ['6 6']) : draw('path', { d: 'M1 5H49', ...lookOf(column) })), ' ', column.label)));
}

/** The usable cells of a row, of the columns that are shown. */
function usableOf(row, shownColumns) {
  return shownColumns.map((column) => row.cells[column.number]).filter((cell) => cell && cell.usable);
}

function breakEven(shownRows, shownColumns) {
  return firstPanels(shownRows, (row) => {
    const own = usableOf(row, shownColumns).filter((cell) => cell.get('firstCold') !== null);
    if (own.length < 2) return null;
    const crossings = own.flatMap((a) => own.map((b) => (b.get('firstCold') - a.get('firstCold')) / (a.step - b.step))).filter((steps) => steps > 1 && steps < 1e7);
    const most = Math.min(1e7, Math.max(1e3, 10 * Math.max(1, ...crossings)));
    const steps = Array.from({ length: 60 }, (_, i) => most ** (i / 59));
    return plot(row.name, own.map((cell) => ({ column: cell.column, points: steps.map((n) => [n, cell.get('firstCold') + n * cell.step]) })),
      { x: count, y: time, title: W.steps });
  });
}

function scaling(shownRows, shownColumns) {
  return firstPanels(sizesOf(shownRows), (own) => {
    const least = (row) => Math.min(...usableOf(row, shownColumns).map((cell) => cell.step));
    const sizes = own.filter((row) => Number.isFinite(least(row))).sort((a, b) => least(a) - least(b));
    if (sizes.length < 2) return null;
    const lines = shownColumns.map((column) => ({ column, dots: true, points: sizes.flatMap((row, i) => {
      const cell = row.cells[column.number];
      return cell && cell.usable ? [[i, cell.step]] : [];
    }) }));
    return plot(groupOf(own[0]), lines, { x: (i) => sizes[i]?.size ?? '', y: time, title: W.size, places: sizes.length });
  });
}

/** The rows in lists, each of rows that differ in their size alone. */
function sizesOf(some) {
  const groups = new Map();
  for (const row of some) groups.set(groupOf(row), [...(groups.get(groupOf(row)) ?? []), row]);
  return [...groups.values()];
}

function groupOf(row) {
  return [row.workload, row.precision, row.device, row.threads].join(' / ');
}

/** As in the report: over the rows of one device and number of threads that most columns have, over the best of all columns. */
function profile(shownRows, shownColumns) {
  const tracks = new Map();
  for (const row of shownRows) {
    const key = JSON.stringify([row.device, row.threads]), found = shownColumns.map((column) => factorOfBest(row.cells[column.number]));
    if (found.some((one) => one !== null)) tracks.set(key, [...(tracks.get(key) ?? []), { row, found }]);
  }
  const complete = [...tracks.values()].map((own) => {
    const wide = inMostRows(own.map(({ found }) => found));
    return { wide, own: own.filter(({ found }) => hasAll(found, wide)) };
  });
  const { wide, own } = complete.reduce((most, one) => (one.own.length > most.own.length ? one : most), { wide: [], own: [] });
  if (own.length < data.fewestRows || wide.filter(Boolean).length < 2) return [];
  const lines = shownColumns.flatMap((column, i) => (wide[i] ? [{ column, factors: own.map(({ found }) => found[i]).sort((a, b) => a - b) }] : []));
  const most = Math.min(64, Math.max(2, ...lines.flatMap(({ factors }) => factors).filter(Number.isFinite)) * 1.1);
  for (const line of lines) line.points = stairs(line.factors, most);
  const { row } = own[0], track = tracks.size > 1 ? `${row.device}, ${data.threads[row.threads]}: ` : '';
  return [plot(track + fill(W.profileRows, { count: own.length }), lines, { x: finer, y: (share) => `${Math.round(100 * share)}%`, title: W.timesTheFastest, linear: true })];
}

/** How many times the best time of its row a cell takes, among all columns of the run; null where it does not count. */
function factorOfBest(cell) {
  const own = cell ? cell.get('common') : null;
  if (own === null) return null;
  return (own || Infinity) / Math.min(...cell.row.cells.map((one) => (one && one.get('common')) || Infinity));
}

/** The share of rows up to each factor, as the corners of a line from 1 to `most`. */
function stairs(factors, most) {
  const within = factors.filter((one) => one <= most), share = (count) => count / factors.length;
  return [[1, 0], ...within.flatMap((one, i) => [[one, share(i)], [one, share(i + 1)]]), [most, share(within.length)]];
}

function roofline(shownRows, shownColumns) {
  return firstPanels(data.roofs, (roof) => {
    const own = shownRows.filter((row) => row.device === roof.device && row.precision === roof.precision && Number(row.threads) === roof.threads);
    const lines = shownColumns.map((column) => ({ column, marks: true, line: false, points: own.flatMap((row) => {
      const cell = row.cells[column.number], { flops, moved } = cell?.facts ?? {};
      return cell && cell.usable && flops && moved ? [[flops / moved, flops / (cell.step / 1e9)]] : [];
    }) }));
    const at = lines.flatMap((line) => line.points.map(([x]) => x));
    if (!at.length) return null;
    const ridge = roof.flops / roof.bandwidth, low = Math.min(ridge / 4, ...at), high = Math.max(4 * ridge, ...at);
    const bound = (rate) => [low, Math.max(low, roof.flops / rate), high].map((x) => [x, Math.min(roof.flops, x * rate)]);
    lines.unshift({ points: bound(roof.cache) }, { points: bound(roof.bandwidth), dashed: true });
    return plot([roof.device, roof.precision, data.threads[roof.threads]].join(' / '), lines, { x: three, y: rate, title: W.flopsPerByte });
  });
}

function distributions(shownRows, shownColumns) {
  return firstPanels(shownRows, (row) => {
    const own = usableOf(row, shownColumns).filter((cell) => cell.courses.length).reverse();
    if (!own.length) return null;
    const lines = own.map((cell, i) => ({ column: cell.column, dots: true, line: false, middle: [cell.step, i], points: cell.courses.flat().map((ns, j) => [ns, i + 0.5 * ((j * 0.618) % 1) - 0.25]) }));
    return plot(row.name, lines, { x: time, y: () => '', title: W.time, names: own.map((cell) => cell.column.label) });
  });
}

function memory(shownRows, shownColumns) {
  const most = Math.max(...shownRows.flatMap((row) => shownColumns.map((column) => row.cells[column.number]?.get('peak') ?? 0)));
  return firstPanels(shownRows, (row) => {
    const own = shownColumns.map((column) => row.cells[column.number]).filter((cell) => cell && cell.get('peak'));
    return own.length === 0 ? null : make('section', { class: 'panel', 'aria-label': row.name }, make('h3', {}, row.name), make('div', { class: 'bars' }, own.map((cell) => [
      make('span', { class: 'label' }, cell.column.label),
      make('div', { class: 'track', 'aria-hidden': 'true' }, make('b', { class: 'bar', style: { left: '0', width: `${(100 * cell.get('peak')) / most}%`, background: colourOf(cell.column) } })),
      make('span', { class: 'value' }, bytes(cell.get('peak'))),
    ])));
  });
}
