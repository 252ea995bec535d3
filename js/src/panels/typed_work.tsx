// Two boxes to type the FLOPs and bytes of a selected kernel whose own are unknown.

import { useLayoutEffect, useRef } from "preact/hooks";
import { type Operation, operationOf } from "../roofline/operations.ts";
import { MAX_AMOUNT, unknownWork } from "../roofline/typed_work.ts";
import type { Store } from "../state/store.ts";
import { shortNameOf } from "../text/kernel_names.ts";
import { formatQuantity, parseAmount } from "../text/numbers.ts";
import { Fault, TypedBox, useTypedValue } from "../ui/number_box.tsx";
import { workWords as words } from "../words/words.ts";

const AMOUNTS = ["flops", "bytes"] as const;
type Amount = (typeof AMOUNTS)[number];

/** Significant digits of a typed amount: all that a person would type. */
const DIGITS = 9;

/** Returns the selected kernel and which of its amounts are unknown, if it is the only selected one. */
function openRow({ rows: { selected, isHidden, given: givenKernels }, lesson: { lockNote } }: Store) {
  const [row, ...others] = selected.value;
  if (row === undefined || others.length > 0 || isHidden(row) || lockNote("moves")) return;
  const open = unknownWork(givenKernels.value, row);
  return open.flops || open.bytes ? { row, open } : undefined;
}

/** Whether a kernel is selected whose work can be typed. */
export const hasTypedWork = (store: Store) => openRow(store) !== undefined;

interface TypedWorkProps {
  readonly store: Store;
  /** Whether a button has asked for the boxes, so that the first box takes the focus. */
  readonly isAsked: { value: boolean };
}

export function TypedWork({ store, isAsked }: TypedWorkProps) {
  const found = openRow(store);
  return found ? <Boxes key={found.row} store={store} isAsked={isAsked} {...found} /> : null;
}

interface BoxesProps extends TypedWorkProps {
  readonly row: number;
  readonly open: Readonly<Record<Amount, boolean>>;
}

function Boxes({ store, row, open, isAsked }: BoxesProps) {
  const kernels = store.rows.kernels.value;
  const count = kernels.count[row] as number;
  const typed = store.rows.typedWork.value[row] ?? {};
  const boxes = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (isAsked.value) boxes.current?.querySelector("input")?.focus();
    isAsked.value = false;
  }, []);
  function set(amount: Amount, value: number | undefined) {
    const { [amount]: _, ...rest } = store.rows.typedWork.value[row] ?? {};
    store.rows.setTypedWork(row, value === undefined ? rest : { ...rest, [amount]: value });
  }
  const amounts = AMOUNTS.filter((amount) => open[amount]);
  const operation = operationOf(kernels, row, store.rates.askedPrecision.value);
  const unitOf = (amount: Amount) => (amount === "flops" ? operation : "B");
  const totals = amounts.flatMap((amount) => {
    const value = typed[amount];
    return value === undefined ? [] : [formatQuantity(value * count, unitOf(amount))];
  });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a flex container in all browsers.
    <div ref={boxes} class="rw-work" role="group" aria-label={words.panel(shortNameOf(kernels, row))}>
      {amounts.map((amount) => (
        <Box key={amount} amount={amount} unit={unitOf(amount)} count={count} typed={typed[amount]} set={set} />
      ))}
      {count > 1 && <small class="rw-muted">{words.total(count, totals)}</small>}
    </div>
  );
}

interface BoxProps {
  readonly amount: Amount;
  readonly unit: Operation | "B";
  readonly count: number;
  readonly typed: number | undefined;
  set(amount: Amount, value: number | undefined): void;
}

function Box({ amount, unit, count, typed, set }: BoxProps) {
  const accept = (value: number | undefined) => {
    entry.clear();
    set(amount, value);
  };
  const entry = useTypedValue<number>(
    (text) => parseAmount(text, unit, MAX_AMOUNT),
    accept,
    () => accept(undefined),
  );
  const label = words.box(words.amounts[unit], count);
  return (
    <>
      <span class="rw-row">
        <span>{label}</span>
        <TypedBox
          entry={entry}
          label={label}
          shown={typed === undefined ? "" : formatQuantity(typed, unit, DIGITS)}
          hint={words.example(formatQuantity(unit === "B" ? 1e10 : 4e12, unit))}
          reset={{ label: words.reset(words.amounts[unit]), done: typed === undefined, act: () => accept(undefined) }}
        />
      </span>
      <Fault entry={entry} />
    </>
  );
}
