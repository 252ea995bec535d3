// What the graph is counted with: its dimensions on sliders, dtype and convention, and what each op then counts to.

import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { type Grip, letGo, take, takeBack } from "../drag.ts";
import { type Dim, type Graph, lookup } from "../graph.ts";
import { isModified } from "../keys.ts";
import type { Store } from "../store.ts";
import { strings, workloadWords as words } from "../strings.ts";
import {
  derivation,
  figuresOf,
  isLog,
  keyed,
  type Line,
  parseSize,
  positionOf,
  shareOf,
  valueAt,
  walked,
} from "./dims.ts";
import { Fold } from "./fold.tsx";

export function Workload({ store }: { store: Store }) {
  const workload = store.workload.value;
  if (!workload) return null;
  const { graph, env, convention, dtype } = workload;
  const sizes = lookup(graph, env);
  return (
    <section class="roofwidget-workload" aria-label={words.title}>
      <h3>{graph.name || words.title}</h3>
      {graph.dims.map((dim) => (
        <Size key={dim.name} store={store} dim={dim} value={sizes(dim.name) ?? dim.default} />
      ))}
      {graph.mainDtype !== null && (
        <Select
          label={words.dtype}
          value={dtype ?? ""}
          options={[
            ["", words.asBuilt(graph.mainDtype)],
            ...dtypesOf(graph, dtype).map((name) => [name, name] as const),
          ]}
          choose={(name) => store.setDtype(name === "" ? null : name)}
        />
      )}
      <Select
        label={words.convention}
        value={convention}
        options={[...graph.conventions.keys()].map((name) => [name, name] as const)}
        choose={store.setConvention}
      />
      <Fold title={words.operations} note={String(graph.ops.length)}>
        <Operations store={store} />
      </Fold>
    </section>
  );
}

/** Those that its numbers could have; its own is "as built" unless it was chosen by name. */
const dtypesOf = ({ dtypes, mainDtype }: Graph, chosen: string | null) =>
  [...dtypes.keys()].filter((name) => name === chosen || (name !== "bool" && name !== mainDtype));

interface SizeProps {
  readonly store: Store;
  readonly dim: Dim;
  readonly value: number;
}

