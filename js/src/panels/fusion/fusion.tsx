// The fusion panel. It shows the graph and the time that merges save. The user merges and splits groups by pointer, key
// and preset.

import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import type { Theme } from "../../chart/theme.ts";
import { fitsWithin } from "../../fusion/capacity.ts";
import type { Graph } from "../../fusion/graph.ts";
import { fuseLikeXla, pairOps } from "../../fusion/greedy.ts";
import { mergesOf, type Partition, whyNot } from "../../fusion/legality.ts";
import { fuse, split, unfused } from "../../fusion/partition.ts";
import { type BestPartition, costOn, searchPartition } from "../../fusion/search.ts";
import type { Workload } from "../../state/graph.ts";
import type { Store } from "../../state/store.ts";
import { Button } from "../../ui/button.tsx";
import { keepFocusNear } from "../../ui/focus.ts";
import { Section } from "../../ui/fold.tsx";
import { keyShortcuts, lookUp, stepOf, UNDO_KEYS, used } from "../../ui/keys.ts";
import type { Work } from "../../ui/slices.ts";
import { strings, fusionWords as words } from "../../words/words.ts";
import { useBest, useFlow, useNext, useSoon, useVerdict, useWork } from "./background.ts";
import { Figures } from "./figures.tsx";
import { stepFrom } from "./flow_parts.ts";
import { FLOW_HEIGHT, FlowView } from "./flow_view.tsx";
import { cut, descriptionOf, downstream, lackingPeak, sentenceOf, spoken, tooLarge } from "./merging.ts";

/** Assumed width inside the panel until it is measured. */
const INITIAL_WIDTH_PX = 216;

/** The keys of the graph, with the action of each key. */
export const GRAPH_KEYS = {
  ArrowLeft: "walk",
  ArrowRight: "walk",
  ArrowUp: "walk",
  ArrowDown: "walk",
  Home: "walk",
  End: "walk",
  m: "mark",
  Enter: "merge",
  s: "split",
  x: "cut",
  Escape: "unmark",
} as const;
const SHORTCUTS = keyShortcuts(GRAPH_KEYS, UNDO_KEYS);

export function Fusion({ store, theme }: { store: Store; theme: Theme }) {
  // The fused kernels are throttled, because during a drag the chart needs the time of each frame.
  const workload = store.throttled.fused.value;
  const isDue = useNext(workload?.graph);
  // The marks and messages of a panel belong to one graph. If the graph changes, a new panel replaces the old panel.
  const turn = useRef(0);
  useMemo(() => turn.current++, [workload?.graph]);
  // A single op has nothing to merge with.
  return workload && isDue && workload.graph.ops.length > 1 ? (
    <Panel key={turn.current} store={store} theme={theme} workload={workload} />
  ) : null;
}

