// Builds the front end into ../roofwidget/static: the code once, and for each language its words and its loader; the code
// with which Python draws pictures and makes pages; and one module for pages that are made elsewhere. Fails if a file is too
// large or could use the network.
// "node build.mjs --watch" builds at every change and only warns. "node build.mjs --readable FOLDER" builds into another
// folder with names and lines as in the source, for profiles. "node build.mjs --playground FOLDER" builds only the code and
// style of the playground, a page of the documentation, into a folder.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { minify } from "rolldown/utils";

const here = import.meta.dirname;
const readable = process.argv.indexOf("--readable") + 1;
const playground = process.argv.indexOf("--playground") + 1;
const target = process.argv[readable || playground || -1] ?? join(here, "..", "roofwidget", "static");

// Every kernel sends code, words and style to the browser, every widget its loader: hence the limits, in bytes.
const limits = { minified: 564_800, gzipped: 212_400 };
const loaderLimit = 3_000;
const languages = readdirSync(join(here, "src", "words"))
  .flatMap((name) => /^([a-z]{2})\.ts$/.exec(name)?.[1] ?? [])
  .sort();
const isLoader = (name) => name.startsWith("loader");
const isWords = (name) => name.startsWith("words");
const MODULE = "module.js";

const common = {
  absWorkingDir: here,
  outdir: target,
  bundle: true,
  target: "es2022",
  minify: !readable,
  charset: "utf8",
  define: { "Number.POSITIVE_INFINITY": "Infinity", "Number.NaN": "NaN" },
  // Licences travel in a file of their own, see below.
  legalComments: "none",
  metafile: true,
  write: false,
};

// The calls of the classic transform of JSX are shorter: they do not name the children.
const classicJsx = {
  jsx: "transform",
  jsxFactory: "jsxElement",
  jsxFragment: "JsxFragment",
  inject: ["src/ui/jsx.ts"],
  tsconfigRaw: {},
};

/** The options of a file that is made of a few lines rather than of a file in src. */
const madeOf = (name, contents) => ({
  ...common,
  outdir: undefined,
  outfile: join(target, name),
  stdin: { contents, resolveDir: join(here, "src") },
});

/** The loader of a language, which the starter of each widget holds as text. */
const loaderText = (language) => ({
  ...madeOf(
    `loader_text.${language}.js`,
    `import { loaderOf } from "./loader.ts";
    import { loadWords } from "./words/${language}.ts";
    export default loaderOf(loadWords);`,
  ),
  format: "esm",
});
const loaderAsText = {
  name: "loader as text",
  setup(build) {
    build.onResolve({ filter: /^loader:/ }, ({ path }) => ({ path, namespace: "loader" }));
    build.onLoad({ filter: /./, namespace: "loader" }, async ({ path }) => {
      const { outputFiles, metafile } = await esbuild.build(loaderText(path.slice("loader:".length)));
      const files = Object.keys(metafile.inputs).filter((file) => file.startsWith("src/"));
      return {
        contents: outputFiles[0].text.trim(),
        loader: "text",
        watchFiles: files.map((file) => join(here, file)),
      };
    });
  },
};

/**
 * Writes the colours of the design tokens before the rules of the style, as custom properties. The colours of the host
 * win. All rules from that of .roofwidget on are nested in it, so that the style names it once.
 */
