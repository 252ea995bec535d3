// Chips, kernels and models for tests. Kernels are encoded and decoded as if Python had sent them.

import { afterEach, beforeEach, vi } from "vitest";
import { unitsOf } from "../src/chart/axis_units.ts";
import { type Conditions, isRoof, PLAIN, type Roof, roofOf } from "../src/roofline/roofline.ts";
import { applied, type Changes } from "../src/state/changes.ts";
import { STAMP } from "../src/state/messages.ts";
import type { Model } from "../src/state/model.ts";
import { TRAIT_NAMES, wireName } from "../src/state/traits.ts";
import type { InstructionRoofline, Kernels } from "../src/wire/columns.ts";
import { decodeKernels } from "../src/wire/decode.ts";
import { TRAITS } from "../src/wire/traits.ts";
import type { Ceiling, Chip, Share, WhatIf } from "../src/wire/types.ts";

export interface ChipSpec {
  id?: string;
  name?: string;
  vendor?: string;
  kind?: string;
  generation?: number;
  precision?: string;
  peaks?: Record<string, number>;
  memories?: Record<string, number | null>;
  latencies?: Chip["latencies"];
  link?: number | null;
  links?: Chip["links"];
  clock?: number | null;
  share?: Share | null;
  ceilings?: readonly Ceiling[];
}

export type Amount = number | null | Readonly<Record<string, number>>;

export interface KernelSpec {
  name?: string;
  flops?: Amount;
  bytes?: Amount;
  time?: number | null;
  precision?: string | null;
  category?: string | null;
  count?: number;
  intensity?: number;
  rate?: number;
  /** Its self time, seconds, if that is not its time. */
  selfTime?: number | null;
  short?: string | null;
}

/** The metadata of kernels. */
export interface MetadataSpec {
  program?: readonly KernelSpec[];
  extra?: Readonly<Record<string, readonly (string | null)[] | readonly number[]>>;
  origin?: Readonly<Record<string, readonly (string | null)[]>>;
  warnings?: readonly string[];
  source?: string;
}

/** By default 100 TFLOP/s and 1 TB/s, so that the ridge point is 100 FLOP/byte. */
export function makeChip({
  id = "chip",
  peaks = { bf16: 1e14 },
  memories = { HBM: 1e12 },
  ...rest
}: ChipSpec = {}): Chip {
  return {
    id,
    name: rest.name ?? id,
    vendor: rest.vendor ?? "",
    family: "",
    generation: rest.generation ?? 0,
    precision: rest.precision ?? (Object.keys(peaks)[0] as string),
    peaks: new Map(Object.entries(peaks)),
    memories: new Map(Object.entries(memories)),
    ...(rest.latencies && { latencies: rest.latencies }),
    illustrative: [],
    link: rest.link ?? null,
    links: rest.links ?? [],
    clock: rest.clock ?? null,
    share: rest.share ?? null,
    ceilings: rest.ceilings ?? [],
    kind: rest.kind ?? "",
    year: null,
    status: "given",
    figures: [],
    notes: [],
  };
}

/** A chip as Python sends it. */
export function wireChip(spec: ChipSpec = {}): unknown {
  const { peaks, memories, share, links, ...rest } = makeChip(spec);
  return {
    ...rest,
    links: links.map(({ name, bandwidth, latency }) => [name, bandwidth, latency]),
    peaks: [...peaks],
    memories: [...memories],
    share: share && [share.level, share.bytes, share.units],
  };
}

export function makeRoof(
  chip: Chip,
  precision = "auto",
  memory = "main",
  whatIf: WhatIf = {},
  conditions: Partial<Conditions> = {},
): Roof {
  const roof = roofOf(chip, precision, memory, whatIf, { ...PLAIN, ...conditions });
  if (!isRoof(roof)) throw new Error(`${chip.name} lacks ${roof.name}`);
  return roof;
}

export const makeKernels = (specs: readonly KernelSpec[], told: MetadataSpec = {}): Kernels =>
  decodeKernels(wireKernels(specs, 0, told));

