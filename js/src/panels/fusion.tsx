// The fusion panel: the graph, what is done to it by hand and by preset, and what that gains.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { formatIntensity, formatQuantity, formatRatio, formatSignificant } from "../format.ts";
import { fuse, split, unfused } from "../fusion.ts";
import { likeXla, pairs } from "../greedy.ts";
import { type Partition, whyNot } from "../legality.ts";
import { best, costOn, type Found } from "../search.ts";
import type { Store } from "../store.ts";
import { fusionWords as words } from "../strings.ts";
import type { Theme } from "../theme.ts";
import type { Workload } from "../workload.ts";
import { flowOf } from "./flow.ts";
import { stepFrom } from "./flowparts.ts";
import { FlowView } from "./flowview.tsx";
import { cut, downstream, sentenceOf, spoken, type Tally, tally } from "./merging.ts";

/** Inside the panel, px, until it is measured. */
const ROOM = 216;
/** Of graphs with more ops than this the best is not looked for unasked. */
const SEARCHED = 300;
/** The best is looked for once nothing has changed for this long, ms. */
const CALM = 200;
const SOON = 30;

export function Fusion({ store, theme }: { store: Store; theme: Theme }) {
  const workload = store.workload.value;
  // What is marked and said is of one graph: another starts anew.
  const turn = useRef(0);
  useMemo(() => turn.current++, [workload?.graph]);
  return workload ? <Panel key={turn.current} store={store} theme={theme} workload={workload} /> : null;
}

interface PanelProps {
  readonly store: Store;
  readonly theme: Theme;
  readonly workload: Workload;
}

