// The chart as a picture in a file: its layers as they are on the screen, its title above, legend and sentence below.

import { fileName, saveFile } from "../ui/download.ts";
import { toolWords } from "../words/words.ts";
import { linesOf, textWidth } from "./labels/text_fitting.ts";

const SVG = "http://www.w3.org/2000/svg";
const [SIZE, LINE, EDGE] = [12, 18, 12];
/** What the style sheet, or the host's, may say of a mark; a file has none. */
const LOOK = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity"];
const LETTERS = ["font-family", "font-size", "font-weight", "font-variant-numeric"];
/** Pixels of a PNG for each of the screen's. */
const SHARP = 2;

interface Picture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/** Save what is shown of the widget that an element is part of. */
export async function savePicture(within: Element, kind: "png" | "svg", name: string): Promise<void> {
  const document = within.ownerDocument;
  const picture = pictureOf(within.closest(".roofwidget") as HTMLElement);
  const content =
    kind === "png" ? await pngOf(picture, document) : new Blob([picture.svg], { type: "image/svg+xml;charset=utf-8" });
  saveFile(document, fileName(name, kind, toolWords.pictureName), content);
}

/** What the widget shows in `root`. */
function pictureOf(root: HTMLElement): Picture {
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
  let y = EDGE;
  const title = root.querySelector("h2")?.textContent;
  if (title) {
    add("text", { x: EDGE, y: y + SIZE, "font-weight": 600, "font-size": SIZE + 2, fill: ink }, title);
    y += LINE + EDGE / 2;
  }
  for (const layer of chart.children) {
    if (layer instanceof HTMLCanvasElement) add("image", { y, width, height, href: layer.toDataURL() });
    if (!(layer instanceof SVGSVGElement)) continue;
    const copy = layer.cloneNode(true) as SVGSVGElement;
    engrave(layer, copy);
    copy.setAttribute("y", String(y));
    sheet.append(copy);
  }
  y += height + LINE / 2;
  let x = EDGE;
  for (const entry of root.querySelectorAll(".roofwidget-legend > span")) {
    const [name, colour] = [entry.textContent ?? "", entry.querySelector("circle")?.getAttribute("fill")];
    const room = textWidth(name) + 2 * EDGE;
    if (x > EDGE && x + room > width) [x, y] = [EDGE, y + LINE];
    if (colour) add("circle", { cx: x + 4, cy: y + 8, r: 4, fill: colour });
    add("text", { x: x + EDGE, y: y + SIZE, fill: ink }, name);
    x += room + EDGE;
  }
  if (x > EDGE) y += LINE;
  for (const line of linesOf(root.querySelector(".roofwidget-sentence")?.textContent ?? "", width - 2 * EDGE)) {
    add("text", { x: EDGE, y: y + SIZE, fill: ink }, line);
    y += LINE;
  }
  const whole = Math.ceil(y + EDGE / 2);
  ground.setAttribute("height", String(whole));
  const frame = { width, height: whole, viewBox: `0 0 ${width} ${whole}`, "font-family": style.fontFamily };
  for (const [key, value] of Object.entries({ ...frame, "font-size": SIZE })) sheet.setAttribute(key, String(value));
  return { svg: new XMLSerializer().serializeToString(sheet), width, height: whole };
}

/** The same as pixels. */
async function pngOf({ svg, width, height }: Picture, document: Document): Promise<Blob> {
  const image = document.createElement("img");
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * SHARP;
  canvas.height = height * SHARP;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) =>
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no PNG"))), "image/png"),
  );
}

const styleOf = (element: Element) => (element.ownerDocument.defaultView as Window).getComputedStyle(element);

/** The first colour that lies behind it. */
function groundOf(element: Element): string {
  for (let at: Element | null = element; at; at = at.parentElement) {
    const { backgroundColor } = styleOf(at);
    if (!/^(?:transparent|rgba\(.*, 0\))$/.test(backgroundColor)) return backgroundColor;
  }
  return "#ffffff";
}

/** Give a copy what style sheets say of what it was made from. */
function engrave(from: Element, to: Element): void {
  const style = styleOf(from);
  const isText = from.localName === "text";
  for (const name of isText ? [...LOOK, ...LETTERS] : LOOK) {
    const value = style.getPropertyValue(name);
    if (from.localName !== "g" && from.localName !== "svg") to.setAttribute(name, value);
  }
  to.removeAttribute("class");
  [...from.children].forEach((child, at) => void engrave(child, to.children[at] as Element));
}
