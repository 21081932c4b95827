'use strict';
// Plots the cost of a token against its position: the measured tokens, and the lines of the op types whose growth is known.
const showGrowth = (data) => {
  const [begin, end] = data.fitted_positions || [0, 0];
  const kinds = data.groups.op.filter((group) => group.growth && colored.includes(group.name));
  const lines = kinds.map((group) => [group.name, group.growth, colorOfType(group.name)]);
  if (data.wall.growth) lines.unshift(['a token', data.wall.growth, 'var(--ink)']);
  if ($('growth-section').hidden = !lines.length) return;
  const at = (line, position) => line.at_start_ns + line.a_position_ns * position;
  const positions = data.tokens.map(([position]) => position), first = least(positions), last = largest(positions);
  const crossing = data.attention_passes_weights_at;
  const highest = 1.1 * lines.reduce((most, [, cost]) => Math.max(most, at(cost, begin), at(cost, end)), Math.max(data.token_ns.p90, 1));

  function draw() {
    const box = $('growth'), width = Math.max(box.clientWidth, 200), height = box.clientHeight;
    const left = 56, right = 10, top = 8, bottom = 34, inner = width - left - right, tall = height - top - bottom;
    const x = (position) => inner * (position - first) / Math.max(last - first, 1), y = (ns) => tall * (1 - ns / highest);
    const text = (words, place, anchor) => svg('text', {...place, 'text-anchor': anchor}, words);
    const line = (from, to, style) => svg('path', {d: `M${from.join(' ')}L${to.join(' ')}`, style: {fill: 'none', ...style}});
    const chart = svg('svg', {width, height, role: 'img', 'aria-label': `cost of a token by position, ${lines.length} lines`});
    const area = svg('svg', {x: left, y: top, width: inner, height: tall, overflow: 'hidden'});
    const stepY = roundStep(highest / 5);
    for (let ns = 0; ns <= highest; ns += stepY) {
      chart.append(line([left, top + y(ns)], [left + inner, top + y(ns)], {stroke: 'var(--line)'}), text(ns ? time(ns) : '0', {x: left - 6, y: top + y(ns) + 4}, 'end'));
    }
    const stepX = Math.max(1, roundStep((last - first) / (width < 600 ? 4 : 8)));
    for (let position = Math.ceil(first / stepX) * stepX; position <= last; position += stepX) {
      chart.append(text(String(position), {x: left + x(position), y: top + tall + 15}, 'middle'));
    }
    chart.append(text('position', {x: left + inner, y: height - 4}, 'end'));
    area.append(svg('path', {class: 'tokens', d: data.tokens.map(([position, ns]) => `M${x(position).toFixed(1)} ${y(ns).toFixed(1)}h0`).join(''),
                             style: {fill: 'none', stroke: 'var(--rest)', strokeWidth: '3', strokeLinecap: 'round'}}));
    for (const [name, cost, color] of [...lines].reverse()) {
      area.append(svg('path', {class: 'fit', 'data-name': name, d: `M${x(begin)} ${y(at(cost, begin))}L${x(end)} ${y(at(cost, end))}`,
                               style: {fill: 'none', stroke: color, strokeWidth: '2'}}));
    }
    if (crossing !== undefined) {
      const weights = data.attention.weights_ns, isRight = x(crossing) > inner / 2, dashed = {stroke: 'var(--soft)', strokeDasharray: '6 4'};
      area.append(line([0, y(weights)], [inner, y(weights)], dashed), line([x(crossing), y(0)], [x(crossing), y(weights)], dashed),
                  svg('circle', {id: 'growth-crossing', cx: x(crossing), cy: y(weights), r: 4.5, style: {fill: 'var(--card)', stroke: 'var(--ink)', strokeWidth: '2'}}),
                  text(`attention passes the weights at ${crossing.toFixed(0)}`, {x: x(crossing) + (isRight ? -10 : 10), y: y(weights) - 10}, isRight ? 'end' : 'start'));
    }
    chart.append(area);
    explain(chart, (event) => {
      const place = (event.clientX - chart.getBoundingClientRect().left - left) / inner;
      const position = Math.min(end, Math.max(begin, Math.round(first + (last - first) * place)));
      return [`position ${position}`, ...lines.map(([name, cost]) => `${name} ${time(at(cost, position))}`)].join('\n');
    });
    box.replaceChildren(chart);
  }

  for (const [name, cost, color] of lines) {
    $('growth-legend').append(make('li', {}, make('i', {style: {background: color}}), name + ' ', make('b', {}, `${time(at(cost, begin))} to ${time(at(cost, end))}`)));
  }
  $('growth-text').textContent = `Each line shows the cost from position ${begin} to ${end}, fitted by least squares over ${data.fitted_tokens} of ` +
    `${data.tokens.length} tokens; the first six and disturbed tokens are left out. A cost has a line only if its growth exceeds the noise (95 % confidence).` +
    (crossing === undefined ? '' : ` Attention takes as long as the products with weights (${time(data.attention.weights_ns)}, dashed) at position ${crossing.toFixed(0)}.`);
  new ResizeObserver(draw).observe($('growth'));
  draw();
};
