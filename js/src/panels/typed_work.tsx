// Two boxes under the sentence to type the FLOPs and bytes of a selected kernel whose own are unknown.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Operation, operationOf } from "../roofline/operations.ts";
import { firstWithoutWork, MAX_AMOUNT, unknownWork } from "../roofline/typed_work.ts";
import type { Store } from "../state/store.ts";
import { shortNameOf } from "../text/kernel_names.ts";
import { formatQuantity, parseAmount } from "../text/numbers.ts";
import { Button } from "../ui/button.tsx";
import { Fault, TypedBox, useTypedValue } from "../ui/number_box.tsx";
import { workWords as words } from "../words/words.ts";

const AMOUNTS = ["flops", "bytes"] as const;
type Amount = (typeof AMOUNTS)[number];

/** Significant digits of a typed amount: all that a person would type. */
const DIGITS = 9;

export function TypedWork({ store }: { readonly store: Store }) {
  const isAsked = useSignal(false);
  const given = store.givenKernels.value;
  const kernels = store.kernels.value;
  const rows = store.longestFirst.value;
  const first = useMemo(() => firstWithoutWork(kernels, rows), [kernels, rows]);
  const [row, ...others] = store.selected.value;
  if (store.lockNote("moves")) return null;
  const isOne = row !== undefined && others.length === 0 && !store.isHidden(row);
  const open = isOne ? unknownWork(given, row) : undefined;
  if (row !== undefined && (open?.flops || open?.bytes)) {
    return <Boxes key={row} store={store} row={row} open={open} isAsked={isAsked} />;
  }
  if (first === undefined) return null;
  const offer = words.offer(shortNameOf(kernels, first));
  return (
    <div class="roofwidget-work">
      <Button
        title={offer}
        onClick={() => {
          isAsked.value = true;
          store.select([first]);
        }}
      >
        {offer}
      </Button>
    </div>
  );
}

interface BoxesProps {
  readonly store: Store;
  readonly row: number;
  readonly open: Readonly<Record<Amount, boolean>>;
  /** Whether the button has asked for the boxes, so that the first box takes the focus. */
  readonly isAsked: { value: boolean };
}

function Boxes({ store, row, open, isAsked }: BoxesProps) {
  const kernels = store.kernels.value;
  const count = kernels.count[row] as number;
  const typed = store.typedWork.value[row] ?? {};
  const boxes = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isAsked.value) boxes.current?.querySelector("input")?.focus();
    isAsked.value = false;
  }, []);
  function set(amount: Amount, value: number | undefined) {
    const { [amount]: _, ...rest } = store.typedWork.value[row] ?? {};
    store.setTypedWork(row, value === undefined ? rest : { ...rest, [amount]: value });
  }
  const amounts = AMOUNTS.filter((amount) => open[amount]);
  const operation = operationOf(kernels, row, (store.focusRoof.value ?? store.shownRoofs.value[0])?.precision ?? "");
  const unitOf = (amount: Amount) => (amount === "flops" ? operation : "B");
  const totals = amounts.flatMap((amount) => {
    const value = typed[amount];
    return value === undefined ? [] : [formatQuantity(value * count, unitOf(amount))];
  });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a flex container in all browsers.
    <div ref={boxes} class="roofwidget-work" role="group" aria-label={words.panel(shortNameOf(kernels, row))}>
      {amounts.map((amount) => (
        <Box key={amount} amount={amount} unit={unitOf(amount)} count={count} typed={typed[amount]} set={set} />
      ))}
      {count > 1 && <small class="roofwidget-muted">{words.total(count, totals)}</small>}
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
      <span class="roofwidget-row">
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
