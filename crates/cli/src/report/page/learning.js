// What a node learnt: how many tasks of each kind at once, what the machine did meanwhile, and why each number was changed.

const RESOURCES = { cpu: 'cores', net: 'network', disk: 'disks', mem: 'memory', remote: 'shared storage' };
const PICTURE = { width: 960, height: 150, left: 52, right: 12, top: 10, bottom: 24 };

function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A picture of lines over the time of the run. A line is { name, colour, points: [[seconds, value]], steps }. */
function overTime(placeId, title, lines, most, label) {
  const { width, height, left, right, top, bottom } = PICTURE;
  const length = time.makespan_s || 1;
  const x = at => left + (width - left - right) * Math.min(1, Math.max(0, (at - time.begin_s) / length));
  const y = value => height - bottom - (height - top - bottom) * Math.min(1, value / (most || 1));
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title });
  for (const part of [0, 0.5, 1]) {
    const place = y(most * part);
    picture.append(svg('line', { x1: left, x2: width - right, y1: place, y2: place, stroke: 'var(--line)' }));
    const text = svg('text', { x: left - 6, y: place + 4, 'text-anchor': 'end', 'font-size': 11, fill: 'var(--quiet)' });
    text.textContent = label(most * part);
    picture.append(text);
  }
  for (const part of [0, 0.5, 1]) {
    const anchor = part === 0 ? 'start' : part === 1 ? 'end' : 'middle';
    const text = svg('text', { x: x(time.begin_s + length * part), y: height - 6, 'text-anchor': anchor, 'font-size': 11, fill: 'var(--quiet)' });
    text.textContent = seconds(length * part);
    picture.append(text);
  }
  for (const line of lines) {
    let path = '', before = null;
    for (const [at, value] of line.points) {
      if (value === null) { before = null; continue; }
      const [across, up] = [x(at).toFixed(1), y(value).toFixed(1)];
      path += before === null ? `M${across} ${up}` : line.steps ? `H${across}V${up}` : `L${across} ${up}`;
      before = value;
    }
    if (line.steps && line.points.length > 0) path += `H${x(time.end_s).toFixed(1)}`;
    const drawn = svg('path', { d: path, fill: 'none', stroke: line.colour, 'stroke-width': 1.6 });
    const name = svg('title', {});
    name.textContent = line.name;
    drawn.append(name);
    picture.append(drawn);
  }
  const names = lines.map(line => make('li', {},
    make('span', { className: 'swatch', style: { background: line.colour } }), ` ${line.name}`));
  byId(placeId).append(make('h3', {}, title), picture, make('ul', { className: 'parts' }, ...names));
}

function learning() {
  const learnt = figures.learning;
  if (!learnt) return;
  byId('learning').hidden = false;
  const { node, changes, used, ends, part_s: part, made_room: madeRoom } = learnt;
  // Of several simulated nodes, one is on record.
  const isOneOfMany = node !== null;
  const whose = isOneOfMany ? `Node ${node} of ${figures.simulated.nodes}` : 'The node';
  const middle = index => time.begin_s + (index + 0.5) * part;
  const stopped = madeRoom > 0 ? ` ${count(madeRoom, 'attempt')} ${madeRoom === 1 ? 'was' : 'were'} stopped because memory was short, and run again.` : '';
  byId('learning-words').textContent = changes.length > 0
    ? `${whose} found out by itself how many tasks of each kind to run at once: it changed its mind ${count(changes.length, 'time')}.${stopped}`
    : `${whose} was measured, and found no reason to run another number of tasks at once than it began with.${stopped}`;
  const byKind = new Map();
  for (const change of changes) {
    if (!byKind.has(change.kind)) byKind.set(change.kind, []);
    byKind.get(change.kind).push([change.at_s, change.width]);
  }
  if (byKind.size > 0) {
    const most = Math.max(...changes.map(change => change.width));
    const lines = [...byKind].map(([name, points]) => {
      const number = kindNumber.get(name) ?? kinds.length;
      return { name: kindName(number), colour: `var(${kindVariable(number)})`, points, steps: true };
    });
    overTime('learning-pictures', `Tasks at once, as learnt${isOneOfMany ? ` by node ${node}` : ''}`, lines, most, value => count(Math.round(value)));
  }
  const resources = Object.entries(used).filter(([, values]) => values.some(value => value > 0.01));
  overTime('learning-pictures', `What was used of ${isOneOfMany ? 'all machines, on average' : 'the machine'}, by whomever`, resources.map(([name, values], number) => ({
    name: RESOURCES[name] ?? name, colour: `var(--kind-${number})`, points: values.map((value, index) => [middle(index), value]),
  })), 1, value => percent(value));
  const rates = ends.map((number, index) => [middle(index), part > 0 ? number / part : 0]);
  const most = Math.max(...rates.map(([, value]) => value));
  overTime('learning-pictures', 'Tasks done in a second', [{ name: 'all kinds', colour: 'var(--accent)', points: rates }], most, value => rate(value));
  if (changes.length > 0) {
    const rows = changes.map(change => ({ ...change, number: kindNumber.get(change.kind) ?? kinds.length }));
    table('learning-table', `Changes of how many tasks run at once${isOneOfMany ? `, of node ${node}` : ''}`, [
      { title: 'At', hint: 'after the command began', show: row => seconds(row.at_s), value: row => row.at_s },
      { title: 'Kind', show: row => row.kind, value: row => row.kind, text: true },
      { title: 'At once', show: row => count(row.width), value: row => row.width },
      { title: 'Why', show: row => row.why, value: row => row.why, text: true },
    ], rows);
  }
}
