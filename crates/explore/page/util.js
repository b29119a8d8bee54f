// What all parts of the page use.

export async function get(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  return read(fetch(query ? `${path}?${query}` : path));
}

export async function post(path, body) {
  return read(fetch(path, { method: 'POST', body: JSON.stringify(body) }));
}

async function read(request) {
  started();
  try {
    const response = await request;
    const value = await response.json();
    if (!response.ok) throw new Error(value.error ?? response.statusText);
    return value;
  } finally {
    ended();
  }
}

/** Replies about a program that was right, by their addresses: the latest request is the last. */
const replies = new Map();
const MOST_REPLIES = 200;

/** A reply, and whether it is an earlier one. As long as the program is wrong, that is the last one about a program that was right. */
export async function getKept(path, parameters, broken) {
  const key = `${path}?${new URLSearchParams(parameters)}`;
  if (broken && replies.has(key)) return { value: replies.get(key), stale: true };
  const value = await get(path, parameters);
  if (!broken) {
    replies.delete(key);
    replies.set(key, value);
    if (replies.size > MOST_REPLIES) replies.delete(replies.keys().next().value);
  }
  return { value, stale: false };
}

/** Milliseconds after which the page says that something is being worked out. */
const PATIENCE = 200;
let pending = 0, timer = null;
const working = document.getElementById('working');

function started() {
  if (pending++ === 0) timer = setTimeout(() => { working.hidden = false; }, PATIENCE);
}

function ended() {
  if (--pending > 0) return;
  clearTimeout(timer);
  working.hidden = true;
}

/** An element with attributes and children; text is never markup. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.filter((c) => c != null));
  return element;
}

export const milliseconds = (ms) =>
  ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : ms >= 10 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(2)} ms`;

export const plural = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;

/** The address of a view: what is looked at, and of what. */
export const link = (tab, name) => `#/${tab}${name == null ? '' : `/${encodeURIComponent(name)}`}`;

/** The smallest scale that a picture is fitted by: its text has 12 pixels. */
const READABLE = 0.75;

/** A drawn graph in a box that can be dragged and zoomed. */
export function picture(svg, { links = null, zoom = 1 } = {}) {
  const box = make('div', { class: `view picture${links ? ' links' : ''}` });
  // Drawn by the server, where all text in it is escaped.
  box.innerHTML = svg;
  const drawing = box.querySelector('svg');
  const width = drawing.width.baseVal.value;
  const height = drawing.height.baseVal.value;
  let scale = zoom;
  box.tabIndex = 0;
  const show = () => {
    drawing.setAttribute('width', width * scale);
    drawing.setAttribute('height', height * scale);
  };
  box.zoom = (factor) => {
    const middle = [box.scrollLeft + box.clientWidth / 2, box.scrollTop + box.clientHeight / 2];
    const before = scale;
    scale = factor == null ? fitting() : Math.min(4, Math.max(0.1, scale * factor));
    show();
    if (factor == null) {
      box.open();
      return;
    }
    box.scrollLeft = (middle[0] * scale) / before - box.clientWidth / 2;
    box.scrollTop = (middle[1] * scale) / before - box.clientHeight / 2;
  };
  // The whole picture, or as much of it as leaves its text large enough to be read.
  const fitting = () => Math.max(READABLE, Math.min(1, (box.clientWidth - 14) / width, (box.clientHeight - 14) / height));
  /** Scrolls to the element `.tp-here`, or to the first block. */
  box.open = () => {
    const start = box.querySelector('.tp-here, .tp-start');
    if (!start) return;
    const at = start.getBoundingClientRect(), around = box.getBoundingClientRect();
    box.scrollLeft += at.left + at.width / 2 - around.left - around.width / 2;
    box.scrollTop += start.matches('.tp-here') ? at.top + at.height / 2 - around.top - around.height / 2 : at.top - around.top - 12;
  };
  box.addEventListener('wheel', (e) => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    box.zoom(e.deltaY < 0 ? 1.15 : 1 / 1.15);
  }, { passive: false });
  let from = null;
  box.addEventListener('pointerdown', (e) => {
    if (e.button === 0) from = { x: e.clientX + box.scrollLeft, y: e.clientY + box.scrollTop, moved: false };
  });
  box.addEventListener('pointermove', (e) => {
    if (!from || !e.buttons) return;
    const x = from.x - e.clientX, y = from.y - e.clientY;
    if (!from.moved && Math.abs(x - box.scrollLeft) + Math.abs(y - box.scrollTop) < 5) return;
    from.moved = true;
    box.classList.add('dragging');
    box.scrollTo(x, y);
  });
  const release = () => {
    box.classList.remove('dragging');
    setTimeout(() => { from = null; });
  };
  box.addEventListener('pointerup', release);
  box.addEventListener('pointerleave', release);
  if (links) {
    box.addEventListener('click', (e) => {
      const key = e.target.closest('.tp-node')?.dataset.key;
      if (key && !from?.moved) links(key);
    });
  }
  return box;
}

