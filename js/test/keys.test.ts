// The documented keys are those that the page acts on: the tables of the key handlers against docs/using.md.

// @ts-expect-error the project has no types of Node
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { KERNEL_DRAG_KEYS, KERNEL_KEYS } from "../src/chart/gestures/kernel_drag.ts";
import { NAVIGATION_KEYS } from "../src/chart/gestures/navigate.ts";
import { CHART_KEYS, EXPLAIN_KEYS } from "../src/chart/gestures/pointing.ts";
import { GRAPH_KEYS } from "../src/panels/fusion/fusion.tsx";
import { TABLE_KEYS } from "../src/panels/table/grid.tsx";
import { keyShortcuts, LIST_KEYS, UNDO_KEYS, VIEW_KEYS } from "../src/ui/keys.ts";
import { SLIDER_KEYS } from "../src/ui/slider.tsx";

const ARROWS = ["Left", "Right", "Up", "Down"];
const PLACES: Readonly<Record<string, readonly (readonly string[] | Readonly<Record<string, unknown>>)[]>> = {
  "anywhere except in a text box": [UNDO_KEYS, VIEW_KEYS],
  chart: [CHART_KEYS, EXPLAIN_KEYS, KERNEL_KEYS, NAVIGATION_KEYS],
  "a kernel that is being moved": [KERNEL_DRAG_KEYS],
  slider: [SLIDER_KEYS],
  operations: [GRAPH_KEYS],
  table: [LIST_KEYS, TABLE_KEYS],
};

const page: string = readFileSync(new URL("../../docs/using.md", import.meta.url), "utf-8");
const documented = new Map<string, Set<string>>();
let place = "";
for (const [, where = "", keys = ""] of page.matchAll(/^\|([^|]*)\|([^|]*)\|[^|]*\|$/gm)) {
  place = where.trim() || place;
  const known = documented.get(place) ?? documented.set(place, new Set()).get(place);
  for (const key of keys.trim().split(/[,;] | or /))
    for (const name of key === "arrows" ? ARROWS : [key]) known?.add(name);
}

/** A key as the documentation calls it; a character above another one on its key is called by the other. */
const CALLED: Readonly<Record<string, string>> = {
  Plus: "+",
  "=": "+",
  _: "-",
  PageUp: "Page Up",
  PageDown: "Page Down",
};
const called = (key: string) => CALLED[key] ?? key.replace("Arrow", "").replace("Control+", "Ctrl+");

describe("the keys in docs/using.md", () => {
  it.each(Object.entries(PLACES))("of %s are those that it acts on, and no others", (where, tables) => {
    const ours = keyShortcuts(...tables)
      .split(" ")
      .map(called);
    expect([...(documented.get(where) ?? [])].sort()).toEqual([...new Set(ours)].sort());
  });
});
