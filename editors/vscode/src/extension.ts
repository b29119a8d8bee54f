// Starts `taipan lsp` and keeps it running.

import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { LanguageClient, RevealOutputChannelOn } from "vscode-languageclient/node";
import { commands } from "./commands";
import { debugging } from "./debug";
import { hasTable, initialization, selector } from "./options";
import { binary, serverOptions } from "./server";

let client: LanguageClient | undefined;
let folder = "";

// The binary that counts now.
function command(): string {
  const setting = vscode.workspace.getConfiguration("taipan").get("command", "");
  return binary(setting, folder, process.platform, existsSync);
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  folder = context.extensionPath;
  const log = vscode.window.createOutputChannel("Taipan");
  context.subscriptions.push(
    log,
    ...commands(command),
    ...debugging(command),
    vscode.commands.registerCommand("taipan.showLog", () => log.show()),
    vscode.commands.registerCommand("taipan.restart", () => restart(log)),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      // The server asks for all other settings itself.
      if (["command", "python"].some((key) => event.affectsConfiguration(`taipan.${key}`))) {
        await restart(log);
      }
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => restart(log)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => restart(log)),
  );
  await start(log);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(log: vscode.OutputChannel): Promise<void> {
  const old = client;
  client = undefined;
  await old?.stop();
  await start(log);
}

async function start(log: vscode.OutputChannel): Promise<void> {
  const settings = vscode.workspace.getConfiguration("taipan");
  const documents = selector(settings.get("python", "configured"), await configuredFolders());
  const started = new LanguageClient(
    "taipan",
    "Taipan",
    serverOptions(command()),
    {
      documentSelector: documents,
      outputChannel: log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      synchronize: { configurationSection: "taipan" },
      initializationOptions: initialization(settings, vscode.workspace.isTrusted),
    },
  );
  client = started;
  try {
    await started.start();
  } catch (error) {
    log.appendLine(String(error));
    const choice = await vscode.window.showErrorMessage(
      `Taipan could not be started: is ${command()} installed?`,
      "Settings",
    );
    if (choice) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "taipan.command");
    }
  }
}

// The workspace folders whose pyproject.toml has a [tool.taipan] table.
async function configuredFolders(): Promise<string[]> {
  const files = await vscode.workspace.findFiles("**/pyproject.toml", "**/node_modules/**", 200);
  const found: string[] = [];
  for (const file of files) {
    const bytes = await vscode.workspace.fs.readFile(file);
    if (hasTable(Buffer.from(bytes).toString("utf8"))) {
      found.push(vscode.Uri.joinPath(file, "..").fsPath);
    }
  }
  return found.sort();
}