/** Buttons that zoom a picture. */
export function zoomButtons(box) {
  return [
    make('button', { title: 'Smaller', onclick: () => box()?.zoom(1 / 1.25) }, '−'),
    make('button', { title: 'Larger', onclick: () => box()?.zoom(1.25) }, '+'),
    make('button', { title: 'Fit, as far as it can be read', onclick: () => box()?.zoom(null) }, '⤢'),
  ];
}

/** A list of links that is one stop of the Tab key: arrows, Home and End go through it. */
export function arrows(list) {
  const links = () => [...list.querySelectorAll('a')];
  list.stop = () => {
    const all = links();
    const stop = all.find((a) => a.classList.contains('on')) ?? all[0];
    for (const a of all) a.tabIndex = a === stop ? 0 : -1;
  };
  list.addEventListener('keydown', (e) => {
    const all = links(), at = all.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[e.key];
    if (to == null || at < 0) return;
    e.preventDefault();
    const next = all[Math.max(0, Math.min(all.length - 1, to))];
    for (const a of all) a.tabIndex = a === next ? 0 : -1;
    next.focus();
  });
}

/** Names that are like a name that is not known: the same last part, or one that has it inside. */
export function similar(name, names) {
  const last = name.split('.').at(-1).toLowerCase();
  const rank = (n) => {
    const other = n.replace(/ .*/, '').split('.').at(-1).toLowerCase();
    if (other === last) return 0;
    if (other.startsWith(last) || last.startsWith(other)) return 1;
    return other.includes(last) ? 2 : 3;
  };
  return names.map((n) => [rank(n), n]).filter(([r]) => r < 3).sort(([a], [b]) => a - b).slice(0, 6).map(([, n]) => n);
}

/** Says that there is nothing of a name, with links to similar ones. */
export function unknown(kind, tab, name, names) {
  const others = similar(name, names);
  return make('div', { class: 'message unknown' }, `The program has no ${kind} ${name}.`,
    ...(others.length ? [' Similar names: ', ...others.flatMap((n, i) => [i ? ', ' : '', make('a', { href: link(tab, n) }, n)])] : []));
}

const tip = document.getElementById('tip');

export function showTip(text, x, y) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18}px`;
}

/** Titles of drawings show at once, not after a second, and in the page's own style. */
export function attendTips() {
  document.addEventListener('mousemove', (e) => {
    let at = e.target.closest?.('svg [data-name], svg text, svg g, [data-tip]');
    let text = null;
    while (at && text == null && !at.matches?.('svg')) {
      if (at.dataset?.tip) text = at.dataset.tip;
      const title = at.querySelector?.(':scope > title');
      if (title) {
        at.dataset.tip = text = title.textContent;
        title.remove();
      }
      if (text != null && at.dataset?.color) text += `\n${at.dataset.color}`;
      at = at.parentElement?.closest('svg text, svg g, [data-tip]');
    }
    showTip(text, e.clientX, e.clientY);
  });
  document.addEventListener('mouseleave', () => showTip(null));
}

const KEYWORDS = new Set('and as assert break class continue def del elif else except exec finally for from global if import in is lambda not or pass print raise return try while with yield None True False'.split(' '));
const TOKENS = /(#.*)|((?:[urbURB]{0,2})(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))|([A-Za-z_]\w*)|(\d[\w.]*)/g;

/** Lines of Python as elements, with colours. */
export function python(text) {
  const lines = [[]];
  const put = (part, style) => {
    part.split('\n').forEach((piece, i) => {
      if (i) lines.push([]);
      if (piece) lines.at(-1).push(style ? make('span', { class: style }, piece) : piece);
    });
  };
  let last = 0, before = '';
  for (const m of text.matchAll(TOKENS)) {
    put(text.slice(last, m.index));
    const [all, comment, string, word] = m;
    if (comment) put(all, 'c');
    else if (string) put(all, 'st');
    else if (word) put(all, KEYWORDS.has(word) ? 'k' : before === 'def' || before === 'class' ? 'd' : null);
    else put(all, 'n');
    before = word ?? '';
    last = m.index + all.length;
  }
  put(text.slice(last));
  return lines;
}
