'use strict';
// Shows the errors of two programs side by side.
(() => {
  const data = JSON.parse($('data').textContent), {rows} = data;
  const SIDES = [['a', 'A', 'var(--c0)'], ['b', 'B', 'var(--c2)']];
  const numberOf = (row) => row ? `#${row.row + 1}` : '–';
  const nameOf = (i) => [rows[i].name, rows[i].module].filter(Boolean).join(' ');
  const sideText = (row) => [numberOf(row), row.stored_as, row.made_here ? `made here ${dbText(row.made_here)}` : '', row.total ? `total ${dbText(row.total)}` : '',
    row.time_ns !== null ? time(row.time_ns) : ''].filter(Boolean).join(' · ');
  const rowText = (i) => [nameOf(i), ...SIDES.map(([key, label]) => rows[i][key] ? `${label} ${sideText(rows[i][key])}` : '')].filter(Boolean).join('\n');
  const pairOf = (key, row) => row === null ? -1 : rows.findIndex((pair) => pair[key] && pair[key].row === row);
  const marked = new Set(SIDES.flatMap(([key]) => [pairOf(key, data[key].first_below_row), pairOf(key, data[key].first_not_finite_row)]));

  function summary() {
    const {a, b, reference} = data, {origin} = a;
    $('title').textContent = document.title = `A ${a.model} · B ${b.model} · numerics`;
    $('subtitle').textContent = [a.method, `reference ${reference.model}`, data.samples.length ? counted(data.samples.length, 'sample') : ''].filter(Boolean).join(' · ');
    $('origin').textContent = [origin.input_values ? `inputs: ${origin.input_values}` : '', origin.tool, origin.date, origin.machine].filter(Boolean).join(' · ');
    const warnings = [...SIDES.map(([key, label]) => [label, data[key]]), ['reference', reference]];
    $('warnings').replaceChildren(...warnings.flatMap(([label, side]) => side.warnings.map((text) => make('li', {}, `warning: ${label}: ${text}`))));
    const limit = limitText(data.limit_db);
    const cards = SIDES.flatMap(([key, label]) => outputCard(data[key].outputs[0], `${label}: SQNR of output 0`));
    for (const [key, label] of SIDES) {
      const {first_below: first, first_not_finite: broken} = data[key].names;
      cards.push(first ? [`#${data[key].first_below_row + 1}`, `${label}: first below ${limit}`, first] : ['none', `${label}: below ${limit}`, 'no operator makes a larger error']);
      if (broken) cards.push([`#${data[key].first_not_finite_row + 1}`, `${label}: first NaN or infinity`, broken]);
    }
    $('cards').append(...cards.map(card));
    const both = rows.filter((pair) => pair.a && pair.b).length;
    $('notes').append(make('li', {}, `aligned by the reference's values: ${counted(both, 'operator value')} in both A and B; without a reference value: ${data.unaligned_a} of A, ${data.unaligned_b} of B`),
                      ...SIDES.flatMap(([key, label]) => data[key].notes.map((note) => make('li', {}, `${label}: ${note}`))));
  }

  function depth() {
    const series = (key, label, color, error, what, isLine) =>
      ({what: `${label} ${what}`, color, isLine, values: rows.map((pair) => pair[key] ? db(pair[key][error]) : null)});
    const times = SIDES.map(([key]) => rows.map((pair) => pair[key] ? pair[key].time_ns ?? 0 : 0)), most = largest(times.flat());
    drawDepth({
      count: rows.length, limit: data.limit_db, explained: rowText, open: reveal,
      ends: rows.length ? [nameOf(0), nameOf(rows.length - 1)] : [],
      series: [...SIDES.map(([key, label, color]) => series(key, label, color, 'made_here', 'made here', false)),
               ...SIDES.map(([key, label, color]) => series(key, label, color, 'total', 'total', true))],
      marks: SIDES.flatMap(([key, label, color], i) => [['first_below_row', 'first below', true], ['first_not_finite_row', 'first NaN or ∞', false]]
        .map(([first, what, isLow]) => ({at: pairOf(key, data[key][first]), text: `${label} ${what}`, isLow, color, step: i})))
        .filter(({at}) => at >= 0),
      bars: SIDES.map(([, label, color], i) => ({what: `${label} time`, color, values: times[i], text: time, most}))});
  }

  const hasTimes = rows.some((pair) => SIDES.some(([key]) => pair[key] && pair[key].time_ns !== null));
  const state = {sort: '', down: true, filter: ''};
  const lines = rows.map((pair, i) => {
    const each = (title, cell) => SIDES.map(([key, label]) => [title(label), cell(pair[key])]);
    const change = pair.a && pair.b && pair.a.total && pair.b.total ? db(pair.b.total) - db(pair.a.total) : NaN;
    const cells = [...each((label) => `#${label}`, (row) => numberCell(row ? row.row : NaN, numberOf(row).replace('#', ''))),
      ['source op', {...nameCell(pair.name), value: pair.op}], ['module', nameCell(pair.module)],
      ...each((label) => `${label} as`, (row) => nameCell(row ? row.stored_as : '', true)),
      ...each((label) => `${label} here`, (row) => dbCell(row && row.made_here)),
      ...each((label) => `${label} total`, (row) => dbCell(row && row.total)),
      ['B − A', numberCell(change, Number.isFinite(change) ? change.toFixed(1) : '', true)]];
    if (hasTimes) cells.push(...each((label) => `${label} time`, (row) => numberCell(row && row.time_ns !== null ? row.time_ns : NaN, row && row.time_ns !== null ? time(row.time_ns) : '', true)));
    return {rows: [i], index: i, class: marked.has(i) ? 'marked' : '', cells};
  });
  const searched = rows.map((pair) => [pair.op, pair.module, ...pair.lines, ...SIDES.map(([key]) => pair[key] ? `${pair[key].stored_as}\n${pair[key].not_measured}` : '')].join('\n').toLowerCase());
  const ERRORS = [['made_here', 'made here'], ['inherited', 'inherited'], ['total', 'total']];
  function facts(i) {
    const pair = rows[i];
    return [['source op', pair.op], ['module', pair.module], ['source lines', pair.lines.join(', ')], ...SIDES.flatMap(([key, label]) => {
      const row = pair[key];
      if (!row) return [[label, 'has no operator for this value']];
      return [[label, `${numberOf(row)} · ${row.type}` + (row.stored_as ? ` · as ${row.stored_as}` : '')], [`${label} not measured`, row.not_measured], ...ERRORS.map(([error, what]) => [`${label} ${what}`, figuresText(row[error])]),
        [`${label} time`, row.time_ns === null ? '' : time(row.time_ns)]];
    })];
  }
  function drawTable() {
    const wanted = state.filter.toLowerCase();
    const shown = sortKnown(lines.filter((line) => !wanted || searched[line.index].includes(wanted)), state);
    drawTitles($('table'), lines, state, drawTable);
    drawLines($('table'), shown, state, 1, (row, line) => toggleFacts(row, facts(line.index)));
    $('count').textContent = `${shown.length} of ${lines.length}`;
  }
  const reveal = (index) => revealLine(state, drawTable, index);
  function tables() {
    $('table-what').textContent = ['SQNR in dB of ' + (data.samples.length ? `all ${counted(data.samples.length, 'sample')} together` : 'one run'),
      hasTimes ? `times: medians of ${SIDES.map(([key, label]) => `${data[key].timed_runs} runs of ${label}`).join(' and ')}` : ''].filter(Boolean).join(' · ');
    $('filter').addEventListener('input', () => { state.filter = $('filter').value; drawTable(); });
    drawTable();
    smallTable($('outputs'), SIDES.flatMap(([key, label]) => data[key].outputs.map((output) => ({rows: [output.index], class: '', cells: [['program', nameCell(label)], ...outputCells(output)]}))));
    const reasons = SIDES.flatMap(([key, label]) => data[key].without_figures.map(([reason, names, count]) => ({rows: [], class: '', cells: [
      ['program', nameCell(label)], ['reason', nameCell(reason)], ['rows', numberCell(count, String(count))],
      ['operators', nameCell(names.join(', ') + (count > names.length ? ` and ${count - names.length} more` : ''))]]})));
    $('reasons-section').hidden = !reasons.length;
    smallTable($('reasons'), reasons);
  }
  summary();
  depth();
  tables();
})();
