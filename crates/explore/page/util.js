// What all parts of the page use.

export async function get(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  return read(await fetch(query ? `${path}?${query}` : path));
}

export async function post(path, body) {
  return read(await fetch(path, { method: 'POST', body: JSON.stringify(body) }));
}

async function read(response) {
  const value = await response.json();
  if (!response.ok) throw new Error(value.error ?? response.statusText);
  return value;
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

/** A drawn graph in a box that can be dragged and zoomed. */
export function picture(svg, { links = null, zoom = 1 } = {}) {
  const box = make('div', { class: `view picture${links ? ' links' : ''}` });
  // Drawn by the server, where all text in it is escaped.
  box.innerHTML = svg;
  const drawing = box.querySelector('svg');
  const width = drawing.width.baseVal.value;
  const height = drawing.height.baseVal.value;
  let scale = zoom;
  const show = () => {
    drawing.setAttribute('width', width * scale);
    drawing.setAttribute('height', height * scale);
  };
  box.zoom = (factor) => {
    const middle = [box.scrollLeft + box.clientWidth / 2, box.scrollTop + box.clientHeight / 2];
    const before = scale;
    scale = factor == null ? Math.min(1, (box.clientWidth - 14) / width) : Math.min(4, Math.max(0.1, scale * factor));
    show();
    box.scrollLeft = (middle[0] * scale) / before - box.clientWidth / 2;
    box.scrollTop = (middle[1] * scale) / before - box.clientHeight / 2;
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
    make('button', { title: 'Whole width', onclick: () => box()?.zoom(null) }, '⤢'),
  ];
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
