'use strict';
// Shows a search of precisions.
(() => {
  const data = JSON.parse($('data').textContent), {parts, steps, results} = data;
  const COLORS_OF = {float: 'var(--c0)', int8: 'var(--c2)', chosen: 'var(--c4)'};
  const hasScore = [...steps, ...results].some((program) => program.score !== undefined);
  const milliseconds = (ms) => ms === undefined ? '' : time(1e6 * ms);
  // JSON has no infinity: equal outputs have no dB. Outputs that are not finite have none either.
  const db = (value, isExact) => value !== null ? value : isExact ? Infinity : -Infinity;
  const dbText = (value, isExact) => value !== null ? value.toFixed(1) : isExact ? 'exact' : 'not finite';
  const quality = (program) => hasScore ? program.score : db(program.db, program.is_exact);
  const qualityText = (program) => hasScore ? `score ${Number(program.score.toPrecision(6))}`
    : dbText(program.db, program.is_exact) + (program.db === null ? '' : ' dB');
  const nameOf = (program) => COLORS_OF[program.name] ? program.name : `${counted(Number(program.name), 'part')} quantized`;
  const limit = data.unit === 'bytes' ? bytes(data.limit) : `${Number(data.limit.toPrecision(6))} ${data.unit}`;
  const bound = `${data.bound.startsWith('at least') ? 'at least' : 'at most'} ${limit}`;

  // ---- Summary
  function summary() {
    $('title').textContent = document.title = 'A precision for each part';
    $('subtitle').textContent = [`bound: ${bound}`, `measured with ${counted(data.samples, 'sample')}`].join(' · ');
    const [chosen, first] = [results.find((each) => each.name === 'chosen'), results.find((each) => each.name === 'float')];
    const cards = [[data.interrupted ? 'interrupted' : data.keeps_bound ? 'kept' : 'not kept', 'bound', bound]];
    if (chosen && first) {
      const share = (part, all) => `${percent(part / all)} of float`;
      cards.push([qualityText(chosen), hasScore ? 'score' : 'SQNR of the outputs', hasScore ? `float: ${qualityText(first)}` : 'against the float program'],
                 [bytes(chosen.bytes), 'size', share(chosen.bytes, first.bytes)],
                 [milliseconds(chosen.ms), 'time', share(chosen.ms, first.ms)]);
    }
    cards.push([`${parts.filter((part) => part.chosen !== 'float').length} of ${parts.length}`, 'parts quantized', '']);
    $('cards').append(...cards.map(card));
    if (data.interrupted) $('notes').append(make('li', {}, 'The search was interrupted; the result is the best program until then.'));
    else if (!data.keeps_bound) $('notes').append(make('li', {}, 'No measured program meets the bound; the result is the nearest one.'));
    $('command-section').hidden = !data.command;
    $('command').textContent = data.command || '';
  }

  // ---- Curves
  function curve(key, text, what) {
    const programs = [...steps, ...results].filter((each) => each[key] && quality(each) !== undefined);
    if (!programs.length) return;
    const figures = programs.map(quality).filter(Number.isFinite);
    const isQualityBound = data.bound.startsWith('at least'), isCostBound = data.unit === (key === 'bytes' ? 'bytes' : 'ms');
    if (isQualityBound) figures.push(data.limit);
    let bottom = least(figures), top = largest(figures);
    if (!figures.length) [bottom, top] = [0, 1];
    const space = Math.max((top - bottom) * 0.1, hasScore ? 0.001 : 1);
    [bottom, top] = [bottom - space, top + space];
    const hasExact = programs.some((each) => quality(each) === Infinity), range = hasExact ? 85 : 100;
    const right = 1.08 * largest(programs.map((each) => each[key]).concat(isCostBound ? [data.limit] : []));
    const x = (cost) => 100 * cost / right;
    const y = (value) => value === Infinity ? 4 : value === -Infinity ? 100 : 100 - range * (value - bottom) / (top - bottom);
    const line = (path, color, dashes) => svg('path', {d: path, style: {stroke: color, strokeWidth: '1.5px', strokeDasharray: dashes || '', fill: 'none'}});
    const best = [];
    for (const each of [...programs].sort((a, b) => a[key] - b[key] || quality(b) - quality(a))) {
      if (!best.length || quality(each) > quality(best[best.length - 1])) best.push(each);
    }
    const lines = [line('M' + best.map((each) => `${x(each[key])} ${y(quality(each))}`).join('L'), 'var(--soft)')];
    if (isQualityBound) lines.push(line(`M0 ${y(data.limit)}H100`, 'var(--soft)', '5 5'));
    if (isCostBound) lines.push(line(`M${x(data.limit)} 0V100`, 'var(--soft)', '5 5'));
    const box = make('div', {class: 'curve'}, svg('svg', {viewBox: '0 0 100 100', preserveAspectRatio: 'none', role: 'img',
      'aria-label': `${hasScore ? 'score' : 'dB'} against ${what}`}, ...lines));
    for (const each of programs) {
      const color = COLORS_OF[each.name];
      const point = make('span', {class: color ? 'point named' : 'point', style: {left: `${x(each[key])}%`, top: `${y(quality(each))}%`, background: color || 'var(--rest)'}});
      explain(point, () => [nameOf(each), qualityText(each), bytes(each.bytes), milliseconds(each.ms)].filter(Boolean).join('\n'));
      box.append(point);
    }
    const step = roundStep((top - bottom) / 5);
    for (let value = step * Math.ceil(bottom / step); value < top; value += step) {
      box.append(make('span', {class: 'side', style: {top: `${y(value)}%`}}, hasScore ? String(Number(value.toPrecision(4))) : `${Number(value.toFixed(1))} dB`));
    }
    if (hasExact) box.append(make('span', {class: 'side', style: {top: `${y(Infinity)}%`}}, 'exact'));
    const width = roundStep(right / 4);
    for (let value = 0; value < right; value += width) box.append(make('span', {class: 'foot', style: {left: `${x(value)}%`}}, text(value)));
    $('curves').append(make('div', {}, make('h3', {}, `${hasScore ? 'score' : 'error'} against ${what}`), box));
  }
  function curves() {
    curve('bytes', bytes, 'size');
    curve('ms', (value) => value ? milliseconds(value) : '0', 'time');
    $('curve-legend').append(...Object.entries(COLORS_OF).map(([name, color]) => make('li', {}, make('i', {style: {background: color}}), name)),
      make('li', {}, make('i', {style: {background: 'var(--rest)'}}), 'other programs of the search'), make('li', {}, `dashed: the bound, ${limit}`));
  }

  // ---- Tables
  const signed = (value, text) => value < 0 ? `−${text(-value)}` : text(value);
  const lines = parts.flatMap((part, index) => part.levels.map((level) => ({rows: [index], class: part.chosen === level.scheme ? 'marked' : '', cells: [
    ['part', nameCell(part.name)], ['precision', nameCell(level.scheme)],
    ['dB alone', numberCell(db(level.db_alone, level.is_exact), dbText(level.db_alone, level.is_exact))],
    ['time saved', numberCell(level.ms_saved, level.ms_saved === 0 ? '~0' : signed(level.ms_saved, milliseconds))],
    ['bytes saved', numberCell(level.bytes_saved, signed(level.bytes_saved, bytes))],
    ['result', nameCell(part.chosen === level.scheme ? 'chosen' : part.chosen === 'float' ? 'float' : '', true)]]})));
  const programLines = [...results, ...steps].map((each, index) => ({rows: [index], class: each.name === 'chosen' ? 'marked' : '', cells: [
    ['program', nameCell(nameOf(each))], ['dB', numberCell(db(each.db, each.is_exact), dbText(each.db, each.is_exact))],
    ...(hasScore ? [['score', numberCell(each.score ?? NaN, each.score === undefined ? '' : String(Number(each.score.toPrecision(6))))]] : []),
    ['time', numberCell(each.ms ?? NaN, milliseconds(each.ms))], ['size', numberCell(each.bytes, bytes(each.bytes))]]}));

  function table(element, all, filter) {
    const state = {sort: '', down: true};
    const draw = () => {
      const wanted = filter ? $('filter').value.toLowerCase() : '';
      const shown = sortLines(all.filter((line) => line.cells.some(([, cell]) => cell.kind === 'name' && cell.value.toLowerCase().includes(wanted))), state);
      drawTitles(element, all, state, draw);
      drawLines(element, shown, state, 1, () => {});
      if (filter) $('count').textContent = `${shown.length} of ${all.length}`;
    };
    if (filter) $('filter').addEventListener('input', draw);
    draw();
  }

  summary();
  curves();
  $('table-what').textContent = 'each alone in one precision, against the float program; in the order in which the search quantizes them';
  table($('table'), lines, true);
  table($('programs'), programLines, false);
})();
