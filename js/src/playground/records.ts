// Kernels and chips as sessions and links hold them (records), and as Python sends them. What a record holds may come
// from anywhere: a part of another form is an error that names the part.

import type { WireChip, WireColumns, WireDictColumn, WireKernels } from "../wire/types.ts";

/** A column of numbers; null is unknown. */
export type Numbers = readonly (number | null)[];
/** A column of texts: the texts, and the position of each row's text; without positions all rows have the only text. */
interface Texts {
  readonly values: readonly (string | null)[];
  readonly rows?: readonly number[];
}
/** The record of a table of kernels, as roofwidget/kernels/table_record.py writes it. */
export interface KernelRecord {
  readonly names: readonly string[];
  readonly flops?: Readonly<Record<string, Numbers>>;
  readonly bytes?: Readonly<Record<string, Numbers>>;
  readonly time?: Numbers;
  readonly self_time?: Numbers;
  readonly count?: Numbers;
  readonly intensity?: Numbers;
  readonly rate?: Numbers;
  readonly precision?: Texts;
  readonly category?: Texts;
  readonly source?: string;
}
/** The record of a chip, as roofwidget/chips/chip_record.py writes it. Only links hold a share. */
export type ChipRecord = Readonly<Record<string, unknown>>;

const PLAIN_COLUMNS = ["time", "self_time", "count", "intensity", "rate"] as const;
const KEYED_COLUMNS = ["flops", "bytes"] as const;
const TEXT_COLUMNS = ["precision", "category"] as const;
/** The parts of a record that the playground takes. */
export const KERNEL_PARTS: readonly string[] = ["names", ...PLAIN_COLUMNS, ...KEYED_COLUMNS, ...TEXT_COLUMNS, "source"];
const MAX_KERNELS = 100_000;
const MAX_CHIPS = 100;
const MAX_LETTERS = 1000;
const MAX_KEYS = 64;

// -- checks ---------------------------------------------------------------------------------------------------------

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string" && value.length <= MAX_LETTERS;
const isAmount = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

function wrong(part: string): never {
  throw new Error(`'${part}' has another form`);
}
function listOf(value: unknown, part: string, most: number): readonly unknown[] {
  return Array.isArray(value) && value.length <= most ? value : wrong(part);
}
function entriesOf(value: unknown, part: string): readonly (readonly [string, unknown])[] {
  const entries = value === undefined ? [] : isObject(value) ? Object.entries(value) : wrong(part);
  return entries.length <= MAX_KEYS && entries.every(([key]) => isText(key)) ? entries : wrong(part);
}
const optional = <T>(value: unknown, is: (value: unknown) => value is T): T | null => (is(value) ? value : null);
const textOr = (value: unknown, otherwise = "") => optional(value, isText) ?? otherwise;

// -- kernels --------------------------------------------------------------------------------------------------------

/** Returns a table of kernels as Python sends it. */
export function wireKernels(record: unknown): WireKernels {
  if (!isObject(record)) wrong("kernels");
  const names = listOf(record["names"] ?? [], "names", MAX_KERNELS);
  if (!names.every(isText)) wrong("names");
  const n = names.length;
  const numbers = (value: unknown, part: string) => floats(listOf(value, part, n), n, part);
  const keyed = (part: (typeof KEYED_COLUMNS)[number]) =>
    Object.fromEntries(entriesOf(record[part], part).map(([key, column]) => [key, numbers(column, part)]));
  const plain = (part: (typeof PLAIN_COLUMNS)[number]) =>
    record[part] === undefined ? null : numbers(record[part], part);
  const [intensity, rate] = [plain("intensity"), plain("rate")];
  return {
    n,
    name: dictColumn(names as readonly string[]),
    short: null,
    precision: textColumn(record["precision"], "precision", n),
    category: textColumn(record["category"], "category", n),
    time: plain("time"),
    self_time: plain("self_time"),
    count: plain("count"),
    ...(intensity && { intensity }),
    ...(rate && { rate }),
    flops: keyed("flops"),
    bytes: keyed("bytes"),
    extra: [],
    origin: [],
    series: false,
    same: null,
    program: null,
    chip: null,
    warnings: [],
    source: textOr(record["source"]),
  };
}

