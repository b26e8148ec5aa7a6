// Shows the details of one cell: its numbers, its samples, its settings, and the command that measures it again.

function details(cell) {
  const speedup = speedupOf(cell), { settings, versions, item, items } = cell.facts;
  const throughput = cell.step !== null && items ? `${rate(items / (cell.step / 1e9))} ${data.items[item] ?? ''}/s` : '';
  return make('article', {},
    make('header', {}, make('h2', { id: 'title' }, cell.column.label, make('span', { class: 'hint' }, cell.row.name)),
      make('button', { type: 'button', class: 'plain', autofocus: true, onclick: () => choose({ cell: '' }) }, W.close)),
    facts([
      [W.status, cell.status === 'ok' ? '' : data.statuses[cell.status]],
      [W.stage, cell.status === 'ok' ? '' : cell.get('stage')],
      [W.reason, cell.status === 'ok' ? '' : cell.get('reason')],
      [W.time, cell.step === null ? '' : `${time(cell.step)} ${interval(cell.get('stepLow'), cell.get('stepHigh'), time)}`],
      [W.speedup, speedup && cell.column !== choice.baseline ? `${finer(speedup.value)} ${interval(speedup.low, speedup.high, finer)}` : ''],
      [W.verdict, speedup && speedup.verdict ? data.meanings.verdicts[speedup.verdict] : ''],
      // A ratio of medians, which has no interval, is not called firm.
      [W.quality, cell.grade && !(switched() && gradeOf(cell) === 'clean') ? data.meanings.grades[gradeOf(cell)] : ''],
      [W.latency, cell.get('p50') ? fill(W.latencyText, { half: time(cell.get('p50')), tail: time(cell.get('p99')) }) : ''],
      [W.throughput, throughput],
      [W.cpu, cell.get('cpu') ? fill(W.cpuText, { time: time(cell.get('cpu')), processors: finer(cell.get('processorsUsed')) }) : ''],
      [W.processes, cell.get('processes') ? fill(W.processesText, { processes: cell.get('processes'), samples: cell.get('samples') }) : ''],
      [W.warmUp, cell.get('warmUp')],
      [W.firstCold, time(cell.get('firstCold'))],
      [W.firstWarm, time(cell.get('firstWarm'))],
      [W.import, time(cell.get('import'))],
      [W.peak, bytes(cell.get('peak'))],
    ]),
    cell.get('log') ? [make('h3', {}, W.log), make('pre', { class: 'log', tabindex: '0' }, cell.get('log'))] : null,
    speedup && switched() && cell.column !== choice.baseline ? make('p', { class: 'hint' }, W.ofMedians) : null,
    samples(cell),
    notes(cell),
    make('h3', {}, W.repeat), repeat(cell),
    more(W.settings, settings), more(W.versions, versions));
}

/** The notes on a cell. Those on its ratio concern the baseline of the report. */
function notes(cell) {
  const texts = [...cell.notes, ...(switched() ? [] : cell.ratioNotes)];
  return texts.length ? [make('h3', {}, W.notes), make('ul', {}, texts.map((text) => make('li', {}, text)))] : null;
}

function more(title, values) {
  const pairs = Object.entries(values);
  return pairs.length ? make('details', {}, make('summary', {}, `${title} (${pairs.length})`), facts(pairs)) : null;
}

/** The command that measures the cell again, quoted for a shell: its parts, which stay on one line each. */
function command(cell) {
  const { row, column } = cell;
  const options = [['workload', row.workload], ['mode', column.mode], ['size', row.size], ['precision', row.precision],
    ['device', row.device], ['threads', row.threads], ['profile', data.run.profile],
    ...(data.run.matrix ? [['matrix', data.run.matrix]] : [])];
  return [`nox -s ${quoted(`bench-${column.environment}`)} --`, ...options.map(([name, value]) => `--${name} ${quoted(value)}`)];
}

function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

function repeat(cell) {
  return copied(command(cell));
}

/** The command that makes this report again, of the same cells and in the same place, with the chosen baseline. */
function remake() {
  const { chosenBy } = data.run, named = chosenBy.some(([name]) => !name) ? [] : [['run', data.run.name]];
  const options = [...named, ...chosenBy, ['baseline', choice.baseline.id], ['matrix', data.run.matrix],
    ['ratios', data.asRatios ? 'ratio' : ''], ['language', data.language === 'en' ? '' : data.language]];
  const words = options.filter(([, value]) => value).map(([name, value]) => (name ? `--${name} ` : '') + quoted(value));
  return copied(['nox -s report --', ...words]);
}

/** A command that a reader can copy, whose parts stay on one line each. */
function copied(parts) {
  const text = parts.join(' ');
  const copy = make('button', { type: 'button', class: 'plain', onclick: () => navigator.clipboard.writeText(text).then(() => { copy.textContent = W.copied; }) }, W.copy);
  return make('div', { class: 'command' }, make('code', { tabindex: '0' }, parts.flatMap((part) => [make('span', {}, part), ' '])), navigator.clipboard ? copy : null);
}

const WIDTH = 560, HEIGHT = 150, LEFT = 58, BELOW = 8;

/** A drawing of the samples of all processes, one after another. */
function samples(cell) {
  const courses = cell.courses;
  if (!courses.length) return null;
  const low = cell.get('lowest'), high = cell.get('highest'), count = courses.reduce((sum, course) => sum + course.length, 0);
  const span = high - low || 1, floor = low - 0.06 * span, ceiling = high + 0.06 * span;
  const x = (i) => LEFT + ((i + 0.5) / count) * (WIDTH - LEFT);
  const y = (ns) => BELOW + (HEIGHT - 2 * BELOW) * (1 - (ns - floor) / (ceiling - floor));
  const colour = colourOf(cell.column), drawn = [];
  let before = 0;
  courses.forEach((course, number) => {
    const dots = course.map((ns, i) => `M${x(before + i).toFixed(1)} ${y(ns).toFixed(1)}h0`).join('');
    if (number % 2) drawn.push(draw('rect', { class: 'band', x: x(before - 0.5), y: 0, width: x(before + course.length) - x(before), height: HEIGHT }));
    drawn.push(draw('path', { d: dots, class: 'dots', stroke: colour, 'stroke-width': count > 600 ? 2 : 4 }));
    before += course.length;
  });
  const labels = [...new Set([high, low])].map((ns) => draw('text', { x: LEFT - 6, y: y(ns) + 4, 'text-anchor': 'end' }, time(ns)));
  const middle = draw('line', { class: 'median', x1: LEFT, x2: WIDTH, y1: y(cell.step), y2: y(cell.step) });
  const hint = fill(W.samplesHint, { shown: courses.length, count: cell.get('processes') });
  return [make('h3', {}, W.samples), draw('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': `${W.samples}. ${hint}` }, drawn, labels, middle),
    make('p', { class: 'hint' }, hint)];
}
