// Builds elements from the nodes of a text. Only these elements are built, so a text never becomes markup.

import { createElement, type VNode } from "preact";
import { withoutControls } from "../../text/controls.ts";
import type { TextNode } from "../../wire/types.ts";

const ELEMENTS: ReadonlySet<unknown> = new Set([
  ...["p", "h3", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote", "br"],
]);

const built = (node: TextNode): VNode | string => {
  if (typeof node === "string") return withoutControls(node);
  const [name, ...nodes] = node;
  return createElement(ELEMENTS.has(name) ? (name as string) : "span", null, ...nodes.map(built));
};

export const TextNodes = ({ nodes }: { readonly nodes: readonly TextNode[] }) => <>{nodes.map(built)}</>;

const INLINE: ReadonlySet<unknown> = new Set(["strong", "em", "code"]);

const textOf = (node: TextNode): string => {
  if (typeof node === "string") return withoutControls(node);
  const text = node.slice(1).map(textOf).join("");
  return INLINE.has(node[0]) ? text : `${text}\n`;
};

/** Returns the nodes as plain text, with a line for each paragraph and list item. */
export const plainText = (nodes: readonly TextNode[]): string =>
  nodes.map(textOf).join("").replace(/\n+/g, "\n").trim();
