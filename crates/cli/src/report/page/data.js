// The data inside the page: figures, names, the timeline; and which kinds are chosen.

const data = JSON.parse(byId('data').textContent);
const figures = data.figures;
const kinds = figures.kinds;
const kindNumber = new Map(kinds.map((kind, number) => [kind.name, number]));

const PALETTE = 10;
const cssColour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const kindVariable = number => number < Math.min(PALETTE, kinds.length) ? `--kind-${number}` : '--kind-other';
const kindName = number => number < kinds.length ? kinds[number].name : 'other kinds';

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const found = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) found[at] = letters.charCodeAt(at);
  return found;
}

/** Reads numbers of variable length, which may be larger than 32 bits. */
class Packed {
  constructor(id) {
    this.bytes = fromBase64(byId(id).textContent);
    this.at = 0;
  }
  number() {
    let byte = this.bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let factor = 128; ; factor *= 128) {
      byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }
  signed() {
    const value = this.number();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
  take(length) {
    return this.bytes.subarray(this.at, this.at += length);
  }
  get isOver() {
    return this.at >= this.bytes.length;
  }
}

/** Every attempt by slot: arrays of begins, ends (in units), kinds, tasks and failures; `first[slot]` is where a slot begins. */
function readAttempts(about, slots) {
  const packed = new Packed('packed-strips');
  const attempts = {
    begin: new Float64Array(about.count), end: new Float64Array(about.count), kind: new Uint8Array(about.count),
    task: new Uint32Array(about.count), failed: new Uint8Array(about.count), first: new Uint32Array(slots + 1),
  };
  const tasks = new Float64Array(kinds.length + 1);
  let number = 0;
  for (let slot = 0; slot < slots; slot++) {
    attempts.first[slot] = number;
    let end = 0, kind = 0;
    for (let left = packed.number(); left > 0; left--, number++) {
      const head = packed.number();
      const gap = Math.floor(head / 4);
      if (head & 2) kind = packed.number();
      attempts.begin[number] = end + gap;
      attempts.end[number] = end = end + gap + packed.number();
      attempts.task[number] = tasks[kind] += packed.signed();
      attempts.kind[number] = kind;
      attempts.failed[number] = head & 1;
    }
  }
  attempts.first[slots] = number;
  return attempts;
}

/** Names of tasks, unpacked when the first is asked for. */
const names = {
  series: null,
  of(task) {
    this.series ??= this.read();
    let low = 0, high = this.series.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.series[middle].first <= task) low = middle + 1; else high = middle;
    }
    const found = this.series[low - 1];
    const place = found ? task - found.first : 0;
    if (!found || place >= found.count) return `task number ${task}`;
    return found.begin === null ? found.stem : found.stem + (found.begin + place);
  },
  read() {
    const packed = new Packed('packed-names');
    const text = new TextDecoder();
    const series = [];
    let first = 0, stem = new Uint8Array();
    while (!packed.isOver) {
      first += packed.number();
      const size = packed.number(), begin = packed.number(), shared = packed.number();
      const rest = packed.take(packed.number());
      const own = new Uint8Array(shared + rest.length);
      own.set(stem.subarray(0, shared));
      own.set(rest, shared);
      stem = own;
      series.push({ first, count: size, begin: begin ? begin - 1 : null, stem: text.decode(own) });
    }
    return series;
  },
};

/** The kinds that are chosen; none means all. */
const choice = {
  kinds: new Set(),
  listeners: [],
  has(number) {
    return this.kinds.size === 0 || this.kinds.has(number);
  },
  toggle(number) {
    if (!this.kinds.delete(number)) this.kinds.add(number);
    this.tell();
  },
  clear() {
    this.kinds.clear();
    this.tell();
  },
  tell() {
    document.body.classList.toggle('filtered', this.kinds.size > 0);
    this.listeners.forEach(listener => listener());
  },
};
