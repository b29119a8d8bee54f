// The class hierarchy, and what classes declare.

import { arrows, getKept, link, make, picture, unknown, zoomButtons } from './util.js';

let words = '';

export async function show(main, app, fresh) {
  const { classes } = app.program;
  if (!classes.length) {
    main.replaceChildren(make('div', { class: 'message' }, 'The program uses no classes of its own.'));
    return;
  }
  const below = new Map();
  classes.forEach((c, i) => {
    const key = c.base ?? -1;
    if (!below.has(key)) below.set(key, []);
    below.get(key).push(i);
  });
  let chosen = classes.findIndex((c) => c.name === app.class);
  if (app.class != null && chosen < 0) {
    main.replaceChildren(unknown('class', 'classes', app.class, classes.map((c) => c.name)));
    return;
  }
  const own = (i) => classes[i].place != null && !app.program.files[classes[i].place[0]].shipped;
  if (chosen < 0) chosen = Math.max(0, classes.findIndex((_, i) => own(i)));
  const c = classes[chosen];
  app.class = c.name;
  const { value: { svg } } = await getKept('/api/classes', { c: c.name }, app.broken);
  if (!fresh()) return;

  const tree = make('div', { class: 'tree', role: 'navigation', 'aria-label': 'Classes' });
  arrows(tree);
  const fill = () => {
    tree.replaceChildren();
    const fits = (i) => words.toLowerCase().split(/\s+/).every((w) => classes[i].name.toLowerCase().includes(w)
      || classes[i].attributes.some((a) => a.name.toLowerCase() === w));
    const wanted = (i) => fits(i) || (below.get(i) ?? []).some(wanted);
    const walk = (i, deep) => {
      if (words && !wanted(i)) return;
      const [module, name] = [classes[i].name.replace(/\.[^.]*$/, ''), classes[i].name.split('.').at(-1)];
      tree.append(make('a', { href: link('classes', classes[i].name), class: i === chosen ? 'on' : null, style: `padding-left:${12 + deep * 16}px`, 'data-class': classes[i].name }, name, ' ', make('small', {}, module)));
      for (const j of below.get(i) ?? []) walk(j, deep + 1);
    };
    for (const i of below.get(-1) ?? []) walk(i, 0);
    tree.stop();
  };
  fill();
  const box = picture(svg, { links: (name) => { location.hash = link('classes', name); } });
  const table = make('table', {}, make('tr', {}, make('th', {}, 'Attribute'), make('th', {}, 'Type')));
  for (const a of c.attributes) {
    table.append(make('tr', {}, make('td', { class: 'mono' }, a.name, a.readonly ? make('span', { class: 'soft' }, ' (of the class)') : ''), make('td', { class: 'mono' }, a.annotation)));
  }
  const place = c.place ? `${app.program.files[c.place[0]].path.split('/').at(-1)}:${c.place[1]}` : '';
  main.replaceChildren(
    make('div', { class: 'bar' }, make('input', { type: 'search', id: 'class-search', placeholder: 'Class or attribute', value: words, oninput: (e) => { words = e.target.value; fill(); } }),
      make('h2', {}, c.name), make('span', { class: 'soft' }, place), make('span', { class: 'grow' }), ...zoomButtons(() => box)),
    make('div', { class: 'columns' }, tree, make('div', { class: 'detail' }, box, c.attributes.length ? make('div', { class: 'attributes' }, table) : null)));
  tree.querySelector('.on')?.scrollIntoView({ block: 'nearest' });
  box.open();
}
