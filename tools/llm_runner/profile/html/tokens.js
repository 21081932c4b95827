'use strict';
// Shows the cost of all steps of a language model: the summary, the table of phases, the growth with position.
const showHead = (data) => {
  const {run, phases, memory} = data, decodes = phases.decode.steps > 0;
  const aToken = (of, phase) => of[phase + '_ns'] / (phases[phase].tokens || 1);
  const share = (of, phase) => of[phase + '_ns'] / (data.wall[phase + '_ns'] || 1);
  const sum = (key) => data.groups.op.reduce((all, group) => all + group[key], 0);

  // ---- Summary
  function summary() {
    $('title').textContent = [run.model || 'Profile', run.method].join(' · ');
    document.title = $('title').textContent;
    $('subtitle').textContent = [run.machine, run.threads && counted(run.threads, 'thread'), `context ${run.max_context}`,
                                 run.record ? `names from ${run.record}` : 'names from the program alone'].filter(Boolean).join(' · ');
    const speed = (phase) => [digits(phases[phase].tokens_per_s), `${phase}, tokens/s`];
    const cards = [[...speed('prefill'), `${counted(phases.prefill.tokens, 'token')} in ${counted(phases.prefill.steps, 'call')}, ${time(phases.prefill.wall_ns)}`]];
    if (decodes) {
      const token = data.token_ns;
      cards.unshift([...speed('decode'), `${counted(phases.decode.steps, 'token')} in ${time(phases.decode.wall_ns)}`]);
      cards.push([time(token.p50), 'a token, p50', `p90 ${time(token.p90)} · p99 ${time(token.p99)}`]);
    }
    const firsts = run.first_token_ns;
    if (firsts.length) cards.push([time(firsts[0]), 'time to first token', firsts.length > 1 ? `${firsts.length} prompts: ${time(least(firsts))} to ${time(largest(firsts))}` : '']);
    if (run.init_ns !== undefined) cards.push([time(run.init_ns), 'init', run.load_ns !== undefined ? `load ${time(run.load_ns)}` : '']);
    if (memory.peak_rss) cards.push([bytes(memory.peak_rss), 'memory, peak', 'of the process']);
    $('token-cards').append(...cards.map(card));

    const phase = decodes ? 'decode' : 'prefill';
    $('token-split-what').textContent = decodes ? `A decoded token, ${time(aToken(data.wall, phase))} on average` : `A prefill token, ${time(aToken(data.wall, phase))}`;
    const shown = data.groups.op.filter((group) => colored.includes(group.name));
    const parts = shown.map((group) => [group.name, aToken(group, phase), colorOfType(group.name)]);
    const rest = data.groups.op.filter((group) => !colored.includes(group.name)).reduce((all, group) => all + aToken(group, phase), 0);
    const outside = Object.values(data.parts).reduce((all, part) => all + aToken(part, phase), 0);
    parts.push(['other ops', rest, 'var(--rest)'], ['unattributed', Math.max(aToken(data.unattributed, phase), 0), 'var(--soft)'], ['outside of the model', outside, 'var(--module)']);
    stack($('token-split'), $('token-split-legend'), parts.filter(([, ns]) => ns > 0), time);
    stack($('token-memory'), $('token-memory-legend'), memory.parts.map(([name, size], i) => [name, size, `var(--c${i})`]), bytes);
    if (memory.cache_spans.length) {
      $('token-caches').textContent = 'Cache: ' + memory.cache_spans.map(([name, layers, size]) => `${name} ${layers > 1 ? 'have' : 'has'} ${bytes(size)}${layers > 1 ? ' each' : ''}`).join(', ');
    }
    for (const note of data.notes) $('token-notes').append(make('li', {}, note));
  }

  // ---- Phases side by side
  const LIMIT = 200;  // rows shown at first
  const narrow = matchMedia('(max-width: 720px)');
  const rate = (of) => {
    const moved = of.weight_bytes + of.cache_bytes, ns = aToken(of, 'decode');
    return moved >= 1000 && ns > 0 ? moved / ns : 0;
  };
  const unless0 = (text) => (value) => (value > 0 ? text(value) : '');
  const [begin, end] = data.fitted_positions || [0, 0];
  const growth = (of) => (of.growth ? (end - begin) * of.growth.a_position_ns : 0);
  const columnsOf = (phase) => [
    {phase, title: 'calls', value: (of) => of[phase + '_calls'] || 0, text: unless0(String), isWide: true},
    {phase, title: 'total', value: (of) => of[phase + '_ns'], text: time, isWide: true},
    {phase, title: 'a token', value: (of) => aToken(of, phase), text: time},
    {phase, title: '%', value: (of) => share(of, phase), text: (value) => (100 * value).toFixed(1), isShare: true}];
  const all = columnsOf('prefill');
  if (decodes) {
    const phase = 'decode';
    all.push(...columnsOf(phase), {phase, title: 'weights', value: (of) => of.weight_bytes, text: unless0(bytes)},
                 {phase, title: 'cache', value: (of) => of.cache_bytes, text: unless0(bytes)},
                 {phase, title: 'GB/s', value: rate, text: unless0(digits)});
    if (run.machine_bytes_per_s) {
      all.push({phase, title: 'of peak', value: (of) => 1e9 * rate(of) / run.machine_bytes_per_s, text: unless0(percent)});
    }
    if ([data.wall, ...data.groups.op].some((of) => of.growth)) {
      all.push({phase, title: 'growth', value: growth, text: (ns) => (ns > 0 ? '+' + time(ns) : ns < 0 ? time(ns) : '')});
    }
  }
  const VIEWS = {op: ['Op types', 'op'], module: ['Modules', 'module'], delegate: ['Delegates', 'delegate'],
                 line: ['Source lines', 'source line'], none: ['Operators', 'source op', 'module', 'kernel']};
  let columns = all;  // the columns that fit into the window
  const state = {by: 'op', sorted: null, down: true, limit: LIMIT};

  function rowOf(of, names, widest) {
    const row = make('tr', {});
    names.forEach((name) => row.append(make('td', {class: 'name', title: name || false}, make('div', {}, name))));
    columns.forEach((column, i) => {
      const value = column.value(of);
      const text = column.text(value);
      const cell = make('td', {class: ['n', column.isShare ? 'share' : '', begins(i)].join(' ')}, text);
      if (widest && column.isShare) cell.style.setProperty('--w', 100 * value / widest[column.phase] + '%');
      row.append(cell);
    });
    return row;
  }
  const begins = (i) => (i === 0 || columns[i].phase !== columns[i - 1].phase ? 'begins' : '');

  function head(names) {
    const tops = make('tr', {}, make('th', {colspan: names.length}));
    for (const phase of decodes ? ['prefill', 'decode'] : ['prefill']) {
      tops.append(make('th', {class: 'phase begins', colspan: columns.filter((column) => column.phase === phase).length},
                       narrow.matches ? phase : `${phase}: ${counted(phases[phase].tokens, 'token')}, ${time(phases[phase].wall_ns)}`));
    }
    const row = make('tr');
    names.forEach((name) => row.append(make('th', {}, make('button', {type: 'button', onclick: () => { state.sorted = null; draw(); }}, name))));
    columns.forEach((column, i) => {
      const isSorted = state.sorted === column;
      row.append(make('th', {class: 'n ' + begins(i), scope: 'col', 'aria-sort': isSorted ? (state.down ? 'descending' : 'ascending') : 'none'},
        make('button', {type: 'button', onclick: () => {
          Object.assign(state, {sorted: column, down: isSorted ? !state.down : true});
          draw();
        }}, column.title)));
    });
    $('phases').tHead.replaceChildren(tops, row);
  }

  function draw() {
    columns = all.filter((column) => !narrow.matches || !column.isWide);
    const names = VIEWS[state.by].slice(1);
    let groups = data.groups[state.by];
    if (state.sorted) {
      const sign = state.down ? -1 : 1;
      groups = [...groups].sort((a, b) => sign * (state.sorted.value(a) - state.sorted.value(b)));
    }
    head(names);
    const widest = {prefill: 1e-9, decode: 1e-9};
    for (const group of groups) for (const phase of ['prefill', 'decode']) widest[phase] = Math.max(widest[phase], share(group, phase));
    $('phases').tBodies[0].replaceChildren(...groups.slice(0, state.limit).map((group) =>
      rowOf(group, names.length > 1 ? [group.name, group.module, group.kernel] : [group.name], widest)));
    $('phases-more').hidden = groups.length <= state.limit;
    $('phases-more').textContent = `Show all ${groups.length}`;
    const total = (name, of) => rowOf({weight_bytes: 0, cache_bytes: 0, ...of}, [name, ...names.slice(1).map(() => '')], null);
    const outside = Object.entries(data.parts).filter(([, part]) => part.prefill_ns + part.decode_ns > 0);
    $('phases').tFoot.replaceChildren(total('unattributed', data.unattributed), ...outside.map(([name, part]) => total(name, part)),
      total('wall', {...data.wall, weight_bytes: sum('weight_bytes'), cache_bytes: sum('cache_bytes')}));
    for (const button of $('phases-views').children) button.setAttribute('aria-selected', String(button.dataset.by === state.by));
  }

  function table() {
    for (const [by, [title]] of Object.entries(VIEWS)) {
      $('phases-views').append(make('button', {type: 'button', role: 'tab', 'data-by': by, onclick: () => {
        Object.assign(state, {by, sorted: null, limit: LIMIT});
        draw();
      }}, title));
    }
    narrow.addEventListener('change', draw);
    $('phases-more').addEventListener('click', () => { state.limit = Infinity; draw(); });
    draw();
    const peak = run.machine_bytes_per_s;
    $('phases-hint').textContent = !decodes ? '' : 'The columns "weights" and "cache" count the bytes that a token reads, or writes to a cache. "GB/s" is their sum divided by the time; ' +
      (peak ? `"of peak" is its share of this machine\'s memory bandwidth, ${digits(peak / 1e9)} GB/s.` : 'run with --roofline to add the share of this machine\'s memory bandwidth.') +
      (all.at(-1).title === 'growth' ? ` "growth" is the growth of the time from position ${begin} to ${end}, if it exceeds the noise.` : '');
  }

  summary();
  table();
  showGrowth(data);
};
