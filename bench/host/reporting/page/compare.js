// Compares cells with the baseline, and writes numbers.

/** Whether the reader compares with another baseline than the report does. Only over that there are intervals and verdicts. */
function switched() {
  return choice.baseline !== null && choice.baseline.id !== data.baseline;
}

/**
 * The speed-up of a cell over the chosen baseline: {value, low, high, verdict}; null where there is none.
 *
 * Over the baseline of the report it is that of the analysis. Over another one it is a ratio of medians. Where the report
 * shows time ratios, it is one.
 */
function speedupOf(cell) {
  if (!cell || !cell.usable || !choice.baseline) return null;
  const base = cell.row.cells[choice.baseline.number];
  if (!base || !base.usable) return null;
  if (cell === base) return { value: 1, low: null, high: null, verdict: null };
  if (switched()) return { value: data.asRatios ? cell.step / base.step : base.step / cell.step, low: null, high: null, verdict: null };
  const ratio = cell.get('ratio'), low = cell.get('ratioLow'), high = cell.get('ratioHigh'), { verdict } = cell;
  if (ratio === null) return null;
  return data.asRatios ? { value: ratio, low, high, verdict } : { value: 1 / ratio, low: high && 1 / high, high: low && 1 / low, verdict };
}

/**
 * The grade of what a cell shows. That of the analysis grades the ratio to the baseline of the report.
 *
 * A ratio of medians has no interval to grade: it is noisy where one of its two times is.
 */
function gradeOf(cell) {
  if (!switched() || !['clean', 'noisy'].includes(cell.grade)) return cell.grade;
  const base = choice.show === 'times' ? null : cell.row.cells[choice.baseline.number];
  return [cell, base].some((one) => one && one.step !== null && isNoisyTime(one)) ? 'noisy' : 'clean';
}

function isNoisyTime(cell) {
  const low = cell.get('stepLow'), high = cell.get('stepHigh');
  return low === null || high === null || Math.max(cell.step / low, high / cell.step) > 1 + data.noisyTime;
}

/** Settings that may explain the speed-ups of a column over the baseline of the report; of another one, nobody looked. */
function differingOf(column) {
  const compared = choice.show !== 'times' && choice.baseline && !switched() && column !== choice.baseline;
  return compared ? column.differing : [];
}

/** Whether the baseline has no time in the row of a cell: then the cell shows its own. */
function lacksBase(cell) {
  const base = choice.baseline ? cell.row.cells[choice.baseline.number] : null;
  return !base || base.step === null;
}

/** What stands where there is no speed-up: a status, the mark of a withheld time, or a dash without a comparison. */
function lackOf(cell) {
  if (cell.step === null) return data.statuses[cell.status];
  const base = choice.baseline ? cell.row.cells[choice.baseline.number] : null;
  return !cell.usable || (base && base.step !== null && !base.usable) ? data.marks.withheld : '–';
}

/**
 * The geometric mean of each column, null for one that would leave few rows, and over what rows these are.
 *
 * As in the tables: over the rows in which every other column has a speed-up. Rows of several devices or numbers of
 * threads are never averaged together: those that have most complete rows count.
 */
function means(shownRows, shownColumns) {
  const tracks = new Map();
  for (const row of shownRows) {
    const key = JSON.stringify([row.device, row.threads]);
    if (!tracks.has(key)) tracks.set(key, { row, found: [] });
    // A row without any speed-up, as its baseline failed, is one of all; one that all columns leave out is none.
    if (!shownColumns.some((column) => hasPlace({ cell: row.cells[column.number] }))) continue;
    tracks.get(key).found.push(shownColumns.map((column) => speedupOf(row.cells[column.number])));
  }
  const most = [...tracks.values()].map(meansOf).reduce((best, one) => (best && best.count >= one.count ? best : one), null);
  if (!most) return { count: 0, values: [], of: '' };
  const varies = (axis) => shownRows.some((row) => row[axis] !== most.row[axis]);
  const of = [varies('device') && `, ${most.row.device}`, varies('threads') && `, ${data.threads[most.row.threads]}`].filter(Boolean).join('');
  return { count: most.count, values: most.values, of, device: most.row.device, threads: most.row.threads };
}

