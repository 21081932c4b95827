'use strict';
// ---- Light and dark: as the system has it, until told otherwise.
(() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let chosen = null;
  const apply = () => { document.documentElement.dataset.theme = chosen || (dark.matches ? 'dark' : 'light'); };
  dark.addEventListener('change', apply);
  $('theme').addEventListener('click', () => { chosen = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'; apply(); });
  apply();
})();

// ---- What the page begins with, if anything; then one profile, or a button for each method's.
(() => {
  const first = JSON.parse($('data').textContent), head = JSON.parse($('head-data').textContent);
  const pages = [first, ...first.others], methods = $('methods');
  const empty = $('profile').cloneNode(true);
  const open = (page) => {
    $('profile').replaceWith(empty.cloneNode(true));
    for (const button of methods.children) button.setAttribute('aria-selected', String(pages[button.dataset.page] === page));
    showProfile(page);
  };
  colourTypes((head || first).groups.op.map((group) => group.name));
  if (head) showHead(head);
  methods.hidden = pages.length < 2;
  if (pages.length > 1) pages.forEach((page, i) => {
    methods.append(make('button', {type: 'button', role: 'tab', 'data-page': i, onclick: () => open(page)}, page.method));
  });
  open(first);
})();
