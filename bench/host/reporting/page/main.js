// Shows the page, and shows it again when the choice changes.

/** The findings, which compare with the baseline of the report; with another one, what the numbers of the page are then. */
function header() {
  const other = switched() ? fill(W.switched, { baseline: choice.baseline.label }) : '';
  // Where the study compares with no column, such as the best of each row, the page cannot show its numbers.
  const replaced = other !== '' && data.baseline !== null;
  const [first, ...further] = replaced ? [other, ...data.lasting] : data.answer;
  return [
    make('h1', {}, data.title),
    data.banner ? make('p', { class: 'banner', role: 'note' }, data.banner) : null,
    make('p', { class: 'answer' }, unbroken(first ?? '')),
    further.map((text) => make('p', {}, unbroken(text))),
    replaced || !data.compared ? null : make('p', {}, data.compared),
    other ? [replaced ? null : make('p', {}, other), remaking()] : null,
    replaced ? make('p', {}, make('button', { type: 'button', class: 'plain back', onclick: () => choose({ baseline: columnById.get(data.baseline) }) },
      fill(W.back, { baseline: columnById.get(data.baseline).label }))) : null,
    make('p', { class: 'hint' }, data.conditions),
  ];
}

/** A text whose lines do not break between a framework and its version. */
function unbroken(text) {
  const releases = [...new Set(columns.map(({ release }) => release))].filter(Boolean);
  const parts = (one, release) => one.split(release).flatMap((part, i) => (i ? [make('span', { class: 'whole' }, release), part] : [part]));
  return releases.reduce((all, release) => all.flatMap((one) => (typeof one === 'string' ? parts(one, release) : [one])), [text]);
}

function remaking() {
  return make('div', { class: 'remake' }, make('p', { class: 'hint' }, fill(W.remade, { baseline: choice.baseline.label })), remake());
}

function about() {
  return [
    data.claims ? section(data.claims) : '',
    make('section', {}, make('h2', {}, W.machine), facts(Object.entries(data.machine)), make('h2', {}, W.data),
      make('p', {}, make('button', { type: 'button', class: 'chip', onclick: download }, W.download)),
      make('p', { class: 'hint' }, fill(W.run, data.run))),
    make('section', {}, make('h2', {}, W.method), make('ol', {}, data.method.map((line) => make('li', {}, line)))),
    data.settings ? section(data.settings) : '',
    make('section', { class: 'wide' }, make('h2', {}, W.environments), make('div', { class: 'scroll' }, make('table', { class: 'environments' },
      make('thead', {}, make('tr', {}, [W.environment, 'Python', W.requirements, W.lock, ''].map((text) => make('th', { scope: 'col' }, text)))),
      make('tbody', {}, data.environments.map((one) => make('tr', {}, make('th', { scope: 'row' }, one.name), make('td', {}, one.python),
        make('td', {}, one.requirements.join(' ')), make('td', {}, make('code', { title: one.lock }, one.lock.slice(0, 16))),
        make('td', {}, packagesOf(one)))))))),
  ];
}

/** A table of texts: claims, or settings that differ. */
function section(shown) {
  return make('section', { class: 'wide' }, make('h2', {}, shown.title), make('p', { class: 'hint' }, shown.caption),
    make('div', { class: 'scroll' }, make('table', { class: 'environments' },
      make('thead', {}, make('tr', {}, shown.columns.map((text) => make('th', { scope: 'col' }, text)))),
      make('tbody', {}, shown.rows.map(([first, ...others]) => make('tr', {}, make('th', { scope: 'row' }, first), others.map((text) => make('td', {}, text))))))));
}

function packagesOf(environment) {
  const pairs = Object.entries(environment.packages);
  if (!pairs.length) return '';
  return make('details', {}, make('summary', {}, fill(W.packages, { count: pairs.length })), facts(pairs));
}

const CSV = {
  environment: (c) => c.column.environment, framework: (c) => c.column.key, version: (c) => data.columns[c.column.number].version, mode: (c) => c.column.mode,
  workload: (c) => c.row.workload, size: (c) => c.row.size, precision: (c) => c.row.precision, device: (c) => c.row.device, threads: (c) => Number(c.row.threads),
  status: (c) => c.status, stage: (c) => c.get('stage'), reason: (c) => c.get('reason'), quality: (c) => c.grade, verdict: (c) => c.verdict,
  step_ns: (c) => c.step, step_low_ns: (c) => c.get('stepLow'), step_high_ns: (c) => c.get('stepHigh'),
  ratio_to: () => data.run.baseline, ratio: (c) => c.get('ratio'), ratio_low: (c) => c.get('ratioLow'), ratio_high: (c) => c.get('ratioHigh'),
  processes: (c) => c.get('processes'), samples: (c) => c.get('samples'),
  first_call_cold_ns: (c) => c.get('firstCold'), first_call_warm_ns: (c) => c.get('firstWarm'), import_ns: (c) => c.get('import'), peak_bytes: (c) => c.get('peak'),
};

/** Text that no spreadsheet takes for a formula; numbers stay as they are. */
function csvField(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r\n\0]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv() {
  const lines = [Object.keys(CSV), ...cells.map((cell) => Object.values(CSV).map((get) => csvField(get(cell))))];
  return lines.map((line) => line.join(',')).join('\n') + '\n';
}

function download() {
  const address = URL.createObjectURL(new Blob([csv()], { type: 'text/csv;charset=utf-8' }));
  make('a', { href: address, download: 'results.csv' }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Show what the choice concerns; `changed` are the names of its parts that are new, or nothing for all. */
function render(changed = null) {
  const only = (...names) => changed !== null && changed.every((name) => names.includes(name));
  if (!only('cell')) {
    const key = document.activeElement?.dataset?.key, id = document.activeElement?.id;
    if (!only('filter', 'figure')) show('choice', choiceControls());
    if (changed === null || changed.includes('baseline')) show('top', header());
    const shownColumns = chosenColumns(), shownRows = chosenRows(shownColumns);
    if (!only('show', 'figure')) show('chart', chart(shownRows, shownColumns));
    if (!only('show')) show('figures', figures(shownRows, shownColumns));
    if (!only('figure')) show('table', table(shownRows, shownColumns));
    if (key) [...document.querySelectorAll('[data-key]')].find((one) => one.dataset.key === key)?.focus();
    else if (id) document.getElementById(id)?.focus();
  }
  showDetails(choice.cell ? cellOf(choice.cell) : null);
}

function showDetails(cell) {
  const dialog = document.getElementById('details');
  if (!cell) {
    if (dialog.open) dialog.close();
    return;
  }
  dialog.replaceChildren(details(cell));
  dialog.setAttribute('aria-labelledby', 'title');
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

const dialog = document.getElementById('details');
dialog.addEventListener('close', () => { if (choice.cell) choose({ cell: '' }); });
// A click on the dialog itself is a click beside what it holds.
dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
addEventListener('hashchange', () => { readAddress(); render(); });
addEventListener('beforeprint', () => table.showAll?.());

document.title = data.title;
show('about', about());
readAddress();
render();
document.documentElement.dataset.ready = 'yes';
