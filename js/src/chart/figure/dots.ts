// What a figure shows of a state: the dots with their colours, the named kernels, the legend and the counts.

import { type Colouring, codeAt, familyCodes, familyText } from "../../roofline/colouring.ts";
import { commonOperation } from "../../roofline/operations.ts";
import { IDLE, MEASURED } from "../../roofline/positions.ts";
import { isTotal } from "../../roofline/totals.ts";
import type { Store } from "../../state/store.ts";
import { categoryName } from "../../text/describe.ts";
import { nameOf, shortNameOf } from "../../text/kernel_names.ts";
import { shortNamesOf } from "../../text/short_names.ts";
import { type Kernels, textAt } from "../../wire/columns.ts";
import { figureWords } from "../../words/words.ts";
import { ticksOfScale } from "../layers/colour_scale.tsx";
import { categoryColour, type Theme } from "../theme.ts";
import {
  CROWD,
  type FigureStyle,
  MANY_DOTS,
  MIN_SHARE,
  MIN_STRIP_SHARE,
  OPACITY,
  OPACITY_OF_CROWD,
  OPACITY_OF_MANY,
} from "./styles.ts";

/** A point of the plane, or with zero FLOPs of the strip beside it. */
export interface Dot {
  readonly row: number;
  /** Intensity, FLOP/B: 0 in the strip, infinite without bytes. */
  readonly ai: number;
  /** FLOP/s; bytes/s in the strip. */
  readonly rate: number;
  /** The row's share of the kernel time; NaN without times. */
  readonly share: number;
  readonly colour: string;
  /** The number of the category, for patterns. -1 if unknown. */
  readonly code: number;
  readonly side: number;
  readonly isHollow: boolean;
  /** Whether the name of the kernel is at this dot: the dot on the focus roof, or at the level that binds. */
  readonly isHome: boolean;
}

export interface Entry {
  readonly text: string;
  /** Undefined for a title or a count. */
  readonly colour?: string | undefined;
  readonly code?: number;
}

export interface Name {
  readonly row: number;
  readonly text: string;
}

export interface Content {
  /** From back to front: longest time first. */
  readonly dots: readonly Dot[];
  readonly hasStrip: boolean;
  readonly isMeasured: boolean;
  readonly opacity: number;
  readonly legend: readonly Entry[];
  readonly names: readonly Name[];
  /** A requested name that no kernel has, and then the names that there are. */
  readonly unknownName?: string | undefined;
  readonly knownNames: readonly string[];
  readonly counts: Counts;
}

export interface Counts {
  readonly shown: number;
  /** The kernels without FLOPs that are left out. */
  readonly zeroFlops: number;
  /** The kernels without a place, because their FLOPs or bytes are unknown. */
  readonly withoutCounts: number;
  /** The share of the kernel time of all that are not shown. NaN without times. */
  readonly leftOut: number;
}

/** How many kernels have names, or which. Null: as the style says. */
export type Names = number | readonly string[] | null;

export function contentOf(store: Store, style: FigureStyle, theme: Theme, names: Names): Content {
  const kernels = store.rows.drawn.value;
  const { n, row: rows, x, y, roof, side, binds, home } = store.rows.points.value;
  // The total of a program beside its kernels is a mark of the screen.
  const isLeftOut = (row: number) => isTotal(kernels, row) && !store.rows.showsTotals.value;
  const own = [...store.rows.drawnRows.value].filter((row) => !isIdle(kernels, row) && !isLeftOut(row));
  const busy = own.reduce((sum, row) => sum + (isTotal(kernels, row) ? 0 : kernels.selfTime[row] || 0), 0);
  const shareOf = (row: number) => (busy > 0 ? (kernels.selfTime[row] as number) / busy : Number.NaN);
  const colouring = store.rows.colouring.value;
  const all: Dot[] = [];
  for (let at = 0; at < n; at++) {
    const row = rows[at] as number;
    if (isLeftOut(row)) continue;
    const code = roof[at] === MEASURED && !isTotal(kernels, row) ? codeAt(colouring, row) : -1;
    const [ai, rate, isKnown] = [x[at] as number, y[at] as number, code >= 0];
    const colour = isKnown ? colourOf(colouring, theme, code) : theme.text;
    // With all memory levels, only the dot of the level that binds is filled.
    const isHollow = binds[at] === 0 || (roof[at] === MEASURED && !isKnown && !isTotal(kernels, row));
    all.push({
      row,
      ai,
      rate,
      share: shareOf(row),
      colour,
      code,
      side: side[at] as number,
      isHollow,
      isHome: home[row] === at,
    });
  }
  const inStrip = all.filter(({ ai }) => ai === 0);
  const isInStrip = new Set(inStrip.map(({ row }) => row));
  const stripShare = [...isInStrip].reduce((sum, row) => sum + (shareOf(row) || 0), 0);
  const hasStrip = inStrip.length > 0 && (stripShare >= MIN_STRIP_SHARE || inStrip.length === all.length);
  const dots = hasStrip ? all : all.filter(({ ai }) => ai !== 0);
  const shown = new Set(dots.map(({ row }) => row));
  const missing = own.filter((row) => !shown.has(row));
  const zeroFlops = missing.filter((row) => isInStrip.has(row));
  const isMeasured = all.some(({ share }) => share > 0);
  return {
    ...{ dots, hasStrip, isMeasured, legend: legendOf(store, style, theme, dots) },
    opacity: dots.length > CROWD ? OPACITY_OF_CROWD : dots.length > MANY_DOTS ? OPACITY_OF_MANY : OPACITY,
    ...namesOf(store, style, names, shown, shareOf),
    counts: {
      shown: shown.size,
      zeroFlops: zeroFlops.length,
      withoutCounts: missing.length - zeroFlops.length,
      leftOut: busy > 0 ? missing.reduce((sum, row) => sum + (shareOf(row) || 0), 0) : Number.NaN,
    },
  };
}

