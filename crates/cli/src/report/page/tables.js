// Tables that can be sorted by any column and show only what is chosen; and the legend that chooses.

function kindButton(number) {
  const button = make('button', { type: 'button', className: 'kind', 'aria-pressed': 'false', title: kindName(number) },
    make('span', { className: 'swatch', style: { background: `var(${kindVariable(number)})` } }),
    make('span', { className: 'name' }, kindName(number)));
  button.addEventListener('click', () => choice.toggle(number));
  choice.listeners.push(() => button.setAttribute('aria-pressed', choice.kinds.has(number)));
  return button;
}

/**
 * Makes a table. A column is { title, hint, show(row), value(row), text, optional }; rows know their kind's number.
 * Clicking a title sorts: numbers from the largest, texts from the first. Optional columns are left out where all is
 * zero; of long tables, only the beginning is shown at first.
 */
function table(placeId, caption, allColumns, rows, shownAtFirst = 20) {
  const columns = allColumns.filter(column => !column.optional || rows.some(row => column.value(row) > 0));
  const body = make('tbody');
  const lines = rows.map(row => ({ row, line: make('tr', {}, ...columns.map(column => cell(column, row))) }));
  const heads = columns.map(column => {
    const button = make('button', { type: 'button', title: column.hint ?? '' }, column.title);
    const head = make('th', { scope: 'col', className: column.text ? 'text' : '' }, column.value ? button : column.title);
    button.addEventListener('click', () => sort(column, head));
    return head;
  });
  const nothing = make('tr', { hidden: true }, make('td', { className: 'text quiet', colSpan: columns.length }, 'Nothing of the chosen kinds.'));
  const more = make('button', { type: 'button', className: 'more' });
  let limit = shownAtFirst;
  more.addEventListener('click', () => { limit = Infinity; refresh(); });
  function sort(column, head) {
    const isAscending = head.getAttribute('aria-sort') ? head.getAttribute('aria-sort') !== 'ascending' : Boolean(column.text);
    heads.forEach(other => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', isAscending ? 'ascending' : 'descending');
    const compare = (one, other) => column.text
      ? String(column.value(one)).localeCompare(String(column.value(other)), 'en', { numeric: true })
      : column.value(one) - column.value(other);
    lines.sort((one, other) => compare(one.row, other.row) * (isAscending ? 1 : -1));
    refresh();
  }
  function refresh() {
    const chosen = lines.filter(({ row }) => choice.has(row.number));
    lines.forEach(({ line }) => { line.hidden = true; });
    chosen.slice(0, limit).forEach(({ line }) => { line.hidden = false; });
    nothing.hidden = chosen.length > 0;
    more.hidden = chosen.length <= limit;
    more.textContent = `Show all ${count(chosen.length)}`;
    body.append(...lines.map(({ line }) => line), nothing);
  }
  choice.listeners.push(refresh);
  refresh();
  byId(placeId).append(make('table', { 'aria-label': caption }, make('thead', {}, make('tr', {}, ...heads)), body), more);
}

function cell(column, row) {
  const shown = column.show(row);
  const title = column.text && typeof shown === 'string' ? shown : '';
  return make('td', { className: column.text ? `text ${column.className ?? ''}` : '', title }, shown);
}

const withNumber = row => ({ ...row, number: kindNumber.get(row.kind) ?? kinds.length });
const timeColumn = (title, key, hint) => ({ title, hint, show: row => seconds(row[key]), value: row => row[key] });
const kindColumn = { title: 'kind', text: true, show: row => kindButton(row.number), value: row => row.kind };
const taskColumn = { title: 'task', text: true, className: 'name', show: row => row.task + (row.attempt > 1 ? ` (attempt ${row.attempt})` : ''), value: row => row.task };

/** The shape of a distribution, on a logarithmic scale that all kinds share. */
function shape(histogram, [low, high]) {
  const width = 90, height = 22, space = 'http://www.w3.org/2000/svg';
  const picture = document.createElementNS(space, 'svg');
  const set = (element, attributes) => Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  set(picture, { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'distribution of times, logarithmic' });
  const place = value => (Math.log(Math.max(value, low)) - Math.log(low)) / Math.max(Math.log(high) - Math.log(low), 1e-9) * (width - 3);
  const most = Math.max(...histogram.map(([, number]) => number));
  for (const [begin, number] of histogram) {
    const bar = document.createElementNS(space, 'rect');
    const tall = Math.max(1, number / most * (height - 2));
    set(bar, { x: place(begin), width: Math.max(1.5, (place(begin * 1.2) - place(begin)) * 0.9), y: height - 1 - tall, height: tall, fill: 'var(--accent)' });
    picture.append(bar);
  }
  const line = document.createElementNS(space, 'rect');
  set(line, { x: 0, y: height - 1, width, height: 1, fill: 'var(--line)' });
  picture.append(line);
  return picture;
}

function memory(kind) {
  if (!kind.peak_memory_bytes) return '–';
  const [, asked] = kind.memory_asked_bytes;
  const peak = `${kind.peak_is_bound ? '≤ ' : ''}${bytes(kind.peak_memory_bytes)}`;
  const cell = make('span', {}, peak);
  if (asked > 0) cell.append(make('small', {}, ` of ${bytes(asked)}`));
  if (kind.attempts_over_memory_asked > 0) {
    cell.className = 'bad';
    cell.title = `${count(kind.attempts_over_memory_asked, 'attempt')} used more than was asked for`;
  }
  return cell;
}

function cores(kind) {
  const used = kind.compute_s > 0 ? (kind.user_s + kind.system_s) / kind.compute_s : 0;
  const cell = make('span', { title: `${seconds(kind.user_s)} in the program, ${seconds(kind.system_s)} in the kernel` }, digits(used));
  cell.append(make('small', {}, ` of ${kind.cpus_asked[1]}`));
  return cell;
}

const failedAttempts = kind => kind.failures.reduce((sum, failure) => sum + failure.count, 0);
const badIfAny = number => number > 0 ? make('span', { className: 'bad' }, count(number)) : '0';

function kindsTable() {
  const steps = kinds.flatMap(kind => kind.time.histogram.map(([begin]) => begin)).filter(begin => begin > 0);
  const range = [steps.reduce((low, begin) => Math.min(low, begin), Infinity) / 2, steps.reduce((high, begin) => Math.max(high, begin), 0) * 2];
  const rows = kinds.map((kind, number) => ({ ...kind, kind: kind.name, number }));
  const ofTime = (title, key, hint) => ({
    title, hint, show: kind => kind.time.count ? seconds(kind.time[key]) : '–', value: kind => kind.time[key],
  });
  table('kinds-table', 'Kinds', [
    kindColumn,
    { title: 'tasks', show: kind => count(kind.tasks), value: kind => kind.tasks },
    { title: 'done', show: kind => count(kind.done), value: kind => kind.done },
    { title: 'failed', show: kind => badIfAny(kind.failed), value: kind => kind.failed, optional: true },
    { title: 'skipped', show: kind => count(kind.skipped), value: kind => kind.skipped, optional: true },
    { title: 'up to date', show: kind => count(kind.up_to_date), value: kind => kind.up_to_date, optional: true },
    { title: 'left', hint: 'running, waiting or interrupted when the record ends', show: kind => count(kind.left + kind.running), value: kind => kind.left + kind.running, optional: true },
    { title: 'failed attempts', hint: 'attempts that ended badly; see below how', show: kind => badIfAny(failedAttempts(kind)), value: failedAttempts, optional: true },
    { title: 'retries', show: kind => count(kind.retries), value: kind => kind.retries, optional: true },
    timeColumn('total time', 'compute_s', 'how long all attempts ran, one after the other'),
    { title: 'distribution', hint: 'times of successful attempts, on a logarithmic scale', show: kind => kind.time.max_s > 0 ? shape(kind.time.histogram, range) : '–' },
    ofTime('median', 'median_s', 'half of the successful attempts took no longer'),
    ofTime('95 %', 'p95_s', '95 of 100 successful attempts took no longer'),
    ofTime('longest', 'max_s'),
    { title: 'cores used', hint: 'time on cores for each second of running; then what was asked for', show: cores, value: kind => (kind.user_s + kind.system_s) / (kind.compute_s || 1) },
    { title: 'peak memory', hint: 'the highest peak of any attempt; then what was asked for', show: memory, value: kind => kind.peak_memory_bytes },
    { title: 'read', hint: 'from disks', show: kind => bytes(kind.read_bytes), value: kind => kind.read_bytes, optional: true },
    { title: 'written', hint: 'to disks', show: kind => bytes(kind.written_bytes), value: kind => kind.written_bytes, optional: true },
    { title: 'waited for a slot', hint: 'mean per attempt', show: kind => kind.attempts ? seconds(kind.waited_s / kind.attempts) : '–', value: kind => kind.waited_s / (kind.attempts || 1) },
  ], rows, 40);
}

function failedSection() {
  const outcomes = kinds.flatMap((kind, number) => kind.failures.map(failure => ({ ...failure, kind: kind.name, number })));
  byId('failed').hidden = outcomes.length === 0;
  if (outcomes.length === 0) return;
  table('failed-outcomes', 'Attempts that failed, by kind and outcome', [
    kindColumn, { title: 'outcome', text: true, show: row => row.outcome, value: row => row.outcome },
    { title: 'attempts', show: row => count(row.count), value: row => row.count },
  ], outcomes);
  if (figures.failed.length === 0) return;
  const some = totals.failed > figures.failed.length ? `The first ${figures.failed.length} of ${count(totals.failed)}. ` : '';
  byId('failed-words').textContent = `Failed for good. ${some}All that a task printed: throng logs ${figures.run} TASK`;
  table('failed-table', 'Failed tasks', [
    taskColumn, kindColumn,
    { title: 'outcome', text: true, show: row => row.outcome, value: row => row.outcome },
    timeColumn('ran for', 'ran_s'), timeColumn('ended at', 'ended_s'),
    { title: 'printed last', text: true, show: row => make('pre', { className: 'printed' }, row.printed || '–'), value: row => row.printed || '' },
  ], figures.failed.map(withNumber));
}

function slowestTable() {
  byId('slowest').hidden = figures.slowest.length === 0;
  table('slowest-table', 'Slowest attempts', [
    taskColumn, kindColumn, timeColumn('ran for', 'ran_s'),
    { title: 'on cores', show: row => seconds(row.user_s + row.system_s), value: row => row.user_s + row.system_s },
    { title: 'peak memory', show: row => row.peak_memory_bytes ? `${row.peak_is_bound ? '≤ ' : ''}${bytes(row.peak_memory_bytes)}` : '–', value: row => row.peak_memory_bytes },
    timeColumn('started at', 'started_s'),
    { title: 'waited for a slot', show: row => seconds(row.chosen_s - row.ready_s), value: row => row.chosen_s - row.ready_s },
    { title: 'slot', show: row => slotName(row.slot), value: row => row.slot },
    { title: 'outcome', text: true, show: row => row.outcome, value: row => row.outcome },
  ], figures.slowest.map(withNumber));
}

function pathSection() {
  const { path } = figures;
  byId('path').hidden = path.steps === 0;
  if (path.steps === 0) return;
  byId('path-words').textContent = `Each of these ${count(path.steps, 'step')} began when the one before it ended: `
    + `${count(path.after_inputs)} waited for a parent, ${count(path.after_slot)} for a slot, ${count(path.after_retry)} to be tried again. `
    + 'To end sooner, the run would have needed these to be faster.';
  const parts = ['compute', 'in_vain', 'engine', 'pause', 'not_started'];
  stackedBar('path-bar', 'path-list', parts.map(part => [part, path.times[`${part}_s`]]), 'Where the time on the path went');
  const times = [timeColumn('computing', 'compute_s'), timeColumn('in vain', 'in_vain_s'), timeColumn('engine', 'engine_s'),
    timeColumn('pause', 'pause_s'), timeColumn('ready, not started', 'not_started_s')].map(column => ({ ...column, optional: true }));
  table('path-kinds', 'The path by kind', [
    kindColumn, { title: 'steps', show: row => count(row.steps), value: row => row.steps }, timeColumn('time', 'total_s'), ...times,
  ], path.kinds.map(withNumber), 40);
  table('path-table', 'The longest steps of the path', [
    { title: 'step', show: row => count(row.step), value: row => row.step }, taskColumn, kindColumn,
    { title: 'waited for', text: true, show: row => BECAUSE[row.because], value: row => row.because },
    timeColumn('time', 'total_s'), ...times, timeColumn('ended at', 'ended_s'),
  ], path.longest.map(withNumber), 50);
}

function legend() {
  const place = byId('legend');
  const all = make('button', { type: 'button', className: 'all', 'aria-pressed': 'true' }, 'All kinds');
  all.addEventListener('click', () => choice.clear());
  choice.listeners.push(() => all.setAttribute('aria-pressed', choice.kinds.size === 0));
  place.append(all, ...kinds.map((_, number) => {
    const button = kindButton(number);
    button.classList.remove('kind');
    return button;
  }));
  place.hidden = kinds.length < 2;
}

function tables() {
  legend();
  kindsTable();
  failedSection();
  pathSection();
  slowestTable();
}
