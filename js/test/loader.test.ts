// The loader: one import per page for all widgets, the code of each widget's own kernel, and the message without code.

import { beforeEach, describe, expect, it, vi } from "vitest";
import { loaderOf } from "../src/loader.ts";
import { loadWords as german } from "../src/words/de.ts";
import { loadWords as english } from "../src/words/en.ts";
import { eachWithImports, several } from "./helpers.ts";

const REGISTRY = Symbol.for("roofwidget");
const page = globalThis as unknown as Record<symbol, unknown>;

/** What the loaded code has done, in order. */
const done: unknown[] = [];

/** Code that logs its calls. */
const script = (name: string) => `
  globalThis.loaded.push("import ${name}");
  export default () => ({
    initialize: ({ model }) => {
      globalThis.loaded.push("initialize ${name} " + model.get("title"));
    },
    render: ({ el }) => {
      globalThis.loaded.push("render ${name} dressed " + el.dressed());
      if (el.broken) throw new Error("broken");
      return () => "render is over";
    },
  });`;

interface Shared {
  script: string;
  words: Record<string, string>;
  style: string;
  /** What the model says instead of the digest of its script. */
  digest?: string;
}

/** Stands for bytes that nobody has compressed. */
const BROKEN = "broken";

const { subtle } = crypto;

