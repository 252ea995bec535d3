// Text in saved pictures: no character that XML forbids.

import { describe, expect, it } from "vitest";
import { withoutForbidden } from "../../src/text/xml.ts";

describe("text for XML", () => {
  it("has no character that XML 1.0 forbids", () => {
    expect(withoutForbidden("a\u0000b\u0008c\u000bd\u001fe\ufffef\uffffg")).toBe(
      "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg",
    );
  });
  it("has no half of a character", () => {
    expect(withoutForbidden("a\ud800b \udc00 \ud83d\ude80 \ude80\ud83d")).toBe(
      "a\ufffdb \ufffd \ud83d\ude80 \ufffd\ufffd",
    );
  });
  it("keeps tabs, line breaks, umlauts and emoji", () => {
    const text = "a\tb\nc\rd ä × 🚀 \ufffd \u007f \u0085";
    expect(withoutForbidden(text)).toBe(text);
  });
});
