// The page: its address says what is shown; the server says when that has changed.

import { arrows, attendTips, get, link, make, milliseconds, plural, unknown } from './util.js';
import * as functionView from './function.js';
import * as callsView from './calls.js';
import * as classesView from './classes.js';
import * as timelineView from './timeline.js';
import * as jitView from './jit.js';
import * as problemsView from './problems.js';

const views = {
  function: functionView, calls: callsView, classes: classesView,
  timeline: timelineView, jit: jitView, problems: problemsView,
};
const main = document.getElementById('main');
const list = document.getElementById('list');
const search = document.getElementById('search');

/** Arguments of the views: the last program without mistakes, the state, and the selection. */
const app = { program: null, state: null, function: null, class: null, get broken() { return (this.state?.errors ?? 0) > 0; } };
let shown = 0;

function address() {
  const [, tab, name] = location.hash.match(/^#\/(\w+)(?:\/(.*))?$/) ?? [];
  return { tab: tab in views ? tab : 'function', name: name ? decodeURIComponent(name) : null };
}

async function show() {
  const { tab, name } = address();
  for (const a of document.querySelectorAll('#tabs a')) a.classList.toggle('on', a.dataset.tab === tab);
  if (tab === 'classes') app.class = name ?? app.class;
  else if (name) app.function = name;
  const turn = ++shown;
  functionView.leave(main);
  const fresh = () => turn === shown;
  if (!app.program && tab !== 'problems' && tab !== 'timeline') {
    const failed = app.state && !app.state.busy;
    main.replaceChildren(make('div', { class: 'message' },
      failed ? 'There is nothing to show as long as the program is wrong: see Problems.' : 'Compiling …'));
    return;
  }
  if (app.program && app.function == null) app.function = start(app.program);
  marks();
  if (app.program && (tab === 'function' || tab === 'calls') && app.function != null) {
    const names = app.program.functions.map((f) => f.name);
    if (!names.includes(app.function)) {
      main.replaceChildren(unknown('function', tab, app.function, names));
      return;
    }
  }
  try {
    await views[tab].show(main, app, fresh);
  } catch (e) {
    if (fresh()) main.replaceChildren(make('div', { class: 'message bad' }, e.message));
  }
}

/** What is shown first: the portal of a driver, else the entry point. */
function start(program) {
  const portal = program.drivers.find((d) => d.function != null)?.function;
  if (portal != null) return program.functions[portal].name;
  const own = program.functions.filter((f) => f.file != null && program.files[f.file].path === program.target);
  return (own.find((f) => /\.entry_point$/.test(f.name)) ?? own[0] ?? program.functions[0])?.name ?? null;
}

function fillList() {
  const { program } = app;
  if (!program) return;
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text) => words.every((w) => text.toLowerCase().includes(w));
  const groups = new Map();
  const add = (file, row) => {
    const key = file == null ? '' : program.files[file].path;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  };
  program.functions.forEach((f) => {
    if (!fits(f.name)) return;
    if (!words.length && (f.file == null || program.files[f.file].shipped)) return;
    add(f.file, { name: f.name, line: f.lines?.[0] ?? 0, tab: 'function' });
  });
  program.classes.forEach((c) => {
    if (words.length && fits(c.name)) add(c.place?.[0], { name: c.name, line: c.place?.[1] ?? 0, tab: 'classes' });
  });
  const order = [...groups].sort(([a], [b]) => (a === program.target ? -1 : b === program.target ? 1 : a < b ? -1 : 1));
  const MOST = 1500;
  let left = MOST;
  const out = [];
  for (const [path, rows] of order) {
    if (left <= 0) break;
    rows.sort((a, b) => a.line - b.line || (a.name < b.name ? -1 : 1));
    out.push(make('h3', { title: path }, path.split('/').slice(-2).join('/') || 'without a file'));
    const stem = path.split('/').at(-1).replace(/\.py$/, '');
    for (const row of rows.slice(0, left)) {
      const short = row.name.slice(row.name.indexOf(`${stem}.`) < 0 ? 0 : row.name.indexOf(`${stem}.`) + stem.length + 1);
      out.push(make('a', { href: link(row.tab, row.name), 'data-name': row.name, class: row.tab === 'classes' ? 'class' : null, title: row.name }, short));
    }
    left -= rows.length;
  }
  if (!out.length) out.push(make('p', {}, 'Nothing has such a name.'));
  list.replaceChildren(...out);
  marks();
}

