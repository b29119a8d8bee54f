// The extension with a stand-in for the editor: what it registers, which binary it starts, and
// what it shows.

const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");
const { buildSync } = require("esbuild");

// A module of the sources; `vscode` is what it gets for the editor.
function load(name, vscode = {}) {
  const { outputFiles } = buildSync({
    entryPoints: [path.join(__dirname, `../src/${name}.ts`)],
    bundle: true,
    write: false,
    external: ["vscode"],
    format: "cjs",
    platform: "node",
  });
  const module = { exports: {} };
  const get = (wanted) => (wanted === "vscode" ? vscode : require(wanted));
  new Function("module", "exports", "require", outputFiles[0].text)(module, module.exports, get);
  return module.exports;
}

test("the server is the binary on its pipes", () => {
  const { serverOptions } = load("server");
  assert.deepStrictEqual(serverOptions("/opt/taipan"), { command: "/opt/taipan", args: ["lsp"] });
});

test("the binary of the settings, else the packed one, else the one on PATH", () => {
  const { binary } = load("server");
  const packed = path.join("/ext", "bin", "taipan");
  assert.strictEqual(binary("/opt/taipan", "/ext", "linux", () => true), "/opt/taipan");
  assert.strictEqual(binary("", "/ext", "linux", (p) => p === packed), packed);
  const windows = path.join("/ext", "bin", "taipan.exe");
  assert.strictEqual(binary("", "/ext", "win32", (p) => p === windows), windows);
  assert.strictEqual(binary(" ", "/ext", "linux", () => false), "taipan");
});

test("Python files are looked at where they are RPython", () => {
  const { selector } = load("options");
  const python = (s) => s.filter((d) => d.language === "python");
  assert.deepStrictEqual(python(selector("never", ["/a"])), []);
  assert.deepStrictEqual(python(selector("always", [])), [{ language: "python", scheme: "file" }]);
  assert.deepStrictEqual(python(selector("configured", ["/a"])), [
    { language: "python", scheme: "file", pattern: "/a/**/*.py" },
  ]);
});

test("trust is told beside the settings, and no setting is", () => {
  const { initialization } = load("options");
  const settings = { path: [], workspaceTrusted: true };
  assert.deepStrictEqual(initialization(settings, false), {
    taipan: settings,
    workspaceTrusted: false,
  });
  const manifest = require("../package.json");
  const { untrustedWorkspaces } = manifest.capabilities;
  assert.strictEqual(untrustedWorkspaces.supported, "limited");
  assert.deepStrictEqual(untrustedWorkspaces.restrictedConfigurations, ["taipan.command"]);
  const { properties } = manifest.contributes.configuration;
  assert.strictEqual(properties["taipan.command"].scope, "machine");
});

test("projects are known by their table", () => {
  const { hasTable } = load("options");
  assert.ok(hasTable("[project]\n[tool.taipan]\n"));
  assert.ok(hasTable("[ tool . taipan ]"));
  assert.ok(!hasTable("[tool.taipans]\n# [tool.taipan]\n"));
});

test("the bundle loads, with nothing but the editor's API missing", () => {
  const old = Module._load;
  const wanted = new Set();
  const anything = new Proxy(function () {}, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => "" : anything),
    apply: () => anything,
    construct: () => anything,
  });
  Module._load = (name, ...rest) => {
    if (name === "vscode") {
      wanted.add(name);
      return anything;
    }
    return old(name, ...rest);
  };
  try {
    const extension = require("../out/extension.js");
    assert.strictEqual(typeof extension.activate, "function");
    assert.strictEqual(typeof extension.deactivate, "function");
  } finally {
    Module._load = old;
  }
  assert.deepStrictEqual([...wanted], ["vscode"]);
});