function Size({ store, dim, value }: SizeProps) {
  const draft = useSignal<string | null>(null);
  const fault = useSignal("");
  const grip = useRef<Grip>({ before: undefined }).current;
  const { name } = dim;

  function set(size: number, stream = false) {
    draft.value = null;
    fault.value = "";
    store.setDim(name, size, { stream });
  }
  const actions = { hold: store.holdDims, release: store.releaseDims, set };
  // Another graph may come while it is held.
  useEffect(() => () => letGo(grip, actions), []);

  function key(event: KeyboardEvent & { currentTarget: HTMLInputElement }) {
    if (isModified(event)) return;
    const next = keyed(dim, value, event.key);
    if (event.key === "Escape" && grip.before !== undefined) takeBack(grip, event.currentTarget, actions);
    else if (next !== undefined) set(next, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  function commit() {
    if (draft.value === null) return;
    const size = parseSize(draft.value, dim, value);
    if (typeof size === "string") fault.value = size;
    else set(size);
  }
  function typeKey(event: KeyboardEvent) {
    if (event.key === "Enter") commit();
    else if (event.key === "Escape") {
      draft.value = null;
      fault.value = "";
    } else return;
    event.stopPropagation();
  }

  return (
    <div class="roofwidget-size" data-dim={name}>
      <div class="roofwidget-row">
        <span>{name}</span>
        <span class="roofwidget-entry">
          <input
            type="text"
            class="roofwidget-box"
            data-lm-suppress-shortcuts="true"
            aria-label={strings.typed(name)}
            aria-invalid={fault.value !== ""}
            value={draft.value ?? String(value)}
            onInput={(event) => {
              draft.value = event.currentTarget.value;
            }}
            onBlur={commit}
            onKeyDown={typeKey}
          />
          <button
            type="button"
            class="roofwidget-reset"
            data-lm-suppress-shortcuts="true"
            aria-label={words.reset(name, dim.default)}
            title={words.reset(name, dim.default)}
            aria-disabled={value === dim.default && draft.value === null}
            onClick={() => set(dim.default)}
          >
            ⟲
          </button>
        </span>
      </div>
      <div class="roofwidget-track">
        <div class="roofwidget-marks">
          <i class="roofwidget-mark roofwidget-sheet" style={{ left: `${shareOf(dim, dim.default) * 100}%` }} />
        </div>
        <input
          type="range"
          class="roofwidget-slider"
          data-lm-suppress-shortcuts="true"
          aria-label={name}
          aria-valuetext={String(value)}
          min={positionOf(dim, dim.low)}
          max={positionOf(dim, dim.high)}
          step={isLog(dim) ? "any" : 1}
          value={positionOf(dim, value)}
          onPointerDown={() => take(grip, value, actions)}
          onPointerUp={() => letGo(grip, actions)}
          onPointerCancel={() => letGo(grip, actions)}
          onBlur={() => letGo(grip, actions)}
          onInput={({ currentTarget }) => {
            const held = grip.before !== undefined;
            const next = valueAt(dim, currentTarget.valueAsNumber, held);
            if (next !== value) set(next, held);
          }}
          onChange={() => letGo(grip, actions)}
          onKeyDown={key}
        />
      </div>
      {fault.value && (
        <p class="roofwidget-fault" role="alert">
          {fault.value}
        </p>
      )}
    </div>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  choose(value: string): void;
}

function Select({ label, value, options, choose }: SelectProps) {
  return (
    <label class="roofwidget-row">
      <span>{label}</span>
      <select data-lm-suppress-shortcuts="true" value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Of an op's row and of the list, px, as in the style sheet. Only rows in sight are drawn, however many ops there are. */
const ROW = 44;
const LIST = 264;
const IN_SIGHT = LIST / ROW + 1;

function Operations({ store }: { store: Store }) {
  const id = useId();
  const first = useSignal(0);
  const pointed = useSignal<number | null>(null);
  const active = useSignal<number | null>(null);
  const workload = store.workload.value;
  if (!workload) return null;
  const { graph, partition, values, env } = workload;
  const count = graph.ops.length;
  const meant = pointed.value ?? active.value;
  const shown = meant !== null && meant < count ? meant : null;
  const from = Math.max(0, Math.min(first.value, count - IN_SIGHT));
  const rows = Array.from({ length: Math.min(IN_SIGHT, count) }, (_, at) => from + at);
  const rowId = (op: number) => `${id}-${op}`;

  /** The kernel that an op belongs to is pointed at too, on the chart. */
  const point = (op: number | null) => store.hover(op === null ? null : (partition.groupOf[op] ?? null));
  function key(event: KeyboardEvent & { currentTarget: HTMLElement }) {
    if (isModified(event)) return;
    const next = walked(event.key, active.value, count, LIST / ROW);
    if (next === undefined) return;
    pointed.value = null;
    active.value = next;
    point(next);
    if (next !== null) scrollTo(event.currentTarget, next);
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <>
      <div
        class="roofwidget-ops"
        role="listbox"
        tabIndex={0}
        data-lm-suppress-shortcuts="true"
        aria-label={words.operations}
        aria-activedescendant={active.value !== null && rows.includes(active.value) ? rowId(active.value) : undefined}
        onScroll={({ currentTarget }) => {
          first.value = Math.floor(currentTarget.scrollTop / ROW);
        }}
        onPointerLeave={() => {
          pointed.value = null;
          point(active.value);
        }}
        onBlur={() => point(null)}
        onKeyDown={key}
      >
        <div class="roofwidget-rows" style={{ height: `${count * ROW}px` }}>
          {rows.map((op) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the focus and takes the keys
            // biome-ignore lint/a11y/useFocusableInteractive: a row out of sight would take the focus with it
            <div
              key={op}
              id={rowId(op)}
              class={op === shown ? "roofwidget-op roofwidget-pointed" : "roofwidget-op"}
              role="option"
              aria-selected={op === active.value}
              aria-setsize={count}
              aria-posinset={op + 1}
              style={{ top: `${op * ROW}px` }}
              onPointerEnter={() => {
                pointed.value = op;
                point(op);
              }}
              onClick={() => {
                active.value = op;
              }}
            >
              <Row name={graph.ops[op]?.name ?? ""} figures={figuresOf(graph, values, op)} />
            </div>
          ))}
        </div>
      </div>
      <div class="roofwidget-derivation" aria-live={pointed.value === null && !store.held.value ? "polite" : "off"}>
        {shown === null ? (
          <p class="roofwidget-muted">{words.pointAtOne}</p>
        ) : (
          <Derivation name={graph.ops[shown]?.name ?? ""} {...derivation(graph, env, shown)} />
        )}
      </div>
    </>
  );
}

function Row({ name, figures: [counts, intensity] }: { name: string; figures: readonly [string, string] }) {
  return (
    <>
      <div class="roofwidget-op-name">
        <span title={name}>{name}</span>
        <span class="roofwidget-value">{intensity}</span>
      </div>
      <div class="roofwidget-muted">{counts}</div>
    </>
  );
}

function scrollTo(list: HTMLElement, op: number) {
  list.scrollTop = Math.max((op + 1) * ROW - list.clientHeight, Math.min(op * ROW, list.scrollTop));
}

interface DerivationProps {
  readonly name: string;
  readonly counts: readonly Line[];
  readonly terms: readonly Line[];
}

function Derivation({ name, counts, terms }: DerivationProps) {
  return (
    <>
      <h4>{name}</h4>
      {counts.map((line) => (
        <Count key={line.name} line={line} />
      ))}
      {terms.length > 0 && (
        <>
          <p class="roofwidget-muted">{words.terms}</p>
          {terms.map((line) => (
            <Count key={line.name} line={line} />
          ))}
        </>
      )}
    </>
  );
}

function Count({ line: { name, formula, numbers, amount } }: { line: Line }) {
  return (
    <div class="roofwidget-count">
      <p>
        <span>{name}</span>
        <span class="roofwidget-value">{amount}</span>
      </p>
      <p>{broken(formula)}</p>
      {numbers && <p>{broken(`= ${numbers}`)}</p>}
    </div>
  );
}

/** A long product may go on in the next line after each of its factors. */
const broken = (text: string) =>
  text.split("·").map((part, at) => (at === 0 ? part : ["·", <wbr key={`${at} ${part}`} />, part]));
