// Draws the speed-ups as bars, one panel for the mean and one for each row, all on one logarithmic scale.

// With that of the mean: two and three columns of panels are full then.
const MOST_PANELS = 12;
let allPanels = false;
const WIDEST = Math.log2(64);
// Above so many bars in a panel, each version of a framework heads its modes in all panels: their names then fit.
const MOST_NAMED = 8;
// So do longer names: this is about what fits into the room of names, in digits.
const MOST_ROOM = 23;

function chart(shownRows, shownColumns) {
  if (ALONE) return [];
  if (!choice.baseline) return [make('p', { class: 'hint' }, W.noBaseline)];
  const others = shownColumns.filter((column) => column !== choice.baseline);
  const comparable = shownRows.filter((row) => others.some((column) => speedupOf(row.cells[column.number])));
  if (!comparable.length || !others.length) return [make('p', { class: 'hint' }, whyNothing(shownRows, shownColumns))];
  const mean = means(shownRows, shownColumns), hasMean = mean.count >= data.fewestRows;
  const shown = allPanels ? comparable : comparable.slice(0, hasMean ? MOST_PANELS - 1 : MOST_PANELS);
  const panels = shown.map((row) => ({ name: row.name, bars: others.map((column) => barOf(row.cells[column.number], column)).filter(hasPlace) }));
  if (hasMean) {
    const bars = others.map((column) => ({ column, value: mean.values[shownColumns.indexOf(column)] })).filter(({ value }) => value !== null)
      .map(({ column, value }) => ({ column, speedup: { value, ...intervalOfMean(column, mean, shownRows) } }));
    panels.unshift({ name: W.mean + mean.of, hint: fill(W.meanRows, { count: mean.count }), bars, mean: true });
  }
  const firm = panels[0].mean && panels[0].bars.some(({ speedup }) => speedup.low !== null);
  const scale = scaleOf(panels), headed = panels.some(({ bars }) => bars.length > MOST_NAMED) || roomOfNames(panels, false) > MOST_ROOM;
  return [
    make('h2', {}, fill(W.chart, { baseline: choice.baseline.label })),
    make('p', { class: 'hint' }, W.chartHint, ' ', switched() ? make('strong', {}, W.ofMedians) : firm ? W.intervalsOfMeans : W.intervals),
    make('div', { class: 'panels', style: { '--names': `min(${narrow.matches ? '45vw' : '170px'}, ${roomOfNames(panels, headed)}ch)` } }, panels.map((panel) => panelOf(panel, scale, headed))),
    shown.length < comparable.length ? make('p', { class: 'hint' }, fill(W.moreRows, { shown: shown.length, count: comparable.length }), ' ',
      make('button', { type: 'button', class: 'plain', onclick: () => { allPanels = true; render(['axes']); } }, W.allRows)) : null,
  ];
}

/** The interval of a mean, which the report has for the choices that the page begins with. */
function intervalOfMean(column, mean, shownRows) {
  const known = data.means, all = shownRows.length === data.rows.length && choice.baseline.id === data.baseline;
  const same = known && all && mean.count === known.rows && mean.device === known.device && mean.threads === known.threads;
  const [low, high] = (same && known.intervals[column.id]) || [null, null];
  return { low, high };
}

/** Why there is no speed-up: other programs disturbed every time, or the baseline's, or too little was chosen. */
function whyNothing(shownRows, shownColumns) {
  const timed = shownRows.flatMap((row) => shownColumns.map((column) => row.cells[column.number])).filter((cell) => cell && cell.step !== null);
  if (timed.length && timed.every((cell) => !cell.usable)) return W.noTime;
  const compared = timed.filter((cell) => cell.column !== choice.baseline);
  return compared.length && compared.every((cell) => lackOf(cell) === data.marks.withheld) ? W.noSpeedup : W.nothing;
}

function barOf(cell, column) {
  return { column, cell, speedup: speedupOf(cell) };
}

