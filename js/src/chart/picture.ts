// Saves the chart as a picture. The picture shows the layers as on the screen. The title is above the layers, the
// legend and the sentence are below.

import { withoutForbidden } from "../text/xml.ts";
import { fileName, saveFile } from "../ui/download.ts";
import { toolWords } from "../words/words.ts";
import { linesOf, textWidth } from "./labels/text_fitting.ts";

const SVG = "http://www.w3.org/2000/svg";
const [FONT_PX, LINE_PX, EDGE_PX] = [12, 18, 12];
/** Styles that a style sheet can set. They are copied to attributes, because a picture has no style sheet. */
const MARK_STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity"];
const TEXT_STYLES = ["font-family", "font-size", "font-weight", "font-variant-numeric"];
/** Device pixels of a PNG for each px of the screen. */
const PNG_SCALE = 2;

interface ChartPicture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/**
 * Saves a picture of the widget that contains `within`. If the browser cannot make a PNG, saves no file and returns
 * false.
 */
export async function savePicture(within: Element, kind: "png" | "svg", name: string): Promise<boolean> {
  const document = within.ownerDocument;
  const picture = pictureOf(within.closest(".roofwidget") as HTMLElement);
  const content =
    kind === "png"
      ? await pngOf(picture, document).catch(() => undefined)
      : new Blob([picture.svg], { type: "image/svg+xml;charset=utf-8" });
  if (!content) return false;
  saveFile(document, fileName(name, kind, toolWords.pictureName), content);
  return true;
}

/** Builds the picture of the widget in `root`. */
function pictureOf(root: HTMLElement): ChartPicture {
  const chart = root.querySelector(".roofwidget-chart") as HTMLElement;
  const [first] = chart.getElementsByTagName("svg");
  const [width = 0, height = 0] = [first?.width.baseVal.value, first?.height.baseVal.value];
  const style = styleOf(chart);
  const sheet = root.ownerDocument.createElementNS(SVG, "svg");
  const add = (name: string, attributes: Readonly<Record<string, string | number>>, text = "") => {
    const element = root.ownerDocument.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    element.textContent = text;
    sheet.append(element);
    return element;
  };
  const ground = add("rect", { width: "100%", height: "100%", fill: groundOf(chart) });
  const ink = style.color;
  let y = EDGE_PX;
  const title = root.querySelector("h2")?.textContent;
  if (title) {
    add("text", { x: EDGE_PX, y: y + FONT_PX, "font-weight": 600, "font-size": FONT_PX + 2, fill: ink }, title);
    y += LINE_PX + EDGE_PX / 2;
  }
  for (const layer of chart.children) {
    if (layer instanceof HTMLCanvasElement) add("image", { y, width, height, href: layer.toDataURL() });
    if (!(layer instanceof SVGSVGElement)) continue;
    const copy = layer.cloneNode(true) as SVGSVGElement;
    engrave(layer, copy);
    copy.setAttribute("y", String(y));
    sheet.append(copy);
  }
  y += height + LINE_PX / 2;
  let x = EDGE_PX;
  for (const entry of root.querySelectorAll(".roofwidget-legend > span")) {
    const [name, colour] = [entry.textContent ?? "", entry.querySelector("circle")?.getAttribute("fill")];
    const room = textWidth(name) + 2 * EDGE_PX;
    if (x > EDGE_PX && x + room > width) [x, y] = [EDGE_PX, y + LINE_PX];
    if (colour) add("circle", { cx: x + 4, cy: y + 8, r: 4, fill: colour });
    add("text", { x: x + EDGE_PX, y: y + FONT_PX, fill: ink }, name);
    x += room + EDGE_PX;
  }
  if (x > EDGE_PX) y += LINE_PX;
  // The text of the sentence, and the note after it. Each of the two begins on a new line.
  const parts = [...(root.querySelector(".roofwidget-sentence")?.childNodes ?? [])];
  for (const line of parts.flatMap((part) => linesOf(part.textContent ?? "", width - 2 * EDGE_PX))) {
    add("text", { x: EDGE_PX, y: y + FONT_PX, fill: ink }, line);
    y += LINE_PX;
  }
  const whole = Math.ceil(y + EDGE_PX / 2);
  ground.setAttribute("height", String(whole));
  const frame = { width, height: whole, viewBox: `0 0 ${width} ${whole}`, "font-family": style.fontFamily };
  for (const [key, value] of Object.entries({ ...frame, "font-size": FONT_PX })) sheet.setAttribute(key, String(value));
  return { svg: withoutForbidden(new XMLSerializer().serializeToString(sheet)), width, height: whole };
}

/** Renders the picture as a PNG. */
async function pngOf({ svg, width, height }: ChartPicture, document: Document): Promise<Blob> {
  const image = document.createElement("img");
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * PNG_SCALE;
  canvas.height = height * PNG_SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) =>
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no PNG"))), "image/png"),
  );
}

const styleOf = (element: Element) => (element.ownerDocument.defaultView as Window).getComputedStyle(element);

/** Returns the first opaque background colour, from the element up through its ancestors. */
function groundOf(element: Element): string {
  for (let at: Element | null = element; at; at = at.parentElement) {
    const { backgroundColor } = styleOf(at);
    if (!/^(?:transparent|rgba\(.*, 0\))$/.test(backgroundColor)) return backgroundColor;
  }
  return "#ffffff";
}

/** Copies the computed styles of an element and its children to attributes. */
function engrave(from: Element, to: Element): void {
  const style = styleOf(from);
  const isText = from.localName === "text";
  for (const name of isText ? [...MARK_STYLES, ...TEXT_STYLES] : MARK_STYLES) {
    const value = style.getPropertyValue(name);
    if (from.localName !== "g" && from.localName !== "svg") to.setAttribute(name, value);
  }
  to.removeAttribute("class");
  [...from.children].forEach((child, at) => void engrave(child, to.children[at] as Element));
}
