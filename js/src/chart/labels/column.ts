// Roofs that lie close together: their names stand in a column right of the plot, each with a line to its flat.

import type { SubRoof } from "../../roofline/ceilings.ts";
import type { Roof } from "../../roofline/roofline.ts";
import { briefNamesOf } from "../../text/names.ts";
import { formatPercent } from "../../text/numbers.ts";
import type { Units } from "../axis_units.ts";
import type { Rates } from "../paths.ts";
import type { Scale } from "../scales.ts";
import type { Scene } from "../scene.ts";
import { inWords, type Placed, shorten, textWidth } from "./place.ts";
import { hasFlat, textOfSub } from "./roof_names.ts";

const SIZE = 12;
/** Flats nearer to one another than this leave no room for a name between them, px. */
const NEAR = 19;
/** Flats nearer than this look like one, px. */
const SAME = 2;
/** From the end of the flats to the names, px. */
export const LEADER = 16;
/** So much has a model's name in a chart however narrow, px. */
const MODEL = 92;
/** The height of a row, and the blank between two names in one, px. */
const [ROW, BLANK] = [15, 3];

/** What has a flat and a name in the column. */
interface Entry extends Rates {
  readonly key: string;
  /** What it is called, the longest first. */
  readonly texts: readonly string[];
  readonly bold: boolean;
  readonly chip: string;
  /** FLOP/s of its flat without what-if. */
  readonly sheetPeak: number;
  /** Whether it moves when the focus roof is dragged. */
  readonly moves: boolean;
}

interface Row {
  readonly entries: readonly Entry[];
  readonly flat: number;
}

interface Lines {
  readonly roofs: readonly Roof[];
  readonly focus: Roof | undefined;
  readonly subRoofs: readonly SubRoof[];
  readonly names: ReadonlyMap<string, string>;
  readonly units: Units;
}

/** How wide the column is, px: 0 where every name has room along its flat. By data sheets, so that no drag moves it. */
export function gutterOf(lines: Lines, width: number, y: Scale): number {
  const entries = entriesOf(lines);
  const flats = entries.map(({ sheetPeak }) => y(sheetPeak)).sort((a, b) => a - b);
  if (!flats.some((flat, index) => flat - (flats[index - 1] ?? Number.NEGATIVE_INFINITY) < NEAR)) return 0;
  const longest = Math.max(...entries.map(({ key, texts: [name = ""] }) => (key.startsWith("roof ") ? wide(name) : 0)));
  const most = Math.max(60, Math.min(MODEL, longest), Math.min(200, width * 0.19));
  const rows = rowsOf(entries, ({ sheetPeak }) => y(sheetPeak), most);
  return LEADER + Math.ceil(Math.min(most, Math.max(...rows.map((row) => widthOf(row.entries, most)))));
}

/** The names of the flats in sight in their column; with `choices` all stay that no drag of the focus roof moves. */
export function column(scene: Scene, choices?: ReadonlyMap<string, number>): Placed[] {
  const { colours, scales, theme } = scene;
  const { plot, gutter, y } = scales;
  if (gutter === 0) return [];
  const most = gutter - LEADER;
  const flatOf = ({ peak }: Entry) => y(peak);
  const entries = entriesOf(scene).filter((entry) => !scales.whole || hasFlat(entry, scales));
  const rows = spread(rowsOf(entries, flatOf, most), plot.top + ROW / 2, plot.bottom - ROW / 2);
  const placed = rows.flatMap(({ entries: row, at }) => {
    let x = plot.right + LEADER;
    return row.map((entry, index): Placed => {
      const name = textOf(entry, most);
      const text = index < row.length - 1 ? `${name},` : name;
      const left = x;
      x += textWidth(text, SIZE, entry.bold) + BLANK;
      const colour = colours.get(entry.chip) ?? theme.text;
      const { key, bold } = entry;
      return { key, text, size: SIZE, bold, colour, x: left, y: at + 4, anchor: "start", choice: at };
    });
  });
  if (!choices || placed.every(({ key, choice }) => (choices.get(key) ?? choice) === choice)) return placed;
  const moving = new Map(entries.filter(({ moves }) => moves).map((entry) => [entry.key, Math.round(flatOf(entry))]));
  return stand(placed, choices, moving, scene);
}

/** From the end of each flat to its name in the column, as paths by the names' keys. */
export function leaders(scene: Scene, labels: readonly Placed[]): { key: string; d: string; colour: string }[] {
  const { plot, gutter, y } = scene.scales;
  if (gutter === 0) return [];
  const flats = new Map(
    entriesOf(scene).map(({ key, peak }) => [key, Math.max(plot.top, Math.min(y(peak), plot.bottom))]),
  );
  return labels.flatMap(({ key, y: line, colour }) => {
    const flat = flats.get(key);
    const d = `M${plot.right},${flat}L${plot.right + LEADER - 4},${line - 4}`;
    return flat === undefined ? [] : [{ key, d, colour }];
  });
}

