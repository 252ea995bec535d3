// Builds the front end into ../roofwidget/static, once for each language, and holds it to its promises: small, and no
// use of the network.
// "node build.mjs --watch" builds at every change and only warns.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const here = import.meta.dirname;
const target = join(here, "..", "roofwidget", "static");

// Every kernel sends script and style to the browser, every widget the loader: hence the limits, in bytes.
const limits = { minified: 318_000, gzipped: 119_500 };
const loaderLimit = 3_000;
// The language whose catalogue the code imports, and whose files bear no language in their names.
const FIRST = "en";
const languages = readdirSync(join(here, "src", "words"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();
const isLoader = (name) => name.startsWith("loader");

/** Puts the catalogue of a language in the place of the one that the code imports. */
const catalogue = (language) => ({
  name: "catalogue",
  setup(build) {
    build.onResolve({ filter: /^\.\/en\/index\.ts$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace("./en/", `./${language}/`)),
    }));
  },
});

const options = (language) => ({
  absWorkingDir: here,
  // One style serves every language.
  entryPoints: ["src/widget.tsx", "src/loader.ts", ...(language === FIRST ? ["src/widget.css"] : [])],
  entryNames: language === FIRST ? "[name]" : `[name].${language}`,
  plugins: [catalogue(language)],
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
});

/** What the text of one built file may not contain, as sentences. */
function faults(name, text) {
  const found = [];
  for (const [url] of text.matchAll(/(?:https?|wss?):\/\/[^\s"'`)]*/g)) {
    if (!url.startsWith("http://www.w3.org/")) found.push(`${name} contains the address ${url}`);
  }
  // The loader's one import is of text that the kernel sent.
  const imports = text.match(/\bimport\s*\(/g) ?? [];
  if (imports.length > (isLoader(name) ? 1 : 0)) found.push(`${name} contains a dynamic import`);
  if (/@import\b/.test(text)) found.push(`${name} contains a style import`);
  return found;
}

/** One line per size, and a sentence for each limit that a language breaks. */
function weigh(files) {
  const found = [];
  const line = (name, { minified, gzipped }) =>
    console.log(`${name.padEnd(16)} ${String(minified).padStart(7)} B ${String(gzipped).padStart(7)} B gzipped`);
  const sizes = files.map(({ path, contents }) => {
    const size = { minified: contents.length, gzipped: gzipSync(contents, { level: 9 }).length };
    line(basename(path), size);
    return { name: basename(path), ...size };
  });
  const style = sizes.find(({ name }) => name.endsWith(".css"));
  for (const { name, minified, gzipped } of sizes) {
    if (isLoader(name)) {
      if (minified > loaderLimit) found.push(`${name} is ${minified} B minified, over the limit of ${loaderLimit} B`);
    } else if (name !== style.name) {
      const total = { minified: minified + style.minified, gzipped: gzipped + style.gzipped };
      line("with the style", total);
      for (const [kind, limit] of Object.entries(limits)) {
        if (total[kind] > limit) {
          found.push(`${name} with the style is ${total[kind]} B ${kind}, over the limit of ${limit} B`);
        }
      }
    }
  }
  return found;
}

/** The licence of every package that is in the bundle, as its licence asks. */
function licences(outputs) {
  const inputs = outputs.flatMap((output) => Object.keys(output.inputs));
  const names = inputs.flatMap((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []);
  return [...new Set(names)].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} is in the bundle but has no licence file`);
    return `${name}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
}

/** Checks one build of every language; writes it, or says what is wrong. */
function finish(builds, { strict }) {
  const files = builds.flatMap(({ outputFiles }) => outputFiles);
  const outputs = builds.flatMap(({ metafile }) => Object.values(metafile.outputs));
  const found = weigh(files);
  for (const { path, text } of files) found.push(...faults(basename(path), text));
  for (const output of outputs) {
    for (const { path } of output.imports) found.push(`an import of ${path} is left in the bundle`);
  }
  for (const fault of found) console.error(`build: ${fault}`);
  if (strict && found.length > 0) return false;
  mkdirSync(target, { recursive: true });
  for (const { path, contents } of files) writeFileSync(path, contents);
  writeFileSync(join(target, "LICENSES.txt"), licences(outputs).join("\n---\n\n"));
  return true;
}

if (process.argv.includes("--watch")) {
  const latest = new Map();
  const report = (language) => ({
    name: "report",
    setup: (build) =>
      build.onEnd((result) => {
        if (result.errors.length > 0) return;
        latest.set(language, result);
        if (latest.size === languages.length) finish([...latest.values()], { strict: false });
      }),
  });
  for (const language of languages) {
    const { plugins, ...rest } = options(language);
    const context = await esbuild.context({ ...rest, logLevel: "info", plugins: [...plugins, report(language)] });
    await context.watch();
  }
} else {
  if (!existsSync(join(here, "src", "widget.tsx"))) throw new Error("build: js/src/widget.tsx is missing");
  // esbuild prints its own messages and throws on errors.
  const builds = await Promise.all(languages.map((language) => esbuild.build(options(language)))).catch(
    () => undefined,
  );
  if (!builds || !finish(builds, { strict: true })) process.exitCode = 1;
}
