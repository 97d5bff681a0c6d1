// The timeline: slots as rows, attempts as rectangles where they are wide enough, and where they are not, the mixture
// of what lies under each pixel. Below it, what the slots did over the same time.

const GUTTER = 52;
const AXIS = 20;
const ROWS_TALL = 380;
const ROW_MOST = 22;
/** Narrower attempts are mixed. */
const RECTANGLE_LEAST = 2.5;
/** Whatever happened can be seen: nothing is fainter than this. */
const FAINTEST = 0.28;

const view = { from: 0, to: 1, firstSlot: 0, lastSlot: 1 };
const strips = { attempts: null, cells: null, unit: 1, length: 1, slots: 1, focus: null };

function readStrips() {
  strips.slots = Math.max(time.slots, 1);
  strips.length = Math.max(time.makespan_s, 1e-9);
  strips.unit = data.timeline.unit_s;
  if (data.timeline.form === 'attempts') strips.attempts = readAttempts(data.timeline, strips.slots);
  else strips.cells = { ...data.timeline, bytes: new Packed('packed-strips').bytes };
  Object.assign(view, { from: 0, to: strips.length, firstSlot: 0, lastSlot: strips.slots });
}

/** The colour of a CSS variable as numbers. */
function numbers(variable) {
  const value = parseInt(cssColour(variable).slice(1), 16);
  return [value >> 16, value >> 8 & 255, value & 255];
}

/** The pixel that a canvas is drawn with, set to the size it is shown at. */
function prepare(canvas, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  const width = Math.max(canvas.clientWidth, 320);
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d', { alpha: false });
  context.fillStyle = cssColour('--ground');
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(ratio, ratio);
  context.font = '11px system-ui, sans-serif';
  return { context, width, height, ratio };
}

/** How slots are put into rows: `group` slots each, `tall` pixels high. */
function rows() {
  const slots = view.lastSlot - view.firstSlot;
  const count = Math.min(slots, ROWS_TALL / 3);
  const used = Math.ceil(slots / Math.ceil(slots / count));
  return { count: used, group: Math.ceil(slots / count), tall: Math.min(ROW_MOST, Math.max(3, Math.floor(ROWS_TALL / used))) };
}

/** Where the first attempt in a slot is that ends after a moment. */
function firstAfter(slot, moment) {
  const { end, first } = strips.attempts;
  let low = first[slot], high = first[slot + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle] <= moment) low = middle + 1; else high = middle;
  }
  return low;
}

