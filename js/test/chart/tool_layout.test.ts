// Which tools have a place in the toolbar, and which have a word.

import { describe, expect, it } from "vitest";
import { BUTTON_PX, fitTools } from "../../src/chart/tool_layout.ts";

const tools = [
  { name: "undo", word: "Undo", rank: 0 },
  { name: "redo", rank: 5 },
  { name: "save", word: "Save", rank: 1 },
  { name: "fit", word: "Fit", rank: 2 },
  { name: "rulers", rank: 6 },
  { name: "help", rank: 3 },
];

function fitted(room: number) {
  const { shown, rest } = fitTools(tools, room);
  return [shown.map(({ name, hasWord }) => (hasWord ? name.toUpperCase() : name)), rest.map(({ name }) => name)];
}

describe("the tools of a toolbar", () => {
  it("all have a place, and the most important a word, where there is room", () => {
    expect(fitted(1000)).toEqual([["UNDO", "redo", "SAVE", "FIT", "rulers", "help"], []]);
  });
  it("have a place before the words if they are as important", () => {
    const help = { name: "help", rank: 1.5 };
    const names = (room: number) =>
      fitTools([...tools.slice(0, -1), help], room).shown.map(({ name, hasWord }) =>
        hasWord ? name.toUpperCase() : name,
      );
    for (let room = 5 * BUTTON_PX; room < 600; room++) expect(names(room)).toContain("help");
    expect(names(206)).toEqual(["UNDO", "SAVE", "fit", "help"]);
  });
  it("keep their words where others go to the menu", () => {
    expect(fitted(240)).toEqual([
      ["UNDO", "SAVE", "FIT", "help"],
      ["redo", "rulers"],
    ]);
  });
  it("lose their words one after another in a narrow bar, the least important first", () => {
    expect(fitted(216)[0]).toEqual(["UNDO", "SAVE", "FIT"]);
    expect(fitted(6 * BUTTON_PX + 40)[0]).toEqual(["UNDO", "SAVE", "fit"]);
    expect(fitted(4 * BUTTON_PX)).toEqual([
      ["undo", "save", "fit"],
      ["redo", "rulers", "help"],
    ]);
  });
  it("never take more than the room, with the button of the menu", () => {
    for (let room = 2 * BUTTON_PX; room < 600; room++) {
      const { shown, rest } = fitTools(tools, room);
      // The words of these tools are wider than 15 px.
      const least = shown.reduce((sum, { hasWord }) => sum + BUTTON_PX + (hasWord ? 15 : 0), 0);
      expect(least + (rest.length > 0 ? BUTTON_PX : 0)).toBeLessThanOrEqual(room);
      expect(shown[0]?.name).toBe("undo");
    }
  });
});
