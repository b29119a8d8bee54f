// What ran in a round, why, and how long.

import { get, make, milliseconds, plural, showTip } from './util.js';

const COLORS = {
  parse: '#9ecbff', module_codes: '#b3d4ff', image: '#ffd8a8', flow_graph: '#a5e3c0', solve: '#f4a7b9',
  annotate_helper: '#f7c0cb', annotation_diagnostics: '#f9d2da', rtyped_graph: '#d0bfff', static_data: '#e2d4ff',
  struct_body: '#e9dfff', simplified: '#ffe08a', kept_simplified: '#fff0b8', optimized: '#ffc966', kept_optimized: '#ffe2a8',
  program_effects: '#d9d08a', exceptions: '#c0e38f', gc: '#9bdc9b', machine_code: '#ff9d80', kept_code: '#ffc4b0', jit_graph: '#8fe0e0',
};
const PHASE = '#c9d1d9';
const color = (span) => (span.key == null ? PHASE : COLORS[span.name] ?? '#d0d7de');
const ms = (us) => milliseconds(us / 1000);
const ROW = 17;

let wanted = null;

export async function show(main, _app, fresh) {
  const rounds = await get('/api/rounds');
  if (!fresh()) return;
  if (!rounds.length) {
    main.replaceChildren(make('div', { class: 'message' }, 'The first round is not over yet.'));
    return;
  }
  const round = rounds.find((r) => r.number === wanted) ?? rounds.at(-1);
  const { spans, reruns } = await get('/api/timeline', { round: round.number });
  if (!fresh()) return;
  const choose = make('select', { id: 'round', onchange: (e) => {
    wanted = Number(e.target.value) === rounds.at(-1).number ? null : Number(e.target.value);
    show(main, null, () => true);
  } });
  for (const r of [...rounds].reverse()) {
    const why = r.changed.length ? r.changed.map((p) => p.split('/').at(-1)).join(', ') : 'start';
    choose.append(make('option', { value: r.number, selected: r === round }, `${r.number}: ${why} (${milliseconds(r.took)})`));
  }
  const why = new Map(reruns.map((r) => [`${r.query} ${r.key}`, r]));
  const told = (s) => {
    const r = why.get(`${s.name} ${s.key}`);
    const because = r ? `\nwhy: ${r.why}${r.outcome === 'same' ? '\nits result is the same as before' : ''}` : '';
    return `${s.name}${s.key == null ? ' (phase)' : ` ${s.key}`}\n${ms(s.took)}, from ${ms(s.start)} on${because}`;
  };
  const bar = make('div', { class: 'bar' }, make('label', { class: 'soft' }, 'Round ', choose),
    make('span', { id: 'counts' }, `${round.executed} executed, ${round.reused} reused, ${milliseconds(round.took)}`),
    make('span', { class: 'grow' }), make('span', { class: 'soft' }, 'wheel: zoom · drag: move · double click: all'));
  const scroll = make('div', { class: 'scroll' });
  main.replaceChildren(bar, scroll);
  if (!spans.length) {
    scroll.append(make('div', { class: 'message' }, 'No query that does work ran in this round.'));
    return;
  }
  scroll.append(make('h4', {}, 'Timeline: a lane for each thread'), lanes(spans, told),
    make('h4', {}, 'Flame graph: where the time went, all threads together'), flame(spans),
    make('h4', {}, 'Queries'), table(spans, why));
}

