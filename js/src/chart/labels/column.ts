// The column of roof names right of the plot, for flats that are close together. A leader joins each flat to its name.

import type { Rates } from "../../roofline/roofline.ts";
import { briefNamesOf } from "../../text/names.ts";
import { formatPercent } from "../../text/numbers.ts";
import { clamp, type Scale } from "../scales.ts";
import type { Scene } from "../scene.ts";
import { hasFlatInSight } from "./candidates.ts";
import { type Choices, labelColour, type PlacedLabel } from "./engine.ts";
import { ceilingText } from "./roof_labels.ts";
import { shorten, shortenToWords, textWidth } from "./text_fitting.ts";

/** If two flats are closer than this, px, there is no room for a name between them. */
const MIN_FLAT_DISTANCE_PX = 19;
/** If two flats are closer than this, px, they look like one line. */
const SAME_FLAT_PX = 2;
/** Distance from the right ends of the flats to the names, px. */
const LEADER_PX = 16;
/** Even in the narrowest chart, a name in the column may have this width, px. */
const MODEL_NAME_PX = 92;
/** The height of a row, and the gap between two names in a row, px. */
const [ROW_PX, NAME_GAP_PX] = [15, 3];

type Lines = Pick<Scene, "roofs" | "focus" | "subRoofs" | "names" | "units">;

/** The entry of a roof or a ceiling in the column. Only roofs and ceilings with a flat have an entry. */
interface ColumnEntry extends Rates {
  readonly key: string;
  /** Texts for the name of the roof or ceiling, the longest first. */
  readonly texts: readonly string[];
  readonly bold: boolean;
  readonly chip: string;
  /** The height of the flat at the rates of the data sheet, FLOP/s. */
  readonly sheetPeak: number;
  /** Whether the flat moves when the focus roof is dragged. */
  readonly moves: boolean;
}

/** Entries in one row of the column. The flats of these entries look like one line. */
interface ColumnRow {
  readonly entries: readonly ColumnEntry[];
  readonly flat: number;
}

/**
 * Returns the width of the column, px. Returns 0 if every name fits along its own flat, because the chart then has no
 * column. The width depends only on data sheets, so a drag does not change the width.
 */
export function gutterOf(lines: Lines, width: number, y: Scale): number {
  const entries = entriesOf(lines);
  const flats = entries.map(({ sheetPeak }) => y(sheetPeak)).sort((a, b) => a - b);
  const isClose = (flat: number, at: number) =>
    flat - (flats[at - 1] ?? Number.NEGATIVE_INFINITY) < MIN_FLAT_DISTANCE_PX;
  if (!flats.some(isClose)) return 0;
  const roofs = entries.filter(({ key }) => key.startsWith("roof "));
  const longest = Math.max(0, ...roofs.map(({ texts: [name = ""] }) => wide(name)));
  const max = Math.max(60, Math.min(MODEL_NAME_PX, longest), Math.min(200, width * 0.19));
  const rows = rowsOf(entries, ({ sheetPeak }) => y(sheetPeak), max);
  return LEADER_PX + Math.ceil(Math.min(max, Math.max(...rows.map((row) => widthOf(row.entries, max)))));
}

/**
 * Places the names of the flats in sight. During a drag (`before` is given) only the names that move with the focus
 * roof change their rows.
 */
export function columnNames(scene: Scene, before?: Choices): PlacedLabel[] {
  const { scales } = scene;
  const { plot, gutter, y } = scales;
  if (gutter === 0) return [];
  const max = gutter - LEADER_PX;
  const entries = entriesOf(scene).filter((entry) => !scales.whole || hasFlatInSight(entry, scales));
  const rows = rowsOf(entries, ({ peak }) => y(peak), max);
  const placed = spread(rows, plot.top + ROW_PX / 2, plot.bottom - ROW_PX / 2).flatMap(({ entries: row, at }) => {
    let right = plot.right + LEADER_PX;
    return row.map((entry, index): PlacedLabel => {
      const { key, bold, chip } = entry;
      const text = textOf(entry, max) + (index < row.length - 1 ? "," : "");
      const x = right;
      right += textWidth(text, bold) + NAME_GAP_PX;
      return { kind: "roof", key, text, bold, colour: chip, x, y: at + 4, anchor: "start", choice: at };
    });
  });
  if (!before || placed.every(({ key, choice }) => (before.get(key) ?? choice) === choice)) return placed;
  const moving = new Map(entries.filter(({ moves }) => moves).map((entry) => [entry.key, Math.round(y(entry.peak))]));
  const inRow = (label: PlacedLabel, row: number) => ({ ...label, y: row + 4, choice: row });
  const done = placed
    .filter(({ key }) => !moving.has(key))
    .map((label) => inRow(label, before.get(label.key) ?? label.choice));
  const isFree = (row: number) =>
    row >= plot.top && row <= plot.bottom && done.every(({ choice }) => Math.abs(choice - row) >= ROW_PX);
  // Moving names take the free rows nearest to their flats. The focus roof's name is first.
  for (const label of placed.filter(({ key }) => moving.has(key)).sort((a, b) => Number(b.bold) - Number(a.bold))) {
    const flat = moving.get(label.key) as number;
    for (let shift = 0; shift < plot.bottom - plot.top; shift++) {
      const row = [flat - shift, flat + shift].find(isFree);
      if (row === undefined) continue;
      done.push(inRow({ ...label, x: plot.right + LEADER_PX }, row));
      break;
    }
  }
  return done;
}

