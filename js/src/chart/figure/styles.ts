// The rules of each style of figure, as numbers. All lengths are in points, 1/72 inch.

import { paper } from "../../tokens.json";

export type StyleName = "paper-1col" | "paper-2col" | "slide";

export interface FigureStyle {
  /** The size of the figure. A caption, or a key without a free corner, makes it higher. */
  readonly width: number;
  readonly height: number;
  readonly font: number;
  /** The widths of lines: of the focus roof, of the axes, and of the outlines of dots. */
  readonly roof: number;
  readonly axis: number;
  readonly outline: number;
  /** The diameter of the largest dot, as a share of the plot's width. */
  readonly maxDot: number;
  /** The radius of the smallest dot, among few and among many dots. */
  readonly minRadius: number;
  readonly minRadiusOfMany: number;
  /** Whether kernels have numbers, explained by a key, in place of their names. */
  readonly isNumbered: boolean;
  readonly maxNamed: number;
  readonly maxLetters: number;
  /** The maximum number of categories in the legend. */
  readonly maxCategories: number;
}

export const STYLES: Readonly<Record<StyleName, FigureStyle>> = {
  "paper-1col": {
    ...{ width: 252, height: 168, font: 7, roof: 1.2, axis: 0.6, outline: 0.35 },
    ...{ maxDot: 0.03, minRadius: 1.17, minRadiusOfMany: 0.98, isNumbered: true },
    ...{ maxNamed: 5, maxLetters: 22, maxCategories: 6 },
  },
  "paper-2col": {
    ...{ width: 504, height: 336, font: 8, roof: 1.4, axis: 0.6, outline: 0.4 },
    ...{ maxDot: 0.022, minRadius: 1.84, minRadiusOfMany: 1.5, isNumbered: false },
    ...{ maxNamed: 9, maxLetters: 32, maxCategories: 8 },
  },
  slide: {
    ...{ width: 960, height: 540, font: 20, roof: 3.2, axis: 1, outline: 0.8 },
    ...{ maxDot: 0.022, minRadius: 3.41, minRadiusOfMany: 2.8, isNumbered: false },
    ...{ maxNamed: 7, maxLetters: 32, maxCategories: 8 },
  },
};

/** The colours on white paper: of roofs, axes and texts, of thin lines, of the grid, and of the strip. */
export const PAPER = paper;
/** The line width of the grid, and of the other thin lines as a share of the width of an axis. */
export const GRID = 0.4;
export const THIN = 5 / 6;
/** From this many dots on, dots are smaller and can be seen through. */
export const MANY_DOTS = 100;
export const [OPACITY, OPACITY_OF_MANY, OPACITY_OF_CROWD] = [0.92, 0.8, 0.5];
/** From this many dots on, dots have `OPACITY_OF_CROWD`. */
export const CROWD = 2000;
/** The smallest dot that has a pattern, and how much larger the smallest dots are with patterns. */
export const [MIN_PATTERN_RADIUS, MORE_FOR_PATTERNS] = [1.2, 1.5];
/** The dashes of other roofs, for a focus roof of 1.2 points. After the last, the first is used again, thinner. */
export const DASHES = ["4 2", "1.5 1.5", "6 2 1.5 2"];
export const RIDGE_DASHES = "1.5 2";
export const CEILING_DASHES = "3 1.5";
/** The width of an other roof that uses the dashes again, as a share of the width of the focus roof. */
export const THINNER = 2 / 3;
/** The longest line from a name to its dot: in points, and in font sizes where that is more. */
export const [MAX_LEADER, MAX_LEADER_EM] = [30, 3];
/** Categories with a smaller share of the kernel time are not in the legend, and kernels are not named for it. */
export const MIN_SHARE = 0.01;
/** From this share of the kernel time on, kernels without FLOPs have a strip at the left. */
export const MIN_STRIP_SHARE = 0.05;
/** The width of this strip, in font sizes. */
export const STRIP_EM = 1.7;
/** The distance of two lines of text, in font sizes. */
export const LINE_EM = 1.23;

/** Fonts whose letters have the widths of Helvetica, then the one that pictures of machines without fonts have. */
export const FONTS = "Arial, Helvetica, 'Liberation Sans', 'Hanken Grotesk', sans-serif";

/** The widths of the letters from space to "~" in Helvetica, in steps of 1/1000 of the font size, from its metrics. */
const WIDTHS = [
  "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584",
  "584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667",
  "667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556",
  "500 722 500 500 500 334 260 334 584",
].flatMap((line) => line.split(" ").map(Number));
/** Letters of bold text are at most this much wider. */
const BOLD = 1.1;

/** Returns the width of a text, in the unit of `size`. Letters beyond ASCII are as wide as capitals or ideographs. */
export function textWidth(text: string, size: number, isBold = false): number {
  let sum = 0;
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    sum += WIDTHS[code - 32] ?? (code === 0xa0 || code === 0xb7 ? 278 : code < 0x1100 && char !== "…" ? 667 : 1000);
  }
  return (sum / 1000) * size * (isBold ? BOLD : 1);
}

/** Returns the lines of a text, broken at spaces into lines of at most `width`. */
export function brokenLines(text: string, width: number, size: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && textWidth(longer, size) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
