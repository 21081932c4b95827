'use strict';
// The graph of a page: nodes and boxes, in a tree below `root`, and the edges between nodes.
//
// At each level of the tree, edges between the contents of two boxes become one edge between the boxes. A tensor
// enters or leaves an open box at a port on its border.
//
// A box is `wanted` if it shall be open, and `open` if the shown layout has it open.
const MAX_PORTS = 24;        // on a side of a box; more tensors share one port
const START_FOLDED = 300;    // modules of larger graphs are closed at first
const MAX_START = 150;       // and other boxes too, if the picture would have more nodes than this

function makeGraph(data) {
  const items = data.nodes.map((node, id) => ({
    ...node, id, type: node.type === undefined ? '' : data.types[node.type][0],
    bytes: (node.constant_bytes || 0) + (node.type === undefined ? 0 : data.types[node.type][1]),
    time: node.time_ns || 0, deviceTime: node.device_time || 0, children: [], inputs: [], outputs: [], open: false, wanted: false, leaves: 1}));
  const root = {id: items.length, kind: 'root', label: data.title, children: [], inputs: [], outputs: [], open: true, wanted: true, depth: 0, bytes: 0, time: 0, deviceTime: 0};
  items.push(root);
  for (const item of items) {
    if (item === root) continue;
    item.parent = item.parent === undefined ? root : items[item.parent];
    item.parent.children.push(item);
  }
  const ordered = [root];  // parents before children
  for (const item of ordered) {
    for (const child of item.children) { child.depth = item.depth + 1; ordered.push(child); }
    if (item.children.length) {
      Object.assign(item, {pairs: new Map(), entries: new Map(), exits: new Map(), isDirty: true});
    }
  }
  for (const item of ordered.slice().reverse()) {
    if (!item.children.length) continue;
    item.leaves = item.children.reduce((sum, child) => sum + child.leaves, 0);
    item.bytes = item.children.reduce((sum, child) => sum + child.bytes, 0);
    item.ownTime = item.time;
    item.deviceTime = item.children.reduce((sum, child) => sum + child.deviceTime, item.deviceTime);
    item.time = item.children.reduce((sum, child) => sum + child.time, item.time);
    item.figures = [...new Set(item.children.reduce((all, child) => all.concat(child.figures || []), item.figures || []))];
  }
  const find = (map, key, make) => { if (!map.has(key)) map.set(key, make()); return map.get(key); };
  const edges = data.edges.map(([from, to, type]) => ({from: items[from], to: items[to], type: data.types[type][0], key: `${from}/${type}`}));
  for (const edge of edges) {
    edge.from.outputs.push(edge);
    edge.to.inputs.push(edge);
    let [a, b] = [edge.from, edge.to];
    const above = [], below = [];  // the boxes that the edge leaves and enters, innermost first
    while (a.parent !== b.parent) {
      if (a.depth >= b.depth) { above.push([a.parent, a]); a = a.parent; }
      else { below.push([b.parent, b]); b = b.parent; }
    }
    if (a === b || above.some(([box]) => box === b) || below.some(([box]) => box === a)) continue;  // into its own box
    for (const [box, child] of above) find(box.exits, edge.key, () => new Set()).add(child);
    for (const [box, child] of below) find(box.entries, edge.key, () => new Set()).add(child);
    find(a.parent.pairs, `${a.id}-${b.id}`, () => ({from: a, to: b, edges: []})).edges.push(edge);
  }
  for (const item of ordered) {
    for (const side of ['entries', 'exits']) {
      if (!item[side] || item[side].size <= MAX_PORTS) continue;
      const shared = new Set();
      for (const children of item[side].values()) children.forEach((child) => shared.add(child));
      item[side] = new Map([['*', shared]]);
    }
  }
  return {data, items, root, edges, ordered};
}

// The name of a port of an open box.
const portOf = (box, side, key) => (box[side].has(key) ? key : '*');

// Opens the boxes with which the page starts.
function openFirst(graph) {
  const nodes = graph.root.leaves;
  let shown = graph.root.children.length;
  for (const item of graph.ordered) {
    if (item === graph.root || !item.children.length) continue;
    const opens = nodes <= START_FOLDED || item.kind === 'method' ||
                  (item.kind !== 'module' && shown + item.children.length <= MAX_START);
    item.wanted = opens && item.parent.wanted;
    if (item.wanted) shown += item.children.length;
  }
}

// The innermost item that is drawn for an item: itself, or a closed box around it.
function drawnFor(item) {
  let drawn = item;
  for (let box = item.parent; box; box = box.parent) if (!box.open) drawn = box;
  return drawn;
}

// Returns the boxes around an item, outermost first.
function boxesAround(item) {
  const boxes = [];
  for (let box = item.parent; box && box.parent; box = box.parent) boxes.unshift(box);
  return boxes;
}

// The edges that cross the border of an item.
function edgesOf(item) {
  if (!item.children.length) return {inputs: item.inputs, outputs: item.outputs};
  const isInside = (other) => { for (let at = other; at; at = at.parent) if (at === item) return true; return false; };
  const inputs = [], outputs = [];
  const visit = (part) => {
    inputs.push(...part.inputs.filter((edge) => !isInside(edge.from)));
    outputs.push(...part.outputs.filter((edge) => !isInside(edge.to)));
    part.children.forEach(visit);
  };
  visit(item);
  return {inputs, outputs};
}
