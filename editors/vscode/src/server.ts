// Which binary is started: the one of the settings, else the one that is packed into the
// extension for this platform, else the one on PATH.

import * as path from "node:path";
import type { ServerOptions } from "vscode-languageclient/node";

export function binary(
  setting: string,
  extension: string,
  platform: string,
  exists: (path: string) => boolean,
): string {
  if (setting.trim() !== "") {
    return setting;
  }
  const packed = path.join(extension, "bin", platform === "win32" ? "taipan.exe" : "taipan");
  return exists(packed) ? packed : "taipan";
}

// How the server is started: it speaks on its standard input and output.
export function serverOptions(command: string): ServerOptions {
  return { command, args: ["lsp"] };
}
