// Measures and shortens texts.

import { sizes } from "../../tokens.json";

/** The font size of all text on the chart, px. */
export const FONT_PX = sizes.chart;

const widthOf = (char: string) =>
  /[iljtfrI.,:;·'|() ]/.test(char) ? 0.4 : /[mwMW%@∞]/.test(char) ? 0.98 : /[A-Z]/.test(char) ? 0.73 : 0.63;
/** A lookup table for ASCII, because every name is measured in every frame of a drag. */
const ASCII_WIDTHS = Array.from({ length: 128 }, (_, code) => widthOf(String.fromCharCode(code)));

/**
 * Returns the width of a text in a user-interface font, px. For several lines, returns the width of the longest line.
 * The width is an upper estimate that needs no DOM.
 */
export function textWidth(text: string, bold = false, size = FONT_PX): number {
  if (text.includes("\n")) return Math.max(...text.split("\n").map((line) => textWidth(line, bold, size)));
  let width = 0;
  for (const char of text) width += ASCII_WIDTHS[char.charCodeAt(0)] ?? widthOf(char);
  return width * size * (bold ? 1.07 : 1);
}

/** Returns the lines of a text. The text is broken at spaces into lines of at most `width` px. */
export function linesOf(text: string, width: number, size = FONT_PX): string[] {
  const lines: string[] = [];
  for (const word of text.split(/ +/)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && textWidth(longer, false, size) <= width) lines[lines.length - 1] = longer;
    else if (word) lines.push(word);
  }
  return lines;
}

/**
 * Shortens a name to whole words that fit, and keeps the number in the name. A name cut inside a word or a number could
 * be the name of another chip.
 */
export function shortenToWords(text: string, fits: (text: string) => boolean): string {
  const words = text.split(" ");
  const heads = words.map((_, left) => words.slice(0, words.length - left).join(" "));
  const withNumber = heads.filter((head) => /\d/.test(head) || !/\d/.test(text));
  const [, ...shorter] = withNumber.map((head) => `${head.replace(/[\s,;:·(-]+$/, "")}…`);
  return [text, ...shorter].find(fits) ?? (shorter.at(-1) || text);
}