/** A colour as one pixel of an image. */
const pixelOf = ([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0;

/** Adds up what lies under each pixel of a row. */
class Mixture {
  constructor(width) {
    [this.red, this.green, this.blue, this.cover] = [0, 1, 2, 3].map(() => new Float32Array(width));
    this.failed = new Uint8Array(width);
    this.width = width;
  }
  clear() {
    [this.red, this.green, this.blue, this.cover, this.failed].forEach(sums => sums.fill(0));
  }
  add(from, to, [red, green, blue], weight, failed) {
    const last = Math.min(Math.floor(to), this.width - 1);
    for (let pixel = Math.max(0, Math.floor(from)); pixel <= last; pixel++) {
      const cover = Math.max(Math.min(to, pixel + 1) - Math.max(from, pixel), 1e-3) * weight;
      this.red[pixel] += red * cover;
      this.green[pixel] += green * cover;
      this.blue[pixel] += blue * cover;
      this.cover[pixel] += cover;
      this.failed[pixel] |= failed;
    }
  }
  /** Paints the row into the pixels of an image, from line `y` on, on a ground of one colour. */
  paint(pixels, y, tall, ground, bad) {
    const edge = tall - Math.max(1, Math.floor(Math.min(4, tall / 3)));
    for (let x = 0; x < this.width; x++) {
      const cover = this.cover[x];
      if (cover === 0) continue;
      const strength = Math.min(1, Math.max(cover, FAINTEST));
      const mix = (sums, part) => Math.round(sums[x] / cover * strength + ground[part] * (1 - strength));
      const colour = pixelOf([mix(this.red, 0), mix(this.green, 1), mix(this.blue, 2)]);
      for (let line = 0; line < tall; line++) {
        pixels[(y + line) * this.width + x] = this.failed[x] && line >= edge ? bad : colour;
      }
    }
  }
}

/** The colours of kinds as numbers, those not chosen as one shade. */
function kindColours() {
  const muted = numbers('--muted');
  return Array.from({ length: kinds.length + 1 }, (_, number) => choice.has(number) ? numbers(kindVariable(number)) : muted);
}

function drawStrips() {
  const { count: rowCount, group, tall } = rows();
  const { context, width, ratio } = prepare(byId('strips'), rowCount * tall + AXIS);
  const plot = Math.round((width - GUTTER) * ratio);
  const scale = plot / (view.to - view.from);
  const image = context.createImageData(plot, Math.round(rowCount * tall * ratio));
  const [track, bad] = [numbers('--sunken'), numbers('--bad')];
  const colours = kindColours();
  const mixture = new Mixture(plot);
  const rectangles = [];
  const gap = tall > 6 ? 2 : tall > 3 ? 1 : 0;
  const pixels = new Uint32Array(image.data.buffer).fill(pixelOf(numbers('--ground')));
  for (let row = 0; row < rowCount; row++) {
    mixture.clear();
    const firstSlot = view.firstSlot + row * group;
    const slots = Math.min(group, view.lastSlot - firstSlot);
    if (strips.attempts) mixAttempts(mixture, rectangles, row, firstSlot, slots, scale, colours);
    else mixCells(mixture, firstSlot, slots, scale, colours);
    const [y, high] = [Math.round(row * tall * ratio), Math.max(1, Math.round((tall - gap) * ratio))];
    pixels.fill(pixelOf(track), y * plot, (y + high) * plot);
    mixture.paint(pixels, y, high, track, pixelOf(bad));
  }
  context.putImageData(image, Math.round(GUTTER * ratio), 0);
  context.save();
  context.beginPath();
  context.rect(GUTTER, 0, width - GUTTER, rowCount * tall);
  context.clip();
  for (const [row, from, to, kind, failed, isFocus] of rectangles) {
    const [x, wide, y, high] = [GUTTER + from / ratio, (to - from) / ratio, row * tall, tall - gap];
    context.fillStyle = `rgb(${colours[kind].join()})`;
    context.fillRect(x, y, Math.max(wide - 0.6, 0.6), high);
    if (failed) {
      context.fillStyle = `rgb(${bad.join()})`;
      context.fillRect(x, y + high - Math.min(4, high / 2), Math.max(wide - 0.6, 0.6), Math.min(4, high / 2));
    }
    if (isFocus) {
      context.strokeStyle = cssColour('--ink');
      context.lineWidth = 2;
      context.strokeRect(x, y + 1, Math.max(wide, 2), high - 2);
    }
  }
  context.restore();
  labelSlots(context, rowCount, group, tall);
  drawAxis(context, width, rowCount * tall);
}

function mixAttempts(mixture, rectangles, row, firstSlot, slots, scale, colours) {
  const { begin, end, kind, failed, first } = strips.attempts;
  for (let slot = firstSlot; slot < firstSlot + slots; slot++) {
    for (let number = firstAfter(slot, view.from / strips.unit); number < first[slot + 1]; number++) {
      const from = (begin[number] * strips.unit - view.from) * scale;
      if (from >= mixture.width) break;
      const to = (end[number] * strips.unit - view.from) * scale;
      const isFocus = number === strips.focus;
      if (isFocus || slots === 1 && to - from >= RECTANGLE_LEAST) {
        rectangles.push([row, Math.max(from, -9), Math.min(to, mixture.width + 9), kind[number], failed[number], isFocus]);
      } else {
        mixture.add(from, to, colours[kind[number]], 1 / slots, choice.has(kind[number]) ? failed[number] : 0);
      }
    }
  }
}

function mixCells(mixture, firstSlot, slots, scale, colours) {
  const { bytes: cells, rows: rowCount, columns } = strips.cells;
  const rowOf = slot => Math.min(rowCount - 1, Math.floor(slot * rowCount / strips.slots));
  const from = Math.max(0, Math.floor(view.from / strips.unit));
  const to = Math.min(columns, Math.ceil(view.to / strips.unit));
  const [firstRow, lastRow] = [rowOf(firstSlot), rowOf(firstSlot + slots - 1)];
  for (let row = firstRow; row <= lastRow; row++) {
    for (let column = from; column < to; column++) {
      const busy = cells[(row * columns + column) * 2];
      if (busy === 0) continue;
      const kind = Math.min(cells[(row * columns + column) * 2 + 1], kinds.length);
      const x = (column * strips.unit - view.from) * scale;
      mixture.add(x, x + strips.unit * scale, colours[kind], busy / 255 / (lastRow - firstRow + 1), 0);
    }
  }
}

function labelSlots(context, rowCount, group, tall) {
  context.fillStyle = cssColour('--quiet');
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const step = Math.max(1, Math.ceil(14 / tall));
  for (let row = 0; row < rowCount; row += step) {
    context.fillText(`${row === 0 ? 'slot ' : ''}${slotName(view.firstSlot + row * group)}`, GUTTER - 6, Math.max(row * tall + tall / 2, 6));
  }
}

/** A step of 1, 2 or 5 times a power of ten. */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map(factor => factor * power).find(step => step >= least);
}

/** A moment to as many digits as the step between moments has. */
function moment(value, step) {
  const places = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  if (value >= 60 && step >= 1) return seconds(value);
  return `${value.toFixed(places)} s`;
}

function drawAxis(context, width, y) {
  const length = view.to - view.from;
  const step = niceStep(length / Math.max(2, (width - GUTTER) / 110));
  context.textAlign = 'center';
  context.textBaseline = 'top';
  for (let at = Math.ceil((view.from + time.begin_s) / step) * step; at <= view.to + time.begin_s; at += step) {
    const x = GUTTER + (at - time.begin_s - view.from) / length * (width - GUTTER);
    context.fillStyle = cssColour('--line');
    context.fillRect(x, y, 1, 4);
    context.fillStyle = cssColour('--quiet');
    if (x > GUTTER + 12 && x < width - 24) context.fillText(moment(at, step), x, y + 6);
  }
}

/** How many slots were busy with chosen kinds under each pixel. */
function busyWithChosen(plot) {
  const busy = new Float32Array(plot);
  const scale = plot / (view.to - view.from);
  const add = (from, to, weight) => {
    const last = Math.min(Math.floor(to), plot - 1);
    for (let pixel = Math.max(0, Math.floor(from)); pixel <= last; pixel++) {
      busy[pixel] += Math.max(0, Math.min(to, pixel + 1) - Math.max(from, pixel)) * weight;
    }
  };
  if (strips.attempts) {
    const { begin, end, kind, first } = strips.attempts;
    for (let slot = 0; slot < strips.slots; slot++) {
      for (let number = firstAfter(slot, view.from / strips.unit); number < first[slot + 1]; number++) {
        const from = (begin[number] * strips.unit - view.from) * scale;
        if (from >= plot) break;
        if (choice.has(kind[number])) add(from, (end[number] * strips.unit - view.from) * scale, 1);
      }
    }
    return busy;
  }
  const { bytes: cells, rows: rowCount, columns } = strips.cells;
  for (let cell = 0; cell < rowCount * columns; cell++) {
    if (cells[cell * 2] === 0 || !choice.has(cells[cell * 2 + 1])) continue;
    const from = (cell % columns * strips.unit - view.from) * scale;
    add(from, from + strips.unit * scale, cells[cell * 2] / 255 * strips.slots / rowCount);
  }
  return busy;
}

function drawUtilisation() {
  const high = 130;
  const { context, width, ratio } = prepare(byId('utilisation'), high + AXIS);
  const snap = x => Math.round(x * ratio) / ratio;
  const { begin_s: begin, bin_s: bin, slots } = figures.utilisation;
  const plot = width - GUTTER;
  const scale = plot / (view.to - view.from);
  const isFiltered = choice.kinds.size > 0;
  const parts = Object.keys(PARTS);
  const bins = slots.compute.length;
  const first = Math.max(0, Math.floor((view.from + time.begin_s - begin) / bin));
  context.save();
  context.beginPath();
  context.rect(GUTTER, 0, plot, high);
  context.clip();
  context.globalAlpha = isFiltered ? 0.3 : 1;
  for (let number = first; number < bins; number++) {
    const from = (number * bin + begin - time.begin_s - view.from) * scale;
    if (from > plot) break;
    const to = (Math.min((number + 1) * bin, strips.length) + begin - time.begin_s - view.from) * scale;
    // Whole pixels, so that no seams show.
    const [left, right] = [snap(GUTTER + from), Math.max(snap(GUTTER + to), snap(GUTTER + from) + 1 / ratio)];
    let y = high;
    for (const part of parts) {
      const tall = slots[part][number] / strips.slots * high;
      if (tall === 0) continue;
      y -= tall;
      context.fillStyle = cssVariables[part];
      context.fillRect(left, y, right - left, tall + 0.3);
    }
  }
  context.globalAlpha = 1;
  if (isFiltered) {
    const busy = busyWithChosen(Math.round(plot));
    context.fillStyle = choice.kinds.size === 1 ? cssColour(kindVariable([...choice.kinds][0])) : cssColour('--accent');
    busy.forEach((value, x) => {
      const tall = value / strips.slots * high;
      if (tall > 0) context.fillRect(GUTTER + x, high - tall, 1, tall);
    });
  }
  context.restore();
  context.fillStyle = cssColour('--quiet');
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const share of [0, 0.5, 1]) {
    if (strips.slots > 1 || share !== 0.5) {
      context.fillText(digitsOfSlots(strips.slots * share), GUTTER - 6, Math.min(high - 5, Math.max(6, high * (1 - share))));
    }
  }
  drawAxis(context, width, high);
}

