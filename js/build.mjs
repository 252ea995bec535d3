// Builds the front end into ../roofwidget/static and holds it to its promises: small, and no use of the network.
// "node build.mjs --watch" builds at every change and only warns.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const here = import.meta.dirname;
const target = join(here, "..", "roofwidget", "static");

// Every kernel sends script and style to the browser, every widget the loader: hence the limits, in bytes.
const limits = { minified: 250_000, gzipped: 92_000 };
const loaderLimit = 3_000;
const LOADER = "loader.js";

const options = {
  absWorkingDir: here,
  entryPoints: ["src/widget.tsx", "src/widget.css", "src/loader.ts"],
  outdir: target,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  // Licences travel in a file of their own, see below.
  legalComments: "none",
  metafile: true,
  write: false,
};

/** What the text of one built file may not contain, as sentences. */
function faults(name, text) {
  const found = [];
  for (const [url] of text.matchAll(/(?:https?|wss?):\/\/[^\s"'`)]*/g)) {
    if (!url.startsWith("http://www.w3.org/")) found.push(`${name} contains the address ${url}`);
  }
  // The loader's one import is of text that the kernel sent.
  const imports = text.match(/\bimport\s*\(/g) ?? [];
  if (imports.length > (name === LOADER ? 1 : 0)) found.push(`${name} contains a dynamic import`);
  if (/@import\b/.test(text)) found.push(`${name} contains a style import`);
  return found;
}

/** One line per size, and a sentence for each limit that is broken. */
function weigh(files) {
  const found = [];
  const total = { minified: 0, gzipped: 0 };
  const line = (name, { minified, gzipped }) =>
    console.log(`${name.padEnd(14)} ${String(minified).padStart(7)} B ${String(gzipped).padStart(7)} B gzipped`);
  for (const { path, contents } of files) {
    const size = { minified: contents.length, gzipped: gzipSync(contents, { level: 9 }).length };
    const name = basename(path);
    line(name, size);
    if (name !== LOADER) {
      total.minified += size.minified;
      total.gzipped += size.gzipped;
    } else if (size.minified > loaderLimit) {
      found.push(`the loader is ${size.minified} B minified, over the limit of ${loaderLimit} B`);
    }
  }
  line("script, style", total);
  for (const [kind, limit] of Object.entries(limits)) {
    if (total[kind] > limit) found.push(`script and style are ${total[kind]} B ${kind}, over the limit of ${limit} B`);
  }
  return found;
}

/** The licence of every package that is in the bundle, as its licence asks. */
function licences(metafile) {
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs));
  const names = inputs.flatMap((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []);
  return [...new Set(names)].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} is in the bundle but has no licence file`);
    return `${name}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
}

/** Checks one build; writes it, or says what is wrong. */
function finish({ outputFiles, metafile, errors }, { strict }) {
  if (errors.length > 0) return false;
  const found = weigh(outputFiles);
  for (const { path, text } of outputFiles) found.push(...faults(basename(path), text));
  for (const output of Object.values(metafile.outputs)) {
    for (const { path } of output.imports) found.push(`an import of ${path} is left in the bundle`);
  }
  for (const fault of found) console.error(`build: ${fault}`);
  if (strict && found.length > 0) return false;
  mkdirSync(target, { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(path, contents);
  writeFileSync(join(target, "LICENSES.txt"), licences(metafile).join("\n---\n\n"));
  return true;
}

if (process.argv.includes("--watch")) {
  const report = { name: "report", setup: (build) => build.onEnd((result) => void finish(result, { strict: false })) };
  const context = await esbuild.context({ ...options, logLevel: "info", plugins: [report] });
  await context.watch();
} else {
  if (!existsSync(join(here, "src", "widget.tsx"))) throw new Error("build: js/src/widget.tsx is missing");
  // esbuild prints its own messages and throws on errors.
  const result = await esbuild.build(options).catch(() => undefined);
  if (!result || !finish(result, { strict: true })) process.exitCode = 1;
}
