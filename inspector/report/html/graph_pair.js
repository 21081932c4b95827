'use strict';
// Two graphs side by side. Selecting a node in one of them shows its partner in the other.
(() => {
  const data = JSON.parse($('data').textContent), theme = () => document.documentElement.dataset.theme;
  $('title').textContent = document.title = data.title;
  $('changes').replaceChildren(...data.summary.map((line) => make('li', {}, line)));
  const frames = data.pages.map((page, i) => make('iframe', {title: i ? 'B' : 'A', srcdoc: page}));
  let isFollowing = false;
  frames.forEach((frame, i) => {
    frame.addEventListener('load', () => {
      const inner = frame.contentWindow;
      inner.document.getElementById('theme').hidden = true;
      inner.document.documentElement.dataset.theme = theme();
      inner.picture.onSelect = (item) => {
        const other = frames[1 - i].contentWindow.picture;
        if (isFollowing || !other || item?.partner === undefined) return;
        isFollowing = true;
        other.view.reveal(other.graph.items[item.partner]);
        isFollowing = false;
      };
    });
    $('pair').append(frame);
  });
  new MutationObserver(() => frames.forEach((frame) => {
    if (frame.contentDocument) frame.contentDocument.documentElement.dataset.theme = theme();
  })).observe(document.documentElement, {attributes: true, attributeFilter: ['data-theme']});
})();
