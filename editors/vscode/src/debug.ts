// Debugging by `taipan debug`, which speaks the Debug Adapter Protocol on its pipes.

import * as path from "node:path";
import * as vscode from "vscode";

// The default of `cwd` in launch.json: the folder of the workspace.
export function completed(
  configuration: vscode.DebugConfiguration,
  folder: string | undefined,
  file: string | undefined,
): vscode.DebugConfiguration | undefined {
  const whole = { ...configuration };
  if (!whole.type && !whole.request && !whole.name) {
    // There is no launch.json: the program of the active file.
    if (file === undefined) {
      return undefined;
    }
    Object.assign(whole, ofProgram(file));
  }
  whole.cwd ??= folder ?? (file && path.dirname(file));
  return whole;
}

// The configuration that debugs a program.
export function ofProgram(file: string): vscode.DebugConfiguration {
  return { type: "taipan", request: "launch", name: path.basename(file), program: file };
}

// The configuration that debugs a test.
export function ofTest(file: string, name: string): vscode.DebugConfiguration {
  return { type: "taipan", request: "launch", name, test: `${file}::${name}` };
}

// The debugger, with the binary that it starts.
export function debugging(command: () => string): vscode.Disposable[] {
  const active = () => vscode.window.activeTextEditor?.document.uri.fsPath;
  const start = async (configuration: vscode.DebugConfiguration, file: string): Promise<void> => {
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file));
    await vscode.workspace.saveAll(false);
    await vscode.debug.startDebugging(folder, configuration);
  };
  const debug = async (file?: string, name?: string): Promise<void> => {
    const source = file ?? active();
    if (source === undefined) {
      void vscode.window.showInformationMessage("Open a file of RPython first.");
      return;
    }
    await start(name === undefined ? ofProgram(source) : ofTest(source, name), source);
  };
  return [
    vscode.debug.registerDebugAdapterDescriptorFactory("taipan", {
      createDebugAdapterDescriptor: (session) =>
        new vscode.DebugAdapterExecutable(command(), ["debug"], {
          cwd: session.configuration["cwd"] ?? session.workspaceFolder?.uri.fsPath,
        }),
    }),
    vscode.debug.registerDebugConfigurationProvider("taipan", {
      resolveDebugConfiguration: (folder, configuration) =>
        completed(configuration, folder?.uri.fsPath, active()),
    }),
    vscode.commands.registerCommand("taipan.debug", debug),
  ];
}
