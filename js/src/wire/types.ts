// The types of the values that Python sends. A type whose name starts with "Wire" is the form on the wire. All other
// types are the form in the front end.

export interface Chip {
  readonly id: string;
  readonly name: string;
  readonly vendor: string;
  readonly family: string;
  readonly generation: number;
  readonly kind: string;
  readonly year: number | null;
  /**
   * "cross-checked" if figures were compared with a second source, "single-source" if not. "given" for a chip that is
   * not from the catalogue.
   */
  readonly status: string;
  /** The precision that is used if the chosen precision is "auto". */
  readonly precision: string;
  /** Peaks by precision, FLOP/s. */
  readonly peaks: ReadonlyMap<string, number>;
  /** Bandwidths by level, bytes/s. The main memory comes first. Null if unknown. */
  readonly memories: ReadonlyMap<string, number | null>;
  /** Seconds from a load to its data without other loads, by level. A level of unknown latency is missing. */
  readonly latencies?: Readonly<Record<string, number>>;
  /** The levels whose bandwidth is invented for teaching. No real chip has these bandwidths. */
  readonly illustrative: readonly string[];
  /** Bandwidth of the link to other chips, bytes/s in one direction; null if unknown. */
  readonly link: number | null;
  /** The links, those to other chips first. */
  readonly links: readonly Link[];
  /** Clock rate in Hz; null if unknown. */
  readonly clock: number | null;
  /** The part of the on-chip memory that one unit of the chip may use; null if unknown. */
  readonly share: Share | null;
  readonly ceilings: readonly Ceiling[];
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
  /** Other names. Only chips of the catalogue have them. */
  readonly aliases?: readonly string[];
  /** Whether a person has added the chip to those of Python. */
  readonly added?: boolean;
}

/** A link to other chips or to the host. */
export interface Link {
  readonly name: string;
  /** Bytes/s in one direction; null if unknown. */
  readonly bandwidth: number | null;
  /** Seconds; null if unknown. */
  readonly latency: number | null;
}

/** The part of the nearest memory that one unit, such as an SM, may use. */
export interface Share {
  readonly level: string;
  readonly bytes: number;
  /** The number of units on the chip. */
  readonly units: number;
  /** Bytes of the nearest memory that all units share. */
  readonly shared?: number | undefined;
}

/**
 * A limit below the peak or below a bandwidth. The rate is in FLOP/s for a compute ceiling, and in bytes/s for a memory
 * ceiling.
 */
export interface Ceiling {
  readonly key: string;
  readonly name: string;
  readonly rate: number;
  /** The memory level that the ceiling belongs to; null for a compute ceiling. */
  readonly memory: string | null;
  /** The precision that the ceiling belongs to; null if it belongs to all precisions. */
  readonly precision: string | null;
  readonly measured: boolean;
}

/** One row of the card with a chip's data sheet. */
export interface Figure {
  readonly label: string;
  /** The value in base units; null if unknown. */
  readonly value: number | null;
  readonly unit: string;
  /** True for a figure that was measured (a ceiling). False for a figure from the data sheet. */
  readonly measured: boolean;
  readonly source: string;
  readonly url: string;
  readonly confidence: string;
  /** Values from other sources. Contains only values that differ from `value` by more than 3 %. */
  readonly checks: readonly (readonly [value: number, source: string])[];
}

/** A snapshot: a roof and the places of the kernels at the time when the snapshot was made. */
export interface Snapshot {
  readonly name: string;
  /** The id of the roof's chip. The model may no longer have this chip. */
  readonly chip: string;
  readonly precision: string;
  /** The name of a level, or "all". */
  readonly memory: string;
  /** Peak in FLOP/s. */
  readonly peak: number;
  /** Bandwidth in bytes/s. */
  readonly bandwidth: number;
  readonly hidden: boolean;
  /**
   * The place of each kernel: intensity in FLOP/B and rate in FLOP/s. For a kernel without FLOPs, the intensity is 0
   * and the rate is in bytes/s.
   */
  readonly kernels: readonly (readonly [name: string, ai: number, rate: number])[];
}

