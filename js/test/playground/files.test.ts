// Files that are opened in the playground: pages and sessions, damaged, hostile and others.

import { describe, expect, it } from "vitest";
import { MAX_FILE_BYTES, openedFile } from "../../src/playground/files.ts";
import { sessionText } from "../../src/playground/play_state.ts";
import { TRAIT_NAMES, wireName } from "../../src/state/traits.ts";
import { EMPTY, GRAPH, STOCK } from "./stock.ts";

const TAKES =
  "The playground takes a page that roofwidget saved (.html) or a session (.json). Profiles need Python: roofwidget.read reads them.";

const file = (text: string, name = "x.html", size = text.length) => ({ name, size, text: async () => text });
const open = (text: string, name?: string, size?: number) => openedFile(file(text, name, size), STOCK);

async function packed(value: unknown): Promise<string> {
  const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
const base64 = (view: DataView) =>
  btoa(Array.from(new Uint8Array(view.buffer), (byte) => String.fromCharCode(byte)).join(""));

/** The state of a page with one kernel, as roofwidget/export/saved_state.py writes it. */
function saved(more: object = {}) {
  const floats = (value: number) => base64(new DataView(Float64Array.of(value).buffer));
  const names = base64(new DataView(new TextEncoder().encode('["<img src=x>"]').buffer));
  const kernels = {
    ...{
      n: 1,
      name: { codes: null },
      short: null,
      precision: null,
      category: null,
      time: null,
      count: null,
    },
    ...{
      self_time: null,
      flops: { "": null },
      bytes: { main: null },
      extra: [],
      origin: [],
      program: null,
      chip: null,
    },
    ...{ warnings: [], source: "" },
  };
  const buffers = [
    [["kernels", "name", "values"], names],
    [["kernels", "flops", ""], floats(4e12)],
    [["kernels", "bytes", "main"], floats(1e9)],
  ];
  return { state: { ...EMPTY, kernels, title: "A page", ...more }, buffers };
}
const page = async (value: unknown, before = "") =>
  `<!doctype html><body>${before}<section data-roofwidget><script type="text/plain">${await packed(value)}</script></section>`;

describe("a page that roofwidget saved", () => {
  it("shows the state of its first widget", async () => {
    const two = (await page(saved())) + (await page(saved({ title: "The second" })));
    const found = await open(two);
    expect(found).toMatchObject({ values: { title: "A page", kernels: { n: 1 } }, notTaken: [] });
  });
  it("is found by the attribute of an element, and not by texts that name it", async () => {
    const texts =
      'data-roofwidget <b title="data-roofwidget"></b> &lt;section data-roofwidget><script>QQ==</script> <p data-roofwidget-x>';
    expect(await open(await page(saved(), texts))).toMatchObject({ values: { title: "A page" } });
  });
  it("gives the widget no value that is no trait", async () => {
    const found = await open(await page(saved({ catalogue: "H4s", draw_figure: "x", step_link: {} })));
    if (typeof found === "string") throw new Error(found);
    expect(Object.keys(found.values).sort()).toEqual(TRAIT_NAMES.map(wireName).sort());
  });
  it.each<[string, (all: ReturnType<typeof saved>) => unknown]>([
    ["no state", () => ({ buffers: [] })],
    ["a list", () => []],
    [
      "buffers that leave the state",
      (all) => ({ ...all, buffers: [...all.buffers, [["__proto__", "polluted"], "AAAA"]] }),
    ],
    ["chips of another form", (all) => ({ ...all, state: { ...all.state, chips: 5 } })],
    [
      "a graph in a circle",
      (all) => ({ ...all, state: { ...all.state, graphs: [["", { ...GRAPH, ops: [...GRAPH.ops].reverse() }]] } }),
    ],
    [
      "more rows than memory",
      (all) => ({ ...all, state: { ...all.state, kernels: { ...all.state.kernels, n: 2 ** 53 } } }),
    ],
  ])("is refused with %s", async (_, damage) => {
    expect(await open(await page(damage(saved())))).toMatch(/^x\.html is damaged: .+\.$/);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
  it("is refused if its state is cut", async () => {
    const whole = await page(saved());
    expect(await open(whole.replace(/.{40}<\/script>/, "</script>"))).toMatch(/^x\.html is damaged: /);
  });
  it("without a widget says so, and what is taken", async () => {
    expect(await open("<!doctype html><h1>News</h1>", "news.html")).toBe(
      `news.html has no widget of roofwidget. ${TAKES}`,
    );
  });
  it("is searched in a time that grows with its length alone", async () => {
    const hostile = `<!doctype html>${"<a data-roofwidget ".repeat(200_000)}`;
    const start = performance.now();
    expect(await open(hostile)).toContain("has no widget");
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

describe("a session", () => {
  it("is opened", async () => {
    const text = sessionText({ ...EMPTY, title: "Mine" }, STOCK);
    expect(await open(text, "mine.json")).toMatchObject({ values: { title: "Mine" }, notTaken: [] });
  });
  it.each([
    ['{"format": "roofwidget session", "version": 1', /^s\.json is damaged: /],
    ['{"format": "roofwidget session", "version": 7}', /^s\.json is a session of a newer version\.$/],
    [
      '{"format": "roofwidget session", "version": 1, "kernels": {"names": 5}}',
      /^s\.json is damaged: 'names' has another form\.$/,
    ],
    ['{"traceEvents": []}', new RegExp(`^${TAKES.replaceAll(/[.()]/g, "\\$&")}$`)],
  ])("that is none is refused: %s", async (text, sentence) => {
    expect(await open(text, "s.json")).toMatch(sentence);
  });
});

it.each(["name,flops\na,1", "", "%PDF-1.7", "\u0000\u0001"])(
  "any other file is refused with what is taken: %j",
  async (text) => {
    expect(await open(text, "profile.csv")).toBe(TAKES);
  },
);
it("a file above the largest size is not read", async () => {
  const unread = { name: "big.html", size: MAX_FILE_BYTES + 1, text: () => Promise.reject(new Error("read")) };
  expect(await openedFile(unread, STOCK)).toBe("big.html is larger than 40 MB. Open it in Python.");
});
