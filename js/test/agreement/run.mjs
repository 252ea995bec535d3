// Reads models, one JSON text a line: the traits on the wire, a buffer as {"buffer": base64}. Writes what the page shows
// of each, also one JSON text a line, in which NaN and infinity are texts.

import "../english.ts";
import { createInterface } from "node:readline";
import { shownOf } from "./shown.ts";

function revived(_, value) {
  if (typeof value?.buffer !== "string") return value;
  const bytes = Buffer.from(value.buffer, "base64");
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** JSON has no NaN and no infinity. */
function named(_, value) {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(shownOf(JSON.parse(line, revived)), named));
}
