'use strict';
// Shows the lines of advice. Pointing at a line marks its rows in the table; a click keeps them marked.
const showHead = (data) => {
  let pinned = null, shown = null;  // lines
  const items = new Map();
  const rowsOf = (line) => new Set((line ? line.rows : []).map(String));
  function mark() {
    const rows = rowsOf(shown || pinned);
    for (const row of document.querySelectorAll('#table tbody tr[data-rows]')) {
      row.classList.toggle('marked', row.dataset.rows.split(' ').some((number) => rows.has(number)));
    }
  }
  function pin(line) {
    pinned = line;
    for (const [one, item] of items) {
      item.toggleAttribute('data-pinned', one === line);
      item.querySelector('.advice-head').setAttribute('aria-pressed', String(one === line));
    }
    mark();
  }
  function showRows(line) {
    pin(line);
    document.querySelector('#views [data-by=none]').click();
    mark();
    const first = document.querySelector('#table tr.marked');
    if (first) first.scrollIntoView({block: 'center', behavior: 'smooth'});
  }
  const facts = (list) => make('dl', {}, ...list.flatMap(([label, text]) => [make('dt', {}, label), make('dd', {class: label === 'how' ? 'how' : ''}, text)]));
  const bar = ([low, high]) => make('div', {class: 'advice-bar', 'aria-hidden': 'true'}, ...[low, high - low].map((part) => make('i', {style: {width: 100 * part + '%'}})));

  data.lines.forEach((line, i) => {
    const count = line.rows.length;
    const head = make('button', {type: 'button', class: 'advice-head', 'aria-pressed': 'false', disabled: count === 0 && '', onclick: () => pin(pinned === line ? null : line)},
                      make('b', {}, `#${i + 1} ${line.name}`), make('span', {}, line.saved));
    const item = make('li', {'data-name': line.name, onpointerenter: () => { shown = line; mark(); }, onpointerleave: () => { shown = null; mark(); }},
                      head, line.part && bar(line.part), make('p', {}, line.what), facts(line.facts));
    if (count) item.append(make('button', {type: 'button', class: 'to-rows', onclick: () => showRows(line)}, `Show ${counted(count, 'row')} in the table`));
    items.set(line, item);
    $('advice').append(item);
  });
  $('advice-what').textContent = data.lines.length ? data.what : `${data.what}: no change saves time, memory or bytes for certain`;
  $('advice-together').textContent = data.together;
  $('advice-rest').hidden = !data.rest.length;
  $('advice-rest').querySelector('dl').replaceWith(facts(data.rest));
  for (const note of data.notes) $('advice-notes').append(make('li', {}, note));
  // The table is drawn again when it is sorted or filtered.
  new MutationObserver(mark).observe(document.querySelector('main'), {childList: true, subtree: true});
};
