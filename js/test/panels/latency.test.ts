// What is typed into the box of a latency.

import { expect, it } from "vitest";
import { parseSeconds } from "../../src/panels/hardware/rate.tsx";

const LIMITS = { low: 1e-15, high: 1e6, stops: [] };

it("is a time with a unit, or a number below a millisecond", () => {
  expect(["18 µs", "18 us", "2.5 ms", "1 s", "18e-6"].map((typed) => parseSeconds(typed, LIMITS))).toEqual([
    ...[18e-6, 18e-6, 2.5e-3, 1, 18e-6],
  ]);
});

it("needs a unit if it is a bare number that is read as long, and is a number", () => {
  expect(parseSeconds(" 18 ", LIMITS)).toBe("“18” has no unit; write for example “18 µs”");
  expect(parseSeconds("fast", LIMITS)).toContain("“fast”");
  expect(parseSeconds("0 s", LIMITS)).toContain("“0 s”");
});
