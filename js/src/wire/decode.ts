// Decodes what Python sends. Mirrors roofwidget/wire.py.

import {
  type Baseline,
  type DictColumn,
  everyRow,
  type InstructionRoofline,
  type Kernels,
  type Message,
  sumOfKnown,
  textAt,
  withoutMetadata,
} from "./columns.ts";
import type {
  Chip,
  Reason,
  Snapshot,
  WireBaseline,
  WireChip,
  WireColumns,
  WireDictColumn,
  WireKernels,
  WireSnapshot,
} from "./types.ts";

export const decodeChips = (wire: unknown): readonly Chip[] => (wire as WireChip[]).map(decodeChip);

const decodeChip = (chip: WireChip): Chip => ({
  ...chip,
  peaks: new Map(chip.peaks),
  memories: new Map(chip.memories),
  links: (chip.links ?? []).map(([name, bandwidth, latency]) => ({ name, bandwidth, latency })),
  share: chip.share && {
    level: chip.share[0],
    bytes: chip.share[1],
    units: chip.share[2],
    shared: chip.shared ?? undefined,
  },
});

export function decodeKernels(wire: unknown): Kernels {
  const { program, chip, communication, activity, messages, instructions, reasons, ...rest } = wire as WireKernels;
  const { warnings, source, read_as, ...columns } = rest;
  return {
    ...decodeColumns(columns),
    program: program && decodeColumns(program),
    chip: chip && decodeChip(chip),
    warnings,
    source,
    communication: communication ?? null,
    activity: activity ? decodeActivity(activity) : null,
    messages: messages ? decodeMessages(messages) : [],
    instructions: instructions ? decodeInstructions(instructions, columns.n) : null,
    readAs: read_as ?? null,
    reasons: reasonsByRow(reasons),
  };
}

const decodeActivity = ({ gap_start: gapStart, ...times }: NonNullable<WireKernels["activity"]>) => ({
  ...times,
  gapStart,
});

function reasonsByRow(wire: WireKernels["reasons"]): Kernels["reasons"] {
  const found = new Map<number, Reason[]>();
  if (!wire) return found;
  const rule = integers(wire.rule);
  for (const [at, row] of integers(wire.row).entries()) {
    const own = found.get(row) ?? [];
    found.set(row, [...own, wire.rules[rule[at] as number] as Reason]);
  }
  return found;
}

function decodeMessages({
  kind,
  group,
  series = null,
  ...wire
}: NonNullable<WireKernels["messages"]>): readonly Message[] {
  const numbers = Object.entries(wire).map(([name, view]) => [name, floats(view)] as const);
  const n = numbers[0]?.[1].length ?? 0;
  const [kinds, groups, runs] = [textsOf(kind, n), textsOf(group, n), textsOf(series, n)];
  return Array.from({ length: n }, (_, row) => ({
    ...(Object.fromEntries(numbers.map(([name, column]) => [name, column[row]])) as Omit<
      Message,
      "kind" | "group" | "series"
    >),
    kind: textAt(kinds, row) ?? "",
    group: textAt(groups, row) ?? "",
    series: textAt(runs, row) ?? undefined,
  }));
}

const decodeInstructions = (wire: NonNullable<WireKernels["instructions"]>, n: number): InstructionRoofline => ({
  unit: wire.unit,
  peak: wire.peak ?? Number.NaN,
  isEstimate: wire.estimate,
  roofs: new Map(wire.roofs),
  walls: wire.walls.map(([name, space, intensity]) => ({ name, space, intensity })),
  rate: floats(wire.rate),
  lanes: floats(wire.lanes),
  utilization: floats(wire.utilization),
  bound: textsOf(wire.bound, n),
  levels: new Map(wire.levels.map(([level, intensity]) => [level, floats(intensity)])),
  accesses: new Map(
    wire.accesses.map(([space, intensity, rate]) => [space, { intensity: floats(intensity), rate: floats(rate) }]),
  ),
});

