// Reads the data of the page. Cells are lists whose places have the names in `fields`.

const data = JSON.parse(document.getElementById('data').textContent);
const W = data.words;
const AXES = ['workload', 'size', 'precision', 'device', 'threads', 'framework', 'version', 'mode'];
const COLUMN_AXES = new Set(['framework', 'version', 'mode']);

const columns = data.columns.map((column, number) => ({
  ...column,
  number,
  // What a reader chooses by: names for people, not those of the command line.
  framework: column.product,
  key: column.framework,
  version: column.release,
}));
const columnById = new Map(columns.map((column) => [column.id, column]));
const rows = data.rows.map((row, number) => ({ ...row, number, cells: new Array(columns.length) }));

const place = Object.fromEntries(data.fields.map((name, number) => [name, number]));
const TEXTS = new Set(['status', 'stage', 'reason', 'log', 'grade', 'verdict', 'warmUp']);

/** A cell with the value of a field under its name; a missing value is null. */
class Cell {
  constructor(values) {
    this.values = values;
    this.row = rows[values[place.row]];
    this.column = columns[values[place.column]];
    this.step = this.get('step');
    this.grade = this.get('grade');
    this.status = this.get('status');
    this.verdict = this.get('verdict');
    this.usable = this.step !== null && data.usable.includes(this.grade);
    this.row.cells[this.column.number] = this;
  }

  get(name) {
    const value = this.values[place[name]] ?? null;
    return value !== null && TEXTS.has(name) ? data.texts[value] : value;
  }

  get facts() { return data.facts[this.get('facts')] ?? { settings: {}, versions: {} }; }
  get notes() { return (this.get('notes') ?? []).map((number) => data.texts[number]); }
  get ratioNotes() { return (this.get('ratioNotes') ?? []).map((number) => data.texts[number]); }

  /** The samples of each process, in nanoseconds per step. */
  get courses() {
    const low = this.get('lowest'), high = this.get('highest');
    return (this.get('series') ?? []).map((text) => {
      const course = [];
      for (let i = 0; i < text.length; i += 2) course.push(low + (high - low) * level(text[i], text[i + 1]));
      return course;
    });
  }
}

function level(first, second) {
  const base = data.digits.length;
  return (data.digits.indexOf(first) * base + data.digits.indexOf(second)) / (base * base - 1);
}

const cells = data.cells.map((values) => new Cell(values));

// A single column with times has nothing to be compared with: the page shows these times.
const ALONE = new Set(cells.filter((cell) => cell.step !== null).map((cell) => cell.column)).size < 2;

/** The values of an axis, in the order of the study. */
function valuesOf(axis) {
  return [...new Set((COLUMN_AXES.has(axis) ? columns : rows).map((one) => one[axis]))];
}

const varying = AXES.filter((axis) => valuesOf(axis).length > 1);

/** Put values into the places of a sentence: fill('{count} rows', {count: 3}). */
function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