const digitsOfSlots = slots => Number.isInteger(slots) ? count(slots) : slots.toFixed(1);
let cssVariables = {};

let isWanted = false;
/** Draws soon, once, however often it is asked for. */
function redraw() {
  if (isWanted) return;
  isWanted = true;
  requestAnimationFrame(drawNow);
}

function drawNow() {
  isWanted = false;
  cssVariables = Object.fromEntries(Object.keys(PARTS).map(part => [part, cssColour(`--${part.replace('_', '-')}`)]));
  drawStrips();
  drawUtilisation();
}

function zoom(factor, around = 0.5) {
  const least = Math.max(strips.unit * 4, strips.length * 1e-7);
  const length = Math.min(strips.length, Math.max(least, (view.to - view.from) * factor));
  const centre = view.from + (view.to - view.from) * around;
  move(centre - length * around, length);
}

function move(from, length = view.to - view.from) {
  view.from = Math.min(Math.max(0, from), strips.length - length);
  view.to = view.from + length;
  redraw();
}

function zoomSlots(factor, around = 0.5) {
  const slots = Math.round(Math.min(strips.slots, Math.max(1, (view.lastSlot - view.firstSlot) * factor)));
  const centre = view.firstSlot + (view.lastSlot - view.firstSlot) * around;
  view.firstSlot = Math.min(Math.max(0, Math.round(centre - slots * around)), strips.slots - slots);
  view.lastSlot = view.firstSlot + slots;
  redraw();
}

