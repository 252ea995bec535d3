// The synced traits as the page holds them: their names, their owners, and the forms of their values.
// wire/traits.ts declares them.

import type { ReadonlySignal, Signal } from "@preact/signals";
import { decodeBaseline, decodeChips, decodeKernels, decodeSnapshots } from "../wire/decode.ts";
import { encodeSnapshots } from "../wire/encode.ts";
import { TRAITS as DECLARED, type TraitTypes } from "../wire/traits.ts";

/**
 * The plane of the chart. In "roofline", x is the intensity and y is the rate. In "time", x is the compute time and y
 * is the memory time.
 */
export type View = TraitTypes["view"];
/**
 * Which points the chart shows. "kernels" means the kernels and the total of the program. "program" means the total of
 * the program and the totals of its steps.
 */
export type Scope = TraitTypes["scope"];
/** By kernel: the numbers of its ops. */
export type KernelGroups = NonNullable<TraitTypes["partition"]>;
export type Owner = "python" | "browser" | "shared";

interface Trait {
  /** Who may change the trait. The page never sends a trait that Python owns. */
  readonly owner: Owner;
  /** Whether changes of the trait can be undone. The traits of a graph are undone together. */
  readonly undoable: "alone" | "with graph" | undefined;
  /**
   * Whether the trait is a mapping. The page sends only the changed keys of a mapping, so that two pages can change
   * different keys at the same time.
   */
  readonly isMapping: boolean;
  decode(wire: unknown): unknown;
  encode(value: unknown): unknown;
}

/** The traits whose values have another form in the page than on the wire. */
const CODECS = {
  chips: [decodeChips],
  kernels: [decodeKernels],
  baseline: [decodeBaseline],
  snapshots: [decodeSnapshots, encodeSnapshots],
  // A page that was saved before it could open files opens none.
  openFiles: [(wire: unknown) => wire ?? "nothing"],
  // Version 0.1.0 saved an array under the name `exposed_comm`: the value of today's trait `exposedRoofs`. If
  // `exposed_comm` is not a number, 0 is used here.
  exposedComm: [(wire: unknown) => (typeof wire === "number" ? wire : 0)],
} as unknown as Partial<Record<TraitName, [decode: Trait["decode"], encode?: Trait["encode"]]>>;

const same = (value: unknown) => value;

function traitFrom(name: TraitName): Trait {
  const [kind, fallback] = DECLARED[name];
  const [decode = (wire: unknown) => (wire === undefined ? fallback : wire), encode = same] = CODECS[name] ?? [];
  return {
    owner: kind === "python" || kind === "browser" ? kind : "shared",
    undoable: kind.endsWith("alone") ? "alone" : kind.endsWith("with graph") ? "with graph" : undefined,
    isMapping: kind.startsWith("mapping"),
    decode,
    encode,
  };
}

export type TraitName = keyof TraitTypes;
export type TraitValues = Readonly<TraitTypes>;
/**
 * All synced traits, by their names in the store. On the wire, `focusChip` is `focus_chip`. Python and the page share
 * all `undoable` traits.
 */
export const TRAITS = Object.fromEntries(
  (Object.keys(DECLARED) as TraitName[]).map((name) => [name, traitFrom(name)]),
) as Readonly<Record<TraitName, Trait>>;
/** The units and ticks of the axes. */
export type Axes = Pick<TraitValues, "rateUnit" | "word" | "xAxis" | "tickBase" | "timeScale" | "frame">;
export type Signals = {
  readonly [N in TraitName]: N extends "chips" ? ReadonlySignal<TraitValues[N]> : Signal<TraitValues[N]>;
};
/** The names of the traits that the page may change. */
export type Writable = { [N in TraitName]: (typeof DECLARED)[N][0] extends "python" ? never : N }[TraitName];
/** New values of traits that the page may change. */
export type Changes = Partial<Pick<TraitValues, Writable>>;

export const TRAIT_NAMES = Object.keys(TRAITS) as TraitName[];
/** Whether a trait belongs to the graph: the traits of one graph are undone together. */
export const isOfGraph = (name: TraitName) => TRAITS[name].undoable === "with graph";
export const wireName = (name: TraitName) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
/** Returns the names of changed values. */
export const namesOf = (changes: object) => Object.keys(changes) as Writable[];
