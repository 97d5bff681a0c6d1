// The first screen: how it went, how long it took, how far from the best possible, and where the time went.

const { totals, time, bound } = figures;

const STATES = {
  done: ['Done', 'good'], failed: ['Failed', 'bad'], interrupted: ['Interrupted', 'warn'],
  killed: ['Killed', 'bad'], running: ['Still running', 'warn'], simulated: ['Simulated', 'warn'],
};

function headline() {
  const [word, tone] = STATES[figures.state] ?? [figures.state, 'warn'];
  const parts = [
    ['done', totals.done], ['up to date', totals.up_to_date], ['failed', totals.failed], ['skipped', totals.skipped],
    ['running', totals.running], ['left', totals.left],
  ].filter(([, number]) => number > 0);
  const ends = parts.length === 1
    ? `${totals.tasks === 1 ? '' : 'all '}${parts[0][0]}`
    : parts.map(([name, number]) => `${count(number)} ${name}`).join(', ');
  const where = totals.attempts > 0 ? `, in ${seconds(time.makespan_s)} on ${count(time.slots, 'slot')}` : '';
  byId('headline').append(
    make('strong', { className: tone }, word), `: ${count(totals.tasks, 'task')}${ends ? `, ${ends}` : ''}${where}.`, ...judgement());
}

function judgement() {
  if (totals.attempts === 0) return [' Nothing had to run.'];
  if (bound.above === null) return [' Its tasks took no time of their own: all of it was the engine.'];
  const limits = [
    [bound.chain_s, 'tasks that wait for each other'],
    [bound.cores_s, 'what tasks computed, shared among the cores'],
    [bound.share_s, 'the work shared among the slots'],
  ];
  const why = limits.find(([seconds]) => seconds >= bound.bound_s)[1];
  const above = bound.above < 0.005 ? 'It could not have been faster' : `It took ${longer(bound.above)} ${bound.above < 1 ? 'than' : 'as'} the best possible`;
  const part = bound.of_makespan === null ? '' : ` (${percent(bound.of_makespan)} of the run)`;
  const expected = bound.expected_of_makespan === null ? '' : ` The analytic bound, with waiting in line, is ${seconds(bound.expected_s)} (${percent(bound.expected_of_makespan)}).`;
  return [` ${above}: ${seconds(bound.bound_s)}${part}, given by ${why}.${expected}`];
}

const longer = above => above < 1 ? `${percent(above)} longer` : `${digits(above + 1)} times as long`;

function tiles() {
  const slotTime = time.makespan_s * time.slots;
  const tile = (title, figure, note) => byId('tiles').append(make('div', {},
    make('dt', {}, title), make('dd', { className: 'figure' }, figure), make('dd', { className: 'note' }, note)));
  tile('Tasks done', `${count(totals.done)}`,
    totals.failed > 0 ? `${count(totals.failed)} failed, ${count(totals.skipped)} skipped` : `of ${count(totals.tasks)}${totals.up_to_date ? `, ${count(totals.up_to_date)} up to date` : ''}`);
  tile('From first start to last end', seconds(time.makespan_s),
    `${totals.done > 1 ? `${rate(time.tasks_per_s)}; ` : ''}${seconds(time.begin_s)} before that`);
  tile('Best possible', bound.above === null ? '–' : seconds(bound.bound_s),
    bound.above === null ? 'no task took any time' : bound.above < 0.005 ? 'reached' : `the run took ${longer(bound.above)}`);
  tile('Slots computing', slotTime > 0 ? percent(figures.parts.compute / slotTime) : '–',
    `of ${count(time.slots, 'slot')} × ${seconds(time.makespan_s)}`);
  if (figures.data) {
    const { hits, misses, brought_bytes: brought, expected } = figures.data;
    tile('Data brought', bytes(brought), `${expected ? `${bytes(expected.bytes)} expected; ` : ''}${count(misses, 'input')} brought, ${count(hits)} found`);
  }
  tile('Attempts', count(totals.attempts), totals.retries === 1 ? '1 retry' : `${totals.retries ? count(totals.retries) : 'no'} retries`);
}