function Panel({ store, theme, workload }: { store: Store; theme: Theme; workload: Workload }) {
  const { graph, values, partition } = workload;
  const roof = store.focusRoof.value;
  const own = store.precision.value === "auto";
  const lacked = useMemo(
    () => (roof && own ? lackingPeak(graph, values, roof) : undefined),
    [graph, values, roof, own],
  );
  const lacking = roof && lacked ? strings.lacksPeakReason(roof.chip.name, lacked) : "";
  // If a peak is missing, the times of partitions are unknown, so there is no best partition.
  const cost = useMemo(
    () => (lacked === undefined ? roof && costOn(graph, values, roof, own) : undefined),
    [graph, values, roof, own, lacked],
  );
  const chip = store.chips.value.find(({ id }) => id === store.focusChip.value);
  const share = chip?.share?.bytes;
  const fits = useMemo(() => fitsWithin(graph, values, share), [graph, values, share]);
  const crowded = useMemo(
    () => new Set(partition.groups.flatMap((group, at) => (group.length > 1 && !fits(group) ? [at] : []))),
    [partition, fits],
  );
  const [tight] = crowded;
  const room = useSignal(INITIAL_WIDTH_PX);
  const found = useBest({ workload, cost, fits });
  useVerdict({ workload, cost, fits }, found, store);
  const flow = useFlow(graph, room.value);
  const cursor = useSignal<number | undefined>(undefined);
  const marked = useSignal<number | undefined>(undefined);
  const refused = useSignal<{ ops: readonly number[]; count: number }>({ ops: [], count: 0 });
  const said = useSignal("");
  const work = useWork({ workload, cost, fits }, store, () => {
    if (said.value === words.working) said.value = "";
  });
  const lock = store.lockNote("partition");
  const nameOf = (op: number) => graph.ops[op]?.name ?? "";
  const groupOf = (op: number, { groups, groupOf } = partition) => groups[groupOf[op] as number] as readonly number[];

  function say(sentence: string) {
    refused.value = { ...refused.value, ops: [] };
    said.value = sentence;
  }
  function change(next: Partition, sentence: string) {
    if (lock) return say(lock);
    store.setPartition(next);
    say(sentence);
  }
  /** Returns the groups that the group of `op` may merge with. */
  const partnersOf = (op: number) => new Set(mergesOf(graph, partition, partition.groupOf[op] as number, fits));
  function step(by: "undo" | "redo", control: EventTarget | null) {
    keepFocusNear(control as Element, store[by]);
    say(words.counted(store.workload.value?.partition.groups.length ?? 0));
  }
  const take = (name: string, next: Partition) => change(next, `${name}: ${words.counted(next.groups.length)}`);
  function preset(name: string, job: Work<Partition>) {
    say(words.working);
    work(job, (next) => take(name, next));
  }
  function merge(from: number, to: number) {
    const [a, b] = [partition.groupOf[from] as number, partition.groupOf[to] as number];
    const refusal = whyNot(graph, partition, a, b, fits);
    marked.value = undefined;
    if (refusal) {
      refused.value = { ops: [from, to], count: refused.value.count + 1 };
      said.value = sentenceOf(workload, from, to, refusal, chip);
      return;
    }
    const next = fuse(graph, partition, a, b);
    change(next, words.merged(spoken(graph, groupOf(to, next))));
  }
  function splitOff(op: number) {
    if (groupOf(op).length < 2) say(words.alone(nameOf(op)));
    else change(split(graph, partition, op), words.apartNow(nameOf(op)));
  }
  function pick(op: number) {
    cursor.value = op;
    store.hover(partition.groupOf[op] as number);
    say(descriptionOf(workload, op));
  }
  function cutAbove(op: number) {
    const next = cut(graph, partition, op);
    if (next.groups.length === partition.groups.length) say(words.topmost(nameOf(op)));
    else change(next, words.apartNow(nameOf(op)));
  }
  function enter(op: number) {
    const other = marked.value ?? downstream(graph, partition, op);
    if (other === undefined) say(words.last(nameOf(op)));
    else merge(other, op);
  }
  const soon = useSoon(graph, { merge, splitOff, cutAbove, enter, step });
  const keyActs = {
    walk: (op: number, key: string) => flow && pick(cursor.value === undefined ? op : stepFrom(flow, op, key)),
    mark(op: number) {
      marked.value = marked.value === op ? undefined : op;
      pick(op);
      if (marked.value === op) say(words.marked(nameOf(op)));
    },
    merge: (op: number) => soon((now) => now.enter(op)),
    split: (op: number) => soon((now) => now.splitOff(op)),
    cut: (op: number) => soon((now) => now.cutAbove(op)),
    unmark() {
      marked.value = undefined;
    },
  };
  function press(event: KeyboardEvent) {
    if (!flow) return;
    const op = cursor.value ?? flow.layers[0]?.[0];
    const by = stepOf(event);
    const control = event.currentTarget;
    if (by) soon((now) => now.step(by, control));
    else if (event.ctrlKey || event.metaKey || event.altKey || op === undefined) return;
    else {
      const name = lookUp(GRAPH_KEYS, event.key.length === 1 ? event.key.toLowerCase() : event.key);
      if (!name || (name === "unmark" && marked.value === undefined)) return;
      keyActs[name](op, event.key);
    }
    used(event);
  }
  function findBest() {
    if (!cost || !roof) return;
    const show = (chosen: BestPartition) =>
      change(chosen, words.found(roof.chip.name, words.counted(chosen.groups.length), chosen.how));
    if (found) return show(found);
    say(words.working);
    work(searchPartition(graph, values, cost, fits), show);
  }
  // While a question asks for a partition, the panel does not suggest one.
  const isAsked = store.lesson.question.value?.kind === "merge" && !store.lesson.isRevealed.value;
  const best = words.best(roof?.chip.name ?? "");
  /** The presets that need the times of kernels. */
  const needing = new Set(lacking ? [words.xla, best] : []);
  const merges: [string, (() => void) | undefined][] = [
    [words.none, () => take(words.none, unfused(graph))],
    [words.pairs, () => preset(words.pairs, pairOps(graph, values, fits))],
    [words.xla, cost && (() => preset(words.xla, fuseLikeXla(graph, values, cost, fits)))],
    [best, cost && findBest],
  ];
  const presets: [string, ((event: Event) => void) | undefined, string?][] = [
    ...merges.map(([name, choose]) => [name, lock ? undefined : choose, lock] as [string, typeof choose, string?]),
    [words.undo, store.canUndo.value ? ({ currentTarget }) => step("undo", currentTarget) : undefined],
    [words.redo, store.canRedo.value ? ({ currentTarget }) => step("redo", currentTarget) : undefined],
  ];
  return (
    <Section name="fusion" class="roofwidget-hardware roofwidget-fusion" title={words.title}>
      <h3>{words.title}</h3>
      {flow ? (
        <FlowView
          {...{ flow, workload, theme, room, pick, crowded }}
          cursor={cursor.value}
          marked={marked.value}
          refused={refused.value}
          pointed={store.hovered.value}
          label={words.graph(graph.name, graph.ops.length)}
          point={store.hover}
          merge={(from, to) => soon((now) => now.merge(from, to))}
          split={(op) => soon((now) => now.splitOff(op))}
          cutAt={(op) => soon((now) => now.cutAbove(op))}
          isLocked={lock !== undefined}
          partnersOf={partnersOf}
          onKeyDown={press}
          shortcuts={SHORTCUTS}
        />
      ) : (
        <div class="roofwidget-flow" style={{ height: `${FLOW_HEIGHT}px` }} />
      )}
      <Members {...{ graph, partition }} />
      <p class={refused.value.ops.length > 0 ? "roofwidget-refused" : "roofwidget-muted"} role="status">
        {said.value || lock || words.hint}
      </p>
      <div class="roofwidget-beside">
        <fieldset class="roofwidget-presets" aria-label={words.presets}>
          {(isAsked ? presets.slice(-2) : presets).map(([name, choose, lock]) => (
            <Button
              key={name}
              aria-disabled={!choose}
              title={lock ?? (choose || !needing.has(name) ? undefined : lacking)}
              onClick={choose ?? (() => needing.has(name) && say(lacking))}
            >
              {name}
            </Button>
          ))}
        </fieldset>
        {flow && (
          <Figures {...{ workload, cost, lacking }} found={isAsked ? undefined : found} crowded={tight !== undefined} />
        )}
        {tight !== undefined && (
          <p class="roofwidget-refused">
            {words.crowded(tooLarge(workload, partition.groups[tight] ?? [], chip), crowded.size - 1)}
          </p>
        )}
      </div>
    </Section>
  );
}

/** The list names at most this many kernels. If there are more, the list says how many more there are. */
const MAX_LISTED_KERNELS = 100;

export function Members({ graph, partition }: { readonly graph: Graph; readonly partition: Partition }) {
  const names = useMemo(
    () =>
      partition.groups.slice(0, MAX_LISTED_KERNELS).map((group) => group.map((op) => graph.ops[op]?.name).join(" + ")),
    [graph, partition],
  );
  const more = partition.groups.length - names.length;
  return (
    <ol class="roofwidget-spoken roofwidget-members" aria-label={words.members}>
      {names.map((name) => (
        <li key={name}>{name}</li>
      ))}
      {more > 0 && <li>{words.more(more)}</li>}
    </ol>
  );
}
