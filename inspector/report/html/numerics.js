'use strict';
// Shows the errors of a program's operators.
(() => {
  const data = JSON.parse($('data').textContent), {rows} = data;
  const ERRORS = [['made_here', 'made here', 'var(--c2)'], ['inherited', 'inherited', 'var(--c4)'], ['total', 'total', 'var(--c0)']];
  const saturated = (row) => row.elements ? row.saturated / row.elements : 0;
  const nameOf = (i) => [`#${rows[i].row + 1} ${rows[i].name}`, rows[i].module].filter(Boolean).join(' ');
  const isMarked = (i) => i === data.first_below || i === data.first_not_finite;

  function rowText(i) {
    const row = rows[i];
    return [nameOf(i), ...ERRORS.map(([key, what]) => row[key] ? `${what} ${dbText(row[key])}` + (row[key].sqnr_db !== null ? ' dB' : '') : ''),
      row.not_measured, notFinite(row), row.time_ns !== null ? time(row.time_ns) : '', row.bytes !== null ? bytes(row.bytes) : '']
      .filter(Boolean).join('\n');
  }

  // ---- Summary
  function summary() {
    const {program, reference} = data, {origin} = program;
    $('title').textContent = document.title = `${program.model} · ${program.method} · numerics`;
    $('subtitle').textContent = [`reference ${reference.model}`, `aligned by ${data.aligned_by}`,
      data.samples.length ? counted(data.samples.length, 'sample') : ''].filter(Boolean).join(' · ');
    $('origin').textContent = [origin.input_values ? `inputs: ${origin.input_values}` : '', origin.tool, origin.date, origin.machine,
      origin.model_digest ? `model ${origin.model_digest}` : ''].filter(Boolean).join(' · ');
    $('warnings').replaceChildren(...program.warnings.map((text) => make('li', {}, `warning: ${text}`)),
                                  ...reference.warnings.map((text) => make('li', {}, `warning: reference: ${text}`)));
    const below = data.first_below, broken = data.first_not_finite;
    const measured = rows.filter((row) => row.made_here).length;
    const limit = limitText(data.limit_db);
    const cards = [
      below === null ? ['none', `below ${limit}`, measured ? 'no operator makes a larger error' : 'no operator was measured']
                     : [`#${rows[below].row + 1}`, `first below ${limit}`, `${rows[below].op} ${rows[below].module} · made here ${dbText(rows[below].made_here)} dB`],
      broken === null ? ['none', 'NaN or infinity', ''] : [`#${rows[broken].row + 1}`, 'first NaN or infinity', `${rows[broken].name} ${rows[broken].module} · ${notFinite(rows[broken])}`],
      [`${measured} of ${rows.length}`, 'operator values measured', '']];
    cards.push(...outputCard(data.outputs[0], 'SQNR of output 0'));
    $('cards').append(...cards.map(card));
    for (const note of data.notes) $('notes').append(make('li', {}, note));
  }

  // ---- Errors, times and bytes along the run
  function depth() {
    const bars = (key, text, color, what) => {
      const values = rows.map((row) => row[key] ?? 0);
      return {what, color, values, text, most: largest(values)};
    };
    drawDepth({
      count: rows.length, limit: data.limit_db, explained: rowText, open: reveal,
      ends: rows.length ? [`#${rows[0].row + 1}`, `#${rows[rows.length - 1].row + 1}`] : [],
      series: ERRORS.map(([key, what, color]) => ({what, color, values: rows.map((row) => db(row[key])), isLine: key === 'total', size: key === 'made_here' ? 1 : 0.7})),
      marks: [[data.first_below, 'first below', true], [data.first_not_finite, 'first NaN or ∞', false]].filter(([at]) => at !== null)
        .map(([at, what, isLow]) => ({at, text: `${what}: #${rows[at].row + 1}`, isLow, color: 'var(--c2)'})),
      bars: [bars('time_ns', time, 'var(--c1)', 'time'), bars('bytes', bytes, 'var(--c3)', 'bytes')]});
  }

  // ---- Table
  const hasSamples = data.samples.length > 0, hasTimes = rows.some((row) => row.time_ns !== null), hasBytes = rows.some((row) => row.bytes !== null);
  const state = {sort: '', down: true, filter: ''};
  const lines = rows.map((row, i) => {
    const shown = row.made_here || row.total, share = saturated(row);
    const cells = [['#', numberCell(row.row, String(row.row + 1))], ['source op', {...nameCell(row.name), value: row.op}], ['module', nameCell(row.module)],
      ['ran in', nameCell(row.ran_in, true)], ['as', nameCell(row.stored, true)], ['here dB', dbCell(row.made_here)]];
    if (hasSamples) {
      cells.push(['worst', numberCell(row.worst ? row.worst.sqnr_db ?? Infinity : NaN, row.worst ? (row.worst.sqnr_db === null ? '' : row.worst.sqnr_db.toFixed(1)) : '', true)],
                 ['sample', numberCell(row.worst ? row.worst.sample : NaN, row.worst ? String(row.worst.sample) : '', true)]);
    }
    cells.push(['inherited', dbCell(row.inherited)], ['total dB', dbCell(row.total)],
      ['max diff', numberCell(shown ? shown.max_abs ?? Infinity : NaN, shown ? short(shown.max_abs) || '∞' : '', true)],
      ['sat. %', numberCell(share, share > 0 ? short(100 * share) : '')]);
    if (hasTimes) cells.push(['time', numberCell(row.time_ns ?? NaN, row.time_ns === null ? '' : time(row.time_ns), true)]);
    if (hasBytes) cells.push(['bytes', numberCell(row.bytes ?? NaN, row.bytes === null ? '' : bytes(row.bytes), true)]);
    return {rows: [row.row], index: i, class: isMarked(i) ? 'marked' : row.made_here ? '' : 'unmeasured', cells};
  });
  const searched = rows.map((row) => [row.op, row.module, row.ran_in, row.stored, row.type, row.not_measured, ...row.lines].join('\n').toLowerCase());

  function facts(i) {
    const row = rows[i];
    const stored = row.stored_as;
    return [['source op', row.op], ['module', row.module], ['source lines', row.lines.join(', ')], ['ran in', row.ran_in], ['value', row.type],
      ['stored as', stored ? stored.dtype + (stored.rows === 1 ? ` · scale ${short(stored.scale)} · zero point ${stored.zero_point}` : ` · ${counted(stored.rows, 'row')} with parameters of their own`) : ''],
      ['not measured', row.not_measured], ...ERRORS.map(([key, what]) => [what, figuresText(row[key])]),
      ['worst sample', row.worst ? `${data.samples[row.worst.sample]}` + (row.worst.sqnr_db === null ? '' : ` · ${row.worst.sqnr_db.toFixed(1)} dB`) : ''],
      ['saturated', row.saturated ? `${row.saturated} of ${counted(row.elements, 'element')}` : ''], ['not finite', notFinite(row)],
      ['mark', [i === data.first_below ? 'first below the limit' : '', i === data.first_not_finite ? 'first NaN or infinity' : ''].filter(Boolean).join(', ')],
      ['time', row.time_ns === null ? '' : time(row.time_ns)], ['bytes', row.bytes === null ? '' : bytes(row.bytes)],
      ['debug handles', row.debug_handles.join(', ')]];
  }

  function drawTable() {
    const wanted = state.filter.toLowerCase();
    const shown = sortKnown(lines.filter((line) => !wanted || searched[line.index].includes(wanted)), state);
    drawTitles($('table'), lines, state, drawTable);
    drawLines($('table'), shown, state, 1, (row, line) => {
      const at = rows[line.index].row;
      const button = graphTab.hasNode('', at) ? [make('button', {type: 'button', class: 'to-graph', onclick: () => graphTab.open('graph', '', at)}, 'Show in the graph')] : [];
      toggleFacts(row, facts(line.index), button);
    });
    $('count').textContent = `${shown.length} of ${lines.length}`;
  }
  const reveal = (index) => revealLine(state, drawTable, index);
  function table() {
    $('table-what').textContent = ['figures of ' + (hasSamples ? `all ${counted(data.samples.length, 'sample')} together` : 'one run'),
      hasTimes ? `times: median of ${counted(data.timed_runs, 'run')} that kept no values` : ''].filter(Boolean).join(' · ');
    $('filter').addEventListener('input', () => { state.filter = $('filter').value; drawTable(); });
    drawTable();
  }

  // ---- Small tables
  function others() {
    smallTable($('outputs'), data.outputs.map((output) => ({rows: [output.index], class: '', cells: outputCells(output)})));
    $('reasons-section').hidden = !data.without_figures.length;
    const SHOWN = 12;
    smallTable($('reasons'), data.without_figures.map(([reason, indices]) => ({rows: [], class: '', cells: [
      ['reason', nameCell(reason)], ['rows', numberCell(indices.length, String(indices.length))],
      ['operators', nameCell(indices.slice(0, SHOWN).map(nameOf).join(', ') + (indices.length > SHOWN ? ` and ${indices.length - SHOWN} more` : ''))]]})));
  }

  graphTab.showRow = (queue, row) => {
    const index = queue ? -1 : rows.findIndex((other) => other.row === row);
    if (index >= 0) reveal(index);
  };
  summary();
  depth();
  table();
  others();
})();
