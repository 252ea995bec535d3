// The starter: one import of the loader per page, for all widgets of one language and version.

import { beforeEach, describe, expect, it, vi } from "vitest";
import { starterOf } from "../src/starter.ts";
import { eachWithImports, several } from "./helpers.ts";

const { made, revoked } = eachWithImports();

/** A loader whose widgets have numbers, and which logs its imports. */
const loader = (name: string) => `
  globalThis.loaded.push("import ${name}");
  let last = 0;
  export default () => ({ name: "${name}", number: ++last });`;
const done: string[] = [];

beforeEach(() => {
  done.length = 0;
  delete (globalThis as unknown as Record<symbol, unknown>)[Symbol.for("roofwidget loaders")];
  vi.stubGlobal("loaded", done);
});

/** What a widget gets: each widget has a script of its own. */
const start = (text: string) => starterOf(text)();

describe("the loader", () => {
  it("is imported once for ten widgets, each of which is one of its own", async () => {
    const widgets = await Promise.all(several(10, () => start(loader("one"))));
    expect(widgets).toEqual(several(10, (at) => ({ name: "one", number: at + 1 })));
    expect(made).toEqual([loader("one")]);
    expect(revoked).toHaveLength(1);
    expect(done).toEqual(["import one"]);
  });
  it("of another language or version is imported beside it", async () => {
    const widgets = [await start(loader("one")), await start(loader("two")), await start(loader("one"))];
    expect(widgets).toMatchObject([
      { name: "one", number: 1 },
      { name: "two", number: 1 },
      { name: "one", number: 2 },
    ]);
    expect(done).toEqual(["import one", "import two"]);
  });
  it("that could not be imported is imported again for the next widget", async () => {
    const text = `if (globalThis.loaded.push("import") < 2) throw new Error("broken"); ${loader("one")}`;
    await expect(start(text)).rejects.toThrow("broken");
    await expect(start(text)).resolves.toEqual({ name: "one", number: 1 });
    expect(done).toEqual(["import", "import", "import one"]);
    expect(revoked).toHaveLength(2);
  });
});
