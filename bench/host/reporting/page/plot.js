// Draws one plot: axes with ticks, lines and dots, each scale logarithmic unless it is of places or shares.

/** Numbers of steps, as powers of ten where they are large. */
function count(value) {
  const power = Math.round(Math.log10(value));
  return power < 4 ? String(Math.round(value)) : `10${[...String(power)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]).join('')}`;
}

/** Write a tick without the digits after the sign that say nothing: 10 ms. */
function rounded(text) {
  return text.replace(/[.,]0+(?= |$)/, '');
}

/** Leave out ticks whose labels would touch the one before. */
function apart(ticks, at, write) {
  let last = -Infinity;
  return ticks.filter((tick) => {
    const half = 3.4 * rounded(write(tick)).length + 3;
    const free = at(tick) - half > last;
    if (free) last = at(tick) + half;
    return free;
  });
}

/** Return where values lie between `from` and `to`, and the ticks. */
function scaleFor(values, from, to, write, { places, linear }) {
  const low = Math.min(...values), high = Math.max(...values);
  if (places) return { at: (i) => from + ((i + 0.5) / places) * (to - from), ticks: Array.from({ length: places }, (_, i) => i), write };
  if (linear) return { at: (value) => from + (value / (high || 1)) * (to - from), ticks: [0, 0.25, 0.5, 0.75, 1].filter((tick) => tick <= high), write };
  const [least, most] = high / low < 1.2 ? [low / 1.1, high * 1.1] : [low, high];
  const span = Math.log(most / least), at = (value) => from + (Math.log(value / least) / span) * (to - from);
  const decades = Math.log10(most / least), every = Math.ceil(decades / 5), ticks = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); power += 1) {
    for (const digit of decades < 1 ? [1, 1.5, 2, 3, 4, 5, 7] : decades < 2 ? [1, 2, 5] : [1]) {
      const tick = digit * 10 ** power;
      if (tick >= least && tick <= most * 1.0001 && (decades < 2 || power % every === 0)) ticks.push(tick);
    }
  }
  return { at, ticks: ticks.length > 1 ? ticks : [least, most], write };
}

// The width of a letter of a name, on average; and what names leave to the plot.
const LETTER = 6, LEAST = 130;

/** The columns that a panel has something of. */
const plotted = new WeakMap();

/**
 * A panel with `lines`, each {column, points: [[x, y], …], dots, marks, line, middle, dashed}; a line without a column is a bound.
 *
 * `names` puts a name before each place of the vertical axis, where every column has a place of its own.
 */
function plot(name, lines, { x, y, title, places = 0, linear = false, names = null }) {
  const { width, left, right, top, bottom } = PLOT, height = names ? top + bottom + 26 * names.length : PLOT.height;
  const start = names ? Math.min(width - LEAST, 8 + LETTER * Math.max(...names.map((one) => one.length))) : left;
  const every = lines.flatMap((line) => line.points);
  if (!every.length) return null;
  const across = scaleFor(every.map(([one]) => one), start, width - right - 6, x, { places });
  const up = scaleFor(every.map(([, one]) => one), height - bottom, top + 4, y, { places: names ? names.length : 0, linear });
  const drawn = [];
  for (const tick of places ? across.ticks : apart(across.ticks, across.at, across.write)) {
    const place = across.at(tick);
    drawn.push(draw('line', { class: 'grid', x1: place, x2: place, y1: top, y2: height - bottom }),
      draw('text', { x: place, y: height - bottom + 14, 'text-anchor': 'middle' }, rounded(across.write(tick))));
  }
  up.ticks.forEach((tick, i) => {
    if (!names) drawn.push(draw('line', { class: 'grid', x1: start, x2: width - right, y1: up.at(tick), y2: up.at(tick) }));
    drawn.push(draw('text', { x: start - 6, y: up.at(tick) + 4, 'text-anchor': 'end' }, names ? names[i] : rounded(up.write(tick))));
  });
  for (const line of lines) drawn.push(...lineOf(line, across, up));
  drawn.push(draw('text', { x: (start + width - right) / 2, y: height - 4, 'text-anchor': 'middle' }, title));
  const panel = make('section', { class: 'panel' }, make('h3', {}, name),
    draw('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${name}. ${title}` }, drawn));
  plotted.set(panel, lines.filter((line) => line.column && line.points.length).map((line) => line.column));
  return panel;
}

function lineOf({ column, points, dots = false, marks = false, line = true, middle = null, dashed = false }, across, up) {
  if (!points.length) return [];
  const look = column ? lookOf(column) : { stroke: 'currentColor', 'stroke-width': 1, 'stroke-dasharray': dashed ? '4 2' : null }, drawn = [], colour = look.stroke;
  const at = points.map(([x, y]) => `${across.at(x).toFixed(1)} ${up.at(y).toFixed(1)}`);
  if (line) drawn.push(draw('path', { class: 'course', d: `M${at.join('L')}`, ...look }));
  if (dots) drawn.push(draw('path', { class: 'dots', d: at.map((one) => `M${one}h0`).join(''), stroke: colour, 'stroke-width': middle ? 3 : 7, opacity: middle ? 0.7 : 1 }));
  if (marks) drawn.push(marksOf(column, at));
  if (middle) drawn.push(draw('line', { class: 'middle', x1: across.at(middle[0]), x2: across.at(middle[0]), y1: up.at(middle[1]) - 10, y2: up.at(middle[1]) + 10 }));
  return drawn;
}