function floats(values: readonly unknown[], n: number, part: string): DataView {
  if (values.length !== n) wrong(part);
  const view = new DataView(new ArrayBuffer(8 * n));
  for (const [row, value] of values.entries()) {
    if (value !== null && !isAmount(value)) wrong(part);
    view.setFloat64(8 * row, value ?? Number.NaN, true);
  }
  return view;
}

const utf8 = (values: readonly (string | null)[]) =>
  new DataView(new TextEncoder().encode(JSON.stringify(values)).buffer);

function codesOf(codes: readonly number[]): DataView {
  const view = new DataView(new ArrayBuffer(4 * codes.length));
  for (const [row, code] of codes.entries()) view.setInt32(4 * row, code, true);
  return view;
}

/** Returns a column in which each row has its own text. */
function dictColumn(texts: readonly string[]): WireDictColumn {
  const values = [...new Set(texts)];
  const places = new Map(values.map((value, at) => [value, at]));
  return { values: utf8(values), codes: codesOf(texts.map((text) => places.get(text) as number)) };
}

function textColumn(given: unknown, part: string, n: number): WireDictColumn {
  if (given === undefined) return null;
  if (!isObject(given)) wrong(part);
  const values = listOf(given["values"], part, MAX_KERNELS);
  const rows = given["rows"] === undefined ? new Array<number>(n).fill(0) : listOf(given["rows"], part, n);
  const isPlace = (row: unknown) => Number.isInteger(row) && (row as number) >= 0 && (row as number) < values.length;
  if (!values.every((value) => value === null || isText(value)) || rows.length !== n || !rows.every(isPlace))
    wrong(part);
  return { values: utf8(values as readonly (string | null)[]), codes: codesOf(rows as readonly number[]) };
}

/** Returns the record of kernels as Python sends them, with the parts of KERNEL_PARTS. */
export function kernelRecord(wire: WireColumns & { readonly source?: string }): KernelRecord {
  const keyed = (columns: Readonly<Record<string, DataView>>) =>
    Object.fromEntries(Object.entries(columns).map(([key, view]) => [key, numbersOf(view)]));
  const plain = PLAIN_COLUMNS.flatMap((part) => {
    const view = wire[part];
    return view ? [[part, numbersOf(view)]] : [];
  });
  const texts = TEXT_COLUMNS.flatMap((part) => (wire[part] ? [[part, textsOf(wire[part], wire.n)]] : []));
  const names = textsOf(wire.name, wire.n);
  return {
    names: Array.from({ length: wire.n }, (_, row) => names.values[names.rows?.[row] ?? 0] ?? ""),
    flops: keyed(wire.flops),
    bytes: keyed(wire.bytes),
    ...Object.fromEntries([...plain, ...texts]),
    ...(wire.source && { source: wire.source }),
  };
}

function numbersOf(view: DataView): Numbers {
  return Array.from({ length: view.byteLength / 8 }, (_, row) => {
    const value = view.getFloat64(8 * row, true);
    return Number.isFinite(value) ? value : null;
  });
}

function textsOf(column: WireDictColumn, n: number): Texts {
  if (!column) return { values: [null] };
  const values = JSON.parse(new TextDecoder().decode(column.values)) as readonly (string | null)[];
  if (values.length === 1) return { values };
  const { codes } = column;
  return { values, rows: Array.from({ length: n }, (_, row) => (codes ? codes.getInt32(4 * row, true) : row)) };
}

// -- chips ----------------------------------------------------------------------------------------------------------

