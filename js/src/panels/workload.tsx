// Which graph is meant and what it is counted with: its dimensions on sliders, dtype and convention.

import { type Dim, type Graph, lookup } from "../graph.ts";
import type { Store } from "../store.ts";
import { strings, workloadWords as words } from "../strings.ts";
import { isLog, keyed, parseSize, positionOf, shareOf, valueAt } from "./dims.ts";
import { EntryBox, Fault, useEntry } from "./entry.tsx";
import { Fold } from "./fold.tsx";
import { Operations } from "./operations.tsx";
import { Select } from "./select.tsx";
import { Slider } from "./slider.tsx";

export function Workload({ store }: { store: Store }) {
  const workload = store.workload.value;
  if (!workload) return null;
  const { graph, env, convention, dtype } = workload;
  const phases = store.phases.value;
  const sizes = lookup(graph, env);
  return (
    <section class="roofwidget-workload" aria-label={words.title}>
      <h3>{graph.name || words.title}</h3>
      {phases.length > 1 && (
        <Select
          row
          label={words.phase}
          value={store.phase.value}
          options={phases.map((name) => [name, name] as const)}
          choose={store.setPhase}
        />
      )}
      {graph.dims.map((dim) => (
        <Size key={dim.name} store={store} dim={dim} value={sizes(dim.name) ?? dim.default} />
      ))}
      {graph.mainDtype !== null && (
        <Select
          row
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
        row
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
  const { name } = dim;
  function set(size: number, stream = false) {
    entry.clear();
    store.setDim(name, size, { stream });
  }
  const entry = useEntry((typed) => parseSize(typed, dim, value), set);

  return (
    <div class="roofwidget-size" data-dim={name}>
      <div class="roofwidget-row">
        <span>{name}</span>
        <EntryBox
          entry={entry}
          label={strings.typed(name)}
          shown={String(value)}
          reset={{
            label: words.reset(name, dim.default),
            title: words.reset(name, dim.default),
            done: value === dim.default,
            act: () => set(dim.default),
          }}
        />
      </div>
      <div class="roofwidget-track">
        <div class="roofwidget-marks">
          <i class="roofwidget-mark roofwidget-sheet" style={{ left: `${shareOf(dim, dim.default) * 100}%` }} />
        </div>
        <Slider
          label={name}
          text={String(value)}
          min={positionOf(dim, dim.low)}
          max={positionOf(dim, dim.high)}
          step={isLog(dim) ? "any" : 1}
          position={positionOf(dim, value)}
          value={value}
          actions={{ hold: store.holdDims, release: store.releaseDims, set }}
          slide={(position, held) => {
            const next = valueAt(dim, position, held);
            if (next !== value) set(next, held);
          }}
          keyed={(key) => {
            const next = keyed(dim, value, key);
            return next === undefined ? undefined : () => set(next, true);
          }}
        />
      </div>
      <Fault entry={entry} />
    </div>
  );
}
