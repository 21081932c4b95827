'use strict';
// The controls around a graph: colors, search, keyboard, and the row of the selected node.
const MAX_FOUND = 60, MAX_NEIGHBORS = 40;

const KIND_NAMES = {op: 'op', input: 'input', output: 'output', method: 'method', delegate: 'delegate', module: 'module', part: 'part of a long graph'};
// The changes against another program, in the order of their colors, which both sides share.
const CHANGES = ['absent in the other program', 'delegated only here', 'not delegated here', "fused in the other program's delegate", 'fused differently', 'different backend', 'same'];
const dtypeOf = (item) => item.type.split('[')[0];

// A figure of rows: a change of time, whose values add up, or an error in dB, of which the lowest counts. A box has the
// values of its nodes, each once.
function figureMode(graph) {
  const given = graph.data.figures;
  if (!given) return null;
  const values = given.values.map((value) => value === 'same' ? Infinity : value === 'not finite' ? -Infinity : value);
  const of = (item) => {
    const all = (item.figures || []).map((index) => values[index]);
    return !all.length ? null : given.is_change ? all.reduce((a, b) => a + b) : least(all);
  };
  const leaves = graph.items.filter((item) => !item.children.length).map(of).filter(Number.isFinite);
  const worst = leaves.length ? Math.max(0, least(leaves)) : 0, best = Math.max(worst + 1, Math.min(100, largest(leaves)));
  const most = largest(leaves.map(Math.abs).concat(0)) || 1, signed = (value) => (value > 0 ? '+' : '') + time(value);
  const db = (value) => value === Infinity ? 'the same' : value === -Infinity ? 'not finite' : `${value.toFixed(1)} dB`;
  const clamp = (value) => Math.max(-1, Math.min(1, value));
  const scale = given.is_change ? (value) => clamp(Math.sign(value) * Math.sqrt(Math.abs(value) / most)) : (value) => Math.max(0, clamp((best - value) / (best - worst)));
  return {title: given.title, of, text: given.is_change ? signed : db,
          color: (item) => { const value = of(item); return value === null ? 'var(--rest)' : scale(value); },
          ramp: given.is_change ? 'ramp change' : 'ramp',
          legend: (given.is_change ? `${signed(-most)} to ${signed(most)}` : `${db(best)} or more to ${db(worst)}`) + `: ${given.about}`};
}

// Returns the ways to color the nodes. Each has keys(item): the texts that the legend lists, or value(item): a figure.
function colorModes(graph) {
  const figure = figureMode(graph);
  const modes = {
    ...(figure ? {figure} : {}),
    change: {title: 'change', key: (item) => item.change || '', all: CHANGES},
    time: {title: 'time', value: (item) => item.time, text: time, what: 'typical time of a run'},
    device: {title: graph.data.queue || 'device', value: (item) => item.deviceTime, text: graph.data.queue_unit === 'ticks' ? (value) => `${digits(value)} ticks` : time, what: 'typical time of a run, by its own clock'},
    op: {title: 'op', key: (item) => item.kind === 'op' ? item.label : ''},
    backend: {title: 'backend', key: (item) => item.backend || ''},
    dtype: {title: 'dtype', key: (item) => item.children.length ? '' : dtypeOf(item)},
    bytes: {title: 'bytes', value: (item) => item.bytes, text: bytes, what: 'weights and first results'},
  };
  for (const [name, mode] of Object.entries(modes)) {
    if (name === 'figure') continue;
    if (mode.value) {
      // Single nodes set the scale, since a closed box has the sum of its nodes.
      mode.most = largest(graph.items.map((item) => item.children.length ? 0 : mode.value(item)));
      mode.color = (item) => mode.most > 0 ? Math.sqrt(Math.min(1, mode.value(item) / mode.most)) : 0;
      mode.ramp = 'ramp';
      mode.legend = `0 to ${mode.text(mode.most)}: ${mode.what}`;
      if (!(mode.most > 0)) delete modes[name];
      continue;
    }
    const counts = new Map();
    for (const item of graph.items) {
      const key = item.kind === 'root' || (item.children.length && item.kind !== 'delegate') ? '' : mode.key(item);
      if (key) counts.set(key, (counts.get(key) || 0) + 1);
    }
    const all = mode.all || [...counts].sort((a, b) => b[1] - a[1]).map(([key]) => key).slice(0, COLORS);
    mode.keys = all.filter((key) => counts.has(key));
    mode.others = counts.size - mode.keys.length;
    const order = [0, 1, 3, 2, 6, 4, 5, 7];  // neighbors in the legend differ most
    mode.color = (item) => {
      const at = all.indexOf(mode.key(item));
      return at >= 0 ? `var(--c${order[at]})` : item.children.length || item.kind !== 'op' ? 'var(--module)' : 'var(--rest)';
    };
    mode.colorOfKey = (key) => `var(--c${order[all.indexOf(key)]})`;
    if (!counts.size || (name === 'backend' && counts.size < 2)) delete modes[name];
  }
  return modes;
}

