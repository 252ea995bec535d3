// What a click on the bar of categories chooses.

import { describe, expect, it } from "vitest";
import { chosenAfter } from "../../src/panels/time_bar/time_bar.tsx";

describe("a click on a category", () => {
  it("shows it alone, and a second one all again", () => {
    expect(chosenAfter(null, ["dot"], false)).toEqual(["dot"]);
    expect(chosenAfter(["copy", "dot"], ["dot"], false)).toEqual(["dot"]);
    expect(chosenAfter(["dot"], ["dot"], false)).toBeNull();
  });
  it("that stands for several shows these alone, and a second one all again", () => {
    const copies = ["copy-start", "copy-done"];
    expect(chosenAfter(["dot"], copies, false)).toEqual(copies);
    expect(chosenAfter(copies, copies, false)).toBeNull();
    expect(chosenAfter(["dot"], copies, true)).toEqual(["dot", ...copies]);
    expect(chosenAfter(["copy-done", "dot"], copies, true)).toEqual(["dot"]);
  });
  it("with a modifier joins the others or leaves them, the last to leave lets all pass", () => {
    expect(chosenAfter(["dot"], [""], true)).toEqual(["dot", ""]);
    expect(chosenAfter(["dot", ""], ["dot"], true)).toEqual([""]);
    expect(chosenAfter([""], [""], true)).toBeNull();
    expect(chosenAfter(null, ["dot"], true)).toEqual(["dot"]);
  });
});
