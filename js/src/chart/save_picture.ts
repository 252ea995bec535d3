// Saves a picture of the chart as a file, or copies it.

import { copyText } from "../ui/copy.ts";
import { saveFile } from "../ui/download.ts";

type Kind = "png" | "svg";

/** Device pixels of a PNG for each px of the picture. */
const PNG_SCALE = 2;

const svgFile = (svg: string) => new Blob([svg], { type: "image/svg+xml;charset=utf-8" });

/**
 * Saves a picture. If the browser cannot make a PNG, saves an SVG. Returns the kind of the file. `nameOf` returns the
 * name of a file of a kind.
 */
export async function saveFigure(
  document: Document,
  svg: string,
  kind: Kind,
  nameOf: (kind: Kind) => string,
): Promise<Kind> {
  const png = kind === "png" ? await pngOf(svg, document).catch(() => undefined) : undefined;
  const made = png ? "png" : "svg";
  saveFile(document, nameOf(made), png ?? svgFile(svg));
  return made;
}

/** Copies a picture: a PNG as an image, an SVG as text. Returns whether the copy succeeded. */
export async function copyFigure(document: Document, svg: string, kind: Kind): Promise<boolean> {
  if (kind === "svg") return copyText(document, svg);
  try {
    // Some browsers let a page copy only at once after a click: they take the promise of an image.
    const item = new ClipboardItem({ "image/png": pngOf(svg, document) });
    await document.defaultView?.navigator.clipboard.write([item]);
    return true;
  } catch {
    return false;
  }
}

/** Renders the picture as a PNG. */
async function pngOf(svg: string, document: Document): Promise<Blob> {
  const image = document.createElement("img");
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * PNG_SCALE;
  canvas.height = image.naturalHeight * PNG_SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) =>
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no PNG"))), "image/png"),
  );
}
