#!/usr/bin/env python3
"""Makes the files of a release in a folder (`target/release-files` by default), with their checksums:

    release.py [--out DIR] [--binary TAIPAN] [STEP...]

Without steps all are made. One whose tool is missing is reported, and the exit code is 1. `--binary` packs an
executable that is there, instead of building one with the profile `dist`.

    source    the files of the commit, as taipan-VERSION.tar.gz
    tar       the binary, `rpython`, manual pages, completions and documents
    sbom      the crates that the binary is made of, in the format of CycloneDX
    wheel     by maturin
    deb       by cargo-deb
    vscode    the extension with the binary, by npm
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
STEPS = ["source", "tar", "sbom", "wheel", "deb", "vscode"]
PLATFORMS = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}


class Missing(Exception):
    """A tool that a step needs."""


def output(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT, **options).stdout


def needed(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            raise Missing(tool)


class Release:
    def __init__(self, out, binary):
        self.out = out
        manifest = (ROOT / "Cargo.toml").read_text()
        self.version = re.search(r'^version = "(.*)"', manifest, re.M).group(1)
        self.time = int(output("git", "log", "-1", "--format=%ct"))
        commit = output("git", "log", "-1", "--format=%h %cs").decode().strip()
        self.environment = dict(
            os.environ,
            TAIPAN_VERSION="%s (%s)" % (self.version, commit),
            SOURCE_DATE_EPOCH=str(self.time),
        )
        self.machine = os.uname().machine
        self.given = binary
        self.name = "taipan-%s" % self.version

    def check_changelog(self):
        """A release has a section of its own in CHANGELOG.md."""
        text = (ROOT / "CHANGELOG.md").read_text()
        if not re.search(r"^## %s\b" % re.escape(self.version), text, re.M):
            print("release: CHANGELOG.md has no section for %s: these files are a preview" % self.version)

    def binary(self):
        if self.given is None:
            command = ["cargo", "build", "--profile", "dist", "--locked", "-p", "taipan", "--bin", "taipan"]
            subprocess.run(command, check=True, cwd=ROOT, env=self.environment)
            target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
            self.given = target / "dist" / "taipan"
        return self.given

    def source(self):
        files = output("git", "archive", "--format=tar", "--prefix=%s/" % self.name, "HEAD")
        self.write(self.name + ".tar.gz", compressed(files))

    def tar(self):
        binary = self.binary()
        name = "%s-%s-linux" % (self.name, self.machine)
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder) / name
            (top / "bin").mkdir(parents=True)
            shutil.copy(binary, top / "bin" / "taipan")
            shutil.copy(ROOT / "python/taipan.data/scripts/rpython", top / "bin")
            output(binary, "man", top / "share/man/man1")
            for shell in ["bash", "zsh", "fish"]:
                completions = output(binary, "completions", shell)
                (top / "share" / ("taipan." + shell)).write_bytes(completions)
            for document in ["README.md", "LICENSE", "CHANGELOG.md"]:
                shutil.copy(ROOT / document, top)
            packed = io.BytesIO()
            with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
                for path in [top] + sorted(top.rglob("*")):
                    tar.add(path, path.relative_to(folder).as_posix(), recursive=False, filter=self.plain)
        self.write(name + ".tar.gz", compressed(packed.getvalue()))

    def plain(self, entry):
        """The same bytes whoever packs, and when."""
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = self.time
        entry.mode = 0o755 if entry.isdir() or "/bin/" in entry.name else 0o644
        return entry

    def sbom(self):
        needed("cargo")
        command = ["cargo", "tree", "--locked", "--offline", "-p", "taipan", "--edges", "normal", "--prefix",
                   "none", "--format", "{p}|{l}|{r}"]
        lines = sorted(set(output(*command).decode().splitlines()))
        components = []
        for line in lines:
            package, license, repository = line.replace(" (*)", "").split("|")
            name, version = package.split()[:2]
            part = {
                "type": "library",
                "name": name,
                "version": version.lstrip("v"),
                "purl": "pkg:cargo/%s@%s" % (name, version.lstrip("v")),
            }
            if license:
                part["licenses"] = [{"expression": license.replace("/", " OR ")}]
            if repository:
                part["externalReferences"] = [{"type": "vcs", "url": repository}]
            if "(/" in package or "(proc-macro) (/" in package:
                # A crate of the project itself comes from no registry.
                del part["purl"]
            if part not in components:
                components.append(part)
        document = {
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": {"component": {"type": "application", "name": "taipan", "version": self.version}},
            "components": components,
        }
        self.write(self.name + ".cdx.json", json.dumps(document, indent=1).encode() + b"\n")

    def wheel(self):
        needed("maturin")
        command = ["maturin", "build", "--profile", "dist", "--locked", "--out", str(self.out)]
        subprocess.run(command, check=True, cwd=ROOT, env=self.environment)

    def deb(self):
        needed("cargo-deb")
        script = ROOT / "crates/taipan/packaging/deb.sh"
        subprocess.run([script, "--output", str(self.out)], check=True, env=self.environment)

    def vscode(self):
        needed("npm")
        if not (ROOT / "editors/vscode/node_modules").is_dir():
            raise Missing("node_modules of editors/vscode (npm ci)")
        platform = PLATFORMS[self.machine]
        package = self.out / ("taipan-%s-%s.vsix" % (self.version, platform))
        command = ["npm", "run", "package", "--", platform, str(self.binary()), str(package)]
        subprocess.run(command, check=True, cwd=ROOT / "editors/vscode", env=self.environment)

    def write(self, name, content):
        (self.out / name).write_bytes(content)

    def checksums(self):
        lines = []
        for path in sorted(self.out.iterdir()):
            if path.is_file() and path.name != "SHA256SUMS":
                lines.append("%s  %s\n" % (hashlib.sha256(path.read_bytes()).hexdigest(), path.name))
        (self.out / "SHA256SUMS").write_text("".join(lines))


def compressed(content):
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "release-files")
    parser.add_argument("--binary", type=Path)
    parser.add_argument("steps", nargs="*", metavar="STEP")
    args = parser.parse_args()
    unknown = [s for s in args.steps if s not in STEPS]
    if unknown:
        parser.error("no step %s: there are %s" % (unknown[0], ", ".join(STEPS)))
    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    release = Release(out, args.binary and args.binary.resolve())
    release.check_changelog()
    missing = False
    for step in args.steps or STEPS:
        try:
            getattr(release, step)()
        except Missing as e:
            missing = True
            print("release: %s: there is no %s" % (step, e))
    release.checksums()
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
