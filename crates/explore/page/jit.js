// Drivers, and the residual code of a run.

import { link, make, post } from './util.js';

const KEPT = 'taipan-arguments';
let last = null;

/** The advice of the last run about a file, by line. */
export function advice(app, path) {
  const of = new Map();
  if (last?.target !== app.program.target) return of;
  for (const a of last.told.advice ?? []) {
    if (a.file === path) of.set(a.line, [...of.get(a.line) ?? [], a]);
  }
  return of;
}

/** What costs something, why, and what helps. */
export const said = (a) => `${a.what}. Why: ${a.why}. What helps: ${a.remedy}.`;

/** The places that cost most. */
function costs(advice, functions) {
  const list = make('ol', { id: 'advice' });
  for (const a of advice) {
    const known = functions.some((f) => f.name === a.function);
    const place = [a.function && (known ? make('a', { href: link('function', a.function) }, a.function) : a.function),
      a.line && ` line ${a.line}`, a.location && ` at ${a.location}`].filter(Boolean);
    list.append(make('li', {}, make('div', { class: 'mono' }, ...place), make('div', {}, a.what),
      make('div', { class: 'soft' }, `Why: ${a.why}.`), make('div', {}, `What helps: ${a.remedy}.`)));
  }
  return list;
}

export async function show(main, app) {
  const { drivers, functions, target } = app.program;
  const table = make('table', {}, make('tr', {}, ...['Driver', 'Merge point in', 'Green', 'Red'].map((t) => make('th', {}, t))));
  for (const d of drivers) {
    const f = d.function == null ? null : functions[d.function];
    table.append(make('tr', {}, make('td', { class: 'mono' }, d.name),
      make('td', { class: 'mono' }, f ? make('a', { href: link('function', f.name) }, f.name) : ''),
      make('td', { class: 'mono green' }, d.greens.join(', ')), make('td', { class: 'mono red' }, d.reds.join(', '))));
  }
  const args = make('input', { id: 'arguments', size: 30, placeholder: 'arguments of the program', value: localStorage.getItem(KEPT + target) ?? '' });
  const threshold = make('input', { id: 'threshold', size: 6, placeholder: 'its own', title: 'Rounds of a loop before it is compiled' });
  const out = make('div', { class: 'scroll', id: 'residual' });
  const show = () => {
    if (!last || last.target !== target) {
      out.replaceChildren(make('div', { class: 'message' }, 'Run the program to see what its loops become. It runs for 20 seconds at the most, with your rights, in a process of its own.'));
      return;
    }
    const { exit, output, residual, summary, advice } = last.told;
    const counts = Object.entries(summary?.residual ?? {}).sort((a, b) => b[1] - a[1]);
    out.replaceChildren(
      make('h4', {}, exit == null ? 'It was stopped after 20 seconds.' : `It ended with ${exit}${summary ? `: ${summary.functions} residual functions of ${summary.blocks} blocks` : ''}`),
      counts.length ? make('p', { class: 'soft', style: 'margin:0 12px' }, counts.slice(0, 16).map(([op, n]) => `${op} ×${n}`).join('  ')) : '',
      ...(summary?.refused ?? []).map((r) => make('p', { class: 'red', style: 'margin:4px 12px' }, r)),
      ...(advice?.length ? [make('h4', {}, 'What costs most'), costs(advice, functions)] : []),
      make('h4', {}, 'Residual code'), code(residual || 'nothing was compiled'),
      make('h4', {}, 'What it printed'), code(output || 'nothing'));
  };
  const form = make('form', { onsubmit: async (e) => {
    e.preventDefault();
    localStorage.setItem(KEPT + target, args.value);
    out.replaceChildren(make('div', { class: 'message' }, 'Running …'));
    try {
      const words = args.value.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
      const told = await post('/api/residual', {
        args: words.map((w) => w.replace(/^(["'])(.*)\1$/, '$2')),
        threshold: threshold.value ? Number(threshold.value) : null,
      });
      last = { target, told };
      show();
    } catch (error) {
      out.replaceChildren(make('div', { class: 'message bad' }, error.message));
    }
  } }, args, make('label', { class: 'soft' }, 'threshold ', threshold), make('button', { id: 'run' }, 'Run and show residual code'));
  main.replaceChildren(make('div', { class: 'bar' }, form), make('div', { class: 'wide' }, table), out);
  show();
}

function code(text) {
  const pre = make('pre', { class: 'code', style: 'padding-left:14px' });
  for (const line of text.split('\n')) pre.append(make('div', { class: /^graph /.test(line) ? 'd' : null }, line));
  return pre;
}
