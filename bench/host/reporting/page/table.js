// Shows the table: a row for each workload, a column for each version and mode. Long tables grow as they are read.

const ROWS_AT_ONCE = 40;
const EXCLUDED = '·';
let watcher = null;

function table(shownRows, shownColumns) {
  watcher?.disconnect();
  if (!shownRows.length || !shownColumns.length) return [];
  const hint = choice.show === 'times' ? W.timesHint : [fill(W.tableHint, { baseline: choice.baseline.label }), switched() ? [' ', make('strong', {}, W.ofMedians)] : null];
  const body = make('tbody', {});
  const more = make('button', { type: 'button', class: 'plain more', onclick: () => grow(ROWS_AT_ONCE) });
  let count = 0;
  function grow(by) {
    const next = shownRows.slice(count, count + by);
    // The heading is the first row of those that a screen reader counts.
    body.append(...next.map((row, i) => tableRow(row, shownColumns, count + i + 2)));
    count += next.length;
    more.hidden = count >= shownRows.length;
    more.textContent = fill(W.more, { count: shownRows.length - count });
  }
  grow(ROWS_AT_ONCE);
  const scroll = make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': W.table },
    make('table', { 'aria-rowcount': shownRows.length + 1, onkeydown: (event) => walk(event, () => grow(ROWS_AT_ONCE)) },
      make('thead', {}, headings(shownColumns)), body, meansRow(shownRows, shownColumns)), more);
  watcher = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) more.click(); }, { root: scroll, rootMargin: '0px 0px 50% 0px' });
  if (!more.hidden) watcher.observe(more);
  table.showAll = () => grow(Infinity);
  return [
    make('h2', {}, W.table),
    make('p', { class: 'hint' }, hint, ' ', fill(W.rows, { shown: shownRows.length, count: rows.length })),
    scroll,
    legend(shownColumns),
  ];
}

function headings(shownColumns) {
  return make('tr', {}, heading('name', W.row, []), shownColumns.map((column) => heading(column.id, column.label,
    [make('span', { class: 'product' }, column.version)], column)));
}

function heading(key, name, lines, column) {
  const sorting = (choice.sort || 'name') === key && Boolean(choice.sort);
  const order = sorting ? (choice.down ? 'descending' : 'ascending') : 'none';
  const arrow = sorting ? (choice.down ? ' ▼' : ' ▲') : '';
  // Names begin with A, times and ratios with the smallest, speed-ups with the largest: the fastest comes first.
  const first = key !== 'name' && choice.show === 'speedups' && column !== choice.baseline && !data.asRatios;
  const sort = () => choose(!sorting ? { sort: key, down: first } : choice.down === first ? { down: !first } : { sort: '', down: false });
  const differing = column ? differingOf(column) : [];
  return make('th', { scope: 'col', 'aria-sort': order, class: column && column === choice.baseline ? 'base' : null, style: column ? { 'border-bottom-color': colourOf(column) } : {} },
    make('button', { type: 'button', 'data-key': `sort ${key}`, 'aria-label': fill(W.sort, { column: name }), onclick: sort },
      lines, make('span', {}, column ? column.mode : name, differing.length ? make('span', { class: 'mark', title: settingsDiffer(differing) }, data.marks.explained) : null,
        make('span', { class: 'arrow' }, arrow))));
}

function settingsDiffer(names) {
  return fill(W.settingsDiffer, { settings: names.join(', ') });
}

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Move with the arrow keys from entry to entry; `grow` adds rows below the last one that is there. */
function walk(event, grow) {
  const from = event.target.closest('td, th'), step = STEPS[event.key];
  if (!from || !step) return;
  if (step[0] > 0 && from.parentElement === event.currentTarget.tBodies[0].lastElementChild) grow();
  const rowsOfTable = [...event.currentTarget.rows];
  const row = rowsOfTable[rowsOfTable.indexOf(from.parentElement) + step[0]];
  const next = row?.cells[from.cellIndex + step[1]]?.querySelector('button');
  if (next) {
    event.preventDefault();
    next.focus();
  }
}