/** The instruction roofline of three kernels with the roofs of a V100. Kernel 1 is known at L2 alone, kernel 2 nowhere. */
export function makeInstructions(told: Partial<InstructionRoofline> = {}): InstructionRoofline {
  const column = (...values: readonly number[]) => new Float64Array(values);
  const { NaN: unknown } = Number;
  return {
    unit: "warp",
    peak: 489.6e9,
    isEstimate: false,
    roofs: new Map([
      ["L1", 437.5e9],
      ["L2", 93.65e9],
      ["HBM", 25.9e9],
    ]),
    walls: [
      { name: "stride 0", space: "global", intensity: 1 },
      { name: "stride 1, 4 B", space: "global", intensity: 1 / 4 },
      { name: "stride 1, 8 B", space: "global", intensity: 1 / 8 },
      { name: "stride 8 and more, 4 B", space: "global", intensity: 1 / 32 },
      { name: "no bank conflict", space: "shared", intensity: 1 },
      { name: "32-way bank conflict", space: "shared", intensity: 1 / 32 },
    ],
    rate: column(50e9, 10e9, unknown),
    lanes: column(0.5, 1, unknown),
    utilization: column(50 / 109.375, unknown, unknown),
    bound: { values: ["L1", "unknown"], codes: new Int32Array([0, 1, 1]) },
    levels: new Map([
      ["L1", column(0.25, unknown, unknown)],
      ["L2", column(2, 5, unknown)],
      ["HBM", column(40, unknown, unknown)],
    ]),
    accesses: new Map([
      ["global", { intensity: column(1 / 32, unknown, unknown), rate: column(5e9, unknown, unknown) }],
      ["shared", { intensity: column(unknown, unknown, unknown), rate: column(unknown, unknown, unknown) }],
    ]),
    ...told,
  };
}

/** Kernels as Python sends them; each buffer starts at `offset` bytes in its message. */
export function wireKernels(
  specs: readonly KernelSpec[],
  offset = 0,
  { program, extra = {}, origin = {}, warnings = [], source = "" }: MetadataSpec = {},
): Record<string, unknown> {
  const floats = (values: readonly number[]) =>
    buffer(values, 8, offset, (view, at, value) => view.setFloat64(at, value, true));
  const texts = (values: readonly (string | null)[]) => {
    const distinct = [...new Set(values)];
    if (distinct.length === 1 && distinct[0] === null) return null;
    const written = [...new TextEncoder().encode(JSON.stringify(distinct))];
    const codes = values.map((value) => distinct.indexOf(value));
    const follows = distinct.length === 1 || distinct.length === values.length;
    return {
      values: buffer(written, 1, offset, (view, at, byte) => view.setUint8(at, byte)),
      codes: follows ? null : buffer(codes, 4, offset, (view, at, code) => view.setInt32(at, code, true)),
    };
  };
  const times = specs.map(({ time }) => time ?? Number.NaN);
  const selfTimes = specs.map(({ selfTime }, row) => (selfTime === undefined ? times[row] : selfTime) ?? Number.NaN);
  const ratio = (name: "intensity" | "rate") =>
    specs.some((spec) => spec[name] !== undefined) && { [name]: floats(specs.map((spec) => spec[name] ?? Number.NaN)) };
  const counts = specs.map(({ count = 1 }) => count);
  const columns = (amounts: readonly Amount[], plain: string) => {
    const keys = new Set(amounts.flatMap((amount) => (isMapping(amount) ? Object.keys(amount) : [plain])));
    const part = (amount: Amount, key: string) =>
      (isMapping(amount) ? amount[key] : key === plain ? amount : undefined) ?? Number.NaN;
    return Object.fromEntries([...keys].map((key) => [key, floats(amounts.map((amount) => part(amount, key)))]));
  };
  return {
    n: specs.length,
    name: texts(specs.map((spec, row) => spec.name ?? `kernel ${row}`)),
    precision: texts(specs.map((spec) => spec.precision?.toLowerCase() ?? null)),
    category: texts(specs.map((spec) => spec.category ?? null)),
    time: times.every(Number.isNaN) ? null : floats(times),
    count: counts.every((count) => count === 1) ? null : floats(counts),
    ...ratio("intensity"),
    ...ratio("rate"),
    flops: columns(
      specs.map((spec) => lowerKeys(spec.flops ?? null)),
      "",
    ),
    bytes: columns(
      specs.map((spec) => spec.bytes ?? null),
      "main",
    ),
    short: texts(specs.map((spec) => spec.short ?? null)),
    self_time: selfTimes.every((time, row) => Object.is(time, times[row])) ? null : floats(selfTimes),
    extra: Object.entries(extra).map(([name, column]) => [name, isNumbers(column) ? floats(column) : texts(column)]),
    origin: Object.entries(origin).map(([key, column]) => [key, texts(column)]),
    program: program ? wireKernels(program, offset) : null,
    chip: null,
    warnings,
    source,
  };
}

const isNumbers = (column: readonly unknown[]): column is readonly number[] => typeof column[0] === "number";

