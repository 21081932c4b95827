'use strict';
// Helpers for all parts of the page: elements, figures, colors, tooltips.
const $ = (id) => document.getElementById(id);

// ---- Elements. Names come from files, so they are set as text, never as markup.
function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'style') Object.assign(element.style, value);
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

// ---- Figures
const NANOSECONDS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [0, 'ns']];
const TICKS = [[1e9, 'Gticks'], [1e6, 'Mticks'], [1e3, 'kticks'], [0, 'ticks']];
let UNITS = NANOSECONDS;  // of the profile that is shown
function unitFor(ns) { return UNITS.find(([size]) => Math.abs(ns) >= size) || UNITS[3]; }
function digits(value) { return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2); }
function time(ns) {
  const [size, name] = unitFor(ns);
  return (ns < 0 ? '−' : '') + digits(Math.abs(ns) / (size || 1)) + ' ' + name;
}
function bytes(count) {
  const step = [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']].find(([size]) => count >= size) || [1, 'B'];
  return (step[0] === 1 ? String(Math.round(count)) : digits(count / step[0])) + ' ' + step[1];
}
const percent = (share) => (share * 100).toFixed(1) + ' %';
// Accepts lists of any length; Math.max(...numbers) is limited by the size of the stack.
const largest = (numbers) => numbers.reduce((a, b) => Math.max(a, b), -Infinity);
const least = (numbers) => numbers.reduce((a, b) => Math.min(a, b), Infinity);
const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;
// Returns the smallest of 1, 2, 5 or 10 times a power of ten that is at least `about`.
function roundStep(about) {
  const power = 10 ** Math.floor(Math.log10(about));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= about);
}

// ---- Colors. The slowest op types have one color each.
const COLORS = 8;
const INK = '#16181d';
let colored = [];
function colorTypes(types) { colored = types.slice(0, COLORS); }
function colorOfType(type) {
  const index = colored.indexOf(type);
  return index >= 0 ? `var(--c${index})` : 'var(--rest)';
}

// ---- Tooltip
function explain(element, text) {
  const tip = $('tip');
  element.addEventListener('pointermove', (event) => {
    tip.textContent = text(event);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - box.width - 8)) + 'px';
    tip.style.top = (event.clientY + 16 + box.height > innerHeight ? event.clientY - box.height - 10
                                                                  : event.clientY + 16) + 'px';
  });
  element.addEventListener('pointerleave', () => { tip.hidden = true; });
}

// ---- Parts of a page
const card = ([figure, what, more]) =>
  make('div', {class: 'card'}, make('span', {}, what), make('b', {}, figure), make('i', {}, more));

function stack(bar, legend, parts, text) {
  const sum = parts.reduce((all, part) => all + part[1], 0) || 1;
  bar.replaceChildren();
  legend.replaceChildren();
  bar.setAttribute('aria-label', parts.map(([name, value]) => `${name} ${percent(value / sum)}`).join(', '));
  for (const [name, value, color] of parts) {
    const element = make('div', {style: {background: color, flexGrow: String(value / sum), flexBasis: '0'}});
    explain(element, () => `${name}\n${text(value)} · ${percent(value / sum)}`);
    if (value > 0) bar.append(element);
    legend.append(make('li', {}, make('i', {style: {background: color}}), name + ' ', make('b', {}, text(value)), ' ' + percent(value / sum)));
  }
}