async function sha256(text: string): Promise<string> {
  const bytes = await subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A text as Python sends it. */
async function compressed(text: string): Promise<string> {
  if (text === BROKEN) return btoa(text);
  const packed = new Response(new Response(text).body?.pipeThrough(new CompressionStream("gzip")));
  return btoa(String.fromCharCode(...new Uint8Array(await packed.arrayBuffer())));
}
async function onTheWire({ script, words, style, digest }: Shared): Promise<Record<string, unknown>> {
  const packed: Record<string, string> = {};
  for (const [language, text] of Object.entries(words)) packed[language] = await compressed(text);
  const files = { script: await compressed(script), style: await compressed(style) };
  const digests: Record<string, string> = {};
  for (const [name, file] of Object.entries(files)) digests[name] = await sha256(file);
  for (const [language, file] of Object.entries(packed)) digests[`words.${language}`] = await sha256(file);
  return { ...files, words: packed, digests: { ...digests, ...(digest === undefined ? {} : { script: digest }) } };
}

/** The models of a kernel, as its widget manager finds them. */
function manager(models: Record<string, Shared>) {
  return {
    models,
    async get_model(id: string) {
      const model = this.models[id];
      if (!model) throw new Error("widget model not found");
      const state = await onTheWire(model);
      return { get: (name: string) => state[name] };
    },
  };
}

function make(
  models: Record<string, Shared>,
  reference: unknown = "IPY_MODEL_1",
  abort = new AbortController(),
  words = english,
) {
  const state: Record<string, unknown> = { _code: reference, title: "A" };
  const model = { get: (name: string) => state[name], widget_manager: manager(models) };
  const widget = loaderOf(words)();
  const render = (el: FakeElement, signal = abort.signal) =>
    widget.render({ model, signal, el: el as unknown as HTMLElement });
  return {
    /** Initializes the widget, and waits until its code was loaded or is known to be missing. */
    async initialize() {
      expect(widget.initialize({ model, signal: abort.signal })).toBeUndefined();
      // A view that is closed already draws nothing, but waits for the code.
      await render(new FakeElement(), AbortSignal.abort());
    },
    render,
  };
}

class FakeElement {
  readonly dataset: Record<string, string> = {};
  readonly children: FakeElement[] = [];
  textContent = "";
  isConnected = true;
  broken = false;
  ownerDocument = fakeDocument();
  root: object = this.ownerDocument;
  append(child: FakeElement) {
    this.children.push(child);
  }
  querySelectorAll() {
    return this.children;
  }
  getRootNode() {
    return this.root;
  }
  dressed() {
    return this.ownerDocument.head.children.length;
  }
}

interface FakeDocument {
  readonly head: FakeElement;
  readonly frames: (() => void)[];
  readonly defaultView: { requestAnimationFrame(draw: () => void): void };
  createElement(): FakeElement;
}

function fakeDocument(): FakeDocument {
  const frames: (() => void)[] = [];
  let head: FakeElement | undefined;
  return {
    get head() {
      head ??= new FakeElement();
      return head;
    },
    frames,
    defaultView: { requestAnimationFrame: (draw) => void frames.push(draw) },
    createElement: () => new FakeElement(),
  };
}

const WORDS = { en: 'const language = "English";', de: 'const language = "German";' };
const ONE = { script: script("one"), words: WORDS, style: ".one {}" };
const TWO = { script: script("two"), words: WORDS, style: ".two {}" };

const { made, revoked } = eachWithImports();
beforeEach(() => {
  done.length = 0;
  delete page[REGISTRY];
  vi.stubGlobal("loaded", done);
});

describe("the code", () => {
  it("is imported once for ten widgets, each of which is one of its own", async () => {
    const widgets = several(10, () => make({ 1: ONE }));
    await Promise.all(widgets.map((widget) => widget.initialize()));
    expect(done).toEqual(["import one", ...Array<string>(10).fill("initialize one A")]);
    expect(made).toEqual([`${WORDS.en}\n${ONE.script}`]);
    expect(revoked).toHaveLength(1);
  });
  it("that names the digest of other code never takes its place", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const digest = await sha256(await compressed(TWO.script));
    await make({ 1: { ...ONE, digest } }).initialize();
    await make({ 1: TWO }).initialize();
    expect(done).toEqual(["import two", "initialize two A"]);
  });
  it("runs unchecked in a page for which the browser computes no digests", async () => {
    vi.stubGlobal("crypto", {});
    await make({ 1: { ...ONE, digest: "none" } }).initialize();
    expect(done).toEqual(["import one", "initialize one A"]);
  });
  it("is found by later widgets, whose shared model has another id", async () => {
    await make({ 1: ONE }).initialize();
    await make({ 7: ONE }, "IPY_MODEL_7").initialize();
    expect(done).toEqual(["import one", "initialize one A", "initialize one A"]);
  });
  it("of another kernel with another version is imported beside it", async () => {
    await make({ 1: ONE }).initialize();
    await make({ 1: TWO }).initialize();
    await make({ 1: ONE }).initialize();
    expect(done).toEqual(["import one", "initialize one A", "import two", "initialize two A", "initialize one A"]);
  });
  it("is imported once for each language, with its words in front", async () => {
    const models = { 1: { ...ONE, script: `${ONE.script} globalThis.loaded.push(language);` } };
    for (const words of [english, german, english, german]) {
      await make(models, "IPY_MODEL_1", new AbortController(), words).initialize();
    }
    const [first, second] = ["English", "German"].map((language) => ["import one", language, "initialize one A"]);
    expect(done).toEqual([...(first as string[]), ...(second as string[]), "initialize one A", "initialize one A"]);
  });
  it("is still loading when the widget is initialized, because a host gives that two seconds", async () => {
    const waiting = make({ 1: ONE }).initialize();
    expect([done, made]).toEqual([[], []]);
    await waiting;
    expect(done).toEqual(["import one", "initialize one A"]);
  });
  it("returns for a view what it returns: what is to be called at the end", async () => {
    const widget = make({ 1: ONE });
    await widget.initialize();
    expect(((await widget.render(new FakeElement())) as () => string)()).toBe("render is over");
  });
  it("is imported by the shared model before there is a widget, and not again for the widgets", async () => {
    const state = await onTheWire(ONE);
    const shared = { get: (name: string) => state[name], widget_manager: manager({}) };
    loaderOf(english)().initialize({ model: shared, signal: new AbortController().signal });
    await vi.waitFor(() => expect(done).toEqual(["import one"]));
    await make({ 1: ONE }).initialize();
    expect(done).toEqual(["import one", "initialize one A"]);
    expect(made).toHaveLength(1);
  });
  it("is inflated once for all widgets of a page", async () => {
    const inflated: string[] = [];
    const Original = DecompressionStream;
    vi.stubGlobal(
      "DecompressionStream",
      class extends Original {
        constructor(format: "gzip") {
          super(format);
          inflated.push(format);
        }
      },
    );
    await Promise.all([make({ 1: ONE }), make({ 1: ONE })].map((widget) => widget.initialize()));
    // Words, code and style.
    expect(inflated).toEqual(["gzip", "gzip", "gzip"]);
  });
  it("throws what it throws", async () => {
    const widget = make({ 1: ONE });
    await widget.initialize();
    const el = new FakeElement();
    el.broken = true;
    await expect(widget.render(el)).rejects.toThrow("broken");
  });
  it("is not started for a model that was closed meanwhile", async () => {
    const abort = new AbortController();
    const widget = make({ 1: ONE }, "IPY_MODEL_1", abort);
    const initialized = widget.initialize();
    abort.abort();
    await initialized;
    expect(done).toEqual(["import one"]);
  });
});

