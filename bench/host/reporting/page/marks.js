// Gives columns the colours, marks and strokes that they have in the figures of the report.

// The marks by the letters that the report has for them; each is a path from its middle.
const SHAPES = {
  o: 'm-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z',
  s: 'm-3.2 -3.2h6.4v6.4h-6.4z',
  D: 'm0 -4.6l4.6 4.6l-4.6 4.6l-4.6 -4.6z',
  d: 'm0 -4.8l2.8 4.8l-2.8 4.8l-2.8 -4.8z',
  '^': 'm0 -4.2l4.2 7.4h-8.4z',
  v: 'm0 4.2l4.2 -7.4h-8.4z',
  '<': 'm-4.2 0l7.4 -4.2v8.4z',
  '>': 'm4.2 0l-7.4 -4.2v8.4z',
  P: 'm-1.3 -4.2h2.6v2.9h2.9v2.6h-2.9v2.9h-2.6v-2.9h-2.9v-2.6h2.9z',
  X: 'm-4 -2.2l1.8 -1.8l2.2 2.2l2.2 -2.2l1.8 1.8l-2.2 2.2l2.2 2.2l-1.8 1.8l-2.2 -2.2l-2.2 2.2l-1.8 -1.8l2.2 -2.2z',
  p: 'm0 -4l3.8 2.76l-1.45 4.48h-4.7l-1.45 -4.48z',
  h: 'm0 -4l3.46 2v4l-3.46 2l-3.46 -2v-4z',
  '*': 'm0 -4.4l1.03 2.98l3.15 0.06l-2.51 1.9l0.92 3.02l-2.59 -1.8l-2.59 1.8l0.92 -3.02l-2.51 -1.9l3.15 -0.06z',
};
// The page shows more columns at once than a figure: those that share a mark or strokes differ in their fill or width.
const FILLS = [{ 'fill-opacity': 1 }, { 'fill-opacity': 0 }, { 'fill-opacity': 0.35 }, { 'fill-opacity': 0, 'stroke-width': 2.2 }];
const WIDTHS = [2, 3.5, 1];

function colourOf(column) {
  return column.look.colour;
}

/** How many columns before this one have the same colour and the same `part` of their look. */
function twinsOf(column, part) {
  const same = (one) => one.look.colour === column.look.colour && String(one.look[part]) === String(column.look[part]);
  return columns.filter((one) => one.number < column.number && same(one)).length;
}

/** The mark of a column at the points `at`, each `x y`. */
function marksOf(column, at) {
  const colour = colourOf(column), fill = FILLS[twinsOf(column, 'marker') % FILLS.length];
  return draw('path', { class: 'marks', d: at.map((one) => `M${one}${SHAPES[column.look.marker]}`).join(''), fill: colour, stroke: colour, ...fill });
}

function lookOf(column) {
  const width = WIDTHS[twinsOf(column, 'strokes') % WIDTHS.length];
  return { stroke: colourOf(column), 'stroke-dasharray': column.look.strokes.map((one) => one * WIDTHS[0]).join(' ') || null, 'stroke-width': width };
}
