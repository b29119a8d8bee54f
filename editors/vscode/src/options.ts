// What the server gets to see.

import type { DocumentSelector } from "vscode-languageclient/node";

// The documents that the server gets to see.
export function selector(python: string, configured: string[]): DocumentSelector {
  const documents: { language?: string; scheme: string; pattern?: string }[] = [
    { language: "rpython", scheme: "file" },
    { language: "rpython", scheme: "untitled" },
    { scheme: "file", pattern: "**/pyproject.toml" },
  ];
  if (python === "always") {
    documents.push({ language: "python", scheme: "file" });
  } else if (python === "configured") {
    for (const folder of configured) {
      const pattern = `${folder.replaceAll("\\", "/")}/**/*.py`;
      documents.push({ language: "python", scheme: "file", pattern });
    }
  }
  return documents as DocumentSelector;
}

// Whether a pyproject.toml configures Taipan.
export function hasTable(text: string): boolean {
  return /^\s*\[\s*tool\s*\.\s*taipan\s*[\].]/m.test(text);
}

// What the server is told when it starts. A workspace can make settings, and no trust: that stands beside
// them.
export function initialization(settings: unknown, trusted: boolean): object {
  return { taipan: settings, workspaceTrusted: trusted };
}
