// Has Node run a program for WASI: the file, and its arguments.
const { readFileSync } = require('node:fs');
const { WASI } = require('node:wasi');

const args = process.argv.slice(1);
const wasi = new WASI({
  version: 'preview1',
  args,
  env: { ...process.env, PWD: process.cwd() },
  preopens: { '/': '/' },
});
try {
  const module = new WebAssembly.Module(readFileSync(args[0]));
  const instance = new WebAssembly.Instance(module, wasi.getImportObject());
  process.exitCode = wasi.start(instance);
} catch (error) {
  console.error(error.stack);
  process.exitCode = 1;
}
