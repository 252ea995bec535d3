// Reads models, one JSON text a line: the traits on the wire, a buffer as {"buffer": base64}. Writes what the page shows
// of each, also one JSON text a line.

import "../english.ts";
import { createInterface } from "node:readline";
import { shownOf } from "./shown.ts";

function revived(_, value) {
  if (typeof value?.buffer !== "string") return value;
  const bytes = Buffer.from(value.buffer, "base64");
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(shownOf(JSON.parse(line, revived))));
}