(() => {
  const data = JSON.parse($('data').textContent), graph = makeGraph(data), {root} = graph;
  $('title').textContent = document.title = data.title;
  $('subtitle').textContent = [...data.facts, `${counted(root.leaves, 'node')}`].join(' · ');
  $('warnings').replaceChildren(...data.notes.map((note) => make('li', {}, note)));
  const view = makeView(graph, $('canvas'), $('minimap'), (item) => { showPanel(item); window.picture?.onSelect?.(item); });
  view.freeArea = () => {
    const stage = $('stage').getBoundingClientRect(), panel = $('panel').getBoundingClientRect();
    if ($('panel').hidden) return [stage.width, stage.height];
    return panel.width < stage.width ? [stage.width - panel.width, stage.height] : [stage.width, stage.height - panel.height];
  };
  openFirst(graph);

  // ---- Colors
  const modes = colorModes(graph);
  function setColor(name) {
    const mode = modes[name];
    view.colorOf = mode ? mode.color : () => 'var(--rest)';
    $('color').value = name;
    $('key').replaceChildren();
    if (mode && mode.ramp) {
      $('key').append(make('li', {}, make('i', {class: mode.ramp}), mode.legend));
    } else if (mode) {
      mode.keys.forEach((key) => $('key').append(make('li', {}, make('i', {style: {background: mode.colorOfKey(key)}}), cut(key, PLAIN_FONT, 170))));
      if (mode.others) $('key').append(make('li', {}, make('i', {style: {background: 'var(--rest)'}}), `${mode.others} others`));
    }
    view.forgetMap();
  }
  for (const [name, mode] of Object.entries(modes)) $('color').append(make('option', {value: name}, mode.title));
  $('color').addEventListener('change', () => setColor($('color').value));

  // ---- The row of a node
  const typeOf = (edge) => edge.type ? ` ${edge.type}` : '';
  function neighborList(title, edges, other) {
    if (!edges.length) return [];
    const seen = new Map();  // one line for each neighbor and tensor
    for (const edge of edges) seen.set(`${other(edge).id} ${edge.type}`, edge);
    const list = make('ul');
    for (const edge of [...seen.values()].slice(0, MAX_NEIGHBORS)) {
      const item = other(edge);
      list.append(make('li', {}, make('button', {type: 'button', onclick: () => view.reveal(item)}, item.label, make('i', {}, [item.module, edge.type].filter(Boolean).join(' · ')))));
    }
    if (seen.size > MAX_NEIGHBORS) list.append(make('li', {}, `and ${seen.size - MAX_NEIGHBORS} more`));
    return [make('h3', {}, title), list];
  }
  function showPanel(item) {
    $('panel').hidden = !item;
    if (!item) return;
    const list = make('dl'), isBox = item.children.length > 0;
    const add = (what, text) => { if (text) list.append(make('dt', {}, what), make('dd', {}, text)); };
    const share = root.time > 0 ? ` · ${percent(item.time / root.time)} of the nodes' time` : '';
    const figure = modes.figure?.of(item) ?? null;
    add(figure === null ? '' : modes.figure.title, figure === null ? '' : modes.figure.text(figure));
    add('time', item.time > 0 ? time(item.time) + share : '');
    add('time of operators that are not nodes', item.ownTime > 0 ? time(item.ownTime) : '');
    add(graph.data.queue, item.deviceTime > 0 ? modes.device.text(item.deviceTime) : '');
    add('compared with the other program', item.change);
    add('result', item.type);
    add(isBox ? 'nodes inside' : '', isBox ? String(item.leaves) : '');
    for (const [what, text] of item.facts || []) add(what, text);
    add('module', item.module);
    add('backend', item.backend);
    add('weights', item.constant_bytes ? bytes(item.constant_bytes) : '');
    if (isBox && item.bytes) add('weights and results inside', bytes(item.bytes));
    const around = boxesAround(item), path = make('div', {class: 'path'});
    around.forEach((box, i) => path.append(i ? ' › ' : '', make('button', {type: 'button', onclick: () => view.reveal(box)}, box.label)));
    const {inputs, outputs} = edgesOf(item);
    const parts = [make('button', {id: 'panel-close', type: 'button', 'aria-label': 'Close', onclick: () => view.select(null)}, '✕'),
      make('h2', {}, item.label), make('small', {}, KIND_NAMES[item.kind]), around.length ? path : null];
    if (isBox) parts.push(make('p', {}, make('button', {id: 'panel-open', type: 'button', onclick: () => { view.setOpen(item, !item.wanted); showPanel(item); }}, item.wanted ? 'Close box' : 'Open box')));
    const rows = (item.rows || []).slice(0, MAX_NEIGHBORS);
    if (rows.length && window.picture.openRow) {
      const nameOf = window.picture.rowName || ((queue, row) => `Row #${row + 1}${queue ? ` of ${queue}` : ''}`);
      const byName = new Map(rows.map(([queue, row]) => [nameOf(queue, row), [queue, row]]).filter(([name]) => name));  // rows may share a name
      parts.push(make('p', {}, ...[...byName].map(([name, at]) => make('button', {type: 'button', class: 'to-row', onclick: () => window.picture.openRow(...at)}, name))));
    }
    parts.push(list, ...neighborList('inputs from', inputs, (edge) => edge.from), ...neighborList('results go to', outputs, (edge) => edge.to));
    $('panel').replaceChildren(...parts.filter(Boolean));
    $('panel').scrollTop = 0;
  }

  // ---- Search
  const searched = graph.items.map((item) => [item.label, item.note, item.module, item.type, item.backend, ...(item.facts || []).flat()].filter(Boolean).join('\n').toLowerCase());
  let results = [], at = -1;
  function search() {
    const wanted = $('search').value.trim().toLowerCase();
    results = wanted ? graph.items.filter((item) => item !== root && searched[item.id].includes(wanted)) : [];
    at = -1;
    view.found = new Set(results.slice(0, 2000));
    $('found').hidden = !wanted;
    $('found').replaceChildren(make('p', {}, counted(results.length, 'result')), ...results.slice(0, MAX_FOUND).map((item, i) =>
      make('li', {}, make('button', {type: 'button', onclick: () => show(i)}, item.label, make('i', {}, [item.module, item.type].filter(Boolean).join(' · ') || KIND_NAMES[item.kind])))));
    view.schedule();
  }
  function show(index) {
    at = index;
    $('found').hidden = true;
    view.reveal(results[at]);
  }
  $('search').addEventListener('input', search);
  $('search').addEventListener('focus', () => { if ($('search').value) $('found').hidden = false; });
  $('search').addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && results.length) show((at + (event.shiftKey ? results.length - 1 : 1)) % results.length);
    if (event.key === 'Escape') { $('search').value = ''; search(); $('canvas').focus(); }
  });
  document.addEventListener('pointerdown', (event) => { if (!$('search-box').contains(event.target)) $('found').hidden = true; });

  // ---- Keyboard
  function move(key) {
    const item = view.selected;
    if (!item) return view.reveal(root.children[0]);
    const {inputs, outputs} = edgesOf(item);
    if (key === 'ArrowDown' && outputs.length) return view.reveal(outputs[0].to);
    if (key === 'ArrowUp' && inputs.length) return view.reveal(inputs[0].from);
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
      const row = item.parent.children.slice().sort((a, b) => a.y - b.y || a.x - b.x), step = key === 'ArrowRight' ? 1 : -1;
      view.reveal(row[(row.indexOf(item) + step + row.length) % row.length]);
    }
  }
  const KEYS = {
    '+': () => view.zoomAt(1.25), '=': () => view.zoomAt(1.25), '-': () => view.zoomAt(0.8), f: () => view.fit(), 0: () => view.fit(),
    o: () => view.setAllOpen(true), c: () => view.setAllOpen(false),
    Enter: () => { if (view.selected) { view.setOpen(view.selected, !view.selected.wanted); showPanel(view.selected); } },
    Escape: () => view.select(view.selected && view.selected.parent !== root ? view.selected.parent : null),
  };
  for (const key of ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']) KEYS[key] = () => move(key);
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || ['INPUT', 'SELECT'].includes(event.target.tagName)) return;
    if (event.target.tagName === 'BUTTON' && event.key === 'Enter') return;
    if (event.key === '/') { event.preventDefault(); $('search').focus(); return; }
    if (!KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });

  // ---- Buttons, tooltip, size, theme
  $('open-all').addEventListener('click', () => view.setAllOpen(true));
  $('close-all').addEventListener('click', () => view.setAllOpen(false));
  $('fit').addEventListener('click', () => view.fit());
  $('zoom-in').addEventListener('click', () => view.zoomAt(1.25));
  $('zoom-out').addEventListener('click', () => view.zoomAt(0.8));
  $('open-all').hidden = $('close-all').hidden = !root.children.some((item) => item.children.length);
  explain($('canvas'), (event) => {
    const box = $('canvas').getBoundingClientRect(), {item} = view.at(event.clientX - box.left, event.clientY - box.top);
    return item ? [item.label, item.note, item.type, item.module].filter(Boolean).join('\n') : '';
  });
  $('canvas').addEventListener('pointermove', () => { if (!$('tip').textContent) $('tip').hidden = true; });
  followPointers(view, $('canvas'), $('minimap'));
  new ResizeObserver(() => view.resize()).observe($('stage'));
  new MutationObserver(() => { view.repaint(); view.forgetMap(); }).observe(document.documentElement, {attributes: true, attributeFilter: ['data-theme']});
  view.resize();
  setColor(Object.keys(modes)[0]);
  view.layOutNow();
  if (root.layout.w * READABLE > $('stage').clientWidth) {  // too wide to read
    graph.items.filter((item) => item.kind === 'module').forEach((item) => { item.wanted = false; markDirty(item); });
    view.layOutNow();
  }
  view.fit(false);
  view.draw();
  window.picture = {graph, view};  // for tests and the console
})();