function buffer<T>(values: readonly T[], size: number, offset: number, put: (v: DataView, at: number, x: T) => void) {
  const view = new DataView(new ArrayBuffer(offset + values.length * size), offset);
  for (const [row, value] of values.entries()) put(view, row * size, value);
  return view;
}

const isMapping = (amount: Amount): amount is Readonly<Record<string, number>> =>
  typeof amount === "object" && amount !== null;

const lowerKeys = (amount: Amount): Amount =>
  isMapping(amount)
    ? Object.fromEntries(Object.entries(amount).map(([key, part]) => [key.toLowerCase(), part]))
    : amount;

/** The axes of a new model. */
export const DEFAULT_AXES = {
  rateUnit: TRAITS.rateUnit[1],
  word: TRAITS.word[1],
  xAxis: TRAITS.xAxis[1],
  tickBase: TRAITS.tickBase[1],
};

/** The default units: FLOP/s and FLOP/B. */
export const UNITS = unitsOf(DEFAULT_AXES);

/** The values of a new model's traits, by their names on the wire. */
export const DEFAULTS: Readonly<Record<string, unknown>> = Object.fromEntries(
  TRAIT_NAMES.map((name) => [wireName(name), TRAITS[name][1]]),
);

/** What a page sends; see roofwidget/state/messages.py. */
export interface PageMessage {
  readonly page: string;
  readonly number: number;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly changes?: Readonly<Record<string, Changes>>;
  readonly ask?: readonly string[];
}

/**
 * anywidget's model without Python. It records the changes of each message and answers at once, as Python does with
 * values that it accepts. `receive` simulates a change by Python.
 */
export class FakeModel implements Model {
  readonly state: Record<string, unknown>;
  /** The new values of each message that changes something, in order. */
  readonly sent: Record<string, unknown>[] = [];
  readonly #listeners = new Map<string, Set<() => void>>();
  #clock = 0;

  constructor(state: Record<string, unknown>) {
    this.state = { ...state };
  }
  get(name: string): unknown {
    return this.state[name];
  }
  send(content: unknown): void {
    const { page, number, values = {}, changes = {}, ask } = content as PageMessage;
    const merged = Object.entries(changes).map(([name, own]) => [name, applied(this.state[name] as Changes, own)]);
    const next = { ...values, ...Object.fromEntries(merged) };
    if (!ask) this.sent.push(next);
    this.update(next, page, number);
  }
  on(event: string, callback: () => void): void {
    const callbacks = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, callbacks.add(callback));
  }
  off(event: string, callback: () => void): void {
    this.#listeners.get(event)?.delete(callback);
  }
  receive(name: string, value: unknown): void {
    this.update({ [name]: value }, "", 0);
  }
  /** Simulates an update; the arguments are the parts of its stamp. By default the clock goes on by one. */
  protected update(values: Record<string, unknown>, page: string, number: number, ticks = 1): void {
    this.#clock += ticks;
    Object.assign(this.state, values, { [STAMP]: [this.#clock, page, number] });
    for (const name of [...Object.keys(values), STAMP]) {
      for (const callback of this.#listeners.get(`change:${name}`) ?? []) callback();
    }
  }
  get listening(): number {
    return [...this.#listeners.values()].reduce((sum, callbacks) => sum + callbacks.size, 0);
  }
}

export const several = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** Random numbers in [0, 1), the same in every run (Mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** For each test of a file: imports of text work, and the texts and the addresses that are given back are listed. */
export function eachWithImports() {
  const made: string[] = [];
  const revoked: string[] = [];
  beforeEach(() => {
    for (const list of [made, revoked]) list.length = 0;
    vi.stubGlobal(
      "Blob",
      class {
        readonly text: string;
        constructor(parts: (string | ArrayBuffer)[]) {
          this.text = parts.map((part) => (typeof part === "string" ? part : new TextDecoder().decode(part))).join("");
        }
      },
    );
    vi.stubGlobal("URL", {
      // A different address each time, as for blobs: the runtime caches modules by their address.
      createObjectURL: ({ text }: { text: string }) => {
        made.push(text);
        return `data:text/javascript,${encodeURIComponent(`${text}//${Math.random()}`)}`;
      },
      revokeObjectURL: (url: string) => void revoked.push(url),
    });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });
  return { made, revoked };
}

/** For each test of a file: a fake clock, and a signal that is aborted at the end of the test. */
export function eachWithClock(): () => AbortController {
  let abort: AbortController;
  beforeEach(() => {
    vi.useFakeTimers();
    abort = new AbortController();
  });
  afterEach(() => {
    abort.abort();
    vi.useRealTimers();
  });
  return () => abort;
}
