// Renders the chart's layers as SVG text. The layers are the same as on the screen, but no DOM is needed.

import type { ComponentChildren, ComponentClass, ComponentType, FunctionComponent, VNode } from "preact";
import { px } from "./paths.ts";

type Props = Readonly<Record<string, unknown>> & { readonly children?: ComponentChildren };

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string) => text.replace(/[&<>"]/g, (letter) => ENTITIES[letter] as string);

/** The colour of elements that are for the screen alone: for its pointer or its painter. */
export const ON_SCREEN = "transparent";

/** Attributes that contain positions as text. */
const POSITIONS = ["d", "transform", "viewBox"];

/** Rounds all numbers to 0.01 px. More digits would make the text longer, and could differ between engines. */
const rounded = (text: string) => text.replace(/-?\d+\.\d{3,}(?:e-?\d+)?/g, (number) => String(px(Number(number))));

/**
 * Returns the SVG text of a tree. The components must not use hooks. Classes and `aria-` attributes are left out,
 * because a picture has no style sheet and no widget around it.
 */
export function svgText(node: ComponentChildren): string {
  if (Array.isArray(node)) return node.map(svgText).join("");
  if (node === null || node === undefined || typeof node === "boolean") return "";
  if (typeof node !== "object") return escaped(String(node));
  const { type, props } = node as VNode<Props>;
  if (typeof type === "function") return svgText(drawnBy(type, props));
  if (props["fill"] === ON_SCREEN) return "";
  const content = svgText(props.children);
  return `<${type}${Object.entries(props).map(attribute).join("")}${content ? `>${content}</${type}` : "/"}>`;
}

/** Calls a component. Arrow functions have no prototype. */
const drawnBy = (type: ComponentType<Props>, props: Props): ComponentChildren =>
  type.prototype?.render
    ? new (type as ComponentClass<Props>)(props).render(props)
    : (type as FunctionComponent<Props>)(props);

function attribute([name, value]: readonly [string, unknown]): string {
  if (value === undefined || value === null || value === false || /^(?:class|children|aria-.*)$/.test(name)) return "";
  const text = typeof value === "number" ? px(value) : value;
  return ` ${name}="${escaped(POSITIONS.includes(name) ? rounded(String(text)) : String(text))}"`;
}
