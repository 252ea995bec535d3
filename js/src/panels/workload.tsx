// What the graph is counted with: its dimensions on sliders, dtype and convention.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Grip, letGo, take, takeBack } from "../drag.ts";
import { type Dim, type Graph, lookup } from "../graph.ts";
import { isModified } from "../keys.ts";
import type { Store } from "../store.ts";
import { strings, workloadWords as words } from "../strings.ts";
import { isLog, keyed, parseSize, positionOf, shareOf, valueAt } from "./dims.ts";
import { Fold } from "./fold.tsx";
import { Operations } from "./operations.tsx";

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
