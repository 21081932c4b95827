'use strict';
// ---- Light and dark: as the system has it, until told otherwise.
(() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let chosen = null;
  const apply = () => { document.documentElement.dataset.theme = chosen || (dark.matches ? 'dark' : 'light'); };
  dark.addEventListener('change', apply);
  document.getElementById('theme').addEventListener('click', () => { chosen = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'; apply(); });
  apply();
})();

// ---- One profile, or a button for each method's.
(() => {
  const first = JSON.parse(document.getElementById('data').textContent);
  const pages = [first, ...first.others], methods = document.getElementById('methods');
  const empty = document.querySelector('main').cloneNode(true);
  const open = (page) => {
    document.querySelector('main').replaceWith(empty.cloneNode(true));
    for (const button of methods.children) button.setAttribute('aria-selected', String(pages[button.dataset.page] === page));
    showProfile(page);
  };
  methods.hidden = pages.length < 2;
  if (pages.length > 1) pages.forEach((page, i) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.role = 'tab';
    button.dataset.page = i;
    button.textContent = page.method;
    button.addEventListener('click', () => open(page));
    methods.append(button);
  });
  open(first);
})();
