// The bundled extension with a stand-in for the editor: what it registers, and that the
// server it starts is the one of the settings.

const assert = require("node:assert");
const Module = require("node:module");
const path = require("node:path");
const test = require("node:test");
const { buildSync } = require("esbuild");

function options() {
  const { outputFiles } = buildSync({
    entryPoints: [path.join(__dirname, "../src/options.ts")],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
  });
  const module = { exports: {} };
  new Function("module", "exports", "require", outputFiles[0].text)(module, module.exports, require);
  return module.exports;
}

test("the server is the configured binary on its pipes", () => {
  assert.deepStrictEqual(options().serverOptions("/opt/taipan"), {
    command: "/opt/taipan",
    args: ["lsp"],
  });
});

test("Python files are looked at where they are RPython", () => {
  const { selector } = options();
  const python = (s) => s.filter((d) => d.language === "python");
  assert.deepStrictEqual(python(selector("never", ["/a"])), []);
  assert.deepStrictEqual(python(selector("always", [])), [{ language: "python", scheme: "file" }]);
  assert.deepStrictEqual(python(selector("configured", ["/a"])), [
    { language: "python", scheme: "file", pattern: "/a/**/*.py" },
  ]);
});

test("projects are known by their table", () => {
  const { hasTable } = options();
  assert.ok(hasTable("[project]\n[tool.taipan]\n"));
  assert.ok(hasTable("[ tool . taipan ]"));
  assert.ok(!hasTable("[tool.taipans]\n# [tool.taipan]\n"));
});

test("the bundle loads, with nothing but the editor's API missing", () => {
  const load = Module._load;
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
    return load(name, ...rest);
  };
  try {
    const extension = require("../out/extension.js");
    assert.strictEqual(typeof extension.activate, "function");
    assert.strictEqual(typeof extension.deactivate, "function");
  } finally {
    Module._load = load;
  }
  assert.deepStrictEqual([...wanted], ["vscode"]);
});

test("the manifest has what the code asks for", () => {
  const manifest = require("../package.json");
  const settings = Object.keys(manifest.contributes.configuration.properties);
  for (const name of ["command", "python", "targets", "path", "stepLimit"]) {
    assert.ok(settings.includes(`taipan.${name}`), name);
  }
});