/** Roofs and lower roofs with a flat: the focus roof's last in its row, so that dragging it moves no other name. */
function entriesOf({ roofs, focus, subRoofs, names, units }: Lines): Entry[] {
  const brief = briefNamesOf(roofs, names);
  const entries = roofs.map((roof): Entry => {
    const { chip, peak, bandwidth, sheetPeak } = roof;
    const isFocus = roof === focus;
    const texts = [brief.get(chip.id) ?? chip.name];
    return { key: `roof ${chip.id}`, texts, bold: isFocus, chip: chip.id, peak, bandwidth, sheetPeak, moves: isFocus };
  });
  const flats = focus ? subRoofs.filter(({ kind }) => kind !== "bandwidth") : [];
  const subs = flats.map((sub): Entry => {
    // What communication leaves goes along with the roof; what software reaches does not.
    const moves = sub.kind === "communication";
    const sheetPeak = moves && focus ? (sub.peak / focus.peak) * focus.sheetPeak : sub.peak;
    const short = moves && focus ? formatPercent(1 - sub.peak / focus.peak) : sub.name;
    const texts = [textOfSub(sub, units), short];
    const chip = focus?.chip.id ?? "";
    return { ...sub, key: `sub ${sub.key}`, texts, bold: false, chip, sheetPeak, moves };
  });
  return [...entries, ...subs].sort((a, b) => Number(a.moves) - Number(b.moves));
}

/** Names where they stood; beside their flats, wherever these are now, those that move. */
function stand(
  placed: readonly Placed[],
  choices: ReadonlyMap<string, number>,
  moving: ReadonlyMap<string, number>,
  { scales: { plot } }: Scene,
): Placed[] {
  const at = (label: Placed, row: number): Placed => ({ ...label, y: row + 4, choice: row });
  const standing = placed.filter(({ key }) => !moving.has(key));
  const done = standing.map((label) => at(label, choices.get(label.key) ?? label.choice));
  const free = (row: number) =>
    row >= plot.top && row <= plot.bottom && done.every(({ choice }) => Math.abs(choice - row) >= ROW);
  for (const label of placed.filter(({ key }) => moving.has(key)).sort((a, b) => Number(b.bold) - Number(a.bold))) {
    const flat = moving.get(label.key) as number;
    const shifts = Array.from({ length: plot.bottom - plot.top }, (_, shift) => [flat - shift, flat + shift]).flat();
    const row = shifts.find(free);
    if (row !== undefined) done.push(at({ ...label, x: plot.right + LEADER }, row));
  }
  return done;
}

/** Entries whose flats look like one share a row, as far as their names fit into it. */
function rowsOf(entries: readonly Entry[], flatOf: (entry: Entry) => number, most: number): Row[] {
  const rows: { entries: Entry[]; flat: number }[] = [];
  for (const entry of entries) {
    const flat = flatOf(entry);
    const row = rows.find(
      (other) => Math.abs(other.flat - flat) < SAME && widthOf([...other.entries, entry], most) <= most,
    );
    if (row) row.entries.push(entry);
    else rows.push({ entries: [entry], flat });
  }
  return rows;
}

/** Rows from top to bottom, each as near to its flat as the others let it be; of too many the important ones stay. */
function spread(rows: readonly Row[], top: number, bottom: number): (Row & { at: number })[] {
  const room = Math.max(1, Math.floor((bottom - top) / ROW) + 1);
  const kept = [...rows].sort((a, b) => importance(b) - importance(a)).slice(0, room);
  // Rows that would overlap become one block about the middle of their flats.
  const blocks: { rows: Row[]; middle: number }[] = [];
  for (const row of kept.sort((a, b) => a.flat - b.flat)) {
    let block = { rows: [row], middle: within(row.flat, 1, top, bottom) };
    for (let above = blocks.at(-1); above && touches(above, block); above = blocks.at(-1)) {
      blocks.pop();
      const joined = [...above.rows, ...block.rows];
      const mean = joined.reduce((sum, { flat }) => sum + flat, 0) / joined.length;
      block = { rows: joined, middle: within(mean, joined.length, top, bottom) };
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ rows: block, middle }) =>
    block.map((row, index) => ({ ...row, at: Math.round(middle + (index - (block.length - 1) / 2) * ROW) })),
  );
}

const importance = ({ entries }: Row) =>
  entries.some(({ bold }) => bold) ? 2 : entries.some(({ key }) => key.startsWith("roof ")) ? 1 : 0;
const touches = (a: { rows: Row[]; middle: number }, b: { rows: Row[]; middle: number }) =>
  b.middle - a.middle < ((a.rows.length + b.rows.length) / 2) * ROW;
const within = (middle: number, count: number, top: number, bottom: number) => {
  const half = ((count - 1) * ROW) / 2;
  return Math.max(top + half, Math.min(middle, bottom - half));
};

// As wide as in bold, whichever of them has the focus.
const widthOf = (entries: readonly Entry[], most: number) =>
  entries.reduce((sum, entry) => sum + wide(textOf(entry, most)) + BLANK, -BLANK);
const wide = (text: string) => textWidth(`${text},`, SIZE, true);

function textOf({ texts }: Entry, most: number): string {
  const fits = (text: string) => textWidth(text, SIZE, true) <= most;
  const least = inWords(texts.at(-1) ?? "", fits);
  let length = least.length;
  while (length > 4 && !fits(shorten(least, length))) length--;
  return texts.find(fits) ?? shorten(least, length);
}
