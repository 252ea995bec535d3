// Texts become elements of a short list, and nothing else.

import type { VNode } from "preact";
import { describe, expect, it } from "vitest";
import { plainText, TextNodes } from "../../../src/panels/story/text_nodes.tsx";
import type { TextNode } from "../../../src/wire/types.ts";

const HOSTILE = "<img src=x onerror=alert(1)></script>";

type Built = string | VNode<Record<string, unknown>>;

/** Returns the elements that are built, as nodes. */
function built(nodes: readonly TextNode[]): unknown[] {
  const back = (one: Built): unknown => {
    if (typeof one === "string") return one;
    const { children, ...props } = one.props;
    expect(props).toEqual({});
    const all = children === undefined ? [] : [children].flat();
    return [one.type, ...(all as Built[]).map(back)];
  };
  const root = TextNodes({ nodes }) as unknown as VNode<{ children: Built[] }>;
  return root.props.children.map(back);
}

describe("text nodes", () => {
  it("become the elements of the list", () => {
    const nodes: TextNode[] = [
      ["p", "Twice the ", ["strong", "bandwidth"], ["br"]],
      ["ul", ["li", ["code", "a"]]],
    ];
    expect(built(nodes)).toEqual(nodes);
  });
  it.each(["script", "img", "a", "iframe", "style", "svg", "input", "constructor", "__proto__", ""])(
    "are never a '%s'",
    (name) => {
      expect(built([[name, HOSTILE]])).toEqual([["span", HOSTILE]]);
    },
  );
  it("show characters that cannot be seen or that turn the text as the replacement character", () => {
    const nodes: TextNode[] = [["p", "a\u202egnp\0\tb"]];
    expect(built(nodes)).toEqual([["p", "a\ufffdgnp\ufffd\tb"]]);
    expect(plainText(nodes)).toBe("a\ufffdgnp\ufffd\tb");
  });
  it("keep markup in a text as text", () => {
    expect(built([HOSTILE, ["p", HOSTILE]])).toEqual([HOSTILE, ["p", HOSTILE]]);
  });
  it("are plain text without their elements' names", () => {
    expect(plainText([["p", "Twice the ", ["strong", "bandwidth"], " and more "]])).toBe(
      "Twice the bandwidth and more",
    );
  });
  it("are plain text with a line for each paragraph, item and line break", () => {
    const items = ["ul", ["li", ["p", "a"]], ["li", ["p", "b"]]] as const;
    expect(plainText([["p", "One.", ["br"], "Two."], ["p", "Three."], items])).toBe("One.\nTwo.\nThree.\na\nb");
  });
});
