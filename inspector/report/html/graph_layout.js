'use strict';
// Places nodes and edges. Each open box is a graph of its own, which dagre lays out in layers, innermost boxes first.
// The result of a box is kept until a box inside it opens or closes.
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';
const LABEL_FONT = `600 12px ${FONT}`, NOTE_FONT = `10px ${FONT}`, PLAIN_FONT = `11px ${FONT}`;
const PAD = 14, HEADER = 28, MIN_NODE = 64, MAX_NODE = 250;
const NODE_GAP = 18, RANK_GAP = 26, MAX_SIMPLEX = 80;

const measure = (() => {
  const context = document.createElement('canvas').getContext('2d');
  const widths = new Map();
  return (text, font) => {
    const key = font + text;
    if (!widths.has(key)) { context.font = font; widths.set(key, context.measureText(text).width); }
    return widths.get(key);
  };
})();

// Cuts text to a width in pixels.
function cut(text, font, width) {
  if (measure(text, font) <= width) return text;
  let keep = Math.max(1, Math.floor(text.length * width / measure(text, font)));
  while (keep > 1 && measure(text.slice(0, keep) + '…', font) > width) --keep;
  return text.slice(0, keep) + '…';
}

const noteOf = (item) => item.children.length ? [item.note, counted(item.leaves, 'node')].filter(Boolean).join(' · ') : item.note || '';

function closedSize(item) {
  const note = noteOf(item), isBox = item.children.length > 0;
  const width = Math.max(measure(item.label, LABEL_FONT) + (isBox ? 20 : 0), measure(note, NOTE_FONT)) + 22;
  const w = Math.ceil(Math.min(MAX_NODE, Math.max(MIN_NODE, width)));
  item.shownLabel = cut(item.label, LABEL_FONT, w - (isBox ? 38 : 16));
  item.shownNote = cut(note, NOTE_FONT, w - 16);
  return {w, h: note ? 40 : 28};
}

const sizeOf = (item) => item.open && item.layout ? item.layout : item.closed || (item.closed = closedSize(item));

// The text on the edges between two items.
function edgeText(pair) {
  const keys = new Set(pair.edges.map((edge) => edge.key));
  return keys.size === 1 ? pair.edges[0].type : `${keys.size} tensors`;
}

// The next layout of a box, or the size of a closed item.
const laid = (item) => item.next || item.layout;
const nextSizeOf = (item) => item.wanted ? laid(item) : item.closed || (item.closed = closedSize(item));

// Runs dagre on nodes [width, height] and edges [from, to, label width, weight]. Also runs in the worker, so it uses
// nothing of this page but dagre.
function runDagre(nodes, edges, nodesep, ranksep, maxSimplex) {
  const graph = new dagre.graphlib.Graph();
  const ranker = nodes.length > maxSimplex ? 'longest-path' : 'network-simplex';
  graph.setGraph({rankdir: 'TB', nodesep, edgesep: 10, ranksep, ranker});
  nodes.forEach(([width, height], i) => graph.setNode(String(i), {width, height}));
  for (const [from, to, width, weight] of edges) {
    graph.setEdge(String(from), String(to), {weight, ...(width ? {width, height: 12, labelpos: 'c'} : {})});
  }
  dagre.layout(graph);
  const result = {nodes: nodes.map((_, i) => graph.node(String(i))), edges: edges.map(([from, to]) => graph.edge(String(from), String(to)))};
  const ends = [...result.nodes.flatMap(({x, width}) => [x - width / 2, x + width / 2]), ...result.edges.flatMap(({points, x, width}) => [...points.map((point) => point.x), ...(width ? [x - width / 2, x + width / 2] : [])])];
  result.left = ends.reduce((a, b) => Math.min(a, b), Infinity);  // dagre's own width omits bends
  result.right = ends.reduce((a, b) => Math.max(a, b), -Infinity);
  return result;
}

// The results of dagre. Models repeat their blocks, so equal graphs share one result. A worker computes them, because
// dagre needs up to a second for a box, in which the page could not draw.
const layouts = (() => {
  const results = new Map(), requested = new Set();
  let worker;  // null without one
  const self = {mayWait: true, onResult: () => {}, get};

  function start() {
    const source = `${$('layout-library').textContent}
      ${runDagre}
      onmessage = ({data}) => { const [nodes, edges] = JSON.parse(data); postMessage([data, runDagre(nodes, edges, ${NODE_GAP}, ${RANK_GAP}, ${MAX_SIMPLEX})]); };`;
    try {
      worker = new Worker(URL.createObjectURL(new Blob([source], {type: 'text/javascript'})));
    } catch {
      worker = null;
      return;
    }
    worker.onmessage = ({data: [key, result]}) => { results.set(key, result); self.onResult(); };
    worker.onerror = () => { worker = null; self.onResult(); };
  }
  // Returns null if the worker is computing the result, after which it calls onResult().
  function get(nodes, edges) {
    const key = JSON.stringify([nodes, edges]);
    if (results.has(key)) return results.get(key);
    if (self.mayWait && worker === undefined) start();
    if (!self.mayWait || !worker) {
      results.set(key, runDagre(nodes, edges, NODE_GAP, RANK_GAP, MAX_SIMPLEX));
      return results.get(key);
    }
    if (!requested.has(key)) { requested.add(key); worker.postMessage(key); }
    return null;
  }
  return self;
})();

