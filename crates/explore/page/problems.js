// What is wrong with the program.

import { get, make } from './util.js';

export async function show(main, _app, fresh) {
  const { diagnostics, failure } = await get('/api/problems');
  if (!fresh()) return;
  const all = diagnostics.map((d) => make('div', { class: `problem ${d.severity}` }, d.text));
  if (failure) all.unshift(make('div', { class: 'problem' }, failure));
  main.replaceChildren(make('div', { class: 'scroll' }, ...(all.length ? all : [make('div', { class: 'message' }, 'Nothing is wrong.')])));
}
