// The workload tab: sliders for the graph's dimensions, selects for its phase, dtype and counting convention, and its
// ops.

import { useSignal } from "@preact/signals";
import { brokenAt, nearestSize } from "../../fusion/conditions.ts";
import { type Dim, type Graph, lookup, PEAK_FMA } from "../../fusion/graph.ts";
import type { Store } from "../../state/store.ts";
import type { Workload as Counted } from "../../state/workload.ts";
import { sizeReasonOf } from "../../text/reasons.ts";
import { Fault, TypedBox, useTypedValue } from "../../ui/number_box.tsx";
import { Select } from "../../ui/select.tsx";
import { Slider } from "../../ui/slider.tsx";
import { storyWords, strings, workloadWords as words } from "../../words/words.ts";
import { chipOf } from "../hardware/chip_tab.tsx";
import { isLog, keyed, parseSize, positionOf, shareOf, valueAt } from "./dims.ts";
import { Operations } from "./operations.tsx";

export const hasWorkload = ({ workload: { phases } }: Store): boolean => phases.value.length > 0;

export function WorkloadTab({ store }: { readonly store: Store }) {
  const workload = store.throttled.fused.value;
  if (!workload) return null;
  const { graph, env, convention, dtype } = workload;
  const phases = store.workload.phases.value;
  const lock = store.lesson.lockNote("phase");
  const sizes = lookup(graph, env);
  const chip = chipOf(store);
  const marked = (text: string, dtype: string) =>
    chip && !chip.peaks.has(dtype) ? words.noPeak(text, chip.name) : text;
  return (
    <section class="rw-workload" aria-label={graph.name || words.title}>
      <h3>{graph.name || words.title}</h3>
      {phases.length > 1 && (
        <Select
          {...{ row: true, label: words.phase, lock, options: phases, choose: store.workload.setPhase }}
          value={store.workload.phase.value}
        />
      )}
      {graph.dims.map((dim) => (
        <Size key={dim.name} store={store} workload={workload} dim={dim} value={sizes(dim.name) ?? dim.default} />
      ))}
      {graph.mainDtype !== null && (
        <Select
          row
          label={words.dtype}
          lock={lock}
          value={dtype ?? ""}
          options={[
            ["", marked(words.asBuilt(graph.mainDtype), graph.mainDtype)],
            ...dtypesOf(graph, dtype).map((name) => [name, marked(name, name)] as const),
          ]}
          choose={(name) => store.workload.setDtype(name === "" ? null : name)}
        />
      )}
      <Select
        row
        label={words.convention}
        lock={lock}
        value={convention}
        options={[...graph.conventions.keys()]}
        choose={store.workload.setConvention}
      />
      {sizes("@fma") !== PEAK_FMA && <p class="rw-muted">{words.asPeaks}</p>}
      <h4>{words.counted(graph.ops.length)}</h4>
      {store.lesson.hidesHint("operations") ? (
        <p class="rw-muted">{storyWords.hidden}</p>
      ) : (
        <Operations store={store} />
      )}
    </section>
  );
}

/**
 * Returns the dtypes to choose from. The graph's main dtype is called "as built", unless the user chose this dtype by
 * name.
 */
const dtypesOf = ({ dtypes, mainDtype }: Graph, chosen: string | null) =>
  [...dtypes.keys()].filter((name) => name === chosen || (name !== "bool" && name !== mainDtype));

interface SizeProps {
  readonly store: Store;
  readonly workload: Counted;
  readonly dim: Dim;
  readonly value: number;
}

function Size({ store, workload: shown, dim, value }: SizeProps) {
  const { name } = dim;
  const lock = store.lesson.lockNote("dims");
  const now = () => store.workload.graph.value ?? shown;
  /** Each key steps from the present size, so the slider follows it at once. */
  const present = () => store.workload.dims.value[name] ?? dim.default;
  /** Says why the graph has another size than the user asked for. */
  const note = useSignal("");
  function set(size: number, stream = false) {
    entry.clear();
    note.value = "";
    store.workload.setDim(name, size, { stream });
  }
  /**
   * Sets the legal size that is nearest to `size`. `stream` is true during a drag. For a key press, `toward` is the
   * direction of the key.
   */
  function move(size: number, stream: boolean, toward: -1 | 0 | 1 = 0) {
    const { graph, env } = now();
    const broken = brokenAt(graph, env, dim, size);
    const legal = broken === null ? size : nearestSize(graph, env, dim, size, toward);
    if (legal !== undefined && legal !== present()) set(legal, stream);
    note.value = broken === null ? "" : words.wouldDo(sizeReasonOf(broken), name, legal);
  }
  function parse(typed: string): number | string {
    const size = parseSize(typed, dim, value);
    if (typeof size !== "number") return size;
    const { graph, env } = now();
    const broken = brokenAt(graph, env, dim, size);
    return broken === null ? size : words.wouldDo(sizeReasonOf(broken), name, nearestSize(graph, env, dim, size));
  }
  function reset() {
    entry.clear();
    move(dim.default, false);
  }
  const entry = useTypedValue(parse, set, reset);

  return (
    <div class="rw-size" data-dim={name}>
      <span class="rw-rate-name">{name}</span>
      <div class="rw-track">
        <div class="rw-marks">
          <i class="rw-mark rw-sheet" style={{ left: `${shareOf(dim, dim.default) * 100}%` }} />
        </div>
        <Slider
          label={name}
          min={positionOf(dim, dim.low)}
          max={positionOf(dim, dim.high)}
          step={isLog(dim) ? "any" : 1}
          lock={lock}
          shown={() => [positionOf(dim, present()), String(present())]}
          start={() => {
            const gesture = store.workload.dragDim(name);
            const cancel = () => {
              note.value = "";
              gesture.cancel();
            };
            return { ...gesture, cancel };
          }}
          slide={(position, isDragged) => {
            const next = valueAt(dim, position, isDragged);
            if (next !== present()) move(next, isDragged);
          }}
          keyed={(key) => {
            const next = keyed(dim, present(), key);
            return next === undefined ? undefined : () => move(next, true, next < present() ? -1 : 1);
          }}
        />
      </div>
      <TypedBox
        entry={entry}
        label={strings.typed(name)}
        shown={String(value)}
        lock={lock}
        reset={{
          label: words.reset(name, dim.default),
          done: value === dim.default,
          act: reset,
        }}
      />
      <Fault entry={entry} />
      {note.value && (
        <p class="rw-muted" role="status">
          {note.value}
        </p>
      )}
    </div>
  );
}