// A stand-in that keeps what is done to it.
function editor() {
  const done = {
    commands: new Map(),
    tasks: [],
    panels: [],
    messages: [],
    saved: [],
    adapters: {},
    configurations: {},
    sessions: [],
  };
  class Task {
    constructor(definition, scope, name, source, execution) {
      Object.assign(this, { definition, scope, name, source, execution });
    }
  }
  class ProcessExecution {
    constructor(process, args, options) {
      Object.assign(this, { process, args, options });
    }
  }
  const outline = [
    {
      name: "A",
      kind: 4,
      range: { start: { line: 0 }, end: { line: 5 } },
      children: [
        { name: "f", kind: 5, range: { start: { line: 1 }, end: { line: 3 } }, children: [] },
      ],
    },
  ];
  const vscode = {
    Task,
    ProcessExecution,
    TaskScope: { Workspace: 2 },
    ViewColumn: { Beside: -2 },
    Uri: { file: (fsPath) => ({ fsPath }) },
    commands: {
      registerCommand: (name, run) => done.commands.set(name, run) && { dispose() {} },
      executeCommand: async () => outline,
    },
    tasks: { executeTask: async (task) => done.tasks.push(task) },
    DebugAdapterExecutable: class {
      constructor(command, args, options) {
        Object.assign(this, { command, args, options });
      }
    },
    debug: {
      registerDebugAdapterDescriptorFactory: (type, factory) => (done.adapters[type] = factory),
      registerDebugConfigurationProvider: (type, provider) => (done.configurations[type] = provider),
      startDebugging: async (folder, configuration) => done.sessions.push(configuration),
    },
    window: {
      activeTextEditor: undefined,
      showInformationMessage: (text) => done.messages.push(text),
      createWebviewPanel: (_, title) => {
        const panel = {
          title,
          revealed: 0,
          reveal: () => (panel.revealed += 1),
          onDidDispose: (f) => (panel.dispose = f),
          webview: { html: "", onDidReceiveMessage: (f) => ((panel.send = f), { dispose() {} }) },
        };
        done.panels.push(panel);
        return panel;
      },
    },
    workspace: {
      getWorkspaceFolder: () => undefined,
      saveAll: async () => true,
      onDidSaveTextDocument: (f) => (done.saved.push(f), { dispose() {} }),
    },
  };
  return { done, vscode };
}

test("commands run the binary", async () => {
  const { done, vscode } = editor();
  load("commands", vscode).commands(() => "/opt/taipan");
  await done.commands.get("taipan.run")();
  assert.strictEqual(done.tasks.length, 0);
  assert.strictEqual(done.messages.length, 1);
  await done.commands.get("taipan.run")("/a/main.py");
  await done.commands.get("taipan.build")("/a/main.py");
  await done.commands.get("taipan.test")("/a/test_x.py", "TestA::test_b");
  vscode.window.activeTextEditor = { document: { uri: { fsPath: "/a/open.py" } } };
  await done.commands.get("taipan.test")();
  await done.commands.get("taipan.explore")();
  const started = done.tasks.map((t) => [t.execution.process, ...t.execution.args].join(" "));
  assert.deepStrictEqual(started, [
    "/opt/taipan run /a/main.py",
    "/opt/taipan build /a/main.py",
    "/opt/taipan test /a/test_x.py::TestA::test_b",
    "/opt/taipan test /a/open.py",
    "/opt/taipan explore --open /a/open.py",
  ]);
  assert.strictEqual(done.tasks[0].execution.options.cwd, "/a");
});

test("the debugger is the binary, and a file or a test is enough to start it", async () => {
  const { done, vscode } = editor();
  load("debug", vscode).debugging(() => "/opt/taipan");
  const session = { configuration: { cwd: "/a" } };
  const adapter = done.adapters.taipan.createDebugAdapterDescriptor(session);
  assert.deepStrictEqual([adapter.command, ...adapter.args], ["/opt/taipan", "debug"]);
  assert.strictEqual(adapter.options.cwd, "/a");

  const { resolveDebugConfiguration: resolved } = done.configurations.taipan;
  assert.strictEqual(resolved(undefined, {}), undefined);
  vscode.window.activeTextEditor = { document: { uri: { fsPath: "/a/open.py" } } };
  const program = { type: "taipan", request: "launch", name: "open.py", program: "/a/open.py" };
  assert.deepStrictEqual(resolved(undefined, {}), { ...program, cwd: "/a" });
  const folder = { uri: { fsPath: "/w" } };
  assert.strictEqual(resolved(folder, program).cwd, "/w");
  assert.strictEqual(resolved(folder, { ...program, cwd: "/b" }).cwd, "/b");

  await done.commands.get("taipan.debug")();
  await done.commands.get("taipan.debug")("/a/test_x.py", "TestA::test_b");
  const test = { name: "TestA::test_b", test: "/a/test_x.py::TestA::test_b" };
  assert.deepStrictEqual(done.sessions, [program, { type: "taipan", request: "launch", ...test }]);

  // The adapter has all settings of the snippets.
  const [debuggers] = require("../package.json").contributes.debuggers;
  const known = Object.keys(debuggers.configurationAttributes.launch.properties);
  for (const { body } of debuggers.configurationSnippets) {
    const given = Object.keys(body).filter((k) => !["type", "request", "name"].includes(k));
    assert.ok(given.every((k) => known.includes(k)), given);
  }
});

