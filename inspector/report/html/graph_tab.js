'use strict';
// The tab with the graph: a page in a frame, which is loaded when the tab is opened first. A row of a table leads to
// its node, and a node to its row. The tabs hide the elements of the class "in-rows".
const graphTab = (() => {
  const data = JSON.parse($('graph-data').textContent), nodes = new Map(), key = (queue, row) => `${row} ${queue || ''}`;
  for (const [queue, row, node] of data?.rows || []) if (!nodes.has(key(queue, row))) nodes.set(key(queue, row), node);
  let frame = null, wanted = null;
  const views = [['rows', $('page-tabs').dataset.rows], ['graph', 'Graph']];
  // The page sets showRow, and rowName if the rows have other numbers than those of the profile.
  const tab = {showRow: () => {}, rowName: null, hasNode: (queue, row) => nodes.has(key(queue, row)), open};

  function load() {
    if (!data.page) { $('graph-why').textContent = `No graph: ${data.why_not}`; $('graph-why').hidden = false; return; }
    frame = make('iframe', {title: 'Graph of the program', srcdoc: data.page});
    frame.addEventListener('load', () => {
      const inner = frame.contentWindow;
      setTheme();
      inner.document.getElementById('theme').hidden = true;
      inner.picture.openRow = (queue, row) => { open('rows'); tab.showRow(queue, row); };
      if (tab.rowName) inner.picture.rowName = tab.rowName;
      if (wanted !== null) select(wanted);
    });
    $('graph-section').append(frame);
    new MutationObserver(setTheme).observe(document.documentElement, {attributes: true, attributeFilter: ['data-theme']});
  }
  function setTheme() {
    const {theme} = document.documentElement.dataset;
    if (theme && frame.contentDocument) frame.contentDocument.documentElement.dataset.theme = theme;
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
    for (const part of document.querySelectorAll('.in-rows')) part.classList.toggle('away', isGraph);
    for (const button of $('page-tabs').children) button.setAttribute('aria-selected', String(button.dataset.view === name));
    if (isGraph && !frame) load();
    if (isGraph && row !== undefined) select(nodes.get(key(queue, row)));
  }
  if (data) {
    $('page-tabs').hidden = false;
    views.forEach(([name, title]) => $('page-tabs').append(make('button', {type: 'button', role: 'tab', 'data-view': name, onclick: () => open(name)}, title)));
    open('rows');
  }
  return tab;
})();
