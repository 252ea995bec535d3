// The room under the chart that the sentence keeps: what stands below it must not jump.

import { expect, it } from "vitest";
import { roomFor } from "../../src/panels/sentence.tsx";

// At 13 px a "n" takes 8.19 px at most and a space 5.2.
const words = (count: number) => Array.from({ length: count }, () => "nnnnnnnnnn").join(" ");

it("is two lines, or as many as the longest sentence has needed", () => {
  expect(roomFor([words(3)], 408)).toEqual({ width: 408, lines: 2 });
  expect(roomFor([words(13)], 408)).toEqual({ width: 408, lines: 4 });
  expect(roomFor([words(5), words(1)], 408)).toEqual({ width: 408, lines: 3 });
});

it("is not given back to a shorter sentence, only at another width", () => {
  const room = roomFor([words(13)], 408);
  expect(roomFor([words(3)], 408, room)).toEqual({ width: 408, lines: 4 });
  expect(roomFor([words(20)], 408, room)).toEqual({ width: 408, lines: 5 });
  expect(roomFor([words(3)], 409, room)).toEqual({ width: 409, lines: 2 });
});