/**
 * The what-if rates by chip id, by quantity, and by precision or memory level. For example, {"h100": {"peak_flops":
 * {"fp16": 1e15}}} sets the fp16 peak of the chip "h100" to 1e15 FLOP/s. Only the level "network" has a latency, in
 * seconds.
 */
export type WhatIf = Readonly<Record<string, Readonly<Partial<Record<Quantity, Readonly<Record<string, number>>>>>>>;
export type Quantity = "peak_flops" | "bandwidth" | "latency";

export type WireChip = Omit<Chip, "peaks" | "memories" | "links" | "share"> & {
  peaks: [string, number][];
  memories: [string, number | null][];
  share: [level: string, bytes: number, units: number] | null;
  /** Missing in what versions before 1.2 saved. */
  links?: [name: string, bandwidth: number | null, latency: number | null][];
  /** Missing in what versions before 1.1 saved. */
  shared?: number | null;
};

/** A dictionary-encoded string column; null if all rows are null. */
export type WireDictColumn = {
  /** The unique values, as a JSON list in UTF-8. */
  values: DataView;
  /**
   * One int32 code per row. If this is null and there is only one value, the code of every row is 0. If this is null
   * and there are several values, the code of each row is the number of the row.
   */
  codes: DataView | null;
} | null;

export interface WireColumns {
  n: number;
  name: WireDictColumn;
  short: WireDictColumn;
  precision: WireDictColumn;
  category: WireDictColumn;
  /** The time of each row; null if no time is known. */
  time: DataView | null;
  /**
   * For each row: 1 if it is a collective whose bytes over the link are unknown, else 0. Null or missing if all are 0.
   */
  unlinked?: DataView | null;
  /** The bytes that one launch of each row has in flight; see `Kernels`. Missing if the file counts none. */
  in_flight?: DataView;
  /** The self time of each row; null if all self times equal the times in `time`. */
  self_time: DataView | null;
  /** The number of launches of each row; null if every row has one launch. */
  count: DataView | null;
  /** The ratios of `KernelMetadata`. Missing if no row has one. */
  intensity?: DataView;
  rate?: DataView;
  flops: Record<string, DataView>;
  bytes: Record<string, DataView>;
  extra: [name: string, column: WireDictColumn | DataView][];
  origin: [key: string, column: WireDictColumn][];
  /** Whether the categories are series, such as runs: they keep their order and colours. Missing means false. */
  series?: boolean;
  /** The number of the kernel in each row; see `Kernels`. Null or missing without several series. */
  same?: DataView | null;
}

/** How a file was read: its format, and for each field how many rows have a value, and the column or rule behind it. */
export interface ReadAs {
  readonly format: string;
  readonly fields: readonly (readonly [field: string, known: string, rule: string])[];
}

export interface WireKernels extends WireColumns {
  program: WireColumns | null;
  chip: WireChip | null;
  warnings: string[];
  source: string;
  /** Missing if the kernels are not from a file. */
  read_as?: ReadAs;
  /** These two are missing if the times of launches are unknown. */
  communication?: Communication;
  activity?: WireActivity;
  /** Missing if no collective has a kind and a size. */
  messages?: WireMessages;
  /** Missing if the kernels have no counts of instructions. */
  instructions?: WireInstructions;
  /** Missing if the file has no counters that explain a kernel. */
  reasons?: { rules: Reason[]; row: DataView; rule: DataView };
}

interface ReasonTexts {
  /** Has names of columns in braces, in place of their values. */
  readonly sentence: string;
  /** What to try. May have names of columns too. */
  readonly suggestion: string;
}

/** Why kernels are slow, as counters of their profile show. The texts are Python's, in English. */
export interface Reason extends ReasonTexts {
  /** The texts in other languages. Missing in states that older versions saved. */
  readonly translations?: Readonly<Record<string, ReasonTexts>>;
  readonly source: string;
  /** The columns that show the reason, the most telling one first. */
  readonly columns: readonly string[];
  /** The profiler's names of the counters. */
  readonly counters: readonly string[];
}

