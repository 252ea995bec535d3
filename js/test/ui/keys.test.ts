// Undo and redo by keys, wherever the focus is in the widget.

import { describe, expect, it } from "vitest";
import { undoByKey } from "../../src/ui/keys.ts";

/** What happens on a key: in a text input (`isTyped`), or elsewhere. */
function pressed(key: string, held: Partial<KeyboardEvent> = {}, isTyped = false): string[] {
  const done: string[] = [];
  const event = {
    ...{ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...held },
    target: { matches: () => isTyped, closest: () => ({ querySelectorAll: () => [] }) } as unknown as Element,
    preventDefault: () => done.push("kept from the browser"),
    stopPropagation: () => done.push("kept from the host"),
  } as unknown as KeyboardEvent;
  undoByKey(event, { undo: () => done.push("undo"), redo: () => done.push("redo") });
  return done;
}

describe("the keys that undo", () => {
  it.each([
    ["Ctrl+Z", "z", { ctrlKey: true }, "undo"],
    ["Command+Z", "z", { metaKey: true }, "undo"],
    ["Ctrl+Shift+Z", "Z", { ctrlKey: true, shiftKey: true }, "redo"],
    ["Ctrl+Y", "y", { ctrlKey: true }, "redo"],
    ["Ctrl+Z under capitals lock", "Z", { ctrlKey: true }, "undo"],
  ])("are those of every editor: %s", (_, key, held, step) => {
    expect(pressed(key, held)).toEqual([step, "kept from the browser", "kept from the host"]);
  });
  it.each([
    ["Z alone", "z", {}],
    ["Ctrl+Alt+Z", "z", { ctrlKey: true, altKey: true }],
    ["Ctrl+Shift+Y", "Y", { ctrlKey: true, shiftKey: true }],
    ["Ctrl+A", "a", { ctrlKey: true }],
  ])("are no others: %s", (_, key, held) => {
    expect(pressed(key, held)).toEqual([]);
  });
  it("stay those of a box that is typed into", () => {
    expect(pressed("z", { ctrlKey: true }, true)).toEqual([]);
  });
});