function Panel({ store, theme, workload }: PanelProps) {
  const { graph, values, partition } = workload;
  const roof = store.focusRoof.value;
  const own = store.precision.value === "auto";
  const cost = useMemo(() => roof && costOn(graph, values, roof, own), [graph, values, roof, own]);
  const room = useSignal(ROOM);
  const found = useBest(workload, cost);
  const flow = useMemo(() => flowOf(graph, room.value), [graph, room.value]);
  const cursor = useSignal<number | undefined>(undefined);
  const marked = useSignal<number | undefined>(undefined);
  const refused = useSignal<{ ops: readonly number[]; count: number }>({ ops: [], count: 0 });
  const said = useSignal("");
  const nameOf = (op: number) => graph.ops[op]?.name ?? "";
  const groupOf = (op: number, { groups, groupOf } = partition) => groups[groupOf[op] as number] as readonly number[];

  function say(sentence: string) {
    refused.value = { ...refused.value, ops: [] };
    said.value = sentence;
  }
  function change(next: Partition, sentence: string) {
    store.setPartition(next);
    say(sentence);
  }
  function step(back: boolean) {
    if (back) store.undo();
    else store.redo();
    say(words.counted(store.workload.value?.partition.groups.length ?? 0));
  }
  const preset = (name: string, next: Partition) => change(next, words.preset(name, words.counted(next.groups.length)));
  function merge(from: number, to: number) {
    const [a, b] = [partition.groupOf[from] as number, partition.groupOf[to] as number];
    const refusal = whyNot(graph, partition, a, b);
    marked.value = undefined;
    if (refusal) {
      refused.value = { ops: [from, to], count: refused.value.count + 1 };
      said.value = sentenceOf(graph, partition, from, to, refusal);
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
    const others = groupOf(op).filter((other) => other !== op);
    say(words.at(nameOf(op), graph.ops[op]?.kind ?? "", spoken(graph, others)));
  }
  function enter(op: number) {
    const other = marked.value ?? downstream(graph, partition, op);
    if (other === undefined) say(words.last(nameOf(op)));
    else merge(other, op);
  }
  function press(event: KeyboardEvent) {
    const key = event.key.toLowerCase();
    const op = cursor.value ?? flow.layers[0]?.[0];
    if (event.ctrlKey || event.metaKey) {
      if (event.altKey || key !== "z") return;
      step(!event.shiftKey);
    } else if (event.altKey || op === undefined) return;
    else if (/^(?:arrow|home$|end$)/.test(key)) pick(cursor.value === undefined ? op : stepFrom(flow, op, event.key));
    else if (key === "m") {
      marked.value = marked.value === op ? undefined : op;
      pick(op);
      if (marked.value === op) say(words.marked(nameOf(op)));
    } else if (key === "enter") enter(op);
    else if (key === "s") splitOff(op);
    else if (key === "escape" && marked.value !== undefined) marked.value = undefined;
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  function findBest() {
    if (!cost || !roof) return;
    const take = (chosen: Found) =>
      change(chosen, words.found(roof.chip.name, words.counted(chosen.groups.length), chosen.how));
    if (found) return take(found);
    say(words.searching);
    // The words are seen before a search that may take seconds.
    setTimeout(() => {
      if (store.workload.value === workload) take(best(graph, values, cost));
      else if (said.value === words.searching) say("");
    }, SOON);
  }
  const presets: [string, (() => void) | undefined][] = [
    [words.none, () => preset(words.none, unfused(graph))],
    [words.pairs, () => preset(words.pairs, pairs(graph, values))],
    [words.xla, cost && (() => preset(words.xla, likeXla(graph, values, cost)))],
    [words.best(roof?.chip.name ?? ""), cost && findBest],
    [words.undo, store.canUndo.value ? () => step(true) : undefined],
    [words.redo, store.canRedo.value ? () => step(false) : undefined],
  ];
  return (
    <section class="roofwidget-hardware roofwidget-fusion" aria-label={words.title}>
      <h3>{words.title}</h3>
      <FlowView
        {...{ flow, workload, theme, room, merge, pick }}
        cursor={cursor.value}
        marked={marked.value}
        refused={refused.value}
        pointed={store.hovered.value}
        label={words.graph(graph.name, graph.ops.length)}
        point={store.hover}
        split={splitOff}
        cutAt={(to) => change(cut(graph, partition, to), words.apartNow(nameOf(to)))}
        onKeyDown={press}
      />
      <p class={refused.value.ops.length > 0 ? "roofwidget-refused" : "roofwidget-muted"} role="status">
        {said.value}
      </p>
      <fieldset class="roofwidget-presets" aria-label={words.presets}>
        {presets.map(([name, choose]) => (
          <button
            key={name}
            type="button"
            class="roofwidget-button"
            data-lm-suppress-shortcuts="true"
            aria-disabled={!choose}
            onClick={choose}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <Figures workload={workload} cost={cost} found={found} />
    </section>
  );
}

type Priced = ReturnType<typeof costOn> | undefined;

/** The best partition, once it is known. */
function useBest({ graph, values }: Workload, cost: Priced): Found | undefined {
  const found = useSignal<Found | undefined>(undefined);
  // A size or a rate that is dragged changes the cost with every frame: the search waits for it to rest.
  useEffect(() => {
    found.value = undefined;
    if (!cost || graph.ops.length > SEARCHED) return;
    const timer = setTimeout(() => {
      found.value = best(graph, values, cost);
    }, CALM);
    return () => clearTimeout(timer);
  }, [graph, values, cost]);
  return found.value;
}

interface FiguresProps {
  readonly workload: Workload;
  readonly cost: Priced;
  readonly found: Found | undefined;
}

function Figures({ workload: { graph, values, partition }, cost, found }: FiguresProps) {
  const before = useMemo(() => tally(graph, values, unfused(graph), cost), [graph, values, cost]);
  const now = useMemo(() => tally(graph, values, partition, cost), [graph, values, partition, cost]);
  return (
    <dl class="roofwidget-figures">
      {rowsOf(before, now, found).map(([name, value]) => (
        <div key={name} class="roofwidget-row">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function rowsOf(before: Tally, now: Tally, found: Found | undefined): [name: string, value: string][] {
  const from = (texts: [string, string]) => (texts[0] === texts[1] ? texts[0] : words.from(...texts));
  const both = (text: (one: Tally) => string) => from([text(before), text(now)]);
  return [
    [words.kernels, both(({ kernels }) => `${kernels}`)],
    [words.flops, both(({ flops }) => formatQuantity(flops, "FLOP"))],
    [words.bytes, both(({ bytes }) => formatQuantity(bytes, "B"))],
    [words.intensity, both(({ flops, bytes }) => formatIntensity(flops / bytes))],
    [words.time, both(({ seconds }) => formatQuantity(seconds, "s"))],
    [words.speedUp, words.times(ratioOf(before.seconds / now.seconds))],
    ...(found ? [[words.toBest, distance(now.seconds / found.seconds, found.how)] as [string, string]] : []),
  ];
}

/** How much faster than now the best is. */
function distance(ratio: number, how: string): string {
  if (!(ratio >= 1.005)) return words.isBest(how);
  return words.faster(ratioOf(ratio), how);
}

/** Near one, two digits would hide what is gained. */
const ratioOf = (ratio: number) => (ratio < 1.1 ? formatSignificant(ratio) : formatRatio(ratio));
