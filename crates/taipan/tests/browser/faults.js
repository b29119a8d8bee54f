// Faults of the layout of the page, in words: elements that are cut off, overlap, or hardly differ from their
// background.
(() => {
  const faults = [];
  const named = (e) => `${e.tagName.toLowerCase()}${e.id ? `#${e.id}` : ''}${e.className && e.className.baseVal == null ? `.${e.className.replaceAll(' ', '.')}` : ''} "${(e.textContent || e.title || '').slice(0, 30)}"`;
  const shown = (e) => {
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    return box.width > 0 && box.height > 0 && style.visibility !== 'hidden';
  };
  /** What is below it may be scrolled to. */
  const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);
  const inScroller = (e) => {
    for (let p = e.parentElement; p; p = p.parentElement) if (scrolls(p)) return true;
    return false;
  };
  const covered = document.body.classList.contains('open') && innerWidth <= 800;
  const all = [...document.body.querySelectorAll(covered ? 'header *, aside *' : '*')].filter((e) => !e.closest('svg, #tip') && shown(e));

  if (document.documentElement.scrollWidth > innerWidth) faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const e of all) {
    const box = e.getBoundingClientRect();
    if (!inScroller(e)) {
      // Edges that touch are no fault, and splitters lie over edges.
      const outer = (e.closest('.pane') ?? e.closest('header, aside, main') ?? document.body).getBoundingClientRect();
      if (!e.matches('.split') && (box.left < outer.left - 1 || box.right > outer.right + 1)) faults.push(`${named(e)} is outside of its part: ${box.left} to ${box.right} of ${outer.left} to ${outer.right}`);
      if (box.right > innerWidth + 1) faults.push(`${named(e)} is outside of the window`);
    }
    const style = getComputedStyle(e);
    const hides = style.overflowX === 'hidden' || style.overflowX === 'clip';
    if (hides && !e.title && !e.dataset.tip && e.scrollWidth > e.clientWidth + 1) faults.push(`${named(e)} is cut off`);
  }
  // Neighbours.
  for (const row of document.querySelectorAll('header, nav, .bar, .head, .stage, .buttons, form')) {
    const parts = [...row.children].filter(shown);
    parts.forEach((a, i) => parts.slice(i + 1).forEach((b) => {
      const [x, y] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
      if (x.left < y.right - 1 && y.left < x.right - 1 && x.top < y.bottom - 1 && y.top < x.bottom - 1) faults.push(`${named(a)} and ${named(b)} lie over each other`);
    }));
  }
  if (!covered) {
    for (const v of document.querySelectorAll('.view')) {
      if (v.clientWidth < 150 || v.clientHeight < 100) faults.push(`${named(v)} has ${v.clientWidth} by ${v.clientHeight} pixels`);
    }
  }
  // Contrast of text, as WCAG 2 counts it.
  const parsed = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => {
    const part = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (e) => {
    for (let p = e; p; p = p.parentElement) {
      const back = parsed(getComputedStyle(p).backgroundColor);
      if (back.length < 4 || back[3] > 0.9) return back;
    }
    return [255, 255, 255];
  };
  for (const e of all) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    // Lines outside of the function are dimmed on purpose.
    if (!own || e.closest('.outside, option')) continue;
    const [a, b] = [light(parsed(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) faults.push(`${named(e)} has a contrast of ${contrast.toFixed(2)}`);
  }
  return [...new Set(faults)].slice(0, 12);
})()
