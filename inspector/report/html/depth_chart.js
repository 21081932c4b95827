'use strict';
// Shows errors along the depth of a model: texts for errors in dB, and a chart.

// JSON has no infinity: equal tensors have no SQNR. Other figures without one are NaN.
const db = (figures) => !figures ? null : figures.sqnr_db !== null ? figures.sqnr_db : figures.is_equal ? Infinity : -Infinity;
const dbText = (figures) => !figures ? '' : figures.sqnr_db !== null ? figures.sqnr_db.toFixed(1) : figures.is_equal ? 'same' : 'not finite';
const dbCell = (figures) => numberCell(figures ? db(figures) : NaN, figures ? dbText(figures) : '–');
const short = (value) => value === null || value === undefined ? '' : value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(1) : Number(value.toPrecision(2)).toString();
const limitText = (limit) => `${Number(limit.toPrecision(4))} dB`;
const notFinite = (row) => row.nan + row.infinite ? `${row.nan} NaN and ${row.infinite} infinite of ${counted(row.elements, 'element')}` : '';

function figuresText(figures) {
  if (!figures) return '';
  if (figures.is_equal) return 'the same in all elements';
  const part = (name, value, at) => `${name} ${value === null ? 'not finite' : value.toPrecision(4)}` + (at === undefined ? '' : ` at element ${at}`);
  return [`SQNR ${dbText(figures)}` + (figures.sqnr_db === null ? '' : ' dB'), part('cosine', figures.cosine), part('max diff', figures.max_abs, figures.max_abs_at), part('relative', figures.max_rel, figures.max_rel_at)].join(' · ');
}

// Rows without a figure in the sorted column are last in both directions.
function sortKnown(lines, state) {
  const at = columnOf(lines, state.sort), isKnown = (line) => !Number.isNaN(line.cells[at][1].value);
  return at < 0 ? lines : [...sortLines(lines.filter(isKnown), state), ...lines.filter((line) => !isKnown(line))];
}

// Opens the line of a row, in a table without filter and order.
function revealLine(state, drawTable, index) {
  Object.assign(state, {filter: '', sort: ''});
  $('filter').value = '';
  drawTable();
  const line = $('table').tBodies[0].children[index];
  line.click();
  line.scrollIntoView({block: 'center', behavior: 'smooth'});
}

// Fills a table whose lines do not open.
function smallTable(table, lines) {
  const state = {sort: '', down: true}, draw = () => {
    drawTitles(table, lines, state, draw);
    drawLines(table, sortLines(lines, state), state, 1, () => {});
  };
  draw();
}

// The cells for the figures of an output.
function outputCells(output) {
  const figure = (value, text) => numberCell(value ?? Infinity, value === undefined ? '' : value === null ? 'not finite' : text(value));
  return [['output', numberCell(output.index, String(output.index))], ['type', nameCell(output.b || output.a)],
    ['SQNR dB', output.different === 0 ? numberCell(Infinity, 'same') : figure(output.sqnr_db, (value) => value.toFixed(1))],
    ['cosine', figure(output.cosine, (value) => value.toFixed(6))], ['max diff', figure(output.max_abs, (value) => value.toPrecision(3))],
    ['mean diff', figure(output.mean_abs, (value) => value.toPrecision(3))],
    ['differ', output.not_compared ? nameCell(output.not_compared) : numberCell(output.different, `${output.different} of ${output.elements}`)]];
}
function outputCard(output, what) {
  if (!output || output.not_compared) return [];
  return [[output.different === 0 ? 'same' : output.sqnr_db === null ? 'not finite' : `${output.sqnr_db.toFixed(1)} dB`, what,
           output.max_abs === null ? '' : `largest difference ${output.max_abs.toPrecision(3)}`]];
}