function meansOf({ row, found }) {
  const wide = inMostRows(found), whole = found.filter((one) => hasAll(one, wide));
  // Nothing is averaged where nothing is left to compare with.
  if (whole.length < data.fewestRows || wide.filter(Boolean).length < Math.min(2, wide.length)) return { row, count: 0, values: wide.map(() => null) };
  const mean = (i) => Math.exp(whole.reduce((sum, one) => sum + Math.log(one[i].value), 0) / whole.length);
  return { row, count: whole.length, values: wide.map((has, i) => (has ? mean(i) : null)) };
}

/** Whether a row has a value in each of the columns that are `wide`. */
function hasAll(one, wide) {
  return wide.every((has, i) => !has || one[i] !== null);
}

/**
 * Which columns most rows have in common, as in the report: true or false for each.
 *
 * `found` has a list of values for each row, null where a column has none. Left out is the column without which most rows
 * are complete; of several that with the fewest rows, then the last. One that was left out early comes back where it fits.
 */
function inMostRows(found) {
  const counts = (found[0] ?? []).map((_, i) => found.filter((one) => one[i] !== null).length);
  const needed = Math.max(data.leastShare * found.length, Math.min(data.fewestRows, found.length));
  const enough = counts.map((count) => count > 0 && count >= data.leastShare * found.length), wide = [...enough];
  const complete = (changed, has) => found.filter((one) => hasAll(one, wide.map((was, i) => (i === changed ? has : was)))).length;
  while (wide.filter(Boolean).length > 1 && complete(-1) < needed) {
    const others = wide.flatMap((has, i) => (has ? [{ i, left: complete(i, false) }] : []));
    const worst = others.reduce((most, one) => (one.left > most.left || (one.left === most.left && counts[one.i] <= counts[most.i]) ? one : most));
    wide[worst.i] = false;
  }
  enough.forEach((has, i) => { if (has && !wide[i] && complete(i, true) >= needed) wide[i] = true; });
  return wide;
}

function fixed(value, digits) {
  return value.toFixed(digits).replace('.', data.decimal);
}

function twoDigits(value) {
  return Math.max(0, 1 - Number(value.toExponential(1).split('e')[1]));
}

/** A number with two digits, or with all digits before the decimal sign, as in the tables. */
function factor(value) {
  return fixed(value, twoDigits(value));
}

/** A speed-up likewise; with three digits where it would look like 1 and is certainly different. */
function factorOf({ value, verdict }) {
  const { verdict: different, below, digits } = data.nearOne;
  return verdict === different && twoDigits(value) === 1 && value < below ? fixed(value, digits) : factor(value);
}

/** A number with three digits. */
function three(value) {
  return value === 0 ? '0' : fixed(value, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
}

const UNITS = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]];

function time(ns) {
  if (ns === null) return '';
  const [name, size] = UNITS.find(([, one]) => ns >= 0.9995 * one) ?? UNITS[3];
  return `${three(ns / size)} ${name}`;
}

const POWERS = [['10⁹', 1e9], ['10⁶', 1e6], ['10³', 1e3]];

/** How many there are in a second: 1.33 × 10⁶. */
function rate(count) {
  const [name, size] = POWERS.find(([, one]) => count >= 0.9995 * one) ?? ['', 1];
  return name ? `${three(count / size)} × ${name}` : three(count);
}

function bytes(count) {
  if (count === null) return '';
  return count >= 2 ** 30 ? `${three(count / 2 ** 30)} GiB` : `${three(count / 2 ** 20)} MiB`;
}

function interval(low, high, write) {
  return low === null || high === null ? '' : `[${write(low)}${data.decimal === ',' ? ';' : ','} ${write(high)}]`;
}

function finer(value) {
  return fixed(value, value >= 99.5 ? 0 : value >= 9.95 ? 1 : value >= 0.0995 ? 2 : 2 - Math.floor(Math.log10(value)));
}

function markOf(cell, verdict) {
  return (data.marks.verdicts[verdict] ?? '') + (data.marks.grades[gradeOf(cell)] ?? '');
}

/** The background of an entry: blue is faster and orange slower, as strong as the speed-up or the ratio is large. */
function shade(speedup) {
  const strength = Math.min(1, Math.abs(Math.log2(speedup)) / 2);
  if (strength < 0.01) return null;
  return `color-mix(in srgb, var(${speedup > 1 !== data.asRatios ? '--faster' : '--slower'}) ${Math.round(8 + 47 * strength)}%, transparent)`;
}