test("every command of the manifest is registered", () => {
  const manifest = require("../package.json");
  const { done, vscode } = editor();
  load("commands", vscode).commands(() => "taipan");
  load("debug", vscode).debugging(() => "taipan");
  const own = fs.readFileSync(path.join(__dirname, "../src/extension.ts"), "utf8");
  for (const { command } of manifest.contributes.commands) {
    assert.ok(done.commands.has(command) || own.includes(`"${command}"`), command);
  }
});

test("the manifest has what the code asks for", () => {
  const manifest = require("../package.json");
  const settings = Object.keys(manifest.contributes.configuration.properties);
  for (const name of ["command", "python", "targets", "path", "stepLimit"]) {
    assert.ok(settings.includes(`taipan.${name}`), name);
  }
  for (const name of ["run", "test", "graph", "reran"]) {
    assert.ok(settings.includes(`taipan.codeLens.${name}`), name);
  }
});

test("the page of a graph", () => {
  const { escaped, functionAt, page, STAGES } = load("graph");
  assert.strictEqual(escaped('<a href="&">'), "&lt;a href=&quot;&amp;&quot;&gt;");
  const text = page("A.<lambda>", "rtyped", { svg: "<svg>picture</svg>" }, "n0nce");
  assert.ok(text.includes("<main><svg>picture</svg></main>"));
  assert.ok(text.includes("<code>A.&lt;lambda&gt;</code>"));
  assert.ok(text.includes("script-src 'nonce-n0nce'"));
  assert.ok(text.includes('<option value="rtyped" selected>'));
  assert.strictEqual(text.match(/<option/g).length, STAGES.length);
  assert.ok(page("f", "flow", { error: "a < b" }, "").includes("<pre>a &lt; b</pre>"));
  assert.strictEqual(functionAt([], 3), undefined);
});

// With the real binary, where there is one.
const real = process.env.TAIPAN ?? "";
test("graphs of a program", { skip: real === "" && "TAIPAN names no binary" }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "taipan-"));
  const file = path.join(folder, "main.py");
  const program =
    "class A(object):\n    def f(self, n):\n        return n + 1\n\n" +
    "def entry_point(argv):\n    return A().f(len(argv))\n";
  fs.writeFileSync(file, program);
  try {
    const { done, vscode } = editor();
    const { commands } = load("commands", vscode);
    commands(() => real);
    const document = { uri: { fsPath: file } };
    vscode.window.activeTextEditor = { document, selection: { active: { line: 2 } } };
    await done.commands.get("taipan.showGraph")();
    const [panel] = done.panels;
    assert.strictEqual(panel.title, "Graph of A.f");
    assert.ok(panel.webview.html.includes("<svg"), panel.webview.html);
    assert.ok(panel.webview.html.includes("add"), panel.webview.html);
    // Once for each function, from a lens too.
    await done.commands.get("taipan.showGraph")(file, "A.f");
    assert.strictEqual(done.panels.length, 1);
    assert.strictEqual(panel.revealed, 1);
    const later = async (wanted) => {
      const end = Date.now() + 30000;
      while (!wanted(panel.webview.html) && Date.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assert.ok(wanted(panel.webview.html), panel.webview.html);
    };
    const { STAGES } = load("graph");
    for (const [stage] of STAGES) {
      panel.send({ stage });
      await later((h) => h.includes(`value="${stage}" selected`) && h.includes("<svg"));
    }
    // After an edit, and what is wrong with it.
    fs.writeFileSync(file, program.replace("n + 1", "n + "));
    done.saved[0]({ languageId: "python" });
    await later((h) => h.includes("<pre>") && h.includes("TP0001"));
    panel.dispose();
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

test("packages hold the binary of their platform", { skip: real === "" && "TAIPAN names no binary" }, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "taipan-"));
  const small = path.join(folder, "taipan");
  fs.writeFileSync(small, "#!/bin/sh\n");
  const out = path.join(folder, "taipan.vsix");
  const script = path.join(__dirname, "../package.mjs");
  try {
    execFileSync(process.execPath, [script, "linux-x64", small, out], { stdio: "pipe" });
    // Names stand in the archive as they are.
    const archive = fs.readFileSync(out);
    assert.ok(archive.includes("extension/bin/taipan"));
    assert.ok(archive.includes("extension/out/extension.js"));
    assert.ok(!archive.includes("extension/src/"));
    assert.throws(() => execFileSync(process.execPath, [script, "linux-x64"], { stdio: "pipe" }));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});