function tableRow(row, shownColumns, index) {
  return make('tr', { 'aria-rowindex': index }, make('th', { scope: 'row' }, row.name), shownColumns.map((column) => entry(row.cells[column.number])));
}

function entry(cell) {
  if (!cell) return make('td', {});
  const { text, mark, background, muted } = look(cell);
  // Most entries of a large study are excluded: a word in each would hide the numbers.
  const excluded = cell.status === 'excluded';
  return make('td', { class: muted ? 'muted' : null, style: background ? { background } : {} },
    make('button', { type: 'button', title: reasonOf(cell), 'aria-label': excluded ? `${text}: ${reasonOf(cell)}` : null,
      'data-key': keyOf(cell), onclick: () => choose({ cell: keyOf(cell) }) },
      excluded ? EXCLUDED : text, make('span', { class: 'mark' }, mark)));
}

/** Why a cell has no time, or no time that can be used. */
function reasonOf(cell) {
  if (cell.step === null) return cell.get('reason');
  return lackOf(cell) === data.marks.withheld ? W.withheld : null;
}

/** What an entry shows: its text, its marks and its background. */
function look(cell) {
  if (!cell.usable) return { text: lackOf(cell), mark: '', muted: true };
  const grade = data.marks.grades[gradeOf(cell)] ?? '';
  const speedup = speedupOf(cell);
  const background = speedup && cell.column !== choice.baseline ? shade(speedup.value) : null;
  if (choice.show === 'times' || cell.column === choice.baseline || lacksBase(cell)) return { text: time(cell.step), mark: grade, background };
  if (!speedup) return { text: lackOf(cell), mark: '', muted: true };
  return { text: factorOf(speedup), mark: markOf(cell, speedup.verdict), background };
}

function meansRow(shownRows, shownColumns) {
  if (!choice.baseline || choice.show === 'times') return null;
  const mean = means(shownRows, shownColumns);
  if (mean.count < data.fewestRows) return null;
  return make('tfoot', {}, make('tr', {}, make('th', { scope: 'row', title: fill(W.meanRows, { count: mean.count }) }, W.mean + mean.of),
    shownColumns.map((column, i) => {
      const has = column !== choice.baseline && mean.values[i] !== null;
      return make('td', { style: has ? { background: shade(mean.values[i]) ?? 'none' } : {} }, has ? make('span', {}, factor(mean.values[i])) : '');
    })));
}

/** The meaning of the colours and of every mark that the cells have. */
function legend(shownColumns) {
  const differing = [...new Set(shownColumns.flatMap(differingOf))];
  const seen = (name, key) => cells.some((cell) => cell[name] === key);
  const graded = new Set(cells.map((cell) => gradeOf(cell))), judged = choice.show !== 'times' && !switched();
  const marks = [
    ...Object.entries(data.marks.grades).map(([grade, mark]) => [graded.has(grade) && mark, data.meanings.grades[grade]]),
    ...Object.entries(data.marks.verdicts).map(([verdict, mark]) => [judged && seen('verdict', verdict) && mark, data.meanings.verdicts[verdict]]),
    [cells.some((cell) => cell.step !== null && !cell.usable) && data.marks.withheld, W.withheld],
    [differing.length && data.marks.explained, settingsDiffer(differing)],
    [seen('status', 'excluded') && EXCLUDED, `${data.statuses.excluded}: ${W.excluded}`],
  ].filter(([mark]) => mark);
  return make('div', { class: 'legend', role: 'note', 'aria-label': W.legend },
    ALONE ? null : [make('span', {}, make('i', { class: 'swatch faster' }), W.faster), make('span', {}, make('i', { class: 'swatch slower' }), W.slower)],
    marks.map(([mark, meaning]) => make('span', {}, make('b', {}, mark), ` ${meaning}`)));
}

/** The name of a cell in the address. */
function keyOf(cell) {
  return `${cell.row.number}/${cell.column.id}`;
}

function cellOf(key) {
  const [, row, column] = /^(\d+)\/(.*)$/s.exec(key) ?? [];
  const found = columnById.get(column);
  return (found && rows[Number(row)] && rows[Number(row)].cells[found.number]) ?? null;
}