// Makes the next layout of one box. Yields WAIT until the worker has placed its nodes.
const WAIT = 'wait';
function* layOutBox(box) {
  const nodes = [], edges = [], edgeAt = new Map(), portAt = new Map(), nodeAt = new Map();
  const addNode = (w, h) => nodes.push([w, h]) - 1;
  const addEdge = (name, from, to, width, weight) => edgeAt.set(name, edges.push([from, to, width, weight]) - 1);
  for (const child of box.children) {
    const {w, h} = nextSizeOf(child);
    nodeAt.set(child, addNode(w, h));
  }
  for (const [name, pair] of box.pairs) {
    pair.text ??= cut(edgeText(pair), NOTE_FONT, 160);
    addEdge(name, nodeAt.get(pair.from), nodeAt.get(pair.to), pair.text ? Math.ceil(measure(pair.text, NOTE_FONT)) + 8 : 0, 1);
  }
  // Ports are nodes in the first and the last layer.
  for (const [side, name] of [['entries', 'in '], ['exits', 'out ']]) {
    if (!box[side].size) continue;
    const end = addNode(1, 0);
    for (const [key, children] of box[side]) {
      const port = addNode(6, 0);
      portAt.set(name + key, port);
      const link = (id, a, b, weight) => (side === 'entries' ? addEdge(id, a, b, 0, weight) : addEdge(id, b, a, 0, weight));
      link(`${name}${key} end`, end, port, 8);
      for (const child of children) link(`${name}${key} ${child.id}`, port, nodeAt.get(child), 1);
    }
  }
  let drawn;
  while (!(drawn = layouts.get(nodes, edges))) yield WAIT;
  const edgeOf = (name) => drawn.edges[edgeAt.get(name)];
  const places = box.children.map((child) => drawn.nodes[nodeAt.get(child)]);
  const top = least(places.map((place) => place.y - place.height / 2)), bottom = largest(places.map((place) => place.y + place.height / 2));
  const space = 12 + (box.entries.size ? 10 : 0), header = box.parent ? HEADER : 0;
  const dy = header + space - top;
  const layout = {routes: new Map(), labels: [], entries: new Map(), exits: new Map(), places: new Map()};
  const minWidth = box.parent ? Math.min(MAX_NODE, measure(box.label, LABEL_FONT) + 60) : 0;
  layout.w = Math.max(drawn.right - drawn.left + 2 * PAD, minWidth);
  const shift = (layout.w - drawn.right - drawn.left) / 2;
  layout.h = bottom + dy + PAD + (box.exits.size ? 10 : 0);
  box.children.forEach((child, i) => {
    layout.places.set(child, [places[i].x - places[i].width / 2 + shift, places[i].y - places[i].height / 2 + dy]);
  });
  for (const key of box.entries.keys()) layout.entries.set(key, drawn.nodes[portAt.get('in ' + key)].x + shift);
  for (const key of box.exits.keys()) layout.exits.set(key, drawn.nodes[portAt.get('out ' + key)].x + shift);
  // Joins the ends of dagre's route to ports and borders.
  const route = (name, edge, start, end) => {
    const inner = edge.points.slice(1, -1).map(({x, y}) => [x + shift, y + dy]).filter(([, y]) => y > start[1] && y < end[1]);
    layout.routes.set(name, start[1] <= end[1] ? [start, ...inner, end] : edge.points.map(({x, y}) => [x + shift, y + dy]));
  };
  const bottomOf = (child, key, edge) => {
    const [x, y] = layout.places.get(child), port = child.wanted && child.exits.size ? laid(child).exits.get(portOf(child, 'exits', key)) : undefined;
    return [port === undefined ? edge.points[0].x + shift : x + port, y + nextSizeOf(child).h];
  };
  const topOf = (child, key, edge) => {
    const [x, y] = layout.places.get(child), port = child.wanted && child.entries.size ? laid(child).entries.get(portOf(child, 'entries', key)) : undefined;
    return [port === undefined ? edge.points[edge.points.length - 1].x + shift : x + port, y];
  };
  for (const [name, pair] of box.pairs) {
    const edge = edgeOf(name);
    const keys = pair.from.wanted || pair.to.wanted ? new Set(pair.edges.map((each) => each.key)) : ['*'];
    for (const key of keys) route(`${name} ${key}`, edge, bottomOf(pair.from, key, edge), topOf(pair.to, key, edge));
    if (pair.text) layout.labels.push([pair.text, edge.x + shift, edge.y + dy, edge.width]);
  }
  for (const [key, children] of box.entries) {
    for (const child of children) {
      const edge = edgeOf(`in ${key} ${child.id}`);
      for (const inner of child.wanted && key === '*' ? child.entries.keys() : [key]) {
        route(`in ${key} ${child.id} ${inner}`, edge, [layout.entries.get(key), header], topOf(child, inner, edge));
      }
    }
  }
  for (const [key, children] of box.exits) {
    for (const child of children) {
      const edge = edgeOf(`out ${key} ${child.id}`);
      for (const inner of child.wanted && key === '*' ? child.exits.keys() : [key]) {
        route(`out ${key} ${child.id} ${inner}`, edge, bottomOf(child, inner, edge), [layout.exits.get(key), layout.h]);
      }
    }
  }
  layout.path = new Path2D();
  layout.coarse = new Path2D();
  layout.arrows = new Path2D();
  for (const [name, points] of layout.routes) {
    tracePoints(layout.path, points, true);
    tracePoints(layout.coarse, points, false);
    if (!name.startsWith('out ')) traceArrow(layout.arrows, points);
  }
  box.next = layout;
  box.isDirty = false;
}

