// Runs the program, apart from the page, which goes on meanwhile.

'use strict';

importScripts(@SCRIPTS@);

let program, options, history;

async function load() {
  const lack = @RUN@.lack();
  if (lack) throw new Error(lack);
  const response = await fetch('program.wasm');
  if (!response.ok) throw new Error(`program.wasm: ${response.status} ${response.statusText}`);
  // By its address the debugger finds the module's source map. Only a module that is compiled from the response has it.
  const isModule = response.headers.get('Content-Type') === 'application/wasm';
  return isModule ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

function run() {
  const print = (fd, bytes) => postMessage({ print: bytes, fd });
  try {
    const code = new @RUN@({ ...options, history, print }).start(program);
    postMessage(code === undefined ? { waits: true } : { code });
  } catch (e) {
    // A trap: a fault that the program does not handle.
    postMessage({ trap: String(e) });
  }
}

onmessage = async ({ data }) => {
  if (data.start) {
    options = data.start;
    history = new History();
    try {
      program ??= await load();
    } catch (e) {
      postMessage({ trap: String(e) });
      return;
    }
  } else if (data.ended) {
    history.ended = true;
  } else {
    history.type(new TextEncoder().encode(data.line));
  }
  run();
};