const isIdle = (kernels: Kernels, row: number) => textAt(kernels.category, row)?.toLowerCase() === IDLE;

const colourOf = (colouring: Colouring, theme: Theme, code: number) =>
  colouring.kind === "number" ? (theme.scale[code] as string) : categoryColour(theme, colouring, code);

/** Returns the categories that have at least MIN_SHARE of the kernel time among the dots; nothing for less than two. */
function legendOf(store: Store, style: FigureStyle, theme: Theme, dots: readonly Dot[]): Entry[] {
  const colouring = store.rows.colouring.value;
  if (store.rows.showsTotals.value || !dots.some(({ code }) => code >= 0)) return [];
  if (colouring.kind === "number") {
    const texts = ticksOfScale(colouring, commonOperation(store.rows.kernels.value, store.rates.askedPrecision.value));
    const last = theme.scale.length - 1;
    const colours = texts.map(
      (_, at) => theme.scale[Math.round((at * last) / Math.max(1, texts.length - 1))] as string,
    );
    return texts.map((text, at) => ({ text, colour: colours[at], code: 0 }));
  }
  const shares = new Map<number, number>();
  const first = familyCodes(colouring);
  const codesOf = new Map<number, Set<number>>();
  const seen = new Set<number>();
  const isTimed = dots.some(({ share }) => share > 0);
  for (const { code, row, share } of dots) {
    if (code < 0 || seen.has(row)) continue;
    seen.add(row);
    const family = first[code] as number;
    shares.set(family, (shares.get(family) ?? 0) + (isTimed ? share || 0 : 1));
    codesOf.set(family, (codesOf.get(family) ?? new Set()).add(code));
  }
  const codes = [...shares].filter(([, share]) => share >= MIN_SHARE).sort(([a, s], [b, t]) => t - s || a - b);
  if (codes.length < 2) return [];
  const entries = codes.map(([code]): Entry => {
    const text = categoryName(familyText(colouring, [...(codesOf.get(code) ?? [])]));
    return { text, colour: colourOf(colouring, theme, code), code };
  });
  const more = entries.length - style.maxCategories;
  return more > 0 ? [...entries.slice(0, style.maxCategories - 1), { text: figureWords.more(more + 1) }] : entries;
}

/** Returns the kernels to name: those to fix first, then the longest, or those that the user asked for. */
function namesOf(
  store: Store,
  style: FigureStyle,
  asked: Names,
  shown: ReadonlySet<number>,
  shareOf: (row: number) => number,
): Pick<Content, "names" | "unknownName" | "knownNames"> {
  const kernels = store.rows.drawn.value;
  const order = [...store.rows.drawnRows.value];
  const drawn = order.filter((row) => shown.has(row));
  let rows: number[];
  let unknownName: string | undefined;
  if (asked !== null && typeof asked !== "number") {
    const has = (row: number, name: string) => nameOf(kernels, row) === name || shortNameOf(kernels, row) === name;
    rows = asked.flatMap((name) => drawn.find((row) => has(row, name)) ?? []);
    unknownName = asked.find((name) => !order.some((row) => has(row, name)));
  } else {
    const first = store.rows.ranking.value.rows.filter((row) => shown.has(row));
    const others = drawn.filter((row) => !first.includes(row) && !(shareOf(row) < MIN_SHARE));
    rows = [...first, ...others].slice(0, asked ?? style.maxNamed);
  }
  const texts = shortNamesOf(kernels, rows, style.maxLetters);
  const names = [...new Set(rows)].map((row) => ({ row, text: texts.get(row) as string }));
  const knownNames = unknownName === undefined ? [] : order.map((row) => shortNameOf(kernels, row));
  return { names, unknownName, knownNames };
}
