// Saves a picture of the chart as a file.

import { fileName, saveFile } from "../ui/download.ts";
import { toolWords } from "../words/words.ts";
import type { Picture } from "./picture.tsx";

/** Device pixels of a PNG for each px of the picture. */
const PNG_SCALE = 2;

/** Saves a picture. If the browser cannot make a PNG, saves no file and returns false. */
export async function savePicture(
  document: Document,
  picture: Picture,
  kind: "png" | "svg",
  name: string,
): Promise<boolean> {
  const content =
    kind === "png"
      ? await pngOf(picture, document).catch(() => undefined)
      : new Blob([picture.svg], { type: "image/svg+xml;charset=utf-8" });
  if (!content) return false;
  saveFile(document, fileName(name, kind, toolWords.pictureName), content);
  return true;
}

/** Renders the picture as a PNG. */
async function pngOf({ svg, width, height }: Picture, document: Document): Promise<Blob> {
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
