'use strict';
// Shows the errors of a program's operators.
(() => {
  const data = JSON.parse($('data').textContent), {rows} = data;
  const ERRORS = [['made_here', 'made here', 'var(--c2)'], ['inherited', 'inherited', 'var(--c4)'], ['total', 'total', 'var(--c0)']];
  // JSON has no infinity: equal tensors have no SQNR. Other figures without one are NaN.
  const db = (figures) => !figures ? null : figures.sqnr_db !== null ? figures.sqnr_db : figures.is_equal ? Infinity : -Infinity;
  const dbText = (figures) => !figures ? '' : figures.sqnr_db !== null ? figures.sqnr_db.toFixed(1) : figures.is_equal ? 'same' : 'not finite';
  const short = (value) => value === null || value === undefined ? '' : value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(1) : Number(value.toPrecision(2)).toString();
  const saturated = (row) => row.elements ? row.saturated / row.elements : 0;
  const nameOf = (i) => [`#${rows[i].row + 1} ${rows[i].name}`, rows[i].module].filter(Boolean).join(' ');
  const notFinite = (row) => row.nan + row.infinite ? `${row.nan} NaN and ${row.infinite} infinite of ${counted(row.elements, 'element')}` : '';
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
    const below = data.first_below, broken = data.first_not_finite, output = data.outputs[0];
    const measured = rows.filter((row) => row.made_here).length;
    const limit = `${Number(data.limit_db.toPrecision(4))} dB`;
    const cards = [
      below === null ? ['none', `below ${limit}`, 'no operator makes a larger error']
                     : [`#${rows[below].row + 1}`, `first below ${limit}`, `${rows[below].op} ${rows[below].module} · made here ${dbText(rows[below].made_here)} dB`],
      broken === null ? ['none', 'NaN or infinity', ''] : [`#${rows[broken].row + 1}`, 'first NaN or infinity', `${rows[broken].name} ${rows[broken].module} · ${notFinite(rows[broken])}`],
      [`${measured} of ${rows.length}`, 'operator values measured', '']];
    if (output && !output.not_compared) {
      cards.push([output.different === 0 ? 'same' : output.sqnr_db === null ? 'not finite' : `${output.sqnr_db.toFixed(1)} dB`, 'SQNR of output 0',
                  output.max_abs === null ? '' : `largest difference ${output.max_abs.toPrecision(3)}`]);
    }
    $('cards').append(...cards.map(card));
    for (const note of data.notes) $('notes').append(make('li', {}, note));
  }

  // ---- Errors, times and bytes along the run
  const STEP = 20, LOWEST = -40, HIGHEST = 160;  // dB
  function depth() {
    const figures = rows.flatMap((row) => ERRORS.map(([key]) => db(row[key]))).filter((value) => Number.isFinite(value));
    const bottom = Math.max(LOWEST, Math.min(0, STEP * Math.floor(least(figures.concat(data.limit_db)) / STEP)));
    const top = Math.min(HIGHEST, STEP * Math.ceil(Math.max(largest(figures), data.limit_db, 40) / STEP)) + STEP;  // the last step is for "same"
    const x = (i) => i + 0.5, y = (value) => 100 * (1 - (Math.min(Math.max(value, bottom), top) - bottom) / (top - bottom));
    const panel = (height, ...content) => {
      const box = make('div', {class: 'panel', style: {height: `${height}px`}},
        svg('svg', {viewBox: `0 0 ${Math.max(rows.length, 1)} 100`, preserveAspectRatio: 'none', role: 'img'}, ...content));
      const at = (event) => {
        const area = box.getBoundingClientRect();
        return Math.min(rows.length - 1, Math.max(0, Math.floor(rows.length * (event.clientX - area.left) / area.width)));
      };
      if (rows.length) {
        explain(box, (event) => rowText(at(event)));
        box.addEventListener('click', (event) => reveal(at(event)));
      }
      $('depth').append(box);
      return box;
    };
    const line = (path, color, width, dashes) => svg('path', {d: path, style: {stroke: color, strokeWidth: `${width}px`, strokeDasharray: dashes || '', fill: 'none', strokeLinecap: 'round'}});
    const grid = [];
    for (let value = bottom; value < top; value += STEP) grid.push(value);
    const parts = grid.map((value) => line(`M0 ${y(value)}H${rows.length}`, 'var(--line)', 1));
    parts.push(line(`M0 ${y(data.limit_db)}H${rows.length}`, 'var(--soft)', 1, '5 5'));
    for (const index of new Set([data.first_below, data.first_not_finite])) {
      if (index !== null) parts.push(line(`M${x(index)} 0V100`, 'var(--c2)', 1, '2 4'));
    }
    // A line for the total, dots for the others. A dot is a line of length 0 with round ends.
    const dot = Math.max(3, Math.min(8, 600 / Math.max(rows.length, 1)));
    for (const [key, , color] of [...ERRORS].reverse()) {
      const points = rows.map((row, i) => [x(i), db(row[key])]).filter(([, value]) => value !== null);
      if (key === 'total' && points.length) parts.push(line('M' + points.map(([at, value]) => `${at} ${y(value).toFixed(2)}`).join('L'), color, 1.5));
      else parts.push(line(points.map(([at, value]) => `M${at} ${y(value).toFixed(2)}h0`).join(''), color, key === 'made_here' ? dot : 0.7 * dot));
    }
    const errors = panel(240, ...parts);
    errors.firstChild.setAttribute('aria-label', 'error of each operator in dB');
    for (const value of grid) errors.append(make('span', {class: 'scale', style: {top: `${y(value)}%`}}, value === bottom && value === LOWEST ? `≤ ${value}` : `${value} dB`));
    errors.append(make('span', {class: 'scale', style: {top: '0'}}, 'same'));
    for (const [index, what] of [[data.first_below, 'first below'], [data.first_not_finite, 'first NaN or ∞']]) {
      if (index === null) continue;
      const isRight = x(index) > 0.6 * rows.length, side = `calc(${100 * (isRight ? 1 - x(index) / rows.length : x(index) / rows.length)}% + 4px)`;
      errors.append(make('span', {class: 'mark', style: {[isRight ? 'right' : 'left']: side, top: what === 'first below' ? 'auto' : '-2px', bottom: what === 'first below' ? '2px' : 'auto'}}, `${what}: #${rows[index].row + 1}`));
    }
    const bars = (key, text, color, what) => {
      const most = largest(rows.map((row) => row[key] ?? 0));
      if (!(most > 0)) return;
      const path = rows.map((row, i) => row[key] > 0 ? `M${i + 0.1} 100V${(100 - 100 * row[key] / most).toFixed(2)}h0.8V100Z` : '').join('');
      const box = panel(54, svg('path', {d: path, style: {fill: color}}));
      box.firstChild.setAttribute('aria-label', what);
      box.append(make('span', {class: 'scale', style: {top: '6px'}}, text(most)), make('span', {class: 'scale', style: {top: '26px'}}, what));
    };
    bars('time_ns', time, 'var(--c1)', 'time');
    bars('bytes', bytes, 'var(--c3)', 'bytes');
    if (rows.length) $('depth').append(make('div', {class: 'ends'}, make('span', {}, `#${rows[0].row + 1}`), make('span', {}, `#${rows[rows.length - 1].row + 1}`)));
    $('depth-legend').append(...ERRORS.map(([, what, color]) => make('li', {}, make('i', {style: {background: color}}), what)),
                             make('li', {}, `dashed: limit, ${Number(data.limit_db.toPrecision(4))} dB`));
  }

  // ---- Table
  const hasSamples = data.samples.length > 0, hasTimes = rows.some((row) => row.time_ns !== null), hasBytes = rows.some((row) => row.bytes !== null);
  const state = {sort: '', down: true, filter: ''};
  const dbCell = (figures) => numberCell(figures ? db(figures) : NaN, figures ? dbText(figures) : '–');
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
    const row = rows[i], figures = ([key, what]) => {
      const of = row[key];
      if (!of) return [what, ''];
      if (of.is_equal) return [what, 'the same in all elements'];
      const part = (name, value, at) => `${name} ${value === null ? 'not finite' : value.toPrecision(4)}` + (at === undefined ? '' : ` at element ${at}`);
      return [what, [`SQNR ${dbText(of)}` + (of.sqnr_db === null ? '' : ' dB'), part('cosine', of.cosine), part('max diff', of.max_abs, of.max_abs_at), part('relative', of.max_rel, of.max_rel_at)].join(' · ')];
    };
    const stored = row.stored_as;
    return [['source op', row.op], ['module', row.module], ['source lines', row.lines.join(', ')], ['ran in', row.ran_in], ['value', row.type],
      ['stored as', stored ? stored.dtype + (stored.rows === 1 ? ` · scale ${short(stored.scale)} · zero point ${stored.zero_point}` : ` · ${counted(stored.rows, 'row')} with parameters of their own`) : ''],
      ['not measured', row.not_measured], ...ERRORS.map(figures),
      ['worst sample', row.worst ? `${data.samples[row.worst.sample]}` + (row.worst.sqnr_db === null ? '' : ` · ${row.worst.sqnr_db.toFixed(1)} dB`) : ''],
      ['saturated', row.saturated ? `${row.saturated} of ${counted(row.elements, 'element')}` : ''], ['not finite', notFinite(row)],
      ['mark', [i === data.first_below ? 'first below the limit' : '', i === data.first_not_finite ? 'first NaN or infinity' : ''].filter(Boolean).join(', ')],
      ['time', row.time_ns === null ? '' : time(row.time_ns)], ['bytes', row.bytes === null ? '' : bytes(row.bytes)],
      ['debug handles', row.debug_handles.join(', ')]];
  }

  // Rows without a figure are last in both directions.
  function sorted(shown) {
    const at = columnOf(shown, state.sort), isKnown = (line) => !Number.isNaN(line.cells[at][1].value);
    return at < 0 ? shown : [...sortLines(shown.filter(isKnown), state), ...shown.filter((line) => !isKnown(line))];
  }
  function drawTable() {
    const wanted = state.filter.toLowerCase();
    const shown = sorted(lines.filter((line) => !wanted || searched[line.index].includes(wanted)));
    drawTitles($('table'), lines, state, drawTable);
    drawLines($('table'), shown, state, 1, (row, line) => {
      const at = rows[line.index].row;
      const button = graphTab.hasNode('', at) ? [make('button', {type: 'button', class: 'to-graph', onclick: () => graphTab.open('graph', '', at)}, 'Show in the graph')] : [];
      toggleFacts(row, facts(line.index), button);
    });
    $('count').textContent = `${shown.length} of ${lines.length}`;
  }
  function reveal(index) {
    Object.assign(state, {filter: '', sort: ''});
    $('filter').value = '';
    drawTable();
    const row = $('table').tBodies[0].children[index];
    row.click();
    row.scrollIntoView({block: 'center', behavior: 'smooth'});
  }
  function table() {
    $('table-what').textContent = ['figures of ' + (hasSamples ? `all ${counted(data.samples.length, 'sample')} together` : 'one run'),
      hasTimes ? `times: median of ${counted(data.timed_runs, 'run')} that kept no values` : ''].filter(Boolean).join(' · ');
    $('filter').addEventListener('input', () => { state.filter = $('filter').value; drawTable(); });
    drawTable();
  }

  // ---- Small tables
  function small(table, all) {
    const own = {sort: '', down: true}, draw = () => {
      drawTitles(table, all, own, draw);
      drawLines(table, sortLines(all, own), own, 1, () => {});
    };
    draw();
  }
  function others() {
    const figure = (value, text) => numberCell(value ?? Infinity, value === undefined ? '' : value === null ? 'not finite' : text(value));
    small($('outputs'), data.outputs.map((output) => ({rows: [output.index], class: '', cells: [
      ['output', numberCell(output.index, String(output.index))], ['type', nameCell(output.b || output.a)],
      ['SQNR dB', output.different === 0 ? numberCell(Infinity, 'same') : figure(output.sqnr_db, (value) => value.toFixed(1))],
      ['cosine', figure(output.cosine, (value) => value.toFixed(6))], ['max diff', figure(output.max_abs, (value) => value.toPrecision(3))],
      ['mean diff', figure(output.mean_abs, (value) => value.toPrecision(3))],
      ['differ', output.not_compared ? nameCell(output.not_compared) : numberCell(output.different, `${output.different} of ${output.elements}`)]]})));
    $('reasons-section').hidden = !data.without_figures.length;
    const SHOWN = 12;
    small($('reasons'), data.without_figures.map(([reason, indices]) => ({rows: [], class: '', cells: [
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
