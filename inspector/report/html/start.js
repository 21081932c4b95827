'use strict';
// Shows the page's head, if it has one, and a profile. With several methods, a button for each.
(() => {
  const first = JSON.parse($('data').textContent), head = JSON.parse($('head-data').textContent);
  const pages = [first, ...first.others], methods = $('methods');
  let reveal = null;
  const empty = $('profile').cloneNode(true);
  const open = (page) => {
    $('profile').replaceWith(empty.cloneNode(true));
    for (const button of methods.children) button.setAttribute('aria-selected', String(pages[button.dataset.page] === page));
    if (!head) colorTypes(page.groups.op.map((group) => group.name));
    reveal = showProfile(page);
  };
  if (head) colorTypes(head.groups.op.map((group) => group.name));
  if (head) showHead(head);
  methods.hidden = pages.length < 2;
  if (pages.length > 1) pages.forEach((page, i) => {
    methods.append(make('button', {type: 'button', role: 'tab', 'data-page': i, onclick: () => open(page)}, page.queue ? `${page.method} · ${page.queue}` : page.method));
  });
  open(first);
  graphTab.showRow = (queue, row) => {
    open(pages.find((page) => (page.queue || '') === queue) || first);
    reveal(row);
  };
})();
