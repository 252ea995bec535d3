// The list of a graph's ops with their counts and formulas. Only the visible rows are drawn.

import { useSignal } from "@preact/signals";
import { clamp } from "../../chart/scales.ts";
import { opName } from "../../fusion/graph.ts";
import type { Operation } from "../../roofline/operations.ts";
import type { Store } from "../../state/store.ts";
import { isModified, keyShortcuts, LIST_KEYS, lookUp, OWN_KEYS, used } from "../../ui/keys.ts";
import { useUid } from "../../ui/uid.ts";
import { strings, workloadWords as words } from "../../words/words.ts";
import { type CountLine, derivation, figuresOf, operationAt } from "./dims.ts";

/** The height of a row, px. It must equal the height in the style sheet. */
const ROW_PX = 44;
/** The height of the list, px. It must equal the height in the style sheet. */
const LIST_PX = 264;
const DRAWN_ROWS = LIST_PX / ROW_PX + 1;

export function Operations({ store }: { store: Store }) {
  const id = useUid();
  const first = useSignal(0);
  const pointed = useSignal<number | null>(null);
  const active = useSignal<number | null>(null);
  const workload = store.throttled.fused.value;
  if (!workload) return null;
  const { graph, partition, values, env } = workload;
  const count = graph.ops.length;
  const meant = pointed.value ?? active.value;
  const shown = meant !== null && meant < count ? meant : null;
  const from = clamp(first.value, 0, count - DRAWN_ROWS);
  const rows = Array.from({ length: Math.min(DRAWN_ROWS, count) }, (_, at) => from + at);
  const rowId = (op: number) => `${id}-${op}`;

  /** Hovers the op's kernel on the chart too. */
  const point = (op: number | null) => store.rows.hover(op === null ? null : (partition.groupOf[op] ?? null));
  function key(event: KeyboardEvent & { currentTarget: HTMLElement }) {
    if (isModified(event)) return;
    const next = lookUp(LIST_KEYS, event.key)?.(active.value, count, LIST_PX / ROW_PX);
    if (next === undefined) return;
    pointed.value = null;
    active.value = next;
    point(next);
    if (next !== null) scrollTo(event.currentTarget, next);
    used(event);
  }

  return (
    <>
      <div
        class="rw-ops"
        role="listbox"
        tabIndex={0}
        {...OWN_KEYS}
        aria-label={words.operations}
        aria-keyshortcuts={keyShortcuts(LIST_KEYS)}
        aria-activedescendant={active.value !== null && rows.includes(active.value) ? rowId(active.value) : undefined}
        onScroll={({ currentTarget }) => {
          first.value = Math.floor(currentTarget.scrollTop / ROW_PX);
        }}
        onPointerLeave={() => {
          pointed.value = null;
          point(active.value);
        }}
        onBlur={() => point(null)}
        onKeyDown={key}
      >
        <div class="rw-rows" style={{ height: `${count * ROW_PX}px` }}>
          {rows.map((op) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the focus and takes the keys
            // biome-ignore lint/a11y/useFocusableInteractive: a row out of sight would take the focus with it
            <div
              key={op}
              id={rowId(op)}
              class={op === shown ? "rw-listed rw-pointed" : "rw-listed"}
              role="option"
              aria-selected={op === active.value}
              aria-setsize={count}
              aria-posinset={op + 1}
              style={{ top: `${op * ROW_PX}px` }}
              onPointerEnter={() => {
                pointed.value = op;
                point(op);
              }}
              onClick={() => {
                active.value = op;
              }}
            >
              <Row name={opName(graph, op)} figures={figuresOf(graph, values, op)} />
            </div>
          ))}
        </div>
      </div>
      <div class="rw-derivation" aria-live={pointed.value === null && !store.view.isInDrag() ? "polite" : "off"}>
        {shown === null ? (
          <p class="rw-muted">{words.pointAtOne}</p>
        ) : (
          <Derivation
            name={opName(graph, shown)}
            operation={operationAt(graph, values, shown)}
            {...derivation(graph, env, shown, operationAt(graph, values, shown))}
          />
        )}
      </div>
    </>
  );
}

function Row({ name, figures: [counts, intensity] }: { name: string; figures: readonly [string, string] }) {
  return (
    <>
      <div class="rw-op-name">
        <span title={name}>{name}</span>
        <span class="rw-value">{intensity}</span>
      </div>
      <div class="rw-muted">{counts}</div>
    </>
  );
}

function scrollTo(list: HTMLElement, op: number) {
  list.scrollTop = Math.max((op + 1) * ROW_PX - list.clientHeight, Math.min(op * ROW_PX, list.scrollTop));
}

function Derivation({
  name,
  operation,
  counts,
  terms,
}: { name: string; operation: Operation } & ReturnType<typeof derivation>) {
  return (
    <>
      <h4>{name}</h4>
      {counts.map((line) => (
        <Count key={line.name} line={line} />
      ))}
      {terms.length > 0 && (
        <>
          <p class="rw-muted">{words.terms(strings.work[operation])}</p>
          {terms.map((line) => (
            <Count key={line.name} line={line} />
          ))}
        </>
      )}
    </>
  );
}

function Count({ line: { name, formula, numbers, amount } }: { line: CountLine }) {
  return (
    <div class="rw-count">
      <p>
        <span>{name}</span>
        <span class="rw-value">{amount}</span>
      </p>
      <p>{broken(formula)}</p>
      {numbers && <p>{broken(`= ${numbers}`)}</p>}
    </div>
  );
}

/** Allows a line break after each factor of a long product. */
const broken = (text: string) =>
  text.split("·").map((part, at) => (at === 0 ? part : ["·", <wbr key={`${at} ${part}`} />, part]));