/** The leaders: paths from the ends of the flats to their names in the column. */
export function columnLeaders(
  scene: Scene,
  labels: readonly PlacedLabel[],
): { key: string; d: string; colour: string }[] {
  const { plot, gutter, y } = scene.scales;
  if (gutter === 0) return [];
  const flats = new Map(entriesOf(scene).map(({ key, peak }) => [key, clamp(y(peak), plot.top, plot.bottom)]));
  return labels.flatMap((label) => {
    const { key, y: line } = label;
    const flat = flats.get(key);
    const d = `M${plot.right},${flat}L${plot.right + LEADER_PX - 4},${line - 4}`;
    return flat === undefined ? [] : [{ key, d, colour: labelColour(label, scene) }];
  });
}

/**
 * Returns the entries of all roofs and ceilings. Entries that move with the focus roof are last. In a row they then do
 * not push other names aside.
 */
function entriesOf({ roofs, focus, subRoofs, names, units }: Lines): ColumnEntry[] {
  const brief = briefNamesOf(roofs, names);
  const entries = roofs.map((roof): ColumnEntry => {
    const { chip, peak, bandwidth, sheetPeak } = roof;
    const isFocus = roof === focus;
    const texts = [brief.get(chip.id) ?? chip.name];
    return { key: `roof ${chip.id}`, texts, bold: isFocus, chip: chip.id, peak, bandwidth, sheetPeak, moves: isFocus };
  });
  const flats = focus ? subRoofs.filter(({ kind }) => kind !== "bandwidth") : [];
  const ceilings = flats.map((sub): ColumnEntry => {
    // A communication ceiling is a fixed share of the roof, so the ceiling moves with the roof. A software ceiling does
    // not move.
    const moves = sub.kind === "communication";
    const sheetPeak = moves && focus ? (sub.peak / focus.peak) * focus.sheetPeak : sub.peak;
    const short = moves && focus ? formatPercent(1 - sub.peak / focus.peak) : sub.name;
    const texts = [ceilingText(sub, units), short];
    return { ...sub, key: `sub ${sub.key}`, texts, bold: false, chip: focus?.chip.id ?? "", sheetPeak, moves };
  });
  return [...entries, ...ceilings].sort((a, b) => Number(a.moves) - Number(b.moves));
}

/**
 * Groups entries into rows. The flats of the entries in a row look like one line. A row has only as many names as fit
 * side by side.
 */
function rowsOf(entries: readonly ColumnEntry[], flatOf: (entry: ColumnEntry) => number, max: number): ColumnRow[] {
  const rows: { entries: ColumnEntry[]; flat: number }[] = [];
  for (const entry of entries) {
    const flat = flatOf(entry);
    const row = rows.find(
      (other) => Math.abs(other.flat - flat) < SAME_FLAT_PX && widthOf([...other.entries, entry], max) <= max,
    );
    if (row) row.entries.push(entry);
    else rows.push({ entries: [entry], flat });
  }
  return rows;
}

/**
 * Returns the positions of the rows from top to bottom. Each row is as near to its flat as possible. If there are too
 * many rows, the least important rows are left out.
 */
function spread(rows: readonly ColumnRow[], top: number, bottom: number): (ColumnRow & { at: number })[] {
  const max = Math.max(1, Math.floor((bottom - top) / ROW_PX) + 1);
  const kept = [...rows].sort((a, b) => importance(b) - importance(a)).slice(0, max);
  const within = (middle: number, count: number) => {
    const half = ((count - 1) * ROW_PX) / 2;
    return clamp(middle, top + half, bottom - half);
  };
  // Rows that would overlap are joined into a block. The middle of the block is the mean height of the rows' flats.
  const blocks: { rows: ColumnRow[]; middle: number }[] = [];
  for (const row of kept.sort((a, b) => a.flat - b.flat)) {
    let block = { rows: [row], middle: within(row.flat, 1) };
    for (let above = blocks.at(-1); above; above = blocks.at(-1)) {
      if (block.middle - above.middle >= ((above.rows.length + block.rows.length) / 2) * ROW_PX) break;
      blocks.pop();
      const joined = [...above.rows, ...block.rows];
      const mean = joined.reduce((sum, { flat }) => sum + flat, 0) / joined.length;
      block = { rows: joined, middle: within(mean, joined.length) };
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ rows: block, middle }) =>
    block.map((row, index) => ({ ...row, at: Math.round(middle + (index - (block.length - 1) / 2) * ROW_PX) })),
  );
}

const importance = ({ entries }: ColumnRow) =>
  entries.some(({ bold }) => bold) ? 2 : entries.some(({ key }) => key.startsWith("roof ")) ? 1 : 0;

// All names are measured in bold. The widths then do not depend on which roof has the focus.
const widthOf = (entries: readonly ColumnEntry[], max: number) =>
  entries.reduce((sum, entry) => sum + wide(textOf(entry, max)) + NAME_GAP_PX, -NAME_GAP_PX);
const wide = (text: string) => textWidth(`${text},`, true);

function textOf({ texts }: ColumnEntry, max: number): string {
  const fits = (text: string) => textWidth(text, true) <= max;
  const shortest = shortenToWords(texts.at(-1) ?? "", fits);
  // No letter is narrower than 1 px.
  let length = Math.min(shortest.length, Math.ceil(max));
  while (length > 4 && !fits(shorten(shortest, length))) length--;
  return texts.find(fits) ?? shorten(shortest, length);
}