function showAll() {
  Object.assign(view, { from: 0, to: strips.length, firstSlot: 0, lastSlot: strips.slots });
  strips.focus = null;
  redraw();
}

/** Slots of a simulated cluster are named by their node and their number there. */
function slotName(slot) {
  let node = 0;
  for (const [nodes, cores] of figures.simulated?.groups ?? []) {
    if (slot < nodes * cores) return `${node + Math.floor(slot / cores)}.${slot % cores}`;
    node += nodes;
    slot -= nodes * cores;
  }
  const cores = figures.simulated?.cores;
  return cores ? `${Math.floor(slot / cores)}.${slot % cores}` : `${slot}`;
}

function slotOf(number) {
  const { first } = strips.attempts;
  let slot = 0;
  while (first[slot + 1] <= number) slot++;
  return slot;
}

function describe(number) {
  if (number === null) return '';
  const { begin, end, kind, task, failed } = strips.attempts;
  const [from, to] = [begin[number] * strips.unit, end[number] * strips.unit];
  return `${names.of(task[number])} · ${kindName(kind[number])} · slot ${slotName(slotOf(number))} · from ${seconds(from + time.begin_s)} for ${seconds(to - from)}${failed[number] ? ' · failed' : ''}`;
}

/** What is at a place on the canvas. */
function at(event) {
  const box = byId('strips').getBoundingClientRect();
  const { count: rowCount, group, tall } = rows();
  const share = (event.clientX - box.left - GUTTER) / (box.width - GUTTER);
  const row = Math.floor((event.clientY - box.top) / tall);
  const slot = view.firstSlot + row * group;
  const isInside = share >= 0 && row >= 0 && row < rowCount && slot < strips.slots;
  return { share: Math.min(1, Math.max(0, share)), slot: isInside ? slot : null, down: row / rowCount, group };
}

