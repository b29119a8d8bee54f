// A function at several stages, side by side.

import { advice, said } from './jit.js';
import { get, link, make, picture, python, zoomButtons } from './util.js';

const STAGES = [
  ['source', 'Source'], ['bytecode', 'Bytecode'], ['flow', 'Flow graph'], ['annotations', 'Annotated graph'],
  ['rtyped', 'Low-level graph'], ['optimized', 'Optimised'], ['exceptions', 'Exceptions made explicit'],
  ['gc', 'For the collector'], ['clif', 'Cranelift'], ['asm', 'Machine code'],
  ['colors', 'Colours (as a portal)'], ['timeshifted', 'Timeshifted (as a portal)'],
];
const KEPT = 'taipan-panes';
let panes = JSON.parse(localStorage.getItem(KEPT) ?? 'null') ?? ['source', 'annotations', 'asm'];

function keep() {
  localStorage.setItem(KEPT, JSON.stringify(panes));
}

export async function show(main, app, fresh) {
  const row = app.program.functions.find((f) => f.name === app.function);
  if (!row) {
    main.replaceChildren(make('div', { class: 'message' }, 'The program has no functions.'));
    return;
  }
  const before = main.querySelector('.panes')?.dataset.function === row.name
    ? [...main.querySelectorAll('.view')].map((v) => [v.scrollLeft, v.scrollTop]) : null;
  const passes = await get('/api/passes', { f: row.name }).catch(() => []);
  const built = await Promise.all(panes.map((stage, i) => pane(app, row, stage, i, passes)));
  if (!fresh()) return;
  const bar = make('div', { class: 'bar' },
    make('h2', {}, row.name), make('span', { class: 'sig' }, row.signature),
    make('a', { href: link('calls', row.name) }, 'calls'),
    make('button', { id: 'add', title: 'Another stage beside these', onclick: () => { panes.push(next()); keep(); show(main, app, () => true); } }, '+ stage'));
  const box = make('div', { class: 'panes', 'data-function': row.name });
  built.forEach((p, i) => {
    if (i) box.append(splitter());
    box.append(p);
  });
  main.replaceChildren(bar, box);
  box.repaint = () => show(main, app, () => true);
  attendLinks(box);
  if (app.program.drivers.length) colour(box, row);
  if (before) [...main.querySelectorAll('.view')].forEach((v, i) => { if (before[i]) v.scrollTo(...before[i]); });
  else for (const v of main.querySelectorAll('.view')) {
    v.querySelector('div.first')?.scrollIntoView({ block: 'start' });
    const start = v.querySelector('.tp-start');
    if (start) {
      const at = start.getBoundingClientRect(), around = v.getBoundingClientRect();
      v.scrollLeft += at.left + at.width / 2 - around.left - around.width / 2;
    }
  }
}

/** Marks which variables are known while loops are compiled. Nothing else waits for it: it may take long. */
async function colour(box, row) {
  const colors = await get('/api/colors', { f: row.name }).catch(() => ({}));
  if (!box.isConnected) return;
  for (const v of box.querySelectorAll('.pane:not([data-stage=colors]) svg [data-name]')) {
    // `pc_12` is one of the variables `pc`.
    const color = colors[v.dataset.name.replace(/_\d+$/, '')];
    if (!color) continue;
    v.setAttribute('class', `tp-${color.class}`);
    v.dataset.color = color.text;
  }
}

/** The first stage that is not shown yet. */
function next() {
  return (STAGES.find(([s]) => !panes.includes(s)) ?? STAGES[0])[0];
}

async function pane(app, row, stage, at, passes) {
  let content, box = null;
  try {
    content = stage === 'source' ? await source(app, row) : await view(row, stage);
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
    make('button', { title: 'The stage before', onclick: () => step(-1) }, '‹'), choose,
    make('button', { title: 'The next stage', onclick: () => step(1) }, '›'),
    make('span', { class: 'grow' }), ...(box ? zoomButtons(() => box) : []),
    panes.length > 1 ? make('button', { title: 'Close', onclick: (e) => {
      panes.splice(at, 1);
      keep();
      e.target.closest('.panes').repaint();
    } }, '×') : null);
  return make('section', { class: 'pane', 'data-stage': stage }, head, content);
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
  return make('div', { class: 'view' }, pre);
}

async function view(row, stage) {
  const { svg, note, lines } = await get('/api/view', { f: row.name, stage });
  if (svg) return picture(svg);
  const pre = make('pre', { class: 'code' });
  let last = null;
  for (const l of lines) {
    const shown = l.line != null && l.line !== last ? String(l.line) : '';
    last = l.line ?? last;
    pre.append(make('div', { 'data-line': l.line }, make('b', {}, shown), l.text));
  }
  return make('div', { class: 'view' }, note ? make('div', { class: 'note' }, note) : null, pre);
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

function splitter() {
  const bar = make('div', { class: 'split' });
  bar.addEventListener('pointerdown', (down) => {
    const [a, b] = [bar.previousElementSibling, bar.nextElementSibling];
    const [wa, wb] = [a.clientWidth, b.clientWidth];
    bar.setPointerCapture(down.pointerId);
    const move = (e) => {
      const by = Math.max(120 - wa, Math.min(wb - 120, e.clientX - down.clientX));
      a.style.flex = `${wa + by} 1 0`;
      b.style.flex = `${wb - by} 1 0`;
      for (const other of bar.parentElement.querySelectorAll('.pane')) if (other !== a && other !== b && !other.style.flex) other.style.flex = `${other.clientWidth} 1 0`;
    };
    bar.addEventListener('pointermove', move);
    bar.addEventListener('pointerup', () => bar.removeEventListener('pointermove', move), { once: true });
  });
  return bar;
}
