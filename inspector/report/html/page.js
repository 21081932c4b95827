'use strict';
// Shows one profile.
const showProfile = (data) => {
  UNITS = data.unit === 'ticks' ? TICKS : NANOSECONDS;
  const PAGE = 500;  // table rows shown at once
  const colorOfRow = (row) => colorOfType(data.rows[row].op_type);
  const typical = (statistics) => statistics[data.statistic];
  function rowText(index) {
    const row = data.rows[index], text = data.texts[index];
    return [`#${index + 1} ${text.op}`, text.module, text.kernel, `${time(typical(row.time_ns))} · ${percent(row.share)}`]
      .filter(Boolean).join('\n');
  }

  // ---- Summary
  function summary() {
    if ($('summary').hidden = Boolean(data.steps)) return;  // the page's head has a summary
    $('title').textContent = [data.model || 'Profile', data.method, data.queue].filter(Boolean).join(' · ');
    document.title = $('title').textContent;
    const facts = [
      data.queue ? `${data.queue_about}; not part of the wall time` : '',
      data.inputs.length ? 'in ' + data.inputs.join(', ') : '', data.outputs.length ? 'out ' + data.outputs.join(', ') : '',
      `${data.runs} runs`, data.threads ? counted(data.threads, 'thread') : '',
      data.record ? `names from ${data.record}` : 'names from the program alone'];
    $('subtitle').textContent = facts.filter(Boolean).join(' · ');
    const origin = data.origin;
    $('origin').textContent = [origin.input_values ? `inputs: ${origin.input_values}` : '', origin.tool, origin.date, origin.machine,
      origin.model_digest ? `model ${origin.model_digest}` : ''].filter(Boolean).join(' · ');
    $('warnings').replaceChildren(...data.warnings.map((warning) => make('li', {}, `warning: ${warning}`)));
    const wall = data.wall_ns;
    const delegated = data.rows.filter((row) => row.where === 'delegate').reduce((sum, row) => sum + row.share, 0);
    const kernels = data.rows.filter((row) => row.where === 'kernel');
    const cards = [
      [time(wall.p50), data.queue ? 'sum of the queue per run' : 'per run, median', `${time(wall.min)} to ${time(wall.p90)} (p90)`],
      [time(wall.first), 'first run', wall.steady > 0 ? `${(wall.first / wall.steady).toFixed(2)} × the steady ${time(wall.steady)}` : ''],
      data.queue ? null : [percent(delegated), 'in delegates', kernels.length ? `${kernels.length} ops not delegated` : 'every op is delegated'],
      [String(data.rows.length), 'operators', data.queue ? 'or parts of them' : `${percent(data.unattributed_share)} of the time unattributed`]].filter(Boolean);
    if (data.init_ns !== null) cards.push([time(data.init_ns), 'to load the method', data.load_ns !== null ? `program ${time(data.load_ns)}` : '']);
    if (data.peak_rss_bytes !== null) cards.push([bytes(data.peak_rss_bytes), 'memory, peak', data.steady_rss_bytes !== null ? `${bytes(data.steady_rss_bytes)} after the runs` : '']);
    $('cards').append(...cards.map(card));
    const parts = data.groups.delegate.filter((group) => group.depth === 0)
      .map((group, i) => [group.name, typical(group.time_ns), `var(--c${i % COLORS})`]);
    if (!data.queue) parts.push(['unattributed', Math.max(typical(data.unattributed_time_ns), 0), 'var(--rest)']);
    stack($('split'), $('split-legend'), parts, time);
    for (const note of data.notes) $('notes').append(make('li', {}, note));
  }

  // ---- Flame view: the tree of modules, with rows as leaves.
  const HEIGHT = 23, NARROW = 0.0004;
  function moduleTree() {
    const root = {label: data.model || 'model', name: '', ns: 0, share: 0, children: []};
    const path = [root];
    for (const group of data.groups.module) {
      const node = {label: group.label, name: group.name, ns: typical(group.time_ns), share: group.share, first: Infinity, children: []};
      for (const row of group.rows) {
        node.children.push({label: data.texts[row].op, row, share: data.rows[row].share, first: row, children: []});
      }
      path.length = group.depth + 1;
      path[group.depth].children.push(node);
      path.push(node);
    }
    const settle = (node) => {
      for (const child of node.children) { settle(child); node.first = Math.min(node.first ?? Infinity, child.first); }
      node.children.sort((a, b) => a.first - b.first);
    };
    settle(root);
    return root.children.length === 1 ? root.children[0] : Object.assign(root, {ns: typical(data.wall_ns), share: root.children.reduce((s, c) => s + c.share, 0)});
  }

  function flame() {
    const top = moduleTree();
    const parents = new Map();
    const link = (node) => node.children.forEach((child) => { parents.set(child, node); link(child); });
    link(top);
    let shown = top;
    const draw = () => {
      const box = $('flame');
      box.replaceChildren();
      let depth = 0;
      const place = (node, left, width, level) => {
        if (width < NARROW) return;
        depth = Math.max(depth, level + 1);
        const isRow = node.row !== undefined;
        const element = make('div', {
          class: 'block', 'data-name': isRow ? String(node.row + 1) : node.name,
          style: {left: left * 100 + '%', width: width * 100 + '%', top: level * HEIGHT + 'px',
                  background: isRow ? colorOfRow(node.row) : 'var(--module)', color: isRow ? INK : 'var(--ink)'},
          onclick: () => { if (isRow) return reveal(node.row); shown = node === shown ? parents.get(node) || top : node; draw(); }},
          width > 0.02 ? node.label : '');
        explain(element, () => isRow ? rowText(node.row) : `${node.name}\n${time(node.ns)} · ${percent(node.share)}`);
        box.append(element);
        let at = left;
        for (const child of node.children) {
          const part = node.share > 0 ? width * child.share / node.share : 0;
          place(child, at, part, level + 1);
          at += part;
        }
      };
      place(shown, 0, 1, 0);
      box.style.height = depth * HEIGHT + 'px';
    };
    draw();
    data.groups.op.filter((group) => colored.includes(group.name)).forEach((group) => {
      $('flame-legend').append(make('li', {}, make('i', {style: {background: colorOfType(group.name)}}), group.name + ' ', make('b', {}, percent(group.share))));
    });
  }

  // ---- Table
  const hasCosts = data.rows.some((row) => row.cost !== null);
  const hasLimits = data.machine !== null;
  const number = numberCell, name = nameCell;
  const cost = (of, key) => (of && of[key] !== null ? of[key] : -1);
  function figures(of, share) {
    return [[data.statistic, number(typical(of), time(typical(of)))],
            ['%', {value: share, text: (share * 100).toFixed(1), kind: 'n share', width: share}]];
  }
  function costCells(of) {
    if (!hasCosts) return [];
    const flops = cost(of, 'gflops_per_s'), moved = cost(of, 'gbytes_per_s'), limit = cost(of, 'share_of_limits');
    const cells = [['GFLOP/s', number(flops, flops > 0 ? digits(flops) : '', true)],
                   ['GB/s', number(moved, moved > 0 ? digits(moved) : '', true)]];
    if (hasLimits) cells.push(['of peak', number(limit, limit > 1 ? '> 100 %' : limit > 0 ? percent(limit) : '', true)]);
    return cells;
  }
  const VIEWS = {
    none: {title: 'Operators', lines: () => data.rows.map((row, i) => ({
      rows: [i], row: i, share: row.share, class: row.where,
      cells: [['#', number(i + 1, String(i + 1))], ['ran in', name(data.texts[i].place)], ['source op', name(data.texts[i].op)],
              ['module', name(data.texts[i].module)], ['kernel', name(data.texts[i].kernel, true)],
              ...figures(row.time_ns, row.share), ...costCells(row.cost)]}))}};
  for (const [key, title] of [['op', 'Op types'], ['module', 'Modules'], ['delegate', 'Delegates'], ['line', 'Source lines']]) {
    VIEWS[key] = {title, lines: () => data.groups[key].map((group) => ({
      rows: below(key, group), share: group.share, class: '',
      cells: [[title, {...name(group.name), indent: group.depth, text: group.depth ? group.label : group.name}],
              ['rows', number(group.num_rows, String(group.num_rows))],
              ...figures(group.time_ns, group.share), ...costCells(group.cost)]}))};
  }
  // Returns the rows of a group and of all groups below it.
  function below(key, group) {
    const groups = data.groups[key];
    let rows = group.rows;
    for (let i = groups.indexOf(group) + 1; i < groups.length && groups[i].depth > group.depth; ++i) rows = rows.concat(groups[i].rows);
    return rows;
  }
  const searched = data.rows.map((row, i) => [data.texts[i].op, data.texts[i].module, data.texts[i].kernel, data.texts[i].line,
    data.texts[i].place, row.delegate || '', row.op_type, ...row.source_ops, ...row.folded_ops, ...row.modules, ...row.folded_modules,
    ...row.source_lines].join('\n').toLowerCase());

  const state = {by: 'none', sort: '', down: true, filter: '', limit: PAGE};
  function readState() {
    const given = new URLSearchParams(location.hash.slice(1));
    if (VIEWS[given.get('by')]) state.by = given.get('by');
    state.sort = given.get('sort') || '';
    state.down = given.get('order') !== 'up';
    state.filter = given.get('filter') || '';
    $('filter').value = state.filter;
  }
  function writeState() {
    const given = new URLSearchParams();
    if (state.by !== 'none') given.set('by', state.by);
    if (state.sort) { given.set('sort', state.sort); given.set('order', state.down ? 'down' : 'up'); }
    if (state.filter) given.set('filter', state.filter);
    history.replaceState(null, '', '#' + given);
  }

  function drawTable() {
    const wanted = state.filter.toLowerCase();
    const all = VIEWS[state.by].lines();
    let lines = all.filter((line) => !wanted || line.rows.some((row) => searched[row].includes(wanted)));
    lines = sortLines(lines, state);
    drawTitles($('table'), all, state, drawTable);
    const widest = Math.max(largest(all.map((line) => line.share)), 1e-9), columns = all.length ? all[0].cells.length : 1;
    drawLines($('table'), lines.slice(0, state.limit), state, widest, toggleDetail);
    const shown = new Set(lines.flatMap((line) => line.rows));
    let sum = 0;
    shown.forEach((row) => { sum += data.rows[row].share; });
    $('count').textContent = `${lines.length} of ${all.length} · ${percent(sum)} of the time`;
    $('more').hidden = lines.length <= state.limit;
    $('more').textContent = `Show ${Math.min(PAGE, lines.length - state.limit)} more`;
    const rest = typical(data.unattributed_time_ns);
    $('table').tFoot.replaceChildren(make('tr', {}, make('td', {colspan: columns},
      data.queue ? `sum of the queue ${time(typical(data.wall_ns))}` : `unattributed (delegate entry and exit, dispatch) ${time(rest)} · ${percent(data.unattributed_share)}; wall ${time(typical(data.wall_ns))}`)));
    for (const button of $('views').children) button.setAttribute('aria-selected', String(button.dataset.by === state.by));
    writeState();
  }

  function toggleDetail(row, line) {
    if (line.row === undefined) {
      return toggleFacts(row, [['operators', line.rows.slice(0, 50).map((index) => `#${index + 1} ${data.texts[index].op}`).join(', ') + (line.rows.length > 50 ? ' …' : '')]]);
    }
    const it = data.rows[line.row], t = it.time_ns;
    const button = graphTab.hasNode(data.queue, line.row) ? [make('button', {type: 'button', class: 'to-graph', onclick: () => graphTab.open('graph', data.queue, line.row)}, 'Show in the graph')] : [];
    toggleFacts(row, [
      ['source ops', it.source_ops.map((op, i) => op + (it.modules[i] ? ` (${it.modules[i]})` : '')).join(', ')],
      ['folded in', it.folded_ops.map((op, i) => op + (it.folded_modules[i] ? ` (${it.folded_modules[i]})` : '')).join(', ')],
      ['source line', data.texts[line.row].line],
      ['kernel', it.kernel + (it.library ? ` (${it.library})` : '')],
      ['joined', it.join + (it.whole_call ? ', to all ops of its delegate call' : '')],
      ['times', `first ${time(t.first)} · min ${time(t.min)} · p10 ${time(t.p10)} · p50 ${time(t.p50)} · p90 ${time(t.p90)} · p99 ${time(t.p99)} · max ${time(t.max)}`],
      ['work', it.cost ? `${(it.cost.flops / 1e6).toPrecision(3)} MFLOP · ${bytes(it.cost.bytes)} moved` : ''],
      ['ids', `instruction ${it.instruction}` + (it.identifier ? ` · identifier ${it.identifier}` : '') + (it.debug_handles.length ? ` · handles ${it.debug_handles.join(', ')}` : '')]], button);
  }

  // Shows one row in the table.
  function reveal(index) {
    Object.assign(state, {by: 'none', filter: '', sort: '', limit: Math.max(PAGE, index + 1)});
    $('filter').value = '';
    drawTable();
    const row = $('table').tBodies[0].children[index];
    row.scrollIntoView({block: 'center', behavior: 'smooth'});
    row.click();
  }

  function table() {
    const statistic = {p50: 'medians', avg: 'averages'}[data.statistic];
    $('table-what').textContent = `${statistic} over ${data.steps ? counted(data.steps.kept.length, 'kept step') : counted(data.runs, 'run')}`;
    for (const [key, view] of Object.entries(VIEWS)) {
      $('views').append(make('button', {type: 'button', role: 'tab', 'data-by': key, onclick: () => {
        Object.assign(state, {by: key, sort: '', limit: PAGE});
        drawTable();
      }}, view.title));
    }
    $('filter').addEventListener('input', () => { state.filter = $('filter').value; state.limit = PAGE; drawTable(); });
    $('more').addEventListener('click', () => { state.limit += PAGE; drawTable(); });
    readState();
    drawTable();
  }

  // ---- Timeline of one run
  function tracksOf(line, total) {
    const tracks = line.tracks.map((track) => make('div', {class: 'track'}, make('span', {}, track)));
    for (const [track, kind, index, since, ns] of line.events) {
      const isRow = kind === 'row';
      if (!isRow && !data.delegate_calls[index]) continue;
      const call = isRow ? null : `${data.delegate_calls[index].delegate || 'delegate'} ${data.delegate_calls[index].partition}`;
      const block = make('div', {class: 'block', style: {
        left: 100 * since / total + '%', width: `max(1px, ${100 * ns / total}%)`,
        background: isRow ? colorOfRow(index) : 'var(--module)', color: isRow ? INK : 'var(--ink)',
        padding: ns / total > 0.01 ? '' : '0'}, onclick: () => { if (isRow) reveal(index); }},
        isRow ? data.texts[index].op : call);
      explain(block, () => isRow ? `${rowText(index)}\nhere ${time(ns)}, at ${time(since)}` : `${call}\n${time(ns)}, at ${time(since)}`);
      tracks[track].append(block);
    }
    return tracks;
  }

  function timeline() {
    // Ticks have no place on the CPU's clock.
    if ($('timeline-section').hidden = data.unit === 'ticks') return;
    let total = 1, ticks = null, zoom = 1;
    const show = (line) => {
      total = line.ns || 1;
      const parts = (data.steps?.kept.find((kept) => kept.run === line.run)?.parts || []).filter(([, ns]) => ns);
      const all = parts.reduce((sum, [, ns]) => sum + ns, 0);
      $('timeline-what').textContent = `${line.name || 'run ' + line.run}, ${time(total)}` + (parts.length ? ` in the model, ${time(all)} in all` : '') +
        (line.run === data.timeline.run ? ': about the median' : '') +
        (data.queue ? '; the clock is the device\'s own, so each call begins when the CPU entered it' : '') +
        (line.left_out ? `; ${line.left_out} shorter events left out` : '');
      $('timeline').replaceChildren(ticks = make('div', {class: 'ticks'}), ...tracksOf(line, total));
      stack($('timeline-parts'), $('timeline-parts-legend'), parts.map(([name, ns], i) => [name, ns, name === 'unattributed' ? 'var(--soft)' : `var(--c${i})`]), time);
      draw();
    };
    const draw = () => {
      $('timeline').style.width = 100 * zoom + '%';
      const step = roundStep(total / (6 * zoom));
      ticks.replaceChildren();
      for (let at = 0; at < total; at += step) ticks.append(make('span', {style: {left: 100 * at / total + '%'}}, at === 0 ? '0' : time(at)));
    };
    const by = (factor) => () => {
      const box = $('timeline-scroll'), middle = (box.scrollLeft + box.clientWidth / 2) / box.scrollWidth;
      zoom = Math.min(64, Math.max(1, zoom * factor));
      draw();
      box.scrollLeft = middle * box.scrollWidth - box.clientWidth / 2;
    };
    $('zoom-in').addEventListener('click', by(2));
    $('zoom-out').addEventListener('click', by(0.5));
    show(data.timeline);
    if ($('steps-section').hidden = !data.steps) return;
    $('steps-section').after($('timeline-section'));
    showSteps(data.steps, show);
  }

  // ---- Memory
  function memory() {
    const KINDS = [['planned_bytes', 'activations'], ['workspace_bytes', 'delegate workspace'], ['packed_weights_bytes', 'packed weights'],
                   ['mapped_weights_bytes', 'packed weights in a file'], ['constants_bytes', 'other constants'], ['metadata_bytes', 'metadata']];
    const held = data.steps ? null : data.memory;  // with steps, the page's head shows the memory of all methods
    $('memory-section').hidden = !held && !data.memory_plan;
    if (held) {
      const parts = KINDS.map(([key, what], i) => [what, held[key], `var(--c${i})`]).filter((part) => part[1] > 0);
      stack($('memory-split'), $('memory-legend'), parts, bytes);
    }
    const plan = data.memory_plan;
    if (!plan || !plan.live_bytes.length) return;
    $('plan').hidden = false;
    const peak = plan.peak, count = plan.live_bytes.length, sum = plan.buffers.reduce((all, size) => all + size, 0);
    $('plan-what').textContent = `${bytes(peak.bytes)} alive at instruction ${peak.instruction} of ${count}, in ${bytes(sum)} planned`;
    const chart = svg('svg', {viewBox: '0 0 1000 160', preserveAspectRatio: 'none', role: 'img', 'aria-label': 'bytes alive by instruction'});
    const highest = Math.max(sum, peak.bytes, 1), x = (i) => 1000 * i / count, y = (size) => 156 - 150 * size / highest;
    let path = 'M0 156';
    plan.live_bytes.forEach((size, i) => { path += `L${x(i).toFixed(2)} ${y(size).toFixed(2)}L${x(i + 1).toFixed(2)} ${y(size).toFixed(2)}`; });
    const area = svg('path', {d: path + 'L1000 156Z', style: {fill: 'var(--c0)', opacity: '.75'}});
    chart.append(area, svg('path', {d: `M0 ${y(sum)}H1000`, style: {stroke: 'var(--soft)', strokeDasharray: '6 5', fill: 'none'}, 'vector-effect': 'non-scaling-stroke'}),
                 count === 1 ? '' : svg('rect', {x: x(peak.instruction), y: y(peak.bytes), width: Math.max(2, 1000 / count), height: 156 - y(peak.bytes), style: {fill: 'var(--c2)'}}));
    explain(chart, () => `up to ${bytes(peak.bytes)} at instruction ${peak.instruction}\ndashed: planned, ${bytes(sum)}`);
    $('plan-chart').append(chart);
    const largest = plan.tensors[peak.tensors[0]]?.bytes || 1;
    for (const index of peak.tensors.slice(0, 20)) {
      const tensor = plan.tensors[index];
      const life = `${tensor.first < 0 ? 'start' : '#' + tensor.first} to ${tensor.last >= plan.instructions ? 'end' : '#' + tensor.last}`;
      $('plan-peak').append(make('li', {title: `value ${tensor.value}, offset ${tensor.offset} of buffer ${tensor.buffer}; alive from ${life}`},
        make('span', {}, tensor.type), make('span', {}, bytes(tensor.bytes)), make('i', {style: {width: 100 * tensor.bytes / largest + '%'}})));
    }
    if (peak.tensors.length > 20) $('plan-peak').append(make('li', {}, `and ${peak.tensors.length - 20} more`));
  }

  summary();
  flame();
  table();
  timeline();
  memory();
  return reveal;
};
