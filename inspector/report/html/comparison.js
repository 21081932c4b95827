'use strict';
// Leads from the rows of a comparison to the graph of B, and back.
{
  const lines = [...document.querySelectorAll('tr[data-rows]')].map((line) => ({line, queue: line.dataset.queue, rows: line.dataset.rows.split(' ').map(Number)}));
  const lineOf = (queue, row) => lines.find((each) => each.queue === queue && each.rows.includes(row))?.line;
  for (const {line, queue, rows} of lines) {
    const at = rows.find((row) => graphTab.hasNode(queue, row));
    if (at === undefined) continue;
    const show = () => graphTab.open('graph', queue, at);
    line.classList.add('to-graph');
    line.title = 'Show in the graph';
    line.tabIndex = 0;
    line.addEventListener('click', show);
    line.addEventListener('keydown', (event) => { if (event.key === 'Enter') show(); });
  }
  graphTab.rowName = (queue, row) => {
    const line = lineOf(queue, row);
    return line ? `Row #${line.cells[0].textContent}${queue ? ` of ${queue}` : ''}` : '';
  };
  graphTab.showRow = (queue, row) => {
    for (const each of lines) each.line.classList.toggle('shown', each.line === lineOf(queue, row));
    lineOf(queue, row)?.scrollIntoView({block: 'center'});
  };
}
