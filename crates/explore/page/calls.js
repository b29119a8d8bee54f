// What calls a function, and what it calls.

import { getKept, link, make, picture, zoomButtons } from './util.js';

let depth = 1;

export async function show(main, app, fresh) {
  const name = app.function;
  const { value: { svg } } = await getKept('/api/calls', { f: name, depth }, app.broken);
  if (!fresh()) return;
  const box = picture(svg, { links: (f) => { location.hash = link('calls', f); } });
  const choose = make('select', { id: 'depth', onchange: (e) => { depth = Number(e.target.value); show(main, app, () => true); } });
  for (let i = 1; i <= 6; i++) choose.append(make('option', { value: i, selected: i === depth }, String(i)));
  main.replaceChildren(
    make('div', { class: 'bar' }, make('h2', {}, name), make('a', { href: link('function', name) }, 'its stages'),
      make('span', { class: 'grow' }), make('label', { class: 'soft' }, 'steps ', choose), ...zoomButtons(() => box)),
    box);
  box.open();
}