function decodeColumns({
  n,
  time,
  self_time,
  count,
  unlinked,
  in_flight,
  extra,
  origin,
  ...wire
}: WireColumns): Kernels {
  const texts = (column: WireDictColumn) => textsOf(column, n);
  const flops = columns(wire.flops);
  const seconds = time ? floats(time) : new Float64Array(n).fill(Number.NaN);
  const selfTime = self_time ? floats(self_time) : seconds;
  return {
    ...withoutMetadata(
      {
        n,
        name: texts(wire.name),
        precision: texts(wire.precision),
        category: wire.series ? texts(wire.category) : byTime(texts(wire.category), selfTime),
        time: seconds,
        count: count ? floats(count) : new Float64Array(n).fill(1),
        flops,
        bytes: columns(wire.bytes),
        byLevel: new Map(),
        totalFlops: sumOfKnown([...flops.values()], n),
      },
      selfTime,
    ),
    unlinked: unlinked ? integers(unlinked) : null,
    inFlight: in_flight ? floats(in_flight) : null,
    intensity: wire.intensity ? floats(wire.intensity) : null,
    rate: wire.rate ? floats(wire.rate) : null,
    series: wire.series === true,
    same: wire.same ? integers(wire.same) : null,
    short: texts(wire.short),
    extra: new Map(extra.map(([name, column]) => [name, isTexts(column) ? texts(column) : floats(column)])),
    origin: new Map(origin.map(([key, column]) => [key, texts(column)])),
  };
}

export function decodeBaseline(wire: unknown): Baseline | null {
  if (!wire) return null;
  const { kernels, match, verdict, per_launch } = wire as WireBaseline;
  const rows = integers(match);
  const { values, codes } = textsOf(verdict, rows.length);
  return {
    kernels: decodeKernels(kernels),
    match: rows,
    // Notebooks that version 0.1.0 saved have the word "equal" in place of "same".
    verdict: { values: values.map((word) => (word === "equal" ? "same" : word)), codes },
    isPerLaunch: per_launch ? integers(per_launch) : new Int32Array(rows.length),
  };
}

export const decodeSnapshots = (wire: unknown): readonly Snapshot[] =>
  (wire as WireSnapshot[]).map(({ kernels, ...rest }) => ({
    ...rest,
    kernels: kernels.map(([name, ai, rate]) => [name, ai ?? Number.POSITIVE_INFINITY, rate]),
  }));

/**
 * Sorts the distinct values of a column by the total seconds of their rows. The value with the longest total comes
 * first. Values with equal totals keep their order.
 */
function byTime(column: DictColumn, seconds: Float64Array): DictColumn {
  const { values, codes } = column;
  if (values.length < 2) return column;
  const sums = new Float64Array(values.length);
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row] as number;
    sums[code] = (sums[code] as number) + (seconds[row] || 0);
  }
  const order = values.map((_, code) => code).sort((a, b) => (sums[b] as number) - (sums[a] as number) || a - b);
  const place = new Int32Array(values.length);
  for (const [at, code] of order.entries()) place[code] = at;
  return { values: order.map((code) => values[code] ?? null), codes: codes.map((code) => place[code] as number) };
}

function textsOf(wire: WireDictColumn, n: number): DictColumn {
  if (!wire) return { values: [null], codes: new Int32Array(n) };
  const values = JSON.parse(new TextDecoder().decode(wire.values));
  return {
    values,
    codes: wire.codes ? integers(wire.codes) : values.length === n ? everyRow({ n }) : new Int32Array(n),
  };
}

// The bytes are copied because a buffer may start at any byte of a message. A typed array must start at a multiple of
// its element size.
const copy = (view: DataView) => view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) as ArrayBuffer;
const floats = (view: DataView) => new Float64Array(copy(view));
const integers = (view: DataView) => new Int32Array(copy(view));
const isTexts = (column: WireDictColumn | DataView): column is WireDictColumn => !column || "codes" in column;
const columns = (wire: Record<string, DataView>) =>
  new Map(Object.entries(wire).map(([key, view]) => [key, floats(view)] as const));
