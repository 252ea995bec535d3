// Builds elements from the nodes of a text. Only these elements are built, so a text never becomes markup.

import { createElement, type VNode } from "preact";

/** A text, or an element: its name, followed by its nodes. */
type TextNode = string | TextElement;
interface TextElement extends ReadonlyArray<TextNode> {}

const ELEMENTS: ReadonlySet<unknown> = new Set([
  ...["p", "h3", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote", "br"],
]);

const built = (node: TextNode): VNode | string => {
  if (typeof node === "string") return node;
  const [name, ...nodes] = node;
  return createElement(ELEMENTS.has(name) ? (name as string) : "span", null, ...nodes.map(built));
};

export const TextNodes = ({ nodes }: { readonly nodes: readonly TextNode[] }) => <>{nodes.map(built)}</>;

/** Returns the nodes as plain text. */
export const plainText = (nodes: readonly TextNode[]): string =>
  nodes
    .map((node) => (typeof node === "string" ? node : plainText(node.slice(1))))
    .join("")
    .trim();
