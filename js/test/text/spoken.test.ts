// What a slider says of its value.

import { expect, it } from "vitest";
import { spokenRate } from "../../src/text/numbers.ts";
import { catalogue } from "../../src/words/de.ts";

it("says a rate in words, its figures as they are shown", () => {
  expect(spokenRate(1.318e12, "B/s")).toBe("1.318 terabytes per second");
  expect(spokenRate(2.5e15, "FLOP/s")).toBe("2.5 petaFLOPs per second");
  expect(spokenRate(7, "B/s")).toBe("7 bytes per second");
});

it("says it in German with that language's words", () => {
  const { numerals } = catalogue;
  expect(numerals.spoken("3,35", "T", "B/s")).toBe("3,35 Terabyte pro Sekunde");
  expect(numerals.spoken("7", "", "B/s")).toBe("7 Byte pro Sekunde");
  expect(numerals.spoken("2,5", "P", "FLOP/s")).toBe("2,5 Peta-FLOP pro Sekunde");
});
