// The rows of a profile that pass the filters.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { perByte, probeOf } from "../roofline/bound.ts";
import {
  byFallingTime,
  type Filters,
  filteredRows,
  type Prepared,
  phaseColumn,
  smallNames,
  UNFILTERED,
} from "../roofline/filters.ts";
import { type RatedMessage, ratedMessages } from "../roofline/network.ts";
import { kernelCount } from "../roofline/positions.ts";
import type { Roof } from "../roofline/roofline.ts";
import type { Baseline, DictColumn, Kernels } from "../wire/columns.ts";
import type { Hidden } from "./lesson.ts";
import type { Signals } from "./traits.ts";

/**
 * Derives the rows that pass the filters, and figures about the rows that pass. Each value is computed when it is first
 * read.
 */
export function deriveRows(
  state: Signals,
  kernels: ReadonlySignal<Kernels>,
  focusRoof: ReadonlySignal<Roof | undefined>,
  hidden: ReadonlySignal<Hidden>,
) {
  /** The kernels that the user has singled out, and the table that they are rows of. Null without a choice. */
  const only = signal<{ readonly rows: readonly number[]; readonly of: Kernels["name"] } | null>(null);
  const onlyRows = computed(() => (only.value?.of === kernels.value.name ? only.value.rows : null));
  const names = Object.keys(UNFILTERED) as (keyof Filters)[];
  const filters = computed(
    () => Object.fromEntries(names.map((name) => [name, state[name].value])) as unknown as Filters,
  );
  const now = prepare(kernels, focusRoof);
  const hiddenNames = computed(() => {
    const names = hidden.value;
    return names === "all" ? undefined : kernels.value.name.values.map((own) => own !== null && names.has(own));
  });
  const isHidden = (row: number) =>
    hiddenNames.value?.[kernels.value.name.codes[row] as number] ?? hidden.value === "all";
  let last: Int32Array = new Int32Array();
  /** Keeps the same array while the same rows pass, so that values memoized for the array stay valid. */
  const passing = computed(() => {
    const all = filteredRows(kernels.value, filters.value, now);
    const some = onlyRows.value && new Set(onlyRows.value);
    const next = some ? all.filter((row) => some.has(row)) : all;
    if (!isEqual(next, last)) last = next;
    return last;
  });
  const rows = computed(() => {
    const isNone = hidden.value !== "all" && hidden.value.size === 0;
    return isNone ? passing.value : passing.value.filter((row) => !isHidden(row));
  });
  // This value is only read if there is a baseline.
  const earlier = computed(() => (state.baseline.value as Baseline).kernels);
  const before = prepare(earlier, focusRoof);
  const earlierRows = computed(() =>
    state.baseline.value ? filteredRows(earlier.value, filters.value, before) : new Int32Array(),
  );
  const totals = computed(() => {
    const { n, selfTime, totalTime } = kernels.value;
    const isAll = passing.value.length === n;
    let seconds = isAll ? totalTime : 0;
    for (let at = 0; !isAll && at < passing.value.length; at++) seconds += selfTime[passing.value[at] as number] || 0;
    const all = kernelCount(kernels.value);
    return { kernels: kernelCount(kernels.value, passing.value), all, share: seconds / totalTime };
  });
  const byCategory = computed(() => partsOf(kernels.value.category, kernels.value));
  const byPhase = computed(() => partsOf(phaseColumn(kernels.value), kernels.value));
  const messages = computed(() =>
    hidden.value === "all" || hidden.value.size > 0 ? NO_MESSAGES : ratedMessages(kernels.value),
  );
  return {
    rows,
    messages,
    hiddenRows: computed(() => (rows.value === passing.value ? NO_ROWS : without(passing.value, rows.value))),
    isHidden,
    earlierRows,
    totals,
    boundBy: computed(now.boundBy),
    byCategory,
    byPhase,
    timeOrder: computed(now.order),
    isFiltered: computed(() => {
      const isSet = (name: keyof Filters) => {
        const value = state[name].value;
        return value !== UNFILTERED[name] && !(name === "top" && value === null);
      };
      return onlyRows.value !== null || names.some(isSet);
    }),
    onlyRows,
    setOnly(rows: readonly number[] | null) {
      only.value = rows && { rows, of: kernels.value.name };
    },
  };
}

const NO_ROWS = new Int32Array();
const NO_MESSAGES: readonly RatedMessage[] = [];
const without = (rows: Int32Array, others: Int32Array) => {
  const known = new Set(others);
  return rows.filter((row) => !known.has(row));
};

function prepare(kernels: ReadonlySignal<Kernels>, roof: ReadonlySignal<Roof | undefined>): Prepared {
  const names = computed(() => smallNames(kernels.value));
  const order = computed(() => byFallingTime(kernels.value));
  const boundBy = computed(() => boundsOf(kernels.value, roof.value));
  return { names: () => names.value, order: () => order.value, boundBy: () => boundBy.value };
}

/** The kernels of a category or of a phase. */
export interface Part {
  /** The name; "" for kernels without a category or a phase. */
  readonly name: string;
  readonly kernels: number;
  /** The code in the column. That of a category decides its colour. */
  readonly code: number;
  /** The share of the total self time; NaN if no kernel was measured. */
  readonly share: number;
}

function partsOf({ values, codes }: DictColumn, { selfTime, totalTime }: Kernels): readonly Part[] {
  const found = values.map((name, code) => ({ name: name ?? "", kernels: 0, code, share: 0 }));
  for (let row = 0; row < codes.length; row++) {
    const part = found[codes[row] as number] as (typeof found)[number];
    part.kernels++;
    part.share += (selfTime[row] || 0) / totalTime;
  }
  return found.sort((a, b) => b.share - a.share);
}

export function boundsOf(kernels: Kernels, roof: Roof | undefined): DictColumn {
  const codes = new Map<string, number>();
  const codeOf = (word: string) => codes.get(word) ?? codes.set(word, codes.size).size - 1;
  const probe = roof && probeOf(perByte(kernels), roof);
  const wordOf = (row: number) => {
    if (!probe) return "unknown";
    const { regime, slowest } = probe(row);
    return regime === "memory" ? (roof.levels[slowest]?.name ?? "") : regime;
  };
  const column = new Int32Array(kernels.n);
  for (let row = 0; row < column.length; row++) column[row] = codeOf(wordOf(row));
  return { values: [...codes.keys()], codes: column };
}

function isEqual(one: Int32Array, other: Int32Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
