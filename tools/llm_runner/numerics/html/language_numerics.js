'use strict';
// Shows where a language model differs from its reference, by layer and by position.
(() => {
  const data = JSON.parse($('data').textContent), {layers, positions} = data;
  // JSON has no infinity: equal tensors have no SQNR. Other figures without one are NaN.
  const db = (figures) => !figures ? null : figures.sqnr_db !== null ? figures.sqnr_db : figures.equal ? Infinity : -Infinity;
  const dbText = (figures) => !figures ? '–' : figures.sqnr_db !== null ? figures.sqnr_db.toFixed(1) : figures.equal ? 'same' : 'not finite';
  const short = (value) => value === null ? 'not finite' : value === 0 ? '0' : Math.abs(value) < 0.001 ? value.toExponential(1) : Number(value.toPrecision(3)).toString();
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const length = (block) => block.last - block.first + 1;
  const span = (block) => block.first === block.last ? String(block.first) : `${block.first} to ${block.last}`;
  const CACHES = data.cache_names.map((name, i) => [name, (of) => of.cache_figures[i], ['var(--c1)', 'var(--c3)'][i]]);
  const OF_LAYER = [['attention', (of) => of.attention, 'var(--c2)'], ...CACHES, ['output', (of) => of.output, 'var(--c0)']];
  const OF_BLOCK = [...CACHES, ['logits', (of) => of.logits, 'var(--c0)']];

  // ---- Summary
  function summary() {
    $('title').textContent = document.title = `${data.program} · numerics`;
    $('subtitle').textContent = [`reference ${data.reference}`, counted(data.tokens, 'token'),
      data.recorded_positions.length ? `layers measured at positions ${data.recorded_positions.join(', ')}` : ''].filter(Boolean).join(' · ');
    $('origin').textContent = data.tool;
    const kl = positions.some((block) => block.mean_kl === null) ? null : sum(positions.map((block) => block.mean_kl * length(block))) / data.tokens;
    const known = layers.filter((layer) => layer.output);
    const worst = known.length ? known.reduce((a, b) => db(b.output) < db(a.output) ? b : a) : null;
    const peak = positions.reduce((a, b) => b.max_kl === null || (a.max_kl !== null && b.max_kl > a.max_kl) ? b : a);
    const cards = [[short(kl), 'mean KL in nats', `largest ${short(peak.max_kl)} at position ${peak.max_kl_at}`],
      [percent(sum(positions.map((block) => block.same_top_1)) / data.tokens), 'same top-1 token', `of ${counted(data.tokens, 'position')}`],
      [dbText(data.logits), 'SQNR of the logits in dB', '']];
    if (worst) cards.push([dbText(worst.output), 'lowest output in dB', worst.layer]);
    $('cards').append(...cards.map(card));
    for (const note of data.notes) $('notes').append(make('li', {}, note));
  }

  // ---- Charts. Each item has the same width.
  const STEP = 10;  // dB
  function panel(chart, items, height, what, content, text) {
    const box = make('div', {class: 'panel', style: {height: `${height}px`}},
      svg('svg', {viewBox: `0 0 ${items.length} 100`, preserveAspectRatio: 'none', role: 'img', 'aria-label': what}, ...content));
    explain(box, (event) => {
      const area = box.getBoundingClientRect();
      return text(items[Math.min(items.length - 1, Math.max(0, Math.floor(items.length * (event.clientX - area.left) / area.width)))]);
    });
    $(chart).append(box);
    return box;
  }
  const scale = (top, text) => make('span', {class: 'scale', style: {top}}, text);
  const stroke = (d, color, width) => svg('path', {d, style: {stroke: color, strokeWidth: `${width}px`, fill: 'none', strokeLinecap: 'round'}});

  function drawErrors(chart, items, series, text) {
    const finite = series.flatMap(([, of]) => items.map((item) => db(of(item)))).filter(Number.isFinite);
    const bottom = Math.max(-40, Math.min(0, STEP * Math.floor(least(finite) / STEP)));
    const top = Math.max(bottom + 2 * STEP, STEP * Math.ceil(Math.min(160, Math.max(largest(finite), 0)) / STEP) + STEP);  // the last step is for "same"
    const y = (value) => 100 * (top - Math.min(top, Math.max(bottom, value))) / (top - bottom);
    const grid = [], step = STEP * Math.ceil((top - bottom) / (8 * STEP));
    for (let value = bottom; value < top; value += step) grid.push(value);
    const parts = grid.map((value) => stroke(`M0 ${y(value)}H${items.length}`, 'var(--line)', 1));
    for (const [, of, color] of series) {
      const points = items.map((item, i) => [i + 0.5, db(of(item))]).filter(([, value]) => value !== null).map(([x, value]) => `${x} ${y(value).toFixed(2)}`);
      if (points.length) parts.push(stroke('M' + points.join('L'), color, 1.5), stroke(points.map((at) => `M${at}h0`).join(''), color, 6));
    }
    const box = panel(chart, items, 200, 'SQNR in dB', parts, text);
    box.append(...grid.map((value) => scale(`${y(value)}%`, `${value} dB`)));
    if (series.some(([, of]) => items.some((item) => db(of(item)) === Infinity))) box.append(scale('0', 'same'));
  }
  // Bars from 0 to the largest value. A value that is not finite has the full height.
  function drawBars(chart, items, valueOf, format, color, what, text) {
    const values = items.map(valueOf), most = largest(values.filter((value) => value !== null));
    if (!(most > 0) && values.every((value) => value !== null)) return;
    const path = values.map((value, i) => value === 0 ? '' : `M${i + 0.1} 100V${(value === null ? 0 : 100 - 100 * value / most).toFixed(2)}h0.8V100Z`).join('');
    const box = panel(chart, items, 54, what, [svg('path', {d: path, style: {fill: color}})], text);
    box.append(scale('6px', Number.isFinite(most) ? format(most) : ''), scale('26px', what));
  }
  const ends = (chart, first, last) => $(chart).append(make('div', {class: 'ends'}, make('span', {}, first), make('span', {}, last)));
  const legend = (id, series) => $(id).append(...series.map(([what, , color]) => make('li', {}, make('i', {style: {background: color}}), what)));
  const figuresOf = (item, series) => series.map(([what, of]) => of(item) ? `${what} ${dbText(of(item))}` + (of(item).sqnr_db !== null ? ' dB' : '') : '').filter(Boolean);

  function charts() {
    const layerText = (layer) => [layer.layer, ...figuresOf(layer, OF_LAYER)].join('\n');
    const blockText = (block) => [`positions ${span(block)}`, `mean KL ${short(block.mean_kl)}`, `largest KL ${short(block.max_kl)} at ${block.max_kl_at}`,
      `same top-1 token at ${block.same_top_1} of ${length(block)}`, ...figuresOf(block, OF_BLOCK)].join('\n');
    if (layers.length) {
      legend('layer-legend', OF_LAYER);
      drawErrors('layer-chart', layers, OF_LAYER, layerText);
      ends('layer-chart', layers[0].layer, layers.length > 1 ? layers[layers.length - 1].layer : '');
    }
    legend('position-legend', OF_BLOCK);
    drawErrors('position-chart', positions, OF_BLOCK, blockText);
    drawBars('position-chart', positions, (block) => block.mean_kl, short, 'var(--c2)', 'mean KL', blockText);
    drawBars('position-chart', positions, (block) => 1 - block.same_top_1 / length(block), percent, 'var(--c6)', '≠ top-1', blockText);
    ends('position-chart', String(positions[0].first), String(positions[positions.length - 1].last));
  }

  // ---- Tables
  function table(id, lines, factsOf) {
    const state = {sort: '', down: true}, draw = () => {
      drawTitles($(id), lines, state, draw);
      drawLines($(id), sortLines(lines, state), state, 1, (row, line) => toggleFacts(row, factsOf(line.index)));
    };
    draw();
  }
  const dbCell = (figures) => numberCell(db(figures) ?? Infinity, dbText(figures));
  const details = (figures) => !figures ? '' : figures.equal ? 'the same in all elements'
    : [`SQNR ${dbText(figures)} dB`, `cosine ${short(figures.cosine)}`, `max diff ${short(figures.max_abs)}`].join(' · ');
  function tables() {
    table('layers', layers.map((layer, index) => ({rows: [], index, class: '', cells: [['layer', nameCell(layer.layer)],
      ...OF_LAYER.map(([what, of]) => [`${what} dB`, dbCell(of(layer))])]})), (index) => {
      const layer = layers[index];
      const outputs = data.recorded_positions.map((at, i) => `${at}: ${layer.output_db_at_recorded[i] === null || layer.output_db_at_recorded[i] === undefined ? '–' : layer.output_db_at_recorded[i].toFixed(1)}`);
      return [['attention', layer.attention_op], ['', details(layer.attention)], ['output', layer.output_op], ['', details(layer.output)],
        ['output by position', layer.output ? outputs.join(', ') : ''],
        ...layer.caches.map((cache) => [`cache (${cache.role})`, `${cache.reference} against ${cache.program}` + (cache.why_not ? ` · ${cache.why_not}` : '')])];
    });
    table('positions', positions.map((block, index) => ({rows: [], index, class: '', cells: [['positions', {...numberCell(block.first, span(block)), kind: 'name'}],
      ['mean KL', numberCell(block.mean_kl ?? Infinity, short(block.mean_kl))], ['max KL', numberCell(block.max_kl ?? Infinity, short(block.max_kl), true)],
      ['at', numberCell(block.max_kl_at, String(block.max_kl_at), true)],
      ['same top-1', numberCell(block.same_top_1 / length(block), percent(block.same_top_1 / length(block)))],
      ...OF_BLOCK.map(([what, of]) => [`${what} dB`, dbCell(of(block))])]})),
    (index) => OF_BLOCK.map(([what, of]) => [what, details(of(positions[index]))]));
  }

  summary();
  charts();
  tables();
})();
