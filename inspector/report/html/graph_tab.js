'use strict';
// The tab with the graph: a page in a frame, which is loaded when the tab is opened first. A row of a table leads to
// its node, and a node to its row.
const graphTab = (() => {
  const data = JSON.parse($('graph-data').textContent), nodes = new Map(), key = (queue, row) => `${row} ${queue || ''}`;
  for (const [queue, row, node] of data?.rows || []) if (!nodes.has(key(queue, row))) nodes.set(key(queue, row), node);
  let frame = null, wanted = null;
  const views = [['profile', 'Profile'], ['graph', 'Graph']];
  const parts = () => [$('methods'), $('profile'), $('legend')];
  const tab = {showRow: () => {}, hasNode: (queue, row) => nodes.has(key(queue, row)), open};

  function load() {
    if (!data.page) { $('graph-why').textContent = `No graph: ${data.why_not}`; $('graph-why').hidden = false; return; }
    frame = make('iframe', {title: 'Graph of the program', srcdoc: data.page});
    frame.addEventListener('load', () => {
      const inner = frame.contentWindow;
      inner.document.documentElement.dataset.theme = document.documentElement.dataset.theme;
      inner.document.getElementById('theme').hidden = true;
      inner.picture.openRow = (queue, row) => { open('profile'); tab.showRow(queue, row); };
      if (wanted !== null) select(wanted);
    });
    $('graph-section').append(frame);
    new MutationObserver(() => {
      if (frame.contentDocument) frame.contentDocument.documentElement.dataset.theme = document.documentElement.dataset.theme;
    }).observe(document.documentElement, {attributes: true, attributeFilter: ['data-theme']});
  }
  function select(node) {
    const picture = frame?.contentWindow?.picture;
    if (!picture) { wanted = node; return; }
    wanted = null;
    picture.view.reveal(picture.graph.items[node]);
  }
  function open(name, queue, row) {
    const isGraph = name === 'graph';
    $('graph-section').hidden = !isGraph;
    parts().forEach((part) => { part.classList.toggle('away', isGraph); });
    for (const button of $('page-tabs').children) button.setAttribute('aria-selected', String(button.dataset.view === name));
    if (isGraph && !frame) load();
    if (isGraph && row !== undefined) select(nodes.get(key(queue, row)));
  }
  if (data) {
    $('page-tabs').hidden = false;
    views.forEach(([name, title]) => $('page-tabs').append(make('button', {type: 'button', role: 'tab', 'data-view': name, onclick: () => open(name)}, title)));
    open('profile');
  }
  return tab;
})();
