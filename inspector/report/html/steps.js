'use strict';
// Shows the steps of a longer run: a bar for each step, and a button for each step that was kept in full. The
// bar of a kept step is a button too. A click calls show(step).
const showSteps = (steps, show) => {
  const all = steps.all, buttons = [];
  $('steps-what').textContent = steps.what;
  $('steps').hidden = $('steps-ends').hidden = all.length < 2;
  const median = all.map(([, ns]) => ns).sort((a, b) => a - b)[Math.floor(all.length / 2)] || 1;
  const highest = Math.min(Math.max(largest(all.map(([, ns]) => ns)), 1), 4 * median);  // so that a disturbed step does not flatten the others
  const height = (ns) => 100 * Math.min(ns / highest, 1);
  const width = all.length > 400 ? 1 : 0.8;  // narrow bars have no gap
  const bars = all.map(([, ns], i) => `M${i} 100V${(100 - height(ns)).toFixed(2)}h${width}V100`).join('');
  const chart = svg('svg', {viewBox: `0 0 ${all.length} 100`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `time of ${all.length} steps`},
    svg('path', {d: bars, style: {fill: 'var(--bar)'}}));
  explain(chart, (event) => {
    const box = chart.getBoundingClientRect();
    const [position, ns] = all[Math.min(all.length - 1, Math.max(0, Math.floor(all.length * (event.clientX - box.left) / box.width)))];
    return `position ${position}\n${time(ns)}`;
  });
  $('steps').append(chart);
  if (all.length) $('steps-ends').append(make('span', {}, `position ${all[0][0]}`), make('span', {}, `full height ${time(highest)}`), make('span', {}, String(all[all.length - 1][0])));
  const add = (box, line, attributes, text) => {
    const button = make('button', {type: 'button', 'aria-label': line.name, 'aria-pressed': 'false', ...attributes, onclick: () => {
      show(line);
      for (const [step, stepButton] of buttons) stepButton.setAttribute('aria-pressed', String(step === line));
    }}, text);
    explain(button, () => `${line.name}\n${time(line.ns)} in the model` + (line.step === null ? '' : `, ${time(all[line.step][1])} in all`));
    buttons.push([line, button]);
    box.append(button);
  };
  for (const line of steps.kept) {
    const at = line.step !== null && {left: 100 * (line.step + width / 2) / all.length + '%', height: height(all[line.step][1]) + '%'};
    if (at) add($('steps'), line, {class: 'kept', style: {...at, width: `max(5px, ${100 * width / all.length}%)`}});
    add($('steps-kept'), line, {}, line.name);
  }
};