function attemptAt(event) {
  const { share, slot, group } = at(event);
  if (!strips.attempts || slot === null || group > 1) return null;
  const moment = (view.from + share * (view.to - view.from)) / strips.unit;
  const number = firstAfter(slot, moment);
  return number < strips.attempts.first[slot + 1] && strips.attempts.begin[number] <= moment ? number : null;
}

/** Makes an attempt the focus, and brings it into view. */
function focusOn(number) {
  strips.focus = number;
  byId('details').textContent = describe(number);
  const { begin, end } = strips.attempts;
  const [from, to] = [begin[number] * strips.unit, end[number] * strips.unit];
  if (from < view.from || to > view.to) move((from + to - view.to + view.from) / 2);
  const slot = slotOf(number);
  if (slot < view.firstSlot || slot >= view.lastSlot) {
    const shown = view.lastSlot - view.firstSlot;
    view.firstSlot = Math.min(Math.max(0, slot - (shown >> 1)), strips.slots - shown);
    view.lastSlot = view.firstSlot + shown;
  }
  redraw();
}

/** Goes from the attempt in focus to the next, the one before, or to one in a slot near by. */
function step(along, across) {
  if (!strips.attempts || strips.attempts.begin.length === 0) return;
  const { begin, first } = strips.attempts;
  if (strips.focus === null) {
    focusOn(Math.min(firstAfter(view.firstSlot, view.from / strips.unit), begin.length - 1));
    return;
  }
  const slot = slotOf(strips.focus);
  if (along) {
    focusOn(Math.min(Math.max(first[slot], strips.focus + along), first[slot + 1] - 1));
    return;
  }
  for (let other = slot + across; other >= 0 && other < strips.slots; other += across) {
    if (first[other] === first[other + 1]) continue;
    focusOn(Math.min(firstAfter(other, begin[strips.focus]), first[other + 1] - 1));
    return;
  }
}

const KEYS = {
  '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': showAll, Home: showAll,
  ArrowLeft: event => event.shiftKey ? move(view.from - (view.to - view.from) * 0.2) : step(-1, 0),
  ArrowRight: event => event.shiftKey ? move(view.from + (view.to - view.from) * 0.2) : step(1, 0),
  ArrowUp: event => event.shiftKey ? zoomSlots(0.5) : step(0, -1),
  ArrowDown: event => event.shiftKey ? zoomSlots(2) : step(0, 1),
};

function listen(canvas) {
  canvas.addEventListener('keydown', event => {
    const act = KEYS[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act(event);
  });
  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    const { share, down } = at(event);
    const factor = Math.exp(Math.max(-1, Math.min(1, (event.deltaY || event.deltaX) / 240)));
    if (event.shiftKey) zoomSlots(factor < 1 ? 0.7 : 1.5, down);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(view.from + event.deltaX / canvas.clientWidth * (view.to - view.from));
    else zoom(factor, share);
  }, { passive: false });
  let drag = null;
  canvas.addEventListener('pointerdown', event => {
    drag = { x: event.clientX, from: view.from };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointerup', () => { drag = null; });
  canvas.addEventListener('pointermove', event => {
    if (drag) move(drag.from - (event.clientX - drag.x) / (canvas.clientWidth - GUTTER) * (view.to - view.from));
    byId('details').textContent = describe(attemptAt(event) ?? strips.focus);
  });
  canvas.addEventListener('click', event => {
    const number = attemptAt(event);
    if (number !== null) focusOn(number);
  });
  byId('zoom-in').addEventListener('click', () => zoom(0.5));
  byId('zoom-out').addEventListener('click', () => zoom(2));
  byId('zoom-all').addEventListener('click', showAll);
}

function timeline() {
  byId('timeline').hidden = totals.attempts === 0;
  if (totals.attempts === 0) return;
  readStrips();
  const grain = strips.attempts
    ? `All ${count(totals.attempts, 'attempt')}; where they are too narrow to be drawn, their colours are mixed.`
    : `With ${count(totals.attempts, 'attempt')}, only what filled each ${seconds(strips.unit)} is kept here; throng report --csv attempts has them all.`;
  const hasFailures = strips.attempts?.failed.includes(1);
  byId('timeline-words').textContent = grain + (hasFailures ? ' Red edges are attempts that failed.' : '');
  byId('strips').setAttribute('aria-label', `Timeline of ${count(time.slots, 'slot')} over ${seconds(time.makespan_s)}`);
  listen(byId('strips'));
  choice.listeners.push(redraw);
  new ResizeObserver(redraw).observe(byId('timeline'));
  drawNow();
}
