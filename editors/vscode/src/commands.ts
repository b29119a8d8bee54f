// What code lenses and the command palette offer.

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as path from "node:path";
import * as vscode from "vscode";
import { type Drawing, type Outline, emitArguments, functionAt, page } from "./graph";

// The commands, with the binary that they start.
export function commands(command: () => string): vscode.Disposable[] {
  const register = vscode.commands.registerCommand;
  return [
    register("taipan.run", (file?: string) => start(command(), "run", file)),
    register("taipan.build", (file?: string) => start(command(), "build", file)),
    register("taipan.explore", (file?: string) => start(command(), "explore", file, ["--open"])),
    register("taipan.test", (file?: string, name?: string) =>
      start(command(), "test", file && name ? `${file}::${name}` : file),
    ),
    register("taipan.showGraph", (file?: string, name?: string) => showGraph(command(), file, name)),
  ];
}

function activeFile(): string | undefined {
  return vscode.window.activeTextEditor?.document.uri.fsPath;
}

function folderOf(file: string): vscode.WorkspaceFolder | undefined {
  return vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file));
}

// Runs a command of the binary in a terminal.
async function start(
  command: string,
  what: string,
  file: string | undefined,
  options: string[] = [],
): Promise<void> {
  const argument = file ?? activeFile();
  if (argument === undefined) {
    void vscode.window.showInformationMessage("Open a file of RPython first.");
    return;
  }
  await vscode.workspace.saveAll(false);
  const source = argument.split("::")[0] ?? argument;
  const task = new vscode.Task(
    { type: "taipan", command: what },
    folderOf(source) ?? vscode.TaskScope.Workspace,
    `${what} ${path.basename(argument)}`,
    "taipan",
    new vscode.ProcessExecution(command, [what, ...options, argument], {
      cwd: folderOf(source)?.uri.fsPath ?? path.dirname(source),
    }),
  );
  await vscode.tasks.executeTask(task);
}

// The pages that are open, by function.
const panels = new Map<string, vscode.WebviewPanel>();

async function showGraph(command: string, file?: string, name?: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const source = file ?? activeFile();
  let wanted = name;
  if (wanted === undefined && editor !== undefined) {
    const symbols = await vscode.commands.executeCommand<Outline[]>(
      "vscode.executeDocumentSymbolProvider",
      editor.document.uri,
    );
    wanted = functionAt(symbols ?? [], editor.selection.active.line);
  }
  if (source === undefined || wanted === undefined) {
    void vscode.window.showInformationMessage("Put the cursor into a function first.");
    return;
  }
  const key = `${source}:${wanted}`;
  const open = panels.get(key);
  if (open !== undefined) {
    open.reveal();
    return;
  }
  const panel = vscode.window.createWebviewPanel(
    "taipan.graph",
    `Graph of ${wanted}`,
    { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
    { enableScripts: true, localResourceRoots: [] },
  );
  panels.set(key, panel);
  let stage = "flow";
  let round = 0;
  const draw = async (): Promise<void> => {
    round += 1;
    const mine = round;
    const drawing = await drawn(command, stage, source, wanted);
    // What was asked for later counts, and a page may be closed by now.
    if (mine === round && panels.get(key) === panel) {
      panel.webview.html = page(wanted, stage, drawing, randomBytes(16).toString("hex"));
    }
  };
  const listeners = [
    panel.webview.onDidReceiveMessage((message: { stage?: string }) => {
      stage = message.stage ?? stage;
      void draw();
    }),
    // The binary sees what is on disk.
    vscode.workspace.onDidSaveTextDocument((document) => {
      if (document.languageId === "python" || document.languageId === "rpython") {
        void draw();
      }
    }),
  ];
  panel.onDidDispose(() => {
    panels.delete(key);
    listeners.forEach((l) => l.dispose());
  });
  await draw();
}

// The picture, or why there is none.
export function drawn(
  command: string,
  stage: string,
  file: string,
  name: string,
): Promise<Drawing> {
  const options = { cwd: path.dirname(file), maxBuffer: 64 << 20 };
  return new Promise((resolve) => {
    execFile(command, emitArguments(stage, file, name), options, (error, stdout, stderr) => {
      const svg = stdout.slice(Math.max(stdout.indexOf("<svg"), 0));
      resolve(error === null ? { svg } : { error: stderr || String(error) });
    });
  });
}