/** Returns a chip as Python sends it. */
export function wireChip(record: unknown): WireChip {
  if (!isObject(record)) wrong("chips");
  const name = textOr(record["name"]) || wrong("name");
  const peaks = entriesOf(record["peak_flops"], "peak_flops").map(([precision, given]): [string, number] => [
    precision,
    figure(given) ?? wrong("peak_flops"),
  ]);
  const levels = entriesOf(record["memories"], "memories").map(([level, given]) => {
    const parts = isObject(given) && !("value" in given) ? given : { bandwidth: given };
    return [level, figure(parts["bandwidth"]), figure(parts["latency"])] as const;
  });
  if (peaks.length === 0 || levels.length === 0) wrong(peaks.length === 0 ? "peak_flops" : "memories");
  const links = entriesOf(record["links"], "links").map(([link, given]): [string, number | null, number | null] => {
    const parts = isObject(given) ? given : {};
    return [link, figure(parts["bandwidth"]), figure(parts["latency"])];
  });
  const latencies = levels.flatMap(([level, , latency]) => (latency === null ? [] : [[level, latency]]));
  const wanted = textOr(record["default_precision"]);
  const share = record["share"];
  return {
    id: textOr(record["id"]) || name,
    name,
    vendor: textOr(record["vendor"]),
    family: textOr(record["family"]),
    generation: optional(record["generation"], isAmount) ?? 0,
    kind: textOr(record["kind"]),
    year: optional(record["year"], isAmount),
    status: textOr(record["status"], "given"),
    precision: peaks.some(([precision]) => precision === wanted) ? wanted : (peaks[0]?.[0] as string),
    peaks,
    memories: levels.map(([level, bandwidth]) => [level, bandwidth]),
    ...(latencies.length > 0 && { latencies: Object.fromEntries(latencies) }),
    illustrative: [],
    link: links[0]?.[1] ?? null,
    links,
    clock: figure(record["clock"]),
    share: isShare(share) ? [share[0], share[1], share[2]] : null,
    shared: isShare(share) ? (share[3] ?? null) : null,
    ceilings: listOf(record["ceilings"] ?? [], "ceilings", MAX_KEYS).map(ceilingOf),
    figures: [],
    notes: [],
  };
}

type Shared = readonly [level: string, bytes: number, units: number, shared?: number | null];
const isShare = (value: unknown): value is Shared =>
  Array.isArray(value) && isText(value[0]) && isAmount(value[1]) && isAmount(value[2]) && isAmount(value[3] ?? 0);

/** Returns a figure, which may have its source; null if it is missing. */
function figure(given: unknown): number | null {
  const value = isObject(given) ? given["value"] : given;
  if (value === undefined || value === null) return null;
  return isAmount(value) && value > 0 ? value : wrong("a figure of a chip");
}

function ceilingOf(given: unknown): WireChip["ceilings"][number] {
  if (!isObject(given)) wrong("ceilings");
  const name = textOr(given["name"]) || wrong("ceilings");
  const [memory, precision] = [optional(given["memory"], isText), optional(given["precision"], isText)];
  const key = [name, memory, precision].filter((part) => part !== null).join(" ");
  return {
    key,
    name,
    rate: figure(given["rate"]) ?? wrong("ceilings"),
    memory,
    precision,
    measured: given["measured"] === true,
  };
}

/** Returns the record of a chip as Python sends it. */
export function chipRecord(chip: WireChip): ChipRecord {
  const known = (parts: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(parts).filter(([, value]) => value !== null && value !== undefined && value !== ""),
    );
  return known({
    id: chip.id,
    name: chip.name,
    vendor: chip.vendor,
    family: chip.family,
    kind: chip.kind,
    default_precision: chip.precision,
    year: chip.year,
    clock: chip.clock,
    peak_flops: Object.fromEntries(chip.peaks),
    memories: Object.fromEntries(
      chip.memories.map(([level, bandwidth]) => [level, known({ bandwidth, latency: chip.latencies?.[level] })]),
    ),
    links: Object.fromEntries(
      (chip.links ?? []).map(([name, bandwidth, latency]) => [name, known({ bandwidth, latency })]),
    ),
    ceilings: chip.ceilings.map(({ name, rate, memory, precision, measured }) =>
      known({ name, rate, memory, precision, measured: measured || null }),
    ),
  });
}

/** Returns chips as Python sends them: ids of the catalogue, and records. Leaves out ids that the catalogue lacks. */
export function wireChips(
  given: unknown,
  catalogueChip: (id: string) => WireChip | undefined,
): { readonly own: readonly WireChip[]; readonly added: readonly string[]; readonly unknown: readonly string[] } {
  const chips = listOf(given ?? [], "chips", MAX_CHIPS);
  const ids = chips.filter((one): one is string => typeof one === "string");
  return {
    own: chips.filter((one) => typeof one !== "string").map(wireChip),
    added: ids.filter((id) => catalogueChip(id)),
    unknown: ids.filter((id) => !catalogueChip(id)),
  };
}

/** Returns whether a chip has the rates of a chip of the catalogue, which it then is. */
export const isSameChip = (one: WireChip, other: WireChip | undefined): boolean =>
  other !== undefined &&
  [one.peaks, one.memories, one.precision].toString() === [other.peaks, other.memories, other.precision].toString();