// Draws into the elements depth and depth-legend. Positions of the horizontal axis count from 0.
// - count: the number of positions; ends: the texts below the first and the last one
// - series: {what, color, values, isLine, size}, with a value in dB or null for each position; the first one is on top
// - marks: {at, text, isLow, color, step} with a dotted vertical line; step moves the text by lines
// - bars: {what, color, values, text, most}, with bars relative to `most`
// - explained(i): the tooltip of a position; open(i): the action of a click
function drawDepth({count, ends, series, limit, marks, bars, explained, open}) {
  const STEP = 20, LOWEST = -40, HIGHEST = 160;  // dB
  const figures = series.flatMap(({values}) => values).filter((value) => Number.isFinite(value));
  const bottom = Math.max(LOWEST, Math.min(0, STEP * Math.floor(least(figures.concat(limit)) / STEP)));
  const top = Math.min(HIGHEST, STEP * Math.ceil(Math.max(largest(figures), limit, 40) / STEP)) + STEP;  // the last step is for "same"
  const x = (i) => i + 0.5, y = (value) => 100 * (1 - (Math.min(Math.max(value, bottom), top) - bottom) / (top - bottom));
  const panel = (height, ...content) => {
    const box = make('div', {class: 'panel', style: {height: `${height}px`}},
      svg('svg', {viewBox: `0 0 ${Math.max(count, 1)} 100`, preserveAspectRatio: 'none', role: 'img'}, ...content));
    const at = (event) => {
      const area = box.getBoundingClientRect();
      return Math.min(count - 1, Math.max(0, Math.floor(count * (event.clientX - area.left) / area.width)));
    };
    if (count) {
      explain(box, (event) => explained(at(event)));
      box.addEventListener('click', (event) => open(at(event)));
    }
    $('depth').append(box);
    return box;
  };
  const line = (path, color, width, dashes) => svg('path', {d: path, style: {stroke: color, strokeWidth: `${width}px`, strokeDasharray: dashes || '', fill: 'none', strokeLinecap: 'round'}});
  const grid = [];
  for (let value = bottom; value < top; value += STEP) grid.push(value);
  const parts = grid.map((value) => line(`M0 ${y(value)}H${count}`, 'var(--line)', 1));
  parts.push(line(`M0 ${y(limit)}H${count}`, 'var(--soft)', 1, '5 5'));
  for (const {at, color} of marks) parts.push(line(`M${x(at)} 0V100`, color, 1, '2 4'));
  // A dot is a line of length 0 with round ends.
  const dot = Math.max(3, Math.min(8, 600 / Math.max(count, 1)));
  for (const {values, color, isLine, size = 1} of [...series].reverse()) {
    const points = values.map((value, i) => [x(i), value]).filter(([, value]) => value !== null);
    if (isLine && points.length) parts.push(line('M' + points.map(([at, value]) => `${at} ${y(value).toFixed(2)}`).join('L'), color, 1.5));
    else parts.push(line(points.map(([at, value]) => `M${at} ${y(value).toFixed(2)}h0`).join(''), color, size * dot));
  }
  const errors = panel(240, ...parts);
  errors.firstChild.setAttribute('aria-label', 'error of each operator in dB');
  for (const value of grid) errors.append(make('span', {class: 'scale', style: {top: `${y(value)}%`}}, value === bottom && value === LOWEST ? `≤ ${value}` : `${value} dB`));
  errors.append(make('span', {class: 'scale', style: {top: '0'}}, 'same'));
  for (const {at, text, isLow, step = 0} of marks) {
    const isRight = x(at) > 0.6 * count, side = `calc(${100 * (isRight ? 1 - x(at) / count : x(at) / count)}% + 4px)`;
    const offset = `${18 * step + (isLow ? 2 : -2)}px`;
    errors.append(make('span', {class: 'mark', style: {[isRight ? 'right' : 'left']: side, top: isLow ? 'auto' : offset, bottom: isLow ? offset : 'auto'}}, text));
  }
  for (const {what, color, values, text, most} of bars) {
    if (!(most > 0)) continue;
    const path = values.map((value, i) => value > 0 ? `M${i + 0.1} 100V${(100 - 100 * value / most).toFixed(2)}h0.8V100Z` : '').join('');
    const box = panel(54, svg('path', {d: path, style: {fill: color}}));
    box.firstChild.setAttribute('aria-label', what);
    box.append(make('span', {class: 'scale', style: {top: '6px'}}, text(most)), make('span', {class: 'scale', style: {top: '26px'}}, what));
  }
  if (count) $('depth').append(make('div', {class: 'ends'}, ...ends.map((text) => make('span', {}, text))));
  $('depth-legend').append(...series.map(({what, color, isLine}) => make('li', {}, make('i', {class: isLine ? 'line' : 'dot', style: {background: color}}), what)),
                           make('li', {}, `dashed: limit, ${limitText(limit)}`));
}
