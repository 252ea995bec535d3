// Colours that the user forces on every page: the theme follows them and stays legible.

import { describe, expect, it } from "vitest";
import { themeOf } from "../../src/chart/host.ts";
import { DARK, forcedTheme, LIGHT } from "../../src/chart/theme.ts";
import { placeIn } from "../../src/ui/pointer_position.ts";
import { contrast } from "../colours.ts";

describe("forced colours", () => {
  it.each([
    ["black on white", "#ffffff", "#000000", LIGHT],
    ["yellow on black", "#000000", "#ffff00", DARK],
    ["white on navy", "#000080", "#ffffff", DARK],
    ["white on mid green", "#2d7d32", "#ffffff", DARK],
  ])("keep hues that can be read: %s", (_, background, text, base) => {
    const theme = forcedTheme(background, text);
    expect([theme.background, theme.text, theme.muted, theme.line]).toEqual([background, text, text, text]);
    expect(theme.dark).toBe(base.dark);
    for (const hue of [...theme.chips, ...theme.categories, theme.alert]) {
      expect(contrast(hue, background)).toBeGreaterThanOrEqual(4.5);
    }
  });
  it("leave a hue as it is where it can be read", () => {
    expect(forcedTheme("#ffffff", "#000000").chips[0]).toBe("#0067a3");
  });
  it("stay the same theme until a colour changes", () => {
    let canvas = "rgb(0, 0, 128)";
    const colourOf = ({ style }: { style: { color: string } }) =>
      style.color === "Canvas" ? canvas : "rgb(255, 255, 0)";
    const ownerDocument = {
      body: { dataset: {}, append: () => {} },
      createElement: () => ({ style: {}, remove: () => {} }),
      defaultView: {
        matchMedia: (query: string) => ({ matches: query.includes("forced-colors") }),
        getComputedStyle: (element: { style: { color: string } }) => ({ color: colourOf(element) }),
      },
    };
    const element = { ownerDocument } as unknown as HTMLElement;
    const first = themeOf(element);
    expect(themeOf(element, first)).toBe(first);
    canvas = "rgb(0, 0, 0)";
    expect(themeOf(element, first)).toEqual(forcedTheme("#000000", "#ffff00"));
    expect(themeOf(element, LIGHT)).not.toBe(LIGHT);
  });
});

/** A document whose root and body have data and classes. */
const documentOf = (root: Record<string, string>, body: Record<string, string>) =>
  Object.fromEntries(
    Object.entries({ documentElement: root, body }).map(([name, { classes = "", ...dataset }]) => [
      name,
      { dataset, classList: classes.split(" ") },
    ]),
  );

it.each([
  [{ classes: "dark" }, {}, DARK],
  [{ theme: "light" }, {}, LIGHT],
  [{}, { classes: "nav quarto-dark" }, DARK],
  [{ classes: "dark" }, { jpThemeLight: "true" }, LIGHT],
  [{}, { jpThemeLight: "false" }, DARK],
  [{ classes: "darkest" }, {}, LIGHT],
] as const)("the theme is the one that the page names: %o %o", (root, body, theme) => {
  const ownerDocument = { ...documentOf(root, body), defaultView: { matchMedia: () => ({ matches: false }) } };
  expect(themeOf({ ownerDocument } as unknown as HTMLElement)).toBe(theme);
});

it("more contrast gives points shapes and patterns, in the colours of the page", () => {
  const defaultView = { matchMedia: (query: string) => ({ matches: query.includes("prefers-contrast") }) };
  const element = { ownerDocument: { ...documentOf({}, {}), defaultView } } as unknown as HTMLElement;
  const first = themeOf(element);
  expect(first).toEqual({ ...LIGHT, isPatterned: true });
  expect(themeOf(element, first)).toBe(first);
});

it("a place on an element that its host has scaled is in the element's own pixels", () => {
  const element = { getBoundingClientRect: () => ({ left: 30, top: 20, width: 160 }) } as Element;
  expect(placeIn(element, 100, { clientX: 110, clientY: 36 })).toEqual([50, 10]);
});
