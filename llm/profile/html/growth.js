'use strict';
// Cost of a token by its position: the tokens, and the line fitted to each op type.
const showGrowth = (data) => {
  const wall = data.wall.growth;
  if ($('growth-section').hidden = !wall) return;
  const at = (line, position) => line.at_start_ns + line.a_position_ns * position;
  const positions = data.tokens.map(([position]) => position);
  const first = least(positions), last = largest(positions);
  const context = data.run.max_context, crossing = data.attention_passes_weights_at;
  const isInPlot = crossing !== undefined && crossing <= Math.min(context, 4 * last);
  const end = isInPlot ? Math.max(last, Math.min(1.1 * crossing, context)) : last;
  const highest = 1.1 * Math.max(at(wall, 0), at(wall, end), data.token_ns.p90, 1);
  const kinds = data.groups.op.filter((group) => group.growth && coloured.includes(group.name));
  const lines = [['a token', wall, 'var(--ink)'], ...kinds.map((group) => [group.name, group.growth, colourOfType(group.name)])];

  function draw() {
    const box = $('growth'), width = Math.max(box.clientWidth, 200), height = box.clientHeight;
    const left = 56, right = 10, top = 8, bottom = 34, inner = width - left - right, tall = height - top - bottom;
    const x = (position) => inner * position / end, y = (ns) => tall * (1 - ns / highest);
    const text = (words, place, anchor) => svg('text', {...place, 'text-anchor': anchor}, words);
    const line = (from, to, style) => svg('path', {d: `M${from.join(' ')}L${to.join(' ')}`, style: {fill: 'none', ...style}});
    const chart = svg('svg', {width, height, role: 'img', 'aria-label': `cost of a token by position, ${lines.length} lines`});
    const area = svg('svg', {x: left, y: top, width: inner, height: tall, overflow: 'hidden'});
    const grid = {stroke: 'var(--line)'};
    const stepY = roundStep(highest / 5);
    for (let ns = 0; ns <= highest; ns += stepY) {
      chart.append(line([left, top + y(ns)], [left + inner, top + y(ns)], grid), text(ns ? time(ns) : '0', {x: left - 6, y: top + y(ns) + 4}, 'end'));
    }
    const stepX = Math.max(1, roundStep(end / (width < 600 ? 4 : 8)));
    for (let position = 0; position <= end; position += stepX) {
      chart.append(text(String(position), {x: left + x(position), y: top + tall + 15}, 'middle'));
    }
    chart.append(text('position', {x: left + inner, y: height - 4}, 'end'));
    area.append(svg('path', {class: 'tokens', d: data.tokens.map(([position, ns]) => `M${x(position).toFixed(1)} ${y(ns).toFixed(1)}h0`).join(''),
                             style: {fill: 'none', stroke: 'var(--rest)', strokeWidth: '3', strokeLinecap: 'round'}}));
    for (const [name, cost, colour] of [...lines].reverse()) {
      const part = (from, to, dashes) => {
        if (to > from) area.append(svg('path', {class: 'fit', 'data-name': name, d: `M${x(from)} ${y(at(cost, from))}L${x(to)} ${y(at(cost, to))}`,
                                                style: {fill: 'none', stroke: colour, strokeWidth: '2', strokeDasharray: dashes}}));
      };
      const begin = first > end / 30 ? first : 0;
      part(0, begin, '2 4');
      part(begin, last, 'none');
      part(last, end, '2 4');
    }
    if (isInPlot) {
      const weights = data.attention.weights_ns, isRight = x(crossing) > inner / 2;
      area.append(line([0, y(weights)], [inner, y(weights)], {stroke: 'var(--soft)', strokeDasharray: '6 4'}),
                  line([x(crossing), y(0)], [x(crossing), y(weights)], {stroke: 'var(--soft)', strokeDasharray: '6 4'}),
                  svg('circle', {id: 'growth-crossing', cx: x(crossing), cy: y(weights), r: 4.5, style: {fill: 'var(--card)', stroke: 'var(--ink)', strokeWidth: '2'}}),
                  text(`attention passes the weights at ${crossing.toFixed(0)}`, {x: x(crossing) + (isRight ? -10 : 10), y: y(weights) - 10}, isRight ? 'end' : 'start'));
    }
    chart.append(area);
    explain(chart, (event) => {
      const place = (event.clientX - chart.getBoundingClientRect().left - left) / inner;
      const position = Math.round(end * Math.min(1, Math.max(0, place)));
      return [`position ${position}`, ...lines.map(([name, cost]) => `${name} ${time(at(cost, position))}`)].join('\n');
    });
    box.replaceChildren(chart);
  }

  const formula = (cost) => `${time(cost.at_start_ns)} ${cost.a_position_ns < 0 ? '−' : '+'} ${time(Math.abs(cost.a_position_ns) * 1000)}`;
  for (const [name, cost, colour] of lines) {
    $('growth-legend').append(make('li', {}, make('i', {style: {background: colour}}), name + ' ', make('b', {}, formula(cost))));
  }
  const attention = crossing === undefined ? '' : ` Attention takes as long as the products with weights (${time(data.attention.weights_ns)}${isInPlot ? ', dashed' : ''}) at position ` +
    `${crossing.toFixed(0)}${crossing > context ? `, beyond the context of ${context}` : ''}.`;
  $('growth-text').textContent = `The figures are a cost at position 0 and its growth over 1000 positions, by least squares over ${data.fitted_tokens} of ` +
    `${data.tokens.length} tokens; the first six and disturbed ones are left out.${end > last ? ' Dotted parts were not measured.' : ''}${attention}`;
  new ResizeObserver(draw).observe($('growth'));
  draw();
};
