// A page that shows the graph of a function at one stage, as `taipan emit` draws it.

// The stages that are graphs, with what `emit` calls them.
export const STAGES: readonly (readonly [string, string])[] = [
  ["flow", "flow graph"],
  ["annotations", "annotations"],
  ["rtyped", "low-level operations"],
  ["optimized", "after optimisation"],
  ["exceptions", "after the exception transform"],
  ["gc", "after the GC transform"],
];

// What draws the graph of a function.
export function emitArguments(stage: string, file: string, name: string): string[] {
  return ["emit", stage, `${file}:${name}`, "--format", "svg"];
}

export function escaped(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (c) => entities[c] ?? c);
}

export type Drawing = { svg: string } | { error: string };

// The page. `nonce` is what allows its own script and style, and no others.
export function page(name: string, stage: string, drawing: Drawing, nonce: string): string {
  const options = STAGES.map(
    ([value, title]) =>
      `<option value="${value}"${value === stage ? " selected" : ""}>${escaped(title)}</option>`,
  );
  const shown = "svg" in drawing ? drawing.svg : `<pre>${escaped(drawing.error)}</pre>`;
  // The colours of the picture are those of the editor.
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'">
<style>
body { --tp-back: var(--vscode-editor-background); --tp-ink: var(--vscode-editor-foreground);
  --tp-node: var(--vscode-editorWidget-background); --tp-frame: var(--vscode-editorWidget-border);
  --tp-soft: var(--vscode-descriptionForeground); }
header { position: sticky; left: 0; padding: 0.5em 0; }
select { color: var(--vscode-dropdown-foreground); background: var(--vscode-dropdown-background); }
</style>
</head>
<body>
<header><label><code>${escaped(name)}</code> <select id="stage">${options.join("")}</select></label></header>
<main>${shown}</main>
<script nonce="${nonce}">
const editor = acquireVsCodeApi();
document.getElementById("stage").addEventListener("change", (event) => {
  editor.postMessage({ stage: event.target.value });
});
</script>
</body>
</html>`;
}

// What the editor knows of the definitions in a file.
export interface Outline {
  name: string;
  kind: number;
  range: { start: { line: number }; end: { line: number } };
  children: Outline[];
}

const CLASS = 4;
const METHOD = 5;
const FUNCTION = 11;

// The function around a line, with the classes that it is in.
export function functionAt(symbols: Outline[], line: number): string | undefined {
  for (const s of symbols) {
    if (s.range.start.line > line || line > s.range.end.line) {
      continue;
    }
    const inside = functionAt(s.children, line);
    if (s.kind === CLASS) {
      return inside === undefined ? undefined : `${s.name}.${inside}`;
    }
    if (s.kind === METHOD || s.kind === FUNCTION) {
      return s.name;
    }
  }
  return undefined;
}
