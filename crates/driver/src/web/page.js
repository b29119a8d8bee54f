// The page: a terminal for the program, its arguments and its files.

'use strict';

const at = (id) => document.getElementById(id);
const [output, line, form, status] = ['output', 'line', 'form', 'status'].map(at);
const decoders = [null, new TextDecoder(), new TextDecoder()];
const files = {};
let worker;

// Shows text at the end of what was printed.
function show(text, kind) {
  if (!text) return;
  const last = output.lastElementChild;
  if (last?.className === kind) {
    last.append(text);
  } else {
    const span = document.createElement('span');
    span.className = kind;
    span.append(text);
    output.append(span);
  }
  form.scrollIntoView({ block: 'nearest' });
}

function say(text, state) {
  status.textContent = text;
  document.body.dataset.state = state;
  line.disabled = state !== 'waits';
  at('stop').disabled = state === 'ended';
  if (state === 'waits') line.focus();
}

// Words, but for what is in quotes.
function words(text) {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3]);
}

function stop() {
  worker?.terminate();
  worker = undefined;
}

// Makes a file of the text on the page, if there is some.
function save() {
  const [name, text] = [at('name').value.trim(), at('text').value];
  if (!name || !text) return;
  files[name] = new TextEncoder().encode(text);
  listFiles();
}

function start() {
  stop();
  save();
  output.replaceChildren();
  for (const fd of [1, 2]) decoders[fd] = new TextDecoder();
  worker = new Worker('worker.js');
  worker.onerror = (e) => say(e.message || 'worker.js cannot be loaded: is the folder served by HTTP?', 'ended');
  worker.onmessage = ({ data }) => {
    if (data.print) {
      show(decoders[data.fd].decode(data.print, { stream: true }), data.fd === 2 ? 'error' : 'printed');
    } else if (data.waits) {
      say('waits for a line', 'waits');
    } else if (data.trap) {
      show(`${data.trap}\n`, 'error');
      say('has stopped', 'ended');
    } else {
      say(`has ended with code ${data.code}`, 'ended');
    }
  };
  say('runs', 'runs');
  worker.postMessage({ start: { args: [document.title, ...words(at('arguments').value)], files } });
}

function listFiles() {
  at('names').replaceChildren(...Object.entries(files).map(([name, bytes]) => {
    const item = document.createElement('li');
    const remove = document.createElement('button');
    remove.textContent = 'remove';
    remove.onclick = () => {
      delete files[name];
      listFiles();
    };
    item.append(`${name}, ${bytes.length} bytes `, remove);
    return item;
  }));
}

form.onsubmit = (e) => {
  e.preventDefault();
  if (line.disabled) return;
  show(`${line.value}\n`, 'typed');
  say('runs', 'runs');
  worker.postMessage({ line: `${line.value}\n` });
  line.value = '';
};

line.onkeydown = (e) => {
  if (e.ctrlKey && e.key === 'd' && !line.value) {
    e.preventDefault();
    say('runs', 'runs');
    worker.postMessage({ ended: true });
  }
};

at('run').onclick = start;
at('stop').onclick = () => {
  stop();
  say('was stopped', 'ended');
};
at('arguments').onkeydown = (e) => {
  if (e.key === 'Enter') start();
};
at('upload').onchange = async ({ target }) => {
  for (const file of target.files) files[file.name] = new Uint8Array(await file.arrayBuffer());
  target.value = '';
  listFiles();
};
at('save').onclick = save;

at('arguments').value = new URLSearchParams(location.search).get('args') ?? '';
start();