/** How communication overlaps with other kernels, seconds. */
export interface Communication {
  readonly time: number;
  readonly other: number;
  readonly hidden: number;
}

/** How long the devices were busy and idle, seconds; see `Activity` in Python. */
export interface Activity {
  readonly busy: number;
  readonly idle: number;
  /** The sum of the durations of all kernels, which is longer than `busy` where they overlap. */
  readonly added: number;
  /** The longest idle time in one piece, and how long after the first event it begins. */
  readonly gap: number;
  readonly gapStart: number;
}

type WireActivity = Omit<Activity, "gapStart"> & { readonly gap_start: number };

interface WireMessages extends Record<"size" | "ranks" | "count" | "time" | "fastest" | "waiting", DataView> {
  kind: WireDictColumn;
  group: WireDictColumn;
  /** Missing without series. */
  series?: WireDictColumn;
}

interface WireInstructions extends Record<"rate" | "lanes" | "utilization", DataView> {
  unit: "warp" | "wavefront";
  peak: number | null;
  estimate: boolean;
  roofs: [level: string, rate: number][];
  walls: [name: string, space: string, intensity: number][];
  bound: WireDictColumn;
  levels: [level: string, intensity: DataView][];
  accesses: [space: string, intensity: DataView, rate: DataView][];
}

export interface WireBaseline {
  kernels: WireKernels;
  match: DataView;
  verdict: WireDictColumn;
  /**
   * For each row of the earlier run: 1 if the times of one launch are compared, else 0. Null or missing if all are 0.
   * See `Baseline`.
   */
  per_launch?: DataView | null;
}

export type WireSnapshot = Omit<Snapshot, "kernels"> & { kernels: [name: string, ai: number | null, rate: number][] };

/**
 * A count: a number, a symbol, or a sign followed by its operands, such as ["*", 2, "M"]. If a number is larger than
 * 2^53, it is given as a text of digits. The sign "/" divides and rounds up: ["/", 7, 2] is 4.
 */
export type WireExpression = number | string | readonly [sign: Sign, ...parts: WireExpression[]];
export type Sign = "+" | "*" | "/" | "min" | "max" | "touched";

export type WireCondition = readonly [whose: string, count: WireExpression, divisor: WireExpression];

export interface WireTensor {
  readonly name: string;
  readonly shape: readonly WireExpression[];
  readonly dtype: string;
  readonly bytes: WireExpression;
}

export type OpKind = "elementwise" | "broadcast" | "injective" | "reduction" | "scan" | "matmul" | "opaque";

export interface WireOp {
  readonly name: string;
  readonly kind: OpKind;
  /** The numbers of the tensors that the op reads. A tensor that the op reads twice is listed twice. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  /** FLOPs by class. */
  readonly flops: Readonly<Record<string, WireExpression>>;
  /** Bytes that the op moves in addition to the bytes of its tensors. */
  readonly extra: WireExpression;
  /** The derivation of the FLOPs: named counts whose sum is the number of FLOPs. */
  readonly terms: readonly (readonly [name: string, count: WireExpression])[];
  /** The precision whose peak limits the op. If this field is missing, `statedBy` chooses a precision. */
  readonly precision?: string | null;
  /** For a reduction: the axes of the first input that the op reduces, counted from 0. */
  readonly axes?: readonly number[];
  /** The loops of the op, such as "mk,kn->mn". Null or missing if they are unknown. */
  readonly index?: string | null;
  /** Whether what is added up after a reduction can be corrected once the reduction is complete. */
  readonly rescale?: boolean;
  /** The numbers that a reduction keeps for each result while it adds up. */
  readonly stats?: number;
}

export interface WireGraph {
  name: string;
  dims: [string, number, number, number][];
  conditions?: WireCondition[];
  convention: string;
  ops: WireOp[];
  tensors: WireTensor[];
  outputs: number[];
  dtypes: Record<string, number>;
  conventions: Record<string, Record<string, number>>;
}

