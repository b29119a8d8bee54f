// A function at several stages, side by side.

import { advice, said } from './jit.js';
import { get, getKept, link, make, picture, python, zoomButtons } from './util.js';

const STAGES = [
  ['source', 'Source'], ['bytecode', 'Bytecode'], ['flow', 'Flow graph'], ['annotations', 'Annotated graph'],
  ['rtyped', 'Low-level graph'], ['optimized', 'Optimised'], ['exceptions', 'Exceptions made explicit'],
  ['gc', 'For the collector'], ['clif', 'Cranelift'], ['asm', 'Machine code'],
  ['colors', 'Colours (as a portal)'], ['timeshifted', 'Timeshifted (as a portal)'],
];
const KEPT = 'taipan-panes', WIDTHS = 'taipan-widths';
const stored = (key) => JSON.parse(localStorage.getItem(key) ?? 'null');
let panes = stored(KEPT) ?? ['source', 'annotations', 'asm'];
/** The part of the width that each pane has; empty where all have the same. */
let widths = stored(WIDTHS) ?? [];

function keep() {
  if (widths.length !== panes.length) widths = [];
  localStorage.setItem(KEPT, JSON.stringify(panes));
  localStorage.setItem(WIDTHS, JSON.stringify(widths));
}

/** Where each pane was scrolled to, by its function and stage. */
const places = new Map();

export async function show(main, app, fresh) {
  const row = app.program.functions.find((f) => f.name === app.function);
  if (!row) {
    main.replaceChildren(make('div', { class: 'message' }, 'The program has no functions.'));
    return;
  }
  const passes = await getKept('/api/passes', { f: row.name }, app.broken).then((r) => r.value, () => []);
  const built = await Promise.all(panes.map((stage, i) => pane(app, row, stage, i, passes)));
  if (!fresh()) return;
  const bar = make('div', { class: 'bar' },
    make('h2', {}, row.name), make('span', { class: 'sig' }, row.signature), make('span', { id: 'colors' }),
    built.some((p) => p.classList.contains('stale')) ? make('a', { id: 'stale', href: '#/problems' }, 'The program is wrong: shown as it was before') : null,
    make('a', { href: link('calls', row.name) }, 'calls'),
    make('button', { id: 'add', title: 'Another stage beside these', onclick: () => { panes.push(next()); keep(); show(main, app, () => true); } }, '+ stage'));
  const box = make('div', { class: 'panes', 'data-function': row.name });
  built.forEach((p, i) => {
    if (i) box.append(splitter());
    if (widths[i]) p.style.flexGrow = widths[i];
    box.append(p);
  });
  leave(main);
  main.replaceChildren(bar, box);
  box.repaint = () => show(main, app, () => true);
  attendLinks(box);
  if (app.program.drivers.length) colour(box, row);
  for (const p of built) {
    const view = p.querySelector('.view'), place = places.get(`${row.name} ${p.dataset.stage}`);
    if (place) view.scrollTo(...place);
    else if (view.open) view.open();
    else begin(view);
  }
}

/** Notes where the panes that go away are scrolled to. */
export function leave(main) {
  const box = main.querySelector('.panes');
  for (const p of box?.querySelectorAll('.pane') ?? []) {
    const view = p.querySelector('.view');
    places.set(`${box.dataset.function} ${p.dataset.stage}`, [view.scrollLeft, view.scrollTop]);
  }
}

/** Scrolls a text to the first line of the function. */
function begin(view) {
  const first = view.querySelector('div.first');
  if (first) view.scrollTop += first.getBoundingClientRect().top - view.getBoundingClientRect().top;
}

/** Marks which variables are known while loops are compiled. Nothing else waits for it: it may take long. */
async function colour(box, row) {
  const colors = await get('/api/colors', { f: row.name }).catch(() => ({}));
  if (!box.isConnected) return;
  const legend = document.getElementById('colors');
  const words = [['green', 'green', 'known while loops are compiled'], ['both', 'green in places', 'known in some places while loops are compiled'],
    ['red', 'red', 'known at run time alone']];
  for (const [color, word, tip] of words) {
    const names = Object.keys(colors).filter((n) => colors[n].class === color);
    if (names.length) legend?.append(make('span', { class: color, 'data-tip': tip }, `${word}: ${names.join(', ')}`), ' ');
  }
  for (const v of box.querySelectorAll('.pane:not([data-stage=colors]) svg [data-name]')) {
    // `pc_12` is one of the variables `pc`.
    const color = colors[v.dataset.name.replace(/_\d+$/, '')];
    if (!color) continue;
    v.setAttribute('class', color.class === 'green' ? 'tp-green' : 'tp-red');
    v.dataset.color = color.text;
  }
}

/** The first stage that is not shown yet. */
function next() {
  return (STAGES.find(([s]) => !panes.includes(s)) ?? STAGES[0])[0];
}

