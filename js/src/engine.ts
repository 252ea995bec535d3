// The entry for a JavaScript engine that Python embeds: it draws the picture of a saved state. The engine has no DOM and
// no timers.

import { type FigureOptions, figureOf } from "./chart/figure/figure.tsx";
import { pictureOf } from "./chart/picture.tsx";
import { chartHeight } from "./chart/scales.ts";
import { DARK, LIGHT } from "./chart/theme.ts";
import { type SavedState, savedModel } from "./state/saved_model.ts";
import { createStore } from "./state/store.ts";

interface Order extends SavedState {
  readonly width: number;
  /** The height of the whole picture, px. If missing, the chart has the height that it has in a notebook. */
  readonly height: number | null;
  readonly dark: boolean;
  /** What the picture shows; "" for its title and its headline. */
  readonly words: string;
  /** For a figure, whose style says its size. Null for the picture that the widget shows. */
  readonly figure: FigureOptions | null;
}

/** UTF-8 texts are decoded as in a browser. */
class Decoder {
  decode({ buffer, byteOffset, byteLength }: DataView): string {
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    const parts: string[] = [];
    for (let at = 0; at < bytes.length; at += PART) parts.push(String.fromCharCode(...bytes.subarray(at, at + PART)));
    return decodeURIComponent(escape(parts.join("")));
  }
}
/** How many characters are made in one call: each of them is an argument. */
const PART = 4096;

// A picture is of one moment: no timer that the store starts would ever end before it.
Object.assign(globalThis, { TextDecoder: Decoder, setTimeout: () => 0, clearTimeout() {} });

/** Never aborted. */
const SIGNAL = { aborted: false, addEventListener() {} } as unknown as AbortSignal;

/** Draws a picture. The order, and the picture that is returned, are JSON texts. */
function draw(order: string): string {
  const { width, height, dark, figure, words, ...saved } = JSON.parse(order) as Order;
  const store = createStore(savedModel(saved), SIGNAL);
  const theme = dark ? DARK : LIGHT;
  if (figure) return JSON.stringify(figureOf(store, figure, theme));
  const heightOf = (around: number) => (height === null ? chartHeight(width) : height - around);
  return JSON.stringify(pictureOf(store, width, heightOf, theme, undefined, words));
}

Object.assign(globalThis, { draw });
