'use strict';
// Draws a graph on a canvas, and moves, zooms and selects. Calls onSelect(item or null).
const MIN_SCALE = 0.02, MAX_SCALE = 3;
const READABLE = 0.42;       // smallest scale at which labels are drawn
const LAYOUT_SLICE_MS = 12;  // time for layout between two frames

function makeView(graph, canvas, minimap, onSelect) {
  const {root} = graph, context = canvas.getContext('2d');
  const view = {scale: 1, x: 0, y: 0, selected: null, found: new Set(), colorOf: () => 'var(--rest)', draw, schedule, lastFrameMs: 0};
  let width = 0, height = 0, ratio = 1, colors = {}, pending = 0, layingOut = null, anchor = null, map = null, whenShown = [];

  // ---- Colors of the theme, as the canvas needs them
  function readColors() {
    const style = getComputedStyle(document.documentElement);
    colors = {};
    for (const name of ['bg', 'card', 'ink', 'soft', 'line', 'hover', 'accent', 'module', 'rest', 'edge', 'frame', 'low', 'high', 'less', 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7']) {
      colors[name] = style.getPropertyValue('--' + name).trim();
    }
    map = null;
  }
  const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  // `color` is "var(--c0)", or a number from -1 (less) over 0 (low) to 1 (high).
  function resolve(color) {
    if (typeof color === 'string') return colors[color.slice(6, -1)] || colors.rest;
    const low = channels(colors.low), end = channels(color < 0 ? colors.less : colors.high);
    return '#' + low.map((value, i) => Math.round(value + (end[i] - value) * Math.abs(color)).toString(16).padStart(2, '0')).join('');
  }
  const inkOn = (hex) => { const [r, g, b] = channels(hex); return r * 0.3 + g * 0.59 + b * 0.11 > 128 ? INK : '#f4f5f8'; };
  view.css = (color) => resolve(color);

  // ---- Drawing
  const roundRect = (x, y, w, h, radius) => { context.beginPath(); if (context.roundRect) context.roundRect(x, y, w, h, radius); else context.rect(x, y, w, h); };
  function drawNode(item, isReadable) {
    const {w, h} = sizeOf(item), isBox = item.children.length > 0, fill = resolve(view.colorOf(item));
    const radius = item.kind === 'input' || item.kind === 'output' ? h / 2 : 6;
    context.fillStyle = fill;
    if (w * view.scale < 6) { context.fillRect(item.left, item.top, w, h); return; }
    roundRect(item.left, item.top, w, h, radius);
    context.fill();
    if (isBox) {  // looks like a stack
      context.strokeStyle = colors.ink;
      context.lineWidth = 1;
      context.globalAlpha = 0.55;
      context.stroke();
      context.globalAlpha = 1;
    }
    if (!isReadable) return;
    context.fillStyle = inkOn(fill);
    context.textAlign = 'center';
    context.font = LABEL_FONT;
    const middle = item.left + w / 2 + (isBox ? 9 : 0);
    context.fillText(item.shownLabel, middle, item.top + (item.shownNote ? 17 : 18.5));
    if (item.shownNote) {
      context.font = NOTE_FONT;
      context.globalAlpha = 0.8;
      context.fillText(item.shownNote, item.left + w / 2, item.top + 31);
      context.globalAlpha = 1;
    }
    if (isBox) drawSign(item, '+', inkOn(fill));
  }
  function drawSign(item, sign, ink) {
    context.font = `700 14px ${FONT}`;
    context.textAlign = 'center';
    context.fillStyle = ink;
    context.fillText(sign, item.left + 13, item.top + 18.5);
  }
  function drawFrame(item, isReadable) {
    const {w, h} = item.layout, isDelegate = item.kind === 'delegate';
    roundRect(item.left, item.top, w, h, 10);
    context.fillStyle = insideColor(item);
    context.fill();
    context.strokeStyle = isDelegate ? colors.accent : colors.rest;
    context.lineWidth = isDelegate ? 2 : 1;
    if (isDelegate) context.setLineDash([7, 4]);
    context.stroke();
    context.setLineDash([]);
    if (!isReadable) return;
    context.font = LABEL_FONT;
    context.textAlign = 'left';
    context.fillStyle = isDelegate ? colors.accent : colors.ink;
    const label = cut(item.label, LABEL_FONT, w - 40);
    context.fillText(label, item.left + 26, item.top + 18.5);
    const used = 26 + measure(label, LABEL_FONT) + 8, note = noteOf(item);
    context.font = NOTE_FONT;
    context.fillStyle = colors.soft;
    if (w - used - 10 > measure(note, NOTE_FONT)) context.fillText(note, item.left + used, item.top + 18.5);
    drawSign(item, '−', colors.soft);
  }
  function drawInside(box, area) {
    const isReadable = view.scale >= READABLE, left = box.left || 0, top = box.top || 0;
    if (view.scale > 0.06) {
      context.save();
      context.translate(left, top);
      context.strokeStyle = colors.edge;
      context.lineWidth = Math.max(1.2, 0.7 / view.scale);
      context.stroke(view.scale > 0.3 ? box.layout.path : box.layout.coarse);
      if (view.scale > 0.3) { context.fillStyle = colors.edge; context.fill(box.layout.arrows); }
      context.restore();
    }
    for (const child of box.children) {
      const {w, h} = sizeOf(child);
      if (!isVisible(area, child.left, child.top, w, h)) continue;
      if (child.open) { drawFrame(child, isReadable); drawInside(child, area); } else drawNode(child, isReadable);
    }
  }
  function drawLabels(box, area) {
    const left = box.left || 0, top = box.top || 0;
    for (const [text, x, y, w] of box.layout.labels) {
      if (!isVisible(area, left + x - w / 2, top + y - 6, w, 12)) continue;
      context.fillStyle = insideColor(box);
      context.fillRect(left + x - w / 2, top + y - 6, w, 12);
      context.fillStyle = colors.soft;
      context.fillText(text, left + x, top + y + 3.5);
    }
    for (const child of box.children) {
      if (child.open && isVisible(area, child.left, child.top, child.layout.w, child.layout.h)) drawLabels(child, area);
    }
  }
  const insideColor = (box) => box.kind === 'delegate' ? colors.frame : box.depth % 2 ? colors.card : colors.bg;
  const isVisible = (area, x, y, w, h) => x < area.right && y < area.bottom && x + w > area.left && y + h > area.top;
  function outline(item, color, lineWidth) {
    const drawn = drawnFor(item), {w, h} = sizeOf(drawn);
    roundRect(drawn.left - 3, drawn.top - 3, w + 6, h + 6, 9);
    context.strokeStyle = color;
    context.lineWidth = lineWidth / view.scale;
    context.stroke();
  }
  function drawSelection() {
    for (const item of new Set([...view.found].map(drawnFor))) outline(item, colors.c1, 3);
    if (!view.selected) return;
    const {inputs, outputs} = edgesOf(view.selected);
    const path = new Path2D(), arrows = new Path2D();
    for (const edge of [...inputs.slice(0, 200), ...outputs.slice(0, 200)]) {
      const points = edgePoints(edge);
      if (points.length > 1) { tracePoints(path, points, true); traceArrow(arrows, points); }
    }
    context.strokeStyle = context.fillStyle = colors.accent;
    context.lineWidth = Math.max(2, 1.5 / view.scale);
    context.stroke(path);
    context.fill(arrows);
    outline(view.selected, colors.accent, 3);
  }
  function draw() {
    const start = performance.now();
    pending = 0;
    if (layingOut) continueLayout(LAYOUT_SLICE_MS);
    if (!root.layout) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colors.bg;
    context.fillRect(0, 0, width, height);
    context.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
    const area = {left: -view.x / view.scale, top: -view.y / view.scale, right: (width - view.x) / view.scale, bottom: (height - view.y) / view.scale};
    drawInside(root, area);
    drawSelection();
    if (view.scale >= READABLE * 1.25) {
      context.font = NOTE_FONT;
      context.textAlign = 'center';
      drawLabels(root, area);
    }
    drawMinimap(area);
    view.lastFrameMs = performance.now() - start;
  }
  function schedule() { if (!pending) pending = requestAnimationFrame(draw); }

  // ---- Minimap: the picture, painted once per layout, and the visible area
  function drawMinimap(area) {
    const layout = root.layout, box = minimap.getBoundingClientRect();
    const isWhole = area.left <= 0 && area.top <= 0 && area.right >= layout.w && area.bottom >= layout.h;
    minimap.style.visibility = isWhole ? 'hidden' : '';
    if (isWhole || !box.width) return;
    const scale = Math.min(box.width / layout.w, box.height / layout.h), dx = (box.width - layout.w * scale) / 2, dy = (box.height - layout.h * scale) / 2;
    view.map = {scale, dx, dy};
    const target = minimap.getContext('2d');
    if (minimap.width !== Math.round(box.width * ratio)) { minimap.width = Math.round(box.width * ratio); minimap.height = Math.round(box.height * ratio); map = null; }
    if (!map) {
      map = document.createElement('canvas');
      map.width = minimap.width;
      map.height = minimap.height;
      const paint = map.getContext('2d');
      paint.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * dx, ratio * dy);
      const visit = (parent) => parent.children.forEach((item) => {
        const {w, h} = sizeOf(item);
        paint.fillStyle = item.open ? (item.kind === 'delegate' ? colors.frame : colors.hover) : resolve(view.colorOf(item));
        paint.fillRect(item.left, item.top, Math.max(w, 1 / scale), Math.max(h, 1 / scale));
        if (item.open) visit(item);
      });
      visit(root);
    }
    target.setTransform(1, 0, 0, 1, 0, 0);
    target.clearRect(0, 0, minimap.width, minimap.height);
    target.drawImage(map, 0, 0);
    target.setTransform(ratio, 0, 0, ratio, 0, 0);
    target.strokeStyle = colors.accent;
    target.lineWidth = 1.5;
    target.strokeRect(dx + area.left * scale, dy + area.top * scale, (area.right - area.left) * scale, (area.bottom - area.top) * scale);
  }

  // ---- Layout
  function continueLayout(ms) {
    const end = performance.now() + ms;
    for (let step = layingOut.next(); !step.done; step = layingOut.next()) {
      if (step.value === WAIT) return;  // until onResult()
      if (performance.now() > end) { schedule(); return; }
    }
    layingOut = null;
    const [x, y] = anchor ? [anchor.left, anchor.top] : [0, 0];
    showNext(graph);
    if (anchor) {
      view.x += (x - anchor.left) * view.scale;
      view.y += (y - anchor.top) * view.scale;
    }
    map = anchor = null;
    canvas.setAttribute('aria-busy', 'false');
    whenShown.splice(0).forEach((then) => then());
    schedule();
  }
  layouts.onResult = schedule;
  // Starts the layout again, and calls then() when it is shown. `kept` stays where it is on the screen.
  view.layOut = (kept, then = null) => {
    anchor = kept && kept.left !== undefined ? kept : null;
    if (then) whenShown.push(then);
    canvas.setAttribute('aria-busy', 'true');
    layingOut = layOut(root);
    continueLayout(LAYOUT_SLICE_MS);
  };
  // Lays out at once, for the first picture.
  view.layOutNow = () => { layingOut = layOut(root); view.finish(); };
  // Does not return before the layout is shown.
  view.finish = () => {
    layouts.mayWait = false;
    if (layingOut) continueLayout(Infinity);
    layouts.mayWait = true;
    draw();
  };
  view.setOpen = (item, isOpen) => {
    if (!item.children.length || item === root || item.wanted === isOpen) return;
    item.wanted = isOpen;
    markDirty(item);
    view.layOut(drawnFor(item));
  };
  view.setAllOpen = (isOpen) => {
    for (const item of graph.ordered) {
      if (item === root || !item.children.length || item.wanted === isOpen) continue;
      item.wanted = isOpen;
      markDirty(item);
    }
    view.layOut(null, view.fit);
  };

  // ---- Moving
  const clamp = (scale) => Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));
  view.zoomAt = (factor, x = width / 2, y = height / 2) => {
    const scale = clamp(view.scale * factor);
    view.x = x - (x - view.x) * scale / view.scale;
    view.y = y - (y - view.y) * scale / view.scale;
    view.scale = scale;
    schedule();
  };
  // Shows the whole picture, or the part around its first node if labels would be too small.
  view.fit = (isWhole = true) => {
    const {w, h} = root.layout, across = (width - 24) / w, whole = Math.min(across, (height - 24) / h);
    view.scale = clamp(Math.min(1.15, isWhole || whole >= 0.6 ? whole : Math.max(whole, Math.min(across, 0.9), 0.55)));
    view.x = (width - w * view.scale) / 2;
    view.y = Math.max(12, (height - h * view.scale) / 2);
    if (w * view.scale > width) {
      const first = root.children[0], middle = width / 2 - (first.left + sizeOf(first).w / 2) * view.scale;
      view.x = Math.min(12, Math.max(width - 12 - w * view.scale, middle));
    }
    schedule();
  };
  // Opens what is around the item, and moves it to the center.
  view.reveal = (item) => {
    let isChanged = false;
    for (const box of boxesAround(item)) if (!box.wanted) { box.wanted = true; markDirty(box); isChanged = true; }
    const center = () => {
      const {w, h} = sizeOf(item);
      view.scale = clamp(Math.max(view.scale, 0.8));
      const [right, bottom] = view.freeArea();
      view.x = right / 2 - (item.left + w / 2) * view.scale;
      view.y = bottom > h * view.scale ? bottom / 2 - (item.top + h / 2) * view.scale : 40 - item.top * view.scale;
      schedule();
    };
    view.select(item);
    if (isChanged || layingOut) view.layOut(null, center); else center();
  };
  // The part of the canvas, from its top left corner, that nothing covers.
  view.freeArea = () => [width, height];
  view.select = (item) => { view.selected = item; onSelect(item); schedule(); };

  // ---- Finding items: the drawn item at a point of the canvas, and if the point is on its sign
  view.at = (x, y) => {
    const px = (x - view.x) / view.scale, py = (y - view.y) / view.scale;
    let hit = null;
    const visit = (box) => box.children.forEach((item) => {
      const {w, h} = sizeOf(item);
      if (px < item.left || py < item.top || px > item.left + w || py > item.top + h) return;
      hit = item;
      if (item.open) visit(item);
    });
    if (root.layout) visit(root);
    const isSign = hit && hit.children.length > 0 && px < hit.left + 26 && py < hit.top + HEADER;
    return {item: hit, isSign};
  };
  // The place of a drawn item on the canvas.
  view.boxOf = (item) => {
    const {w, h} = sizeOf(item);
    return {x: item.left * view.scale + view.x, y: item.top * view.scale + view.y, w: w * view.scale, h: h * view.scale};
  };
  view.resize = () => {
    const box = canvas.getBoundingClientRect();
    [width, height, ratio] = [box.width, box.height, window.devicePixelRatio || 1];
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    draw();  // at once, because the new size cleared the canvas
  };
  view.repaint = () => { readColors(); schedule(); };
  view.forgetMap = () => { map = null; schedule(); };
  readColors();
  return view;
}