async function pane(app, row, stage, at, passes) {
  let content, box = null, stale = false;
  try {
    if (stage === 'source') content = await source(app, row);
    else ({ content, stale } = await view(app, row, stage));
    if (content.matches('.picture')) box = content;
  } catch (e) {
    content = make('div', { class: 'view' }, make('div', { class: 'message' }, e.message));
  }
  const choose = make('select', { 'aria-label': 'Stage', onchange: (e) => {
    panes[at] = e.target.value;
    keep();
    e.target.closest('.panes').repaint();
  } });
  for (const [value, text] of STAGES) {
    choose.append(make('option', { value, selected: value === stage }, text));
    if (value === 'rtyped' && passes.length) {
      const group = make('optgroup', { label: 'Passes of the optimiser' });
      passes.forEach((p, i) => group.append(make('option', { value: `pass:${i}`, selected: stage === `pass:${i}` },
        `${i}. ${p.name}${p.changed ? ` (${p.blocks} blocks, ${p.operations} operations)` : ' – no change'}`)));
      choose.append(group);
    }
  }
  const step = (by) => {
    const all = [...choose.options].map((o) => o.value);
    const to = all[all.indexOf(choose.value) + by];
    if (to) { choose.value = to; choose.dispatchEvent(new Event('change')); }
  };
  const head = make('div', { class: 'head' },
    make('span', { class: 'stage' }, make('button', { title: 'The stage before', onclick: () => step(-1) }, '‹'), choose,
      make('button', { title: 'The next stage', onclick: () => step(1) }, '›')),
    make('span', { class: 'buttons' }, ...(box ? zoomButtons(() => box) : []),
    panes.length > 1 ? make('button', { title: 'Close', onclick: (e) => {
      panes.splice(at, 1);
      keep();
      e.target.closest('.panes').repaint();
    } }, '×') : null));
  return make('section', { class: `pane${stale ? ' stale' : ''}`, 'data-stage': stage }, head, content);
}

async function source(app, row) {
  if (row.file == null) throw new Error('It has no source: Taipan made it.');
  const { text } = await get('/api/source', { file: app.program.files[row.file].path });
  const [first, last] = row.lines;
  const costs = advice(app, app.program.files[row.file].path);
  const pre = make('pre', { class: 'code' });
  python(text).forEach((parts, i) => {
    const n = i + 1, inside = n >= first && n <= last;
    pre.append(make('div', { 'data-line': inside ? n : null, class: inside ? (n === first ? 'first' : null) : 'outside' }, make('b', {}, String(n)), ...parts));
    for (const a of costs.get(n) ?? []) pre.append(make('div', { class: 'advice' }, said(a)));
  });
  return make('div', { class: 'view', tabindex: 0 }, pre);
}

async function view(app, row, stage) {
  const { value: { svg, note, lines }, stale } = await getKept('/api/view', { f: row.name, stage }, app.broken);
  if (svg) return { content: picture(svg), stale };
  const pre = make('pre', { class: 'code' });
  let last = null;
  for (const l of lines) {
    const shown = l.line != null && l.line !== last ? String(l.line) : '';
    last = l.line ?? last;
    pre.append(make('div', { 'data-line': l.line }, make('b', {}, shown), l.text));
  }
  return { content: make('div', { class: 'view', tabindex: 0 }, note ? make('div', { class: 'note' }, note) : null, pre), stale };
}

/** What comes from the same line is marked in all panes; a variable wherever it stands in its own. */
function attendLinks(box) {
  let lit = null, name = null;
  const scroll = (e) => {
    const at = e.target.closest('[data-line]');
    if (!at) return;
    for (const pane of box.querySelectorAll('.pane')) {
      if (pane.contains(at)) continue;
      pane.querySelector(`[data-line="${at.dataset.line}"]`)?.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'smooth' });
    }
  };
  box.addEventListener('mouseover', (e) => {
    const line = e.target.closest('[data-line]')?.dataset.line ?? null;
    if (line !== lit) {
      lit = line;
      for (const x of box.querySelectorAll('.lit')) x.classList.remove('lit');
      if (line) for (const x of box.querySelectorAll(`[data-line="${line}"]`)) x.classList.add('lit');
    }
    const v = e.target.closest('[data-name]');
    const here = v?.dataset.name ?? null;
    if (here !== name) {
      name = here;
      for (const x of box.querySelectorAll('.same')) x.classList.remove('same');
      if (v) for (const x of v.closest('svg').querySelectorAll(`[data-name="${CSS.escape(here)}"]`)) x.classList.add('same');
    }
  });
  box.addEventListener('dblclick', scroll);
}

/** The narrowest pane that a splitter leaves, and the step of an arrow key. */
const NARROWEST = 160, STEP = 40;

/** What is between two panes: it is dragged, or moved by arrows. */
function splitter() {
  const bar = make('div', { class: 'split', role: 'separator', tabindex: 0, 'aria-orientation': 'vertical', title: 'Drag, or press ← and →' });
  const shift = (by) => {
    const all = [...bar.parentElement.querySelectorAll('.pane')];
    const wide = all.map((p) => p.getBoundingClientRect().width);
    const a = all.indexOf(bar.previousElementSibling), b = a + 1;
    const moved = Math.max(NARROWEST - wide[a], Math.min(wide[b] - NARROWEST, by));
    wide[a] += moved;
    wide[b] -= moved;
    const total = wide.reduce((x, y) => x + y);
    widths = wide.map((w) => (w / total) * all.length);
    all.forEach((p, i) => { p.style.flexGrow = widths[i]; });
  };
  let last = null;
  bar.addEventListener('pointerdown', (e) => { last = e.clientX; bar.setPointerCapture(e.pointerId); });
  bar.addEventListener('pointermove', (e) => {
    if (last == null) return;
    shift(e.clientX - last);
    last = e.clientX;
  });
  bar.addEventListener('pointerup', () => { last = null; keep(); });
  bar.addEventListener('keydown', (e) => {
    const by = { ArrowLeft: -STEP, ArrowRight: STEP }[e.key];
    if (!by) return;
    e.preventDefault();
    shift(by);
    keep();
  });
  return bar;
}
