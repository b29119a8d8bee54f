// Packs the extension for one platform, with the binary for it:
//
//     npm run package -- linux-x64 ../../target/release/taipan [OUT.vsix]
//
// Without arguments it packs one for all platforms, which looks for `taipan` on PATH.

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PLATFORMS = [
  "linux-x64",
  "linux-arm64",
  "alpine-x64",
  "alpine-arm64",
  "darwin-x64",
  "darwin-arm64",
  "win32-x64",
  "win32-arm64",
];

const here = dirname(fileURLToPath(import.meta.url));
const [platform, binary, out] = process.argv.slice(2);
const run = (...args) => execFileSync(process.execPath, args, { cwd: here, encoding: "utf8" });
const vsce = join(here, "node_modules/@vscode/vsce/vsce");

rmSync(join(here, "bin"), { recursive: true, force: true });
const wanted = ["out/extension.js", "package.json"];
const options = ["--no-dependencies", "--allow-missing-repository", "--skip-license"];
if (platform !== undefined) {
  if (!PLATFORMS.includes(platform) || binary === undefined || !existsSync(binary)) {
    console.error(`usage: npm run package -- PLATFORM BINARY [OUT.vsix]; one of ${PLATFORMS.join(", ")}`);
    process.exit(2);
  }
  const name = platform.startsWith("win32") ? "taipan.exe" : "taipan";
  mkdirSync(join(here, "bin"));
  copyFileSync(binary, join(here, "bin", name));
  chmodSync(join(here, "bin", name), 0o755);
  wanted.push(`bin/${name}`);
  options.push("--target", platform);
}
if (out !== undefined) {
  options.push("--out", out);
}
const listed = run(vsce, "ls", "--no-dependencies").split("\n").map((l) => l.trim());
const missing = wanted.filter((file) => !listed.includes(file));
if (missing.length > 0) {
  console.error(`the package would lack ${missing.join(", ")}: was \`npm test\` run before?`);
  process.exit(1);
}
console.log(run(vsce, "package", ...options));
