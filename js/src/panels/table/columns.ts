// The columns of the table: all possible columns, the shown columns, the exported columns, and the texts of the cells.

import { computed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { achievedOf, headroomOf, judge, perByte, probeOf } from "../../roofline/bound.ts";
import { latencyLimit } from "../../roofline/latency.ts";
import { commonOperation, type Operation, operationIn, operationOf } from "../../roofline/operations.ts";
import { bytesAt, isOffChip, type Roof } from "../../roofline/roofline.ts";
import { MIN_ABOVE } from "../../roofline/verdict.ts";
import { boundsOf } from "../../state/filters.ts";
import { formatValue, titleAndUnit, type Unit } from "../../text/columns.ts";
import { withoutControls } from "../../text/controls.ts";
import { attainableDigits, bindingWord } from "../../text/describe.ts";
import { SHAPE_COLUMN, shortNameOf } from "../../text/kernel_names.ts";
import { latencySentence } from "../../text/latency.ts";
import { formatPercent } from "../../text/numbers.ts";
import { bytesReasonOf } from "../../text/reasons.ts";
import { type DictColumn, type Kernels, textAt } from "../../wire/columns.ts";
import { latencyWords, strings, tableWords as words } from "../../words/words.ts";
import type { CsvColumn } from "./csv.ts";
import { orderOf, type Ranks, ranksOf } from "./natural.ts";

/** The unit of a column. "share" is a fraction. */
export type Kind = Unit | "share";

interface Head {
  /**
   * The column's name in Python's `sort_by` and `columns`, and in exported files. Python can read exported files again.
   */
  readonly key: string;
  readonly title: string;
  readonly meaning: string;
  /** Whether the column comes from the file. */
  readonly ofFile: boolean;
  /** Whether the rows cannot be sorted by the column. */
  readonly isFixed?: boolean;
  /** The width of the column, px. If it is missing, the width depends on the heading and the kind. */
  readonly width?: number;
  /** Draws the content of a cell. If it is missing or returns undefined, the cell has its text. */
  draw?(row: number): ComponentChildren;
  /** The fields that the column is computed from. The file says where the numbers in these fields came from. */
  readonly from: readonly string[];
}

interface TextColumn extends Head {
  readonly kind: "text";
  at(row: number): string | null;
  /** Returns all texts of the column, dictionary-encoded. `ranks` gives the natural order of these texts. */
  texts(): DictColumn;
  readonly ranks: Ranks;
  /** The text that the cell shows, if this text differs from the full text. */
  shown?(row: number): string;
  /** Returns an explanation of the text of a cell; undefined if the text needs no explanation. */
  why?(row: number): string | undefined;
}

/** A column of numbers. NaN is unknown. */
export interface NumberColumn extends Head {
  readonly kind: Kind;
  at(row: number): number;
  /** Returns the number of significant digits of a quantity. If this function is missing, the number is 3. */
  digits?(row: number): number;
  /** Returns the unit that the cell shows for FLOP. If this function is missing, the unit is FLOP. */
  operation?(row: number): Operation;
}

export type Column = TextColumn | NumberColumn;
type OwnKey = keyof typeof words.heads;

/**
 * Returns all columns that a table of these kernels can have. Without a roof, the columns about a roof are missing.
 * `told` are the columns that do not depend on a roof.
 */
export function columnsOf(kernels: Kernels, roof: Roof | undefined, told = roofFreeColumns(kernels)): Column[] {
  const judged = [...countColumns(kernels, roof), ...(roof ? boundColumns(kernels, roof) : [])];
  return [...told.ours, ...judged, ...told.theirs];
}

/** Returns the columns that do not depend on a roof. A drag of a roof reuses these columns. */
export function roofFreeColumns(kernels: Kernels) {
  const theirs = [...kernels.extra].map(([name, values]) => extraColumn(name, values));
  return { ours: measuredColumns(kernels), theirs };
}

const own = (key: OwnKey, from: readonly string[] = [], of: Operation = "FLOP"): Head => {
  const [title, meaning] = [words.heads[key], words.meanings[key]];
  const isCount = key === "flops" && of === "OP";
  return {
    key,
    title: isCount ? words.operations : title,
    meaning: typeof meaning === "string" ? meaning : meaning(work(of)),
    ofFile: false,
    from,
  };
};
/** Returns the word for operations at the beginning of a text. */
const work = (of: Operation) => (of === "OP" ? words.operations : strings.work.FLOP);
const text = (
  head: Head,
  texts: () => DictColumn,
  at = (row: number): string | null => textAt(texts(), row),
): TextColumn => ({ ...head, kind: "text", at, texts, ranks: ranksOf(() => texts().values) });
const number = (head: Head, kind: Kind, at: (row: number) => number): NumberColumn => ({ ...head, kind, at });
const told = (head: Head, kind: Kind, values: Float64Array) => number(head, kind, (row) => values[row] as number);

/** Returns the columns about the kernel itself: name, counts, times. */
function measuredColumns(kernels: Kernels): Column[] {
  const { name, category, precision, count, time, selfTime, totalTime, n } = kernels;
  const seconds = (row: number) => selfTime[row] as number;
  const ranking = computed(() => {
    const order = orderOf(Int32Array.from(selfTime.keys()), selfTime, true);
    const [rank, sum] = [new Float64Array(n).fill(Number.NaN), new Float64Array(n).fill(Number.NaN)];
    let before = 0;
    for (const [place, row] of order.entries()) {
      if (Number.isNaN(seconds(row))) continue;
      before += seconds(row);
      rank[row] = place + 1;
      sum[row] = before / totalTime;
    }
    return { rank, sum };
  });
  const self = ["self_time", "time"];
  return [
    number(own("rank", self), "plain", (row) => ranking.value.rank[row] as number),
    { ...text(own("name"), () => name), shown: (row) => shortNameOf(kernels, row) },
    text(own("category"), () => category),
    text(own("precision", ["precision"]), () => precision),
    told(own("count", ["count"]), "plain", count),
    told(own("time", ["time"]), "s", time),
    told(own("self_time", self), "s", selfTime),
    number(own("share", self), "share", (row) => seconds(row) / totalTime),
    number(own("cumulative_share", self), "share", (row) => ranking.value.sum[row] as number),
  ];
}

/**
 * Returns the FLOPs column, and for each level the columns for bytes, intensity and rate. The levels of the chip come
 * first. The other levels of the file follow.
 */
function countColumns(kernels: Kernels, roof: Roof | undefined): Column[] {
  const { totalFlops, flops } = kernels;
  const units = perByte(kernels);
  const parts = flops.size > 1 ? [...flops].filter(([key]) => key !== "") : [];
  const levels = levelsOf(units, roof);
  const asked = roof?.precision ?? "";
  const common = commonOperation(kernels, asked);
  const operation = (row: number) => operationOf(kernels, row, asked);
  const head = (stem: "bytes" | "ai" | "rate" | "used", level: string, from: readonly string[]): Head => {
    const place = level === "main" ? words.main : level;
    const key = stem === "used" ? "bandwidth_utilization" : stem;
    const shared = {
      title: words[`${stem}At`](place),
      meaning: words[`${stem}Meaning`](place, work(common)),
      ofFile: false,
      from,
    };
    return { key: `${key}:${level}`, ...shared };
  };
  const columns = (each: (level: string, bytes: Float64Array, moved: string[]) => Column[]) =>
    levels.flatMap(({ name, bytes, keys }) => each(name, bytes, keys));
  const amounts = (level: string) =>
    roof?.chip.memories.has(level) ? bytesAt(kernels, roof.chip, level) : kernels.bytes.get(level);
  return [
    { ...told(own("flops", ["flops"], common), "FLOP", totalFlops), operation },
    ...parts.map(([key, values]) => {
      const unit = operationIn(key);
      const texts = { title: words.flopsOf(key, strings.work[unit]), meaning: words.flopsMeaning(key, work(unit)) };
      const shared = { key: `flops:${key}`, ...texts, ofFile: false, from: [`flops:${key}`] };
      return { ...told(shared, "FLOP", values), operation: () => unit };
    }),
    ...columns((level, _, moved) => {
      const bytes = amounts(level);
      return [number(head("bytes", level, moved), "B", (row) => bytes?.[row] ?? Number.NaN)];
    }),
    ...columns((level, bytes, moved) => [
      {
        ...number(
          head("ai", level, ["flops", "intensity", ...moved]),
          "FLOP/B",
          (row) => (units.totalFlops[row] as number) / (bytes[row] as number),
        ),
        operation,
      },
    ]),
    {
      ...number(own("achieved", ["flops", "rate", "time"], common), "FLOP/s", (row) => achievedOf(kernels, row)),
      operation,
    },
    ...columns((level, bytes, moved) => {
      const rate = (row: number) => over(bytes, row, units.time[row] as number);
      const bandwidth = roof?.bandwidths.get(level);
      const from = [...moved, "time"];
      return [
        number(head("rate", level, from), "B/s", rate),
        ...(bandwidth ? [number(head("used", level, from), "share", (row: number) => rate(row) / bandwidth)] : []),
      ];
    }),
  ];
}

/** Returns an amount per second. Returns NaN (unknown) if the time is 0, because a time of 0 was not measured. */
const over = (values: Float64Array, row: number, time: number) =>
  time > 0 ? (values[row] as number) / time : Number.NaN;

interface LevelBytes {
  readonly name: string;
  readonly bytes: Float64Array;
  /** The keys of `origin` that describe the column. */
  readonly keys: string[];
}

function levelsOf(kernels: Kernels, roof: Roof | undefined): LevelBytes[] {
  const chip = roof?.chip;
  const names = [...(chip?.memories.keys() ?? [])];
  const [main, ...others] = names.map((name) => name.toLowerCase());
  const known = (bytes: Float64Array) => bytes.some((count) => !Number.isNaN(count));
  const same = (told: string, level: string) =>
    told.toLowerCase() === level.toLowerCase() ||
    (level.toLowerCase() === main && isOffChip(told) && !others.includes(told.toLowerCase()));
  const toldNames = [...kernels.bytes.keys()];
  const keysFor = (level: string) => {
    const keys = toldNames.filter((name) => same(name, level)).map((name) => `bytes:${name}`);
    return names[0] === level || level === "main" ? [...keys, "bytes"] : keys;
  };
  const ofChip = names.flatMap((name): LevelBytes[] => {
    const bytes = chip ? bytesAt(kernels, chip, name) : undefined;
    return bytes && known(bytes) ? [{ name, bytes, keys: keysFor(name) }] : [];
  });
  const rest = [...kernels.bytes].filter(([name, bytes]) => known(bytes) && !names.some((level) => same(name, level)));
  return [...ofChip, ...rest.map(([name, bytes]) => ({ name, bytes, keys: keysFor(name) }))];
}

/** Returns the columns about the kernels under a roof. */
function boundColumns(kernels: Kernels, roof: Roof): Column[] {
  const bound = judge(kernels, roof);
  const counts = ["flops", "bytes"];
  const all = [...counts, "time"];
  // The savings of all rows give the usual order.
  const bounds = computed(() => boundsOf(kernels, roof));
  const probe = computed(() => probeOf(kernels, roof));
  return [
    {
      ...number(own("attainable", counts), "FLOP/s", (row) => bound(row).attainable),
      digits: (row) => attainableDigits(bound(row)),
      operation: (row) => operationOf(kernels, row, roof.precision),
    },
    {
      ...text(
        own("bound_by", counts),
        () => bounds.value,
        (row) => bound(row).boundBy,
      ),
      shown: (row) => {
        const word = bindingWord(bound(row).boundBy);
        return latencyLimit(kernels, row, roof) ? latencyWords.and(word) : word;
      },
      why: (row) =>
        bound(row).regime === "unknown" ? bytesReasonOf(kernels, row, roof) : latencySentence(kernels, row, roof),
    },
    number(own("bound_time", counts), "s", (row) => bound(row).time),
    number(own("utilization", all), "share", (row) => bound(row).utilization),
    number(own("roof_fraction", all), "share", (row) =>
      bound(row).attainable > 0 ? bound(row).achieved / bound(row).attainable : Number.NaN,
    ),
    number(own("peak_fraction", ["flops", "time"]), "share", (row) => bound(row).peakFraction),
    number(own("headroom", ["self_time", ...all]), "s", (row) => headroomOf(kernels, row, probe.value(row).time)),
  ];
}

const TAKEN = /^(?:flops|bytes|ai|rate|bandwidth_utilization):/;

/**
 * Makes a column of the table from an additional column of the file. If the name of the file's column ends with a unit,
 * the table's column has this unit.
 */
function extraColumn(name: string, values: DictColumn | Float64Array): Column {
  const isTaken = Object.hasOwn(words.heads, name) || TAKEN.test(name);
  const [title, unit] = titleAndUnit(name);
  const head = { key: isTaken ? `extra:${name}` : name, title, meaning: words.ofTheFile(name), ofFile: true, from: [] };
  if (!(values instanceof Float64Array)) return text(head, () => values);
  return told(head, unit, values);
}

/** A smaller share is shown as "less than" this value. */
const MIN_SHOWN_SHARE = 1e-4;

export function cellText(column: Column, row: number): string {
  if (column.kind === "text") return withoutControls((column.shown?.(row) ?? column.at(row)) || words.unknown);
  const value = column.at(row);
  if (Number.isNaN(value)) return words.unknown;
  if (column.kind !== "share") return formatValue(value, column.kind, column.digits?.(row), column.operation?.(row));
  return value > 0 && value < MIN_SHOWN_SHARE ? words.less(formatPercent(MIN_SHOWN_SHARE)) : formatPercent(value);
}

/** Returns the text of a cell as screen readers speak it: they would skip the dash of an unknown value. */
export function spokenCell(column: Column, row: number): string {
  const text = cellText(column, row);
  return text === words.unknown ? words.unknownTitle : text;
}

/**
 * Returns the tooltip of a cell. The tooltip of a text is the full text. The tooltip of a number is the source of the
 * number.
 */
export function cellTitle(column: Column, row: number, kernels: Kernels): string {
  const parts = originsOf(column, row, kernels);
  // The displayed text of a name may be cut short. In the column `bound_by`, the displayed text is complete, and it is
  // in the language of the widget.
  const whole = column.kind === "text" && (column.key === "bound_by" ? column.shown?.(row) : column.at(row));
  if (column.kind === "text") parts.unshift(whole || "", column.why?.(row) ?? "");
  else if (Number.isNaN(column.at(row))) parts.unshift(words.unknownTitle);
  return withoutControls(parts.filter(Boolean).join("\n"));
}

/**
 * Returns the sources of the column's fields. A field includes its parts. For example, "flops" includes "flops:fp16".
 */
function originsOf(column: Column, row: number, { origin }: Kernels): string[] {
  const isFrom = (key: string) => column.from.some((field) => key === field || key.startsWith(`${field}:`));
  return [...origin].flatMap(([key, texts]) => {
    const text = isFrom(key) ? textAt(texts, row) : null;
    return text ? [`${key}: ${text}`] : [];
  });
}

/** Whether the column is the share of the roof, and the kernel in the row is above its roof. */
export const isAlarming = (column: Column, row: number) =>
  column.key === "utilization" && column.kind !== "text" && column.at(row) > MIN_ABOVE;

/** Matches the columns of a file that say where in a program a kernel is. */
const PLACE_COLUMN = /(?<![a-z])(?:source|program)(?![a-z])/i;

/** Returns the columns shown by default: all except columns that are empty for all kernels. */
export function usualColumns(columns: readonly Column[], kernels: Kernels, roof: Roof | undefined): Column[] {
  const isTimed = kernels.totalTime > 0;
  const isMeasured = isTimed || kernels.rate !== null;
  const hasAmounts = !(kernels.intensity || kernels.rate) || kernels.totalFlops.some((flops) => !Number.isNaN(flops));
  const levels = roof ? roof.levels.map(({ name }) => name) : ["main"];
  // The keys are in order of importance, because a narrow table cuts off the last columns.
  const keys = [
    ...(isTimed ? ["rank"] : []),
    "name",
    ...(isTimed ? ["self_time", "share", "cumulative_share"] : []),
    ...(isMeasured ? ["utilization"] : hasAmounts ? ["bound_time"] : []),
    ...(isTimed ? ["headroom"] : []),
    "bound_by",
    ...(isMeasured ? ["achieved"] : []),
    "attainable",
    ...(isMeasured ? ["peak_fraction"] : []),
    ...levels.map((level) => `ai:${level}`),
    ...(hasAmounts ? ["flops", ...levels.map((level) => `bytes:${level}`)] : []),
    ...(kernels.category.values.some(Boolean) ? ["category"] : []),
    ...columns.filter(({ key, ofFile }) => ofFile && PLACE_COLUMN.test(key)).map(({ key }) => key),
  ];
  return picked(columns, keys);
}

/**
 * Returns the columns with these keys, in the order of the keys. A key without a column is ignored, because the key may
 * belong to another chip.
 */
export function picked(columns: readonly Column[], keys: readonly string[]): Column[] {
  return keys.flatMap((key) => columnFor(columns, key) ?? []);
}

export const columnFor = (columns: readonly Column[], key: string) => columns.find((column) => column.key === key);

/**
 * Returns the keys of the shown columns after one column is switched on or off. A column that is switched on is
 * inserted before the next shown column in table order.
 */
export function toggled(columns: readonly Column[], shown: readonly string[], key: string): string[] {
  if (shown.includes(key)) return shown.filter((other) => other !== key);
  const all = columns.map((column) => column.key);
  const later = new Set(all.slice(all.indexOf(key)));
  const at = shown.findIndex((other) => later.has(other));
  return at < 0 ? [...shown, key] : [...shown.slice(0, at), key, ...shown.slice(at)];
}

/** Column names in a file. They are not translated, because Python can read the file again. */
const [JUDGING, RAN] = ["chip", "measured on"];
const NEEDED = /^(?:name|category|precision|count|time|self_time|flops|flops:.*|bytes:.*)$/;

/**
 * Returns the columns of an export. The shown columns come first. The columns that Python needs to read the file again
 * follow. The last columns are the kernels' ratios, the roof's chip and the chip that the kernels ran on.
 */
export function exportedColumns(
  columns: readonly Column[],
  shown: readonly Column[],
  { flops, chip, intensity, rate }: Kernels,
  roof: Roof | undefined,
): CsvColumn[] {
  const isNeeded = ({ key, ofFile }: Column) => (ofFile ? SHAPE_COLUMN.test(key) || key === RAN : NEEDED.test(key));
  const chips = [
    [JUDGING, roof?.chip.name],
    [RAN, chip?.name],
  ] as const;
  const ratios = Object.entries({ intensity, rate });
  const ours: CsvColumn[] = [
    ...ratios.flatMap(([key, column]) => (column ? [{ key, at: (row: number) => column[row] as number }] : [])),
    ...chips.flatMap(([key, name]) => (name === undefined ? [] : [{ key, at: () => name }])),
  ];
  const plain = flops.get("");
  const all = [...shown, ...columns.filter((column) => isNeeded(column) && !shown.includes(column))];
  const told = all.flatMap((column): CsvColumn[] => {
    if (ours.some(({ key }) => key === column.key)) return [];
    // If the file has FLOPs by precision, Python would read a sum in the same file as additional FLOPs. Therefore the
    // sum is left out.
    if (column.key !== "flops" || flops.size <= 1) return [column];
    return plain ? [{ key: "flops", at: (row) => plain[row] as number }] : [];
  });
  return [...told, ...ours];
}
