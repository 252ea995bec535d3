// Values as they are said: a screen reader would spell "TB/s" out.

import { numerals } from "../words/words.ts";
import { formatQuantity } from "./numbers.ts";

export function spokenRate(value: number, unit: "FLOP/s" | "B/s"): string {
  const [number = "", written = ""] = formatQuantity(value, unit, 4).split(" ");
  return numerals.spoken(number, written.slice(0, -unit.length), unit);
}