// Adds a line through points to a path, optionally with round bends.
function tracePoints(path, points, isRound) {
  path.moveTo(...points[0]);
  for (let i = 1; i < points.length - 1 && isRound; ++i) {
    const [x, y] = points[i], [nextX, nextY] = points[i + 1];
    const isLast = i === points.length - 2;
    path.quadraticCurveTo(x, y, isLast ? nextX : (x + nextX) / 2, isLast ? nextY : (y + nextY) / 2);
  }
  if (!isRound || points.length === 2) points.slice(1).forEach((point) => path.lineTo(...point));
}
function traceArrow(path, points) {
  const [x, y] = points[points.length - 1];
  path.moveTo(x, y);
  path.lineTo(x - 3.5, y - 7);
  path.lineTo(x + 3.5, y - 7);
  path.closePath();
}

// Makes the next layouts of the wanted boxes that changed. Pauses after each, so that the caller can draw in between.
function* layOut(box) {
  for (const child of box.children) if (child.wanted && child.isDirty) yield* layOut(child);
  yield* layOutBox(box);
  yield;
}

// Shows the next layouts.
function showNext(graph) {
  for (const box of graph.ordered) {
    if (!box.children.length) continue;
    box.open = box.wanted;
    if (!box.next) continue;
    box.layout = box.next;
    box.next = null;
    for (const [child, [x, y]] of box.layout.places) Object.assign(child, {x, y});
  }
  place(graph.root);
}

function markDirty(item) {
  for (let box = item; box; box = box.parent) if (box.children.length) box.isDirty = true;
}

// Sets the position of each drawn item in the whole picture.
function place(box) {
  for (const child of box.children) {
    child.left = (box.left || 0) + child.x;
    child.top = (box.top || 0) + child.y;
    if (child.open) place(child);
  }
}

// Returns the points of an edge in the whole picture; empty if a closed box contains both ends.
function edgePoints(edge) {
  let a = drawnFor(edge.from), b = drawnFor(edge.to);
  if (a === b) return [];
  const starts = [], ends = [];
  const absolute = (box, points) => (points || []).map(([x, y]) => [x + (box.left || 0), y + (box.top || 0)]);
  const inner = (box, child, side) => (child.open && child[side].size ? portOf(child, side, edge.key) : null);
  while (a.parent !== b.parent) {
    const isStart = a.depth >= b.depth, child = isStart ? a : b, box = child.parent, side = isStart ? 'exits' : 'entries';
    const key = portOf(box, side, edge.key), name = `${isStart ? 'out' : 'in'} ${key} ${child.id} `;
    const points = box.layout.routes.get(name + (inner(box, child, side) ?? key)) || box.layout.routes.get(name + key);
    if (isStart) { starts.push(...absolute(box, points)); a = box; } else { ends.unshift(...absolute(box, points)); b = box; }
  }
  const routes = a.parent.layout.routes, name = `${a.id}-${b.id} `;
  return [...starts, ...absolute(a.parent, routes.get(name + edge.key) || routes.get(name + '*')), ...ends];
}
