// Numbers in words, and elements from words. Whatever comes from a run is only ever set as text.

const byId = id => document.getElementById(id);

/** Makes an element from properties, ARIA attributes and children. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-') || name === 'role' || name === 'scope') element.setAttribute(name, value);
    else if (name === 'style') Object.assign(element.style, value);
    else element[name] = value;
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

/** Three digits that count. */
function digits(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function seconds(value) {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0 s';
  if (size < 1e-6) return `${(value * 1e9).toFixed(0)} ns`;
  if (size < 0.9995e-3) return `${digits(value * 1e6)} µs`;
  if (size < 0.9995) return `${digits(value * 1e3)} ms`;
  if (size < 59.995) return `${digits(value)} s`;
  const two = number => String(Math.floor(number)).padStart(2, '0');
  if (size < 3600) return `${Math.floor(value / 60)} min ${two(value % 60)} s`;
  if (size < 86400) return `${Math.floor(value / 3600)} h ${two(value % 3600 / 60)} min`;
  return `${Math.floor(value / 86400)} d ${Math.floor(value % 86400 / 3600)} h`;
}

function bytes(value) {
  for (const [size, unit] of [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']]) {
    if (value >= size) return `${digits(value / size)} ${unit}`;
  }
  return value === 0 ? '0' : `${value} B`;
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const count = (number, thing) => thing ? `${whole.format(number)} ${thing}${number === 1 ? '' : 's'}` : whole.format(number);

function percent(share) {
  const value = share * 100;
  if (value === 0) return '0 %';
  if (value < 0.1) return '< 0.1 %';
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}

const rate = perSecond => perSecond >= 100 ? `${whole.format(perSecond)}/s` : `${digits(perSecond)}/s`;

/** A part's or path's name and what it means. */
const PARTS = {
  compute: ['computing', 'processes of attempts that succeeded', false],
  in_vain: ['in vain', 'processes of attempts that failed, were stopped or lost', false],
  engine: ['engine', 'Throng, with a task in the slot: looking at files, starting, taking in the end', false],
  not_started: ['ready, not started', 'a slot was free and a task ready: it did not fit, its data was on its way, or the engine was late', true],
  pause: ['pause before a retry', 'a slot was free; a task waited for its next attempt', true],
  inputs: ['waiting for inputs', 'a slot was free; what was left waited for other tasks', true],
  stopping: ['stopping', 'the run was stopping and started nothing more', true],
  tail: ['tail', 'a slot was free; fewer tasks were left than slots', true],
};
const BECAUSE = { first: 'the beginning', inputs: 'a parent', slot: 'the slot', retry: 'a retry' };