/** A text, or an element: its name, and its nodes. `roofwidget/support/markdown.py` makes them of Markdown. */
export type TextNode = string | TextElement;
/** The element's name, followed by its nodes. */
interface TextElement extends ReadonlyArray<TextNode> {}

/** A question. See `Question` in Python. */
export interface Question {
  readonly key: string;
  readonly kind: "number" | "choice" | "drag" | "merge";
  readonly prompt: readonly TextNode[];
  /** A number, one of the options, or the groups of a best partition by the names of their ops. */
  readonly answer: Attempt;
  readonly unit: string;
  /** For numbers: the largest right distance from the answer, as |log2|. */
  readonly tolerance: number | null;
  /** The options of a choice, each with what is said to it. */
  readonly options: readonly (readonly [option: string, said: string])[];
  /** The names of the options. Like the three next fields, missing in stories of earlier versions. */
  readonly option_ids?: readonly string[];
  /** Usual wrong answers of a number, each with what is said to it. */
  readonly wrong_answers?: readonly (readonly [number: number, said: string])[];
  /** How a number is computed, in words. */
  readonly method?: string;
  /** Whether the learner is to read the answer off the page. Otherwise the page hides its numbers. */
  readonly reading?: boolean;
  readonly explanation: readonly TextNode[];
  /** What is dragged: a marker along an axis, or the focus roof. */
  readonly on: "intensity" | "rate" | "bandwidth" | "peak_flops" | null;
  readonly kernel: string | null;
  /** The graph of a merge, for the file of answers. */
  readonly graph: unknown;
  /** The chip on which a merge takes the least time. Missing or null if it moves the fewest bytes. */
  readonly chip?: string | null;
  /** False for a vote: a choice that is not judged. */
  readonly graded?: boolean;
  readonly source: string;
}

/**
 * An answer of a learner: a number in base units, an option, or groups of names of ops. An empty list says that the
 * learner was shown the answer.
 */
export type Attempt = number | string | readonly (readonly string[])[];

export interface StoryStep {
  readonly caption: readonly TextNode[];
  /** Values on the wire of the traits that differ from the story's own. */
  readonly changes: Readonly<Record<string, unknown>>;
  readonly question: Question | null;
  /** The names of kernels that are hidden until the question is answered. True for all kernels. */
  readonly hides: boolean | readonly string[];
  /** The key of an earlier question whose answer is shown. */
  readonly recalls?: string;
  /** Whether what the question hides stays hidden after its answer. */
  readonly keeps_hidden?: boolean;
}

/** The words that a lecturer has chosen. A missing word is the first. */
export interface Terms {
  readonly intensity?: "arithmetic" | "operational";
  readonly ridge?: "ridge point" | "knee" | "machine balance";
}

export interface Story {
  /** Values on the wire of all traits that a step sets. */
  readonly base: Readonly<Record<string, unknown>>;
  readonly steps: readonly StoryStep[];
}

/** Rates in FLOP/s or B/s, by quantity. */
export type RatesByQuantity = Readonly<Partial<Record<Quantity, readonly number[]>>>;

/** The visible part of the plane, in base units. */
export type Zoom = readonly [xLow: number, xHigh: number, yLow: number, yHigh: number];

/** FLOPs and bytes of one launch. A number that is left out stays unknown. */
export interface Work {
  readonly flops?: number;
  readonly bytes?: number;
}

/** The typed work of kernels, by row. */
export type TypedWork = Readonly<Record<string, Work>>;

/**
 * A what-if of a kernel: a factor on its bytes, and a factor on its time. First, the kernel's time changes with its
 * bytes, so that the kernel reaches the same share of the roof. Then the factor on the time is applied. The default of
 * each factor is 1.
 */
export interface Move {
  readonly bytes?: number;
  readonly time?: number;
}

/** The what-ifs of kernels, by row. */
export type Moves = Readonly<Record<string, Move>>;