const tokensInStyle = {
  name: "tokens in style",
  setup(build) {
    build.onLoad({ filter: /widget\.css$/ }, ({ path }) => {
      const file = join(here, "src", "tokens.json");
      const { light, dark, sizes, radii } = JSON.parse(readFileSync(file, "utf8"));
      const hosts = { bg: ["background", "--jp-layout-color0"], ink: ["text", "--jp-ui-font-color1"] };
      const ruleOf = (selector, roles) => {
        const properties = Object.entries(roles).map(([role, colour]) => {
          const [name, host] = hosts[role] ?? [role];
          return `--rw-${name}:${host ? `var(${host},${colour})` : colour}`;
        });
        return `${selector}{${properties.join(";")}}\n`;
      };
      const colours = ruleOf(".roofwidget", light) + ruleOf(".roofwidget .rw-dark", dark);
      const [outside, ...rules] = readFileSync(path, "utf8").split(/^(?=\.roofwidget \{)/m);
      const lengths = { size: sizes, radius: radii };
      const inPx = (_, kind, name) => {
        if (!(name in lengths[kind])) throw new Error(`tokens.json has no ${kind} ${name}`);
        return `${lengths[kind][name]}px`;
      };
      const nested = (colours + rules.join(""))
        .replaceAll(/\.roofwidget(?![\w-])/g, "&")
        .replaceAll(/var\(--rw-(size|radius)-(\w+)\)/g, inPx);
      return { contents: `${outside}.roofwidget{${nested}}`, loader: "css", watchFiles: [path, file] };
    });
  },
};

/** The script of the playground and its style, which the page has beside those of the widget. */
const playgroundOptions = {
  ...common,
  ...classicJsx,
  format: "iife",
  entryPoints: { playground: "src/playground/page.tsx", "playground-style": "src/playground/playground.css" },
};

const allOptions = [
  {
    ...common,
    ...classicJsx,
    format: "esm",
    entryPoints: ["src/widget.tsx", "src/widget.css"],
    plugins: [tokensInStyle],
  },
  { ...common, ...classicJsx, format: "iife", entryPoints: ["src/engine.ts", "src/page.tsx"] },
  { ...common, ...classicJsx, format: "esm", entryPoints: ["src/module.ts"] },
  { ...common, format: "iife", entryPoints: ["src/unpack.ts", "src/contents.ts"] },
  ...languages.flatMap((language) => [
    {
      ...madeOf(
        `words.${language}.js`,
        `import { catalogue } from "./words/${language}.ts"; roofwidgetWords = catalogue;`,
      ),
      // Stands in front of the code, in the same module: words.ts reads the constant. The comment is for Chromium: it
      // then compiles all functions while it loads the module, in another thread, and not in the first frame.
      format: "iife",
      banner: { js: "//# allFunctionsCalledOnLoad\nlet roofwidgetWords;" },
    },
    {
      ...madeOf(
        `loader.${language}.js`,
        `import { starterOf } from "./starter.ts";
        import loader from "loader:${language}";
        export default starterOf(loader);`,
      ),
      format: "esm",
      plugins: [loaderAsText],
    },
  ]),
];

/** Returns the built files. Oxc minifies the code again: what it writes compresses better than what esbuild writes. */
function minifiedAgain(files) {
  return Promise.all(
    files.map(async (file) => {
      const name = basename(file.path);
      if (readable || !/^(widget|engine|page|module|playground)\.js$/.test(name)) return file;
      const { code, errors } = await minify(name, file.text, { module: true, mangle: { toplevel: true } });
      if (errors.length > 0) throw new Error(`build: ${name} cannot be minified: ${errors[0].message}`);
      return { path: file.path, text: code, contents: Buffer.from(code) };
    }),
  );
}

/** What the text of one built file may not contain, as sentences. */
function faults(name, text) {
  const found = [];
  for (const [url] of text.matchAll(/(?:https?|wss?):\/\/[^\s"'`)]*/g)) {
    if (!url.startsWith("http://www.w3.org/")) found.push(`${name} contains the address ${url}`);
  }
  // The starter imports the loader, and the loader imports text that the kernel sent.
  const imports = text.match(/\bimport\s*\(/g) ?? [];
  if (imports.length > (isLoader(name) ? 2 : 0)) found.push(`${name} contains a dynamic import`);
  if (/@import\b/.test(text)) found.push(`${name} contains a style import`);
  return found;
}

// The shared model sends all files but the loader compressed. A page inflates them.
function compressed(contents) {
  const data = gzipSync(contents, { level: 9 });
  // Byte 9 names the operating system, and would differ between two builds. 255 is "unknown".
  data[9] = 255;
  return data;
}
const sizeOf = (contents) => ({ minified: contents.length, gzipped: compressed(contents).length });

const printSize = (name, { minified, gzipped }) =>
  console.log(`${name.padEnd(16)} ${String(minified).padStart(7)} B ${String(gzipped).padStart(7)} B gzipped`);

/** Prints the size of each file and of the whole in each language; returns a sentence for each broken limit. */
function weigh(files) {
  const found = [];
  const sizes = files.map(({ path, contents }) => ({ name: basename(path), ...sizeOf(contents) }));
  for (const size of sizes) printSize(size.name, size);
  for (const { name, minified } of sizes.filter(({ name }) => isLoader(name))) {
    if (minified > loaderLimit) found.push(`${name} is ${minified} B minified, over the limit of ${loaderLimit} B`);
  }
  const contentsOf = (name) => files.find(({ path }) => basename(path) === name).contents;
  const style = sizeOf(contentsOf("widget.css"));
  for (const { name } of sizes.filter(({ name }) => isWords(name))) {
    // Words, code and style travel in one message, each compressed by itself.
    const parts = [sizeOf(contentsOf(name)), sizeOf(contentsOf("widget.js")), style];
    const sum = (kind) => parts.reduce((total, part) => total + part[kind], 0);
    const whole = { minified: sum("minified"), gzipped: sum("gzipped") };
    printSize(`whole, ${name}`, whole);
    for (const [kind, limit] of Object.entries(limits)) {
      if (whole[kind] > limit) {
        found.push(`code, style and ${name} are ${whole[kind]} B ${kind}, over the limit of ${limit} B`);
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

/** Checks the builds of all files; writes them, or says what is wrong. */
async function finish(builds, { strict }) {
  const files = await minifiedAgain(builds.flatMap(({ outputFiles }) => outputFiles));
  const outputs = builds.flatMap(({ metafile }) => Object.values(metafile.outputs));
  const found = weigh(files);
  for (const { path, text } of files) found.push(...faults(basename(path), text));
  for (const output of outputs) {
    for (const { path } of output.imports) found.push(`an import of ${path} is left in the bundle`);
  }
  for (const fault of found) console.error(`build: ${fault}`);
  if (strict && found.length > 0) return false;
  // Files of an earlier build may have other names.
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(target))
    if (/^(widget|words|loader|engine|page|unpack|contents|roofwidget)\./.test(name)) rmSync(join(target, name));
  const textOf = (name) => files.find(({ path }) => basename(path) === name).text;
  for (const { path, contents } of files) {
    if (isLoader(basename(path))) writeFileSync(path, contents);
    else if (basename(path) !== MODULE) writeFileSync(`${path}.gz`, compressed(contents));
  }
  // Other languages have their words in the place of the first part.
  const style = `const roofwidgetStyle = ${JSON.stringify(textOf("widget.css"))};`;
  writeFileSync(join(target, "roofwidget.mjs"), [textOf("words.en.js"), style, textOf(MODULE)].join("\n"));
  writeFileSync(join(target, "LICENSES.txt"), licences(outputs).join("\n---\n\n"));
  return true;
}

/** Builds the playground, and writes its files as text. */
async function buildPlayground() {
  const files = await minifiedAgain((await esbuild.build(playgroundOptions)).outputFiles);
  const found = files.flatMap(({ path, text }) => faults(basename(path), text));
  for (const fault of found) console.error(`build: ${fault}`);
  if (found.length > 0) return false;
  mkdirSync(target, { recursive: true });
  for (const { path, contents } of files) {
    printSize(basename(path), sizeOf(contents));
    writeFileSync(path, contents);
  }
  return true;
}

if (playground) {
  if (!(await buildPlayground().catch(() => false))) process.exitCode = 1;
} else if (process.argv.includes("--watch")) {
  const latest = new Map();
  for (const options of allOptions) {
    const report = {
      name: "report",
      setup: (build) =>
        build.onEnd((result) => {
          if (result.errors.length > 0) return;
          latest.set(options, result);
          if (latest.size === allOptions.length) return finish([...latest.values()], { strict: false });
        }),
    };
    const context = await esbuild.context({
      ...options,
      logLevel: "info",
      plugins: [...(options.plugins ?? []), report],
    });
    await context.watch();
  }
} else {
  if (!existsSync(join(here, "src", "widget.tsx"))) throw new Error("build: js/src/widget.tsx is missing");
  // esbuild prints its own messages and throws on errors.
  const builds = await Promise.all(allOptions.map((options) => esbuild.build(options))).catch(() => undefined);
  if (!builds || !(await finish(builds, { strict: !readable }))) process.exitCode = 1;
}