describe("the style", () => {
  it("is in place before the first view is drawn, and once for all", async () => {
    const widget = make({ 1: ONE });
    await widget.initialize();
    const first = new FakeElement();
    const second = new FakeElement();
    second.ownerDocument = first.ownerDocument;
    second.root = first.ownerDocument;
    await widget.render(first);
    await widget.render(second);
    expect(done.slice(-2)).toEqual(["render one dressed 1", "render one dressed 1"]);
    expect(first.ownerDocument.head.children.map(({ textContent }) => textContent)).toEqual([".one {}"]);
  });
  it("is in each document, and of each version", async () => {
    const [one, two] = [make({ 1: ONE }), make({ 1: TWO })];
    await one.initialize();
    await two.initialize();
    const here = new FakeElement();
    const elsewhere = new FakeElement();
    await one.render(here);
    await two.render(here);
    await two.render(elsewhere);
    expect(here.ownerDocument.head.children.map(({ textContent }) => textContent)).toEqual([".one {}", ".two {}"]);
    expect(elsewhere.ownerDocument.head.children.map(({ textContent }) => textContent)).toEqual([".two {}"]);
  });
  it("is in the shadow root of a view that is inside one, even if it is put there after it was drawn", async () => {
    const widget = make({ 1: ONE });
    await widget.initialize();
    const el = new FakeElement();
    el.isConnected = false;
    await widget.render(el);
    const shadow = Object.assign(new FakeElement(), { host: el });
    el.root = shadow;
    for (const draw of el.ownerDocument.frames) draw();
    expect(shadow.children.map(({ textContent }) => textContent)).toEqual([".one {}"]);
    await widget.render(el);
    expect(shadow.children).toHaveLength(1);
  });
});

describe("without the code", () => {
  const SENTENCE =
    "The code of this roofwidget has not reached the page. Run the cell that makes the widget again. If that does not " +
    "help, set the environment variable ROOFWIDGET_INLINE=1 before the kernel starts.";

  it.each<[string, Record<string, Shared>, unknown, RegExp]>([
    ["no model is found", {}, "IPY_MODEL_1", /^widget model not found$/],
    ["there is no reference", { 1: ONE }, null, /^roofwidget: its code was closed$/],
    ["its words are missing", { 1: { ...ONE, words: {} } }, "IPY_MODEL_1", /has no words in 'en'$/],
    [
      "the bytes are broken",
      { 1: { ...ONE, script: BROKEN } },
      "IPY_MODEL_1",
      /^roofwidget: compressed data is damaged$/,
    ],
    [
      "the script is another than its digest says",
      { 1: { ...ONE, digest: "0".repeat(64) } },
      "IPY_MODEL_1",
      /^roofwidget: 'script' of its code has another digest$/,
    ],
    ["the text is no code", { 1: { ...ONE, script: "export default (" } }, "IPY_MODEL_1", /./],
  ])("a view says so where %s, the console why, and nothing is thrown", async (_, models, reference, why) => {
    const told = vi.spyOn(console, "error").mockImplementation(() => {});
    const widget = make(models, reference);
    await widget.initialize();
    const el = new FakeElement();
    await widget.render(el);
    expect(el.textContent).toBe(SENTENCE);
    expect(told).toHaveBeenCalledOnce();
    expect(told.mock.lastCall?.[0]).toHaveProperty("message", expect.stringMatching(why));
    expect(done).toEqual([]);
  });
  it("a browser that cannot inflate it is no different", async () => {
    const told = vi.spyOn(console, "error").mockImplementation(() => {});
    vi.stubGlobal("DecompressionStream", undefined);
    const widget = make({ 1: ONE });
    await widget.initialize();
    const el = new FakeElement();
    await widget.render(el);
    expect(el.textContent).toBe(SENTENCE);
    expect(told.mock.lastCall?.[0]).toHaveProperty("message", expect.stringMatching(/DecompressionStream/));
  });
  it("the next widget tries again", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const broken = { ...ONE, script: "export default (" };
    await make({ 1: broken }).initialize();
    await make({ 1: ONE }).initialize();
    expect(done).toEqual(["import one", "initialize one A"]);
    expect(revoked).toHaveLength(2);
  });
  it("a host whose look-up throws at once is no different", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const model = {
      get: () => null,
      widget_manager: {
        get_model: () => {
          throw new Error("not supported");
        },
      },
    };
    const widget = loaderOf(english)();
    const { signal } = new AbortController();
    widget.initialize({ model, signal });
    const el = new FakeElement();
    await widget.render({ model, signal, el: el as unknown as HTMLElement });
    expect(el.textContent).toBe(SENTENCE);
  });
});