function marks() {
  const { tab } = address();
  for (const a of list.querySelectorAll('a')) {
    const is = a.classList.contains('class') ? tab === 'classes' && a.dataset.name === app.class : tab !== 'classes' && a.dataset.name === app.function;
    a.classList.toggle('on', is);
    a.setAttribute('aria-current', is);
    if (is && tab === 'calls') a.scrollIntoView({ block: 'nearest' });
  }
  list.stop();
}

function status() {
  const { state } = app;
  const box = document.getElementById('status');
  const good = state.errors === 0;
  box.className = state.busy ? 'busy' : good ? 'good' : 'bad';
  let text = state.busy ? 'compiling …' : '';
  if (!state.busy && state.took != null) {
    const what = state.changed?.length ? `${state.changed.map((p) => p.split('/').at(-1)).join(', ')} edited: ` : '';
    text = `${what}${plural(state.executed, 'query').replace('querys', 'queries')} in ${milliseconds(state.took)}`;
  }
  box.querySelector('span').textContent = text;
  box.dataset.version = state.version;
  const count = document.getElementById('problems');
  count.hidden = state.problems === 0;
  count.className = good ? 'warning' : '';
  count.textContent = state.problems;
}

async function news(state) {
  const newer = !app.state || state.version !== app.state.version;
  app.state = state;
  status();
  if (!newer || state.version === 0) {
    if (state.version === 0) show();
    return;
  }
  try {
    app.program = await get('/api/program');
  } catch {
    // There was none yet.
  }
  if (app.program) {
    document.getElementById('target').textContent = app.program.target.split('/').at(-1);
    document.title = `${app.program.target.split('/').at(-1)} – taipan explore`;
    document.querySelector('[data-tab=jit]').hidden = app.program.drivers.length === 0;
    fillList();
  }
  await show();
  document.body.dataset.shown = state.version;
}

/** In narrow windows the list covers the rest as long as it is open. */
const menu = document.getElementById('menu');
function unfold(open) {
  document.body.classList.toggle('open', open);
  menu.setAttribute('aria-expanded', open);
}
menu.addEventListener('click', () => unfold(!document.body.classList.contains('open')));
list.addEventListener('click', (e) => { if (e.target.closest('a')) unfold(false); });
arrows(list);

window.addEventListener('hashchange', show);
search.addEventListener('input', fillList);
search.addEventListener('keydown', (e) => {
  if (e.key === 'Enter') list.querySelector('a')?.click();
  if (e.key === 'Escape') { search.value = ''; fillList(); }
  if (e.key === 'ArrowDown') {
    e.preventDefault();
    list.querySelector('a[tabindex="0"]')?.focus();
  }
});
document.addEventListener('keydown', (e) => {
  if (e.key === '/' && !e.target.closest('input, select')) {
    e.preventDefault();
    unfold(true);
    search.focus();
    search.select();
  }
});
attendTips();
// From here on the cookie counts: the token is not to be seen, kept or sent.
if (location.search) history.replaceState(null, '', location.pathname + location.hash);
const events = new EventSource('/events');
let queue = Promise.resolve();
events.onmessage = (e) => { queue = queue.then(() => news(JSON.parse(e.data))).catch(console.error); };
events.onerror = () => {
  document.getElementById('status').className = 'bad';
  document.querySelector('#status span').textContent = 'taipan explore has ended';
};