/** What the study excludes needs no empty bar; the table has it, with the reason. */
function hasPlace({ cell }) {
  return cell && cell.status !== 'excluded';
}

/** Where a speed-up lies, in percent of the width; and the ticks. */
function scaleOf(panels) {
  const ends = panels.flatMap((panel) => panel.bars.flatMap(({ speedup }) => (speedup ? [speedup.value, speedup.low, speedup.high] : [])));
  const logs = ends.filter((end) => end !== null && end > 0).map(Math.log2);
  const low = Math.max(-WIDEST, Math.min(-1, ...logs)) - 0.1, high = Math.min(WIDEST, Math.max(1, ...logs)) + 0.1;
  const at = (value) => Math.max(0, Math.min(100, (100 * (Math.log2(value) - low)) / (high - low)));
  // Narrow panels have room for so many labels.
  const every = Math.ceil((high - low) / 4), ticks = [];
  for (let power = Math.ceil(low); power <= high; power += 1) if (power % every === 0) ticks.push(2 ** power);
  return { at, ticks };
}

function panelOf({ name, hint, bars, mean }, scale, headed) {
  return make('section', { class: mean ? 'panel mean' : 'panel', 'aria-label': name },
    make('h3', {}, name, hint ? make('span', { class: 'hint' }, ` ${hint}`) : null),
    make('div', { class: 'bars' },
      bars.map((bar, i) => {
        const { release } = bar.column, named = headed && release !== bars[i - 1]?.column.release;
        return [named ? make('span', { class: 'release' }, release) : null, barRow(bar, scale, nameOf(bar.column, headed))];
      }),
      make('span', {}),
      make('div', { class: 'ticks', 'aria-hidden': 'true' }, scale.ticks.map((tick) => make('span', { style: { left: `${scale.at(tick)}%` } },
        tick < 1 ? `1/${1 / tick}` : String(tick)))),
      make('span', {})));
}

/** The name of a column at its bar: only its mode where bars stand below the names of their versions. */
function nameOf({ label, release }, headed) {
  return headed && label.startsWith(`${release} `) ? label.slice(release.length + 1) : label;
}

/** The width of the longest name, in digits: letters are a little narrower than these. */
function roomOfNames(panels, headed) {
  return 0.9 * Math.max(...panels.flatMap(({ bars }) => bars.map(({ column }) => nameOf(column, headed).length)));
}

function barRow({ column, cell, speedup }, scale, name) {
  const one = scale.at(1), grid = scale.ticks.map((tick) => make('i', { class: tick === 1 ? 'line one' : 'line', style: { left: `${scale.at(tick)}%` } }));
  const track = make('div', { class: 'track', 'aria-hidden': 'true' }, grid);
  const label = make('span', { class: 'label', title: column.label }, name);
  if (!speedup) return [label, track, make('span', { class: 'value muted' }, cell ? lackOf(cell) : '', make('span', { class: 'mark' }))];
  const end = scale.at(speedup.value);
  track.append(make('b', { class: 'bar', style: { left: `${Math.min(one, end)}%`, width: `${Math.max(0.6, Math.abs(end - one))}%`, background: colourOf(column) } }));
  if (speedup.low !== null && speedup.high !== null) {
    const from = scale.at(speedup.low), to = scale.at(speedup.high);
    track.append(make('b', { class: 'whisker', style: { left: `${from}%`, width: `${to - from}%` } }));
  }
  const text = factorOf(speedup);
  const said = fill(W.bar, { column: column.label, speedup: finer(speedup.value), interval: interval(speedup.low, speedup.high, finer) });
  const open = cell ? { title: said, onclick: () => choose({ cell: keyOf(cell) }) } : { title: said };
  track.classList.toggle('open', Boolean(cell));
  if (cell) track.addEventListener('click', open.onclick);
  track.setAttribute('title', said);
  return [label, track, make('span', { class: 'value', title: said }, text, make('span', { class: 'mark' }, cell ? markOf(cell, speedup.verdict) : null))];
}