function lanes(spans, told) {
  const depth = [];
  spans.forEach((s, i) => {
    const parent = s.parent == null ? null : spans[s.parent];
    depth[i] = parent && parent.thread === s.thread ? depth[s.parent] + 1 : 0;
  });
  const heights = [];
  spans.forEach((s, i) => { heights[s.thread] = Math.max(heights[s.thread] ?? 0, depth[i] + 1); });
  const tops = [];
  let height = 20;
  for (let t = 0; t < heights.length; t++) {
    tops[t] = height;
    height += Math.min(heights[t] ?? 1, 24) * ROW + 8;
  }
  const end = Math.max(...spans.map((s) => s.start + s.took), 1);
  const canvas = make('canvas', { style: `height:${height}px`, 'data-spans': spans.length, 'data-threads': heights.length, role: 'img', 'aria-label': 'timeline' });
  let from = 0, to = end;
  const draw = () => {
    const width = canvas.clientWidth, ratio = devicePixelRatio || 1;
    if (!width) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const g = canvas.getContext('2d');
    g.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    g.font = `11px ${style.getPropertyValue('--mono')}`;
    g.textBaseline = 'middle';
    const scale = width / (to - from);
    // A label takes some 70 pixels.
    const most = Math.max(1, width / 70);
    const step = 10 ** Math.ceil(Math.log10((to - from) / most));
    const tick = (2 * (to - from)) / step <= most ? step / 2 : step;
    g.strokeStyle = style.getPropertyValue('--edge');
    g.fillStyle = style.getPropertyValue('--soft');
    for (let t = Math.ceil(from / tick) * tick; t < to; t += tick) {
      const x = Math.round((t - from) * scale) + 0.5;
      g.beginPath(); g.moveTo(x, 14); g.lineTo(x, height); g.stroke();
      g.fillText(ms(t), x + 3, 8);
    }
    for (let i = 0; i < spans.length; i++) {
      const s = spans[i], x = (s.start - from) * scale, w = Math.max(s.took * scale, 0.7);
      if (x + w < 0 || x > width || depth[i] >= 24) continue;
      const y = tops[s.thread] + depth[i] * ROW;
      g.fillStyle = color(s);
      g.fillRect(x, y, w, ROW - 1.5);
      if (w > 34) {
        const left = Math.max(x, 0) + 4;
        g.save();
        g.beginPath(); g.rect(left, y, x + w - left - 3, ROW); g.clip();
        g.fillStyle = '#1f2328';
        g.fillText(s.key ? `${s.name} ${s.key.split('/').at(-1)}` : s.name, left, y + ROW / 2 - 0.5);
        g.restore();
      }
    }
  };
  const find = (e) => {
    const box = canvas.getBoundingClientRect();
    const x = e.clientX - box.left, y = e.clientY - box.top;
    const scale = canvas.clientWidth / (to - from), slack = 1 / scale;
    const t = from + x / scale;
    let best = null;
    for (let i = 0; i < spans.length; i++) {
      const s = spans[i], top = tops[s.thread] + depth[i] * ROW;
      if (y >= top && y < top + ROW && t >= s.start - slack && t <= s.start + s.took + slack) best = s;
    }
    return best;
  };
  let drag = null;
  canvas.addEventListener('wheel', (e) => {
    e.preventDefault();
    const at = from + ((e.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth) * (to - from);
    const by = e.deltaY < 0 ? 0.8 : 1.25;
    from = Math.max(0, at - (at - from) * by);
    to = Math.min(end, Math.max(from + 20, at + (to - at) * by));
    draw();
  }, { passive: false });
  canvas.addEventListener('pointerdown', (e) => { drag = { x: e.clientX, from, to }; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener('pointerup', () => { drag = null; });
  canvas.addEventListener('pointermove', (e) => {
    if (!drag) return;
    const span = drag.to - drag.from;
    from = Math.max(0, Math.min(end - span, drag.from - ((e.clientX - drag.x) / canvas.clientWidth) * span));
    to = from + span;
    draw();
  });
  canvas.addEventListener('dblclick', () => { from = 0; to = end; draw(); });
  canvas.addEventListener('mousemove', (e) => {
    const s = find(e);
    e.stopPropagation();
    showTip(s ? told(s) : null, e.clientX, e.clientY);
  });
  canvas.addEventListener('mouseleave', () => showTip(null));
  new ResizeObserver(draw).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  return canvas;
}

function flame(spans) {
  const root = { name: 'all', took: 0, count: 0, children: new Map(), color: PHASE };
  const nodes = [];
  spans.forEach((s, i) => {
    const parent = s.parent == null ? root : nodes[s.parent];
    // A query below one of its own kind belongs to it: call chains are no towers.
    const into = parent.name === s.name ? parent : parent.children.get(s.name)
      ?? { name: s.name, took: 0, count: 0, children: new Map(), color: color(s), up: parent };
    if (into !== parent) {
      parent.children.set(s.name, into);
      into.took += s.took;
    } else {
      into.nested = (into.nested ?? 0) + 1;
    }
    into.count += 1;
    nodes[i] = into;
  });
  // What ran beside each other takes more than the phase that waited for it.
  const weigh = (n) => {
    let inside = 0;
    for (const c of n.children.values()) inside += weigh(c);
    n.weight = Math.max(n.took, inside);
    n.own = Math.max(0, n.took - inside);
    return n.weight;
  };
  weigh(root);
  const box = make('div', { class: 'flame' });
  let deepest = 0;
  const place = (n, left, level) => {
    deepest = Math.max(deepest, level);
    const width = n.weight / root.weight;
    if (width < 0.0008) return;
    const tip = n === root ? `all: ${ms(n.weight)}` : `${n.name}\n${ms(n.took)}, ${plural(n.count, 'time')}; ${ms(n.own)} by itself\n${(100 * width).toFixed(1)}% of all`;
    box.append(make('div', { style: `left:${100 * left}%;width:${100 * width}%;top:${level * 20}px;background:${n.color}`, 'data-tip': tip, 'data-query': n.name }, `${n.name} ${ms(n.weight)}`));
    let at = left;
    for (const c of [...n.children.values()].sort((a, b) => b.weight - a.weight)) {
      place(c, at, level + 1);
      at += c.weight / root.weight;
    }
  };
  place(root, 0, 0);
  box.style.height = `${(deepest + 1) * 20}px`;
  return box;
}

function table(spans, why) {
  const inside = new Array(spans.length).fill(0);
  for (const s of spans) if (s.parent != null && spans[s.parent].thread === s.thread) inside[s.parent] += s.took;
  const rows = spans.map((s, i) => ({ s, own: Math.max(0, s.took - inside[i]) })).filter((r) => r.s.key != null);
  rows.sort((a, b) => b.own - a.own);
  const MOST = 300;
  const body = make('tbody');
  const fill = (text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = rows.filter((r) => words.every((w) => `${r.s.name} ${r.s.key}`.toLowerCase().includes(w)));
    body.replaceChildren(...fits.slice(0, MOST).map(({ s, own }) => {
      const r = why.get(`${s.name} ${s.key}`);
      return make('tr', {}, make('td', { class: 'mono' }, s.name), make('td', { class: 'mono' }, s.key),
        make('td', { class: 'num' }, ms(own)), make('td', { class: 'num' }, ms(s.took)),
        make('td', {}, r ? r.why : ''), make('td', {}, r?.outcome ?? ''));
    }));
    if (fits.length > MOST) body.append(make('tr', {}, make('td', { colspan: 6, class: 'soft' }, `and ${fits.length - MOST} more`)));
  };
  fill('');
  return make('div', {},
    make('input', { type: 'search', id: 'queries', placeholder: 'Query or key', style: 'margin:0 12px 8px', oninput: (e) => fill(e.target.value) }),
    make('div', { class: 'wide' }, make('table', { id: 'ran', style: 'width:100%' }, make('thead', {}, make('tr', {}, ...['Query', 'Key', 'By itself', 'With what it asked', 'Why', 'Result'].map((t) => make('th', {}, t)))), body)));
}