// Moves and selects with a mouse, fingers, and a wheel.
function followPointers(view, canvas, minimap) {
  const fingers = new Map();
  let isMoved = false, distance = 0, lastTap = [null, 0];
  const local = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  const spread = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture?.(event.pointerId);
    fingers.set(event.pointerId, local(event));
    if (fingers.size === 1) isMoved = false; else distance = spread();
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = fingers.get(event.pointerId), now = local(event);
    if (!before) return;
    if (fingers.size === 1 && !isMoved && Math.hypot(now[0] - before[0], now[1] - before[1]) < 5) return;
    isMoved = true;
    view.x += (now[0] - before[0]) / fingers.size;
    view.y += (now[1] - before[1]) / fingers.size;
    fingers.set(event.pointerId, now);
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()], wide = spread();
      view.zoomAt(wide / Math.max(distance, 1), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      distance = wide;
    }
    view.schedule();
  });
  const end = (event) => {
    if (!fingers.delete(event.pointerId) || isMoved || event.type !== 'pointerup') return;
    const {item, isSign} = view.at(...local(event)), now = performance.now();
    const isDouble = lastTap[0] === item && now - lastTap[1] < 400;
    lastTap = [item, isDouble ? 0 : now];
    if (item && item.children.length && (isSign || isDouble)) { lastTap = [null, 0]; view.setOpen(item, !item.wanted); }
    view.select(item);
  };
  canvas.addEventListener('pointerup', end);
  canvas.addEventListener('pointercancel', end);
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey) { view.x -= (event.deltaX + event.deltaY) * unit; view.schedule(); return; }
    view.zoomAt(Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0015)), ...local(event));
  }, {passive: false});
  const jump = (event) => {
    if (!(event.buttons & 1) || !view.map) return;
    const box = minimap.getBoundingClientRect(), stage = canvas.getBoundingClientRect(), {scale, dx, dy} = view.map;
    view.x = stage.width / 2 - (event.clientX - box.left - dx) / scale * view.scale;
    view.y = stage.height / 2 - (event.clientY - box.top - dy) / scale * view.scale;
    view.schedule();
  };
  minimap.addEventListener('pointerdown', jump);
  minimap.addEventListener('pointermove', jump);
}