/** A stacked bar and its explanation: entries are [part, time]. */
function stackedBar(barId, listId, entries, label) {
  const all = entries.reduce((sum, [, value]) => sum + value, 0);
  const shown = entries.filter(([, value]) => value > 0);
  const bar = byId(barId);
  bar.setAttribute('aria-label', `${label}: ${shown.map(([part, value]) => `${PARTS[part][0]} ${percent(value / all)}`).join(', ')}`);
  bar.hidden = shown.length === 0;
  for (const [part, value] of shown) {
    const [name, meaning, isLight] = PARTS[part];
    const colour = `var(--${part.replace('_', '-')})`;
    const share = value / all;
    bar.append(make('span', {
      className: isLight ? 'light' : '', title: `${name}: ${seconds(value)}, ${percent(share)}`,
      style: { flex: `${share} 0 0`, background: colour, padding: share < 0.06 ? '0' : '' },
    }, share >= 0.06 ? `${name} ${percent(share)}` : ''));
    byId(listId).append(make('li', {},
      make('span', { className: 'swatch', style: { background: colour } }), make('span', {}, name),
      make('span', {}, `${seconds(value)}, ${percent(share)}`), make('span', { className: 'quiet' }, meaning)));
  }
}

function whereTheTimeWent() {
  const slotTime = time.makespan_s * time.slots;
  byId('where-words').textContent = slotTime > 0
    ? `${count(time.slots, 'slot')} for ${seconds(time.makespan_s)} are ${seconds(slotTime)} of slot time.`
    : 'No slot was used.';
  stackedBar('where-bar', 'where-list', Object.keys(PARTS).map(part => [part, figures.parts[part]]), 'Where the time of all slots went');
}

function about() {
  const { node, host, simulated } = figures;
  const cpus = node.cpus_milli / 1000;
  const rows = [
    ['Workflow', `${figures.workflow} (${figures.file})`],
    ['Started', `${new Date(figures.started_unix_ms).toISOString().replace('T', ' ').slice(0, 19)} UTC`],
    ['Whole command', time.whole_s === null ? 'not ended' : seconds(time.whole_s)],
    simulated ? ['Cluster', Object.entries(simulated.cluster).filter(([, value]) => value !== null).map(([key, value]) => `${key} ${typeof value === 'object' ? JSON.stringify(value) : value}`).join(', ')] : ['Node', `width ${node.width}, ${cpus} ${cpus === 1 ? 'core' : 'cores'}, ${bytes(node.memory_bytes)} of memory${(node.pools ?? []).map(pool => `, ${pool.amount_milli / 1000} ${pool.name}`).join('')} to give; order ${node.order}, pack ${node.pack}, place ${node.place}`],
    ['Machine', simulated ? 'modelled: nothing of this was really done' : [host.name, host.cpu, host.cores ? count(host.cores, 'core') : '', host.memory_bytes ? `${bytes(host.memory_bytes)} of memory` : '', host.kernel ? `Linux ${host.kernel}` : ''].filter(Boolean).join(', ') || 'not on record'],
    ['Throng', `${figures.version} ${simulated ? 'simulated' : 'ran'} it, ${data.made_by} made this report`],
  ];
  for (const [name, value] of rows) byId('about-list').append(make('dt', {}, name), make('dd', {}, value));
  byId('definition').textContent = data.definition;
  byId('definition').hidden = !data.definition;
  byId('definition-words').textContent = data.definition_is_cut ? 'The definition is too long for a report: this is its beginning.' : '';
  byId('made-by').textContent = `Made by throng report ${figures.run}. docs/report.md says what each figure means; --json and --csv print the same figures.`;
}

function summary() {
  byId('title').textContent = `${figures.workflow}, ${figures.simulated ? 'simulated ' : ''}run ${figures.run}`;
  byId('subtitle').textContent = [
    new Date(figures.started_unix_ms).toISOString().replace('T', ' ').slice(0, 16) + ' UTC', figures.file,
    figures.simulated ? `modelled: ${count(figures.simulated.nodes, 'node')} ${figures.simulated.groups?.length > 1 ? `of ${figures.simulated.groups.length} types` : `with ${count(figures.simulated.cores, 'core')} each`}, seed ${figures.simulated.seed}` : figures.host.name,
  ].filter(Boolean).join(' · ');
  if (figures.damage) {
    byId('damage').textContent = `The record of this run is incomplete: ${figures.damage}. What follows is about what can be read.`;
    byId('damage').hidden = false;
  }
  headline();
  tiles();
  whereTheTimeWent();
  about();
}
