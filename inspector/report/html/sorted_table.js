'use strict';
// A table whose columns sort by a click on their title.
//
// A line has a class, a list of rows, and cells: pairs of a title and a cell. All lines have the same titles. `state` has
// sort, the title of the sorted column or '', and down, its direction.
const numberCell = (value, text, wide) => ({value, text, kind: 'n', wide});
const nameCell = (value, wide) => ({value, text: value, kind: 'name', wide});
const classOfCell = (cell) => [cell.kind, cell.wide ? 'wide' : ''].join(' ');
const columnOf = (lines, title) => lines.length ? lines[0].cells.findIndex(([other]) => other === title) : -1;

function sortLines(lines, state) {
  const at = columnOf(lines, state.sort), sign = state.down ? -1 : 1;
  if (at < 0) return lines;
  return lines.map((line, i) => [line, i]).sort(([a, i], [b, j]) => {
    const x = a.cells[at][1].value, y = b.cells[at][1].value;
    return (x < y ? -sign : x > y ? sign : i - j);
  }).map(([line]) => line);
}

// Writes the titles of the columns of `lines`. A click changes the state and calls redraw().
function drawTitles(table, lines, state, redraw) {
  const head = make('tr');
  for (const [title, cell] of lines.length ? lines[0].cells : []) {
    head.append(make('th', {class: classOfCell(cell), scope: 'col',
                            'aria-sort': state.sort !== title ? 'none' : state.down ? 'descending' : 'ascending'},
                     make('button', {type: 'button', onclick: () => {
                       if (state.sort === title) state.down = !state.down;
                       else { state.sort = title; state.down = cell.kind !== 'name'; }
                       redraw();
                     }}, title)));
  }
  table.tHead.replaceChildren(head);
}

// Writes a row of the table for each line. A click calls open(row, line). `widest` is the width of a full bar.
function drawLines(table, lines, state, widest, open) {
  const isSorted = columnOf(lines, state.sort) >= 0, body = table.tBodies[0];
  body.replaceChildren();
  for (const line of lines) {
    const row = make('tr', {class: line.class, 'data-rows': line.rows.map((index) => index + 1).join(' ')});
    for (const [, cell] of line.cells) {
      const element = make('td', {class: classOfCell(cell), title: cell.kind === 'name' && cell.value ? cell.value : false},
                           cell.kind === 'name' ? make('div', {}, cell.text) : cell.text);
      if (cell.indent && !isSorted) element.style.paddingLeft = 8 + 16 * cell.indent + 'px';
      if (cell.indent && isSorted) element.firstChild.textContent = cell.value;
      if (cell.width !== undefined) element.style.setProperty('--w', 100 * cell.width / widest + '%');
      row.append(element);
    }
    row.addEventListener('click', () => open(row, line));
    body.append(row);
  }
}

// Writes pairs of a name and a text, and then more elements, below a row, or removes them if they are there. Leaves out
// empty texts.
function toggleFacts(row, facts, more = []) {
  if (row.nextSibling && row.nextSibling.classList.contains('detail')) return row.nextSibling.remove();
  const list = make('dl');
  for (const [what, text] of facts) if (text) list.append(make('dt', {}, what), make('dd', {}, text));
  row.after(make('tr', {class: 'detail'}, make('td', {colspan: row.children.length}, list, ...more)));
}
