// The fusion panel: the graph, what is done to it by hand and by preset, and what that gains.

import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { fitting } from "../capacity.ts";
import { formatIntensity, formatQuantity, formatRatio, formatSignificant } from "../format.ts";
import { fuse, split, unfused } from "../fusion.ts";
import { type Cost, fusingLikeXla, pairing } from "../greedy.ts";
import { type Partition, whyNot } from "../legality.ts";
import { costOn, type Found, searching } from "../search.ts";
import type { Store } from "../store.ts";
import { fusionWords as words } from "../strings.ts";
import type { Theme } from "../theme.ts";
import type { Work } from "../work.ts";
import type { Workload } from "../workload.ts";
import { useBest, useWork } from "./background.ts";
import { flowOf } from "./flow.ts";
import { stepFrom } from "./flowparts.ts";
import { FlowView } from "./flowview.tsx";
import { cut, downstream, sentenceOf, spoken, type Tally, tally, tooLarge } from "./merging.ts";

/** Inside the panel, px, until it is measured. */
const ROOM = 216;

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
  const chip = store.chips.value.find(({ id }) => id === store.focusChip.value);
  const share = chip?.share?.bytes;
  const fits = useMemo(() => (share === undefined ? undefined : fitting(graph, values, share)), [graph, values, share]);
  const crowded = useMemo(
    () => new Set(partition.groups.flatMap((group, at) => (fits && !fits(group) ? [at] : []))),
    [partition, fits],
  );
  const [tight] = crowded;
  const room = useSignal(ROOM);
  const found = useBest({ workload, cost, fits });
  const flow = useMemo(() => flowOf(graph, room.value), [graph, room.value]);
  const cursor = useSignal<number | undefined>(undefined);
  const marked = useSignal<number | undefined>(undefined);
  const refused = useSignal<{ ops: readonly number[]; count: number }>({ ops: [], count: 0 });
  const said = useSignal("");
  const work = useWork({ workload, cost, fits }, store, () => {
    if (said.value === words.working) said.value = "";
  });
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
  const take = (name: string, next: Partition) => change(next, words.preset(name, words.counted(next.groups.length)));
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
    const show = (chosen: Found) =>
      change(chosen, words.found(roof.chip.name, words.counted(chosen.groups.length), chosen.how));
    if (found) return show(found);
    say(words.working);
    work(searching(graph, values, cost, fits), show);
  }
  const presets: [string, (() => void) | undefined][] = [
    [words.none, () => take(words.none, unfused(graph))],
    [words.pairs, () => preset(words.pairs, pairing(graph, values))],
    [words.xla, cost && (() => preset(words.xla, fusingLikeXla(graph, values, cost, fits)))],
    [words.best(roof?.chip.name ?? ""), cost && findBest],
    [words.undo, store.canUndo.value ? () => step(true) : undefined],
    [words.redo, store.canRedo.value ? () => step(false) : undefined],
  ];
  return (
    <section class="roofwidget-hardware roofwidget-fusion" aria-label={words.title}>
      <h3>{words.title}</h3>
      <FlowView
        {...{ flow, workload, theme, room, merge, pick, crowded }}
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
      <div class="roofwidget-beside">
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
        <Figures {...{ workload, cost, found }} crowded={tight !== undefined} />
        {tight !== undefined && (
          <p class="roofwidget-refused">
            {words.crowded(tooLarge(workload, partition.groups[tight] ?? [], chip), crowded.size - 1)}
          </p>
        )}
      </div>
    </section>
  );
}

interface FiguresProps {
  readonly workload: Workload;
  readonly cost: Cost | undefined;
  readonly found: Found | undefined;
  readonly crowded: boolean;
}

function Figures({ workload: { graph, values, partition }, cost, found, crowded }: FiguresProps) {
  const before = useMemo(() => tally(graph, values, unfused(graph), cost), [graph, values, cost]);
  const now = useMemo(() => tally(graph, values, partition, cost), [graph, values, partition, cost]);
  return (
    <dl class="roofwidget-figures">
      {rowsOf(before, now, found, crowded).map(([name, value]) => (
        <div key={name} class="roofwidget-row">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

type Row = [name: string, value: string];

function rowsOf(before: Tally, now: Tally, found: Found | undefined, crowded: boolean): Row[] {
  const from = (texts: [string, string]) => (texts[0] === texts[1] ? texts[0] : words.from(...texts));
  const both = (text: (one: Tally) => string) => from([text(before), text(now)]);
  return [
    [words.kernels, both(({ kernels }) => `${kernels}`)],
    [words.flops, both(({ flops }) => formatQuantity(flops, "FLOP"))],
    [words.bytes, both(({ bytes }) => formatQuantity(bytes, "B"))],
    [words.intensity, both(({ flops, bytes }) => formatIntensity(flops / bytes))],
    [words.time, both(({ seconds }) => formatQuantity(seconds, "s"))],
    [words.speedUp, words.times(ratioOf(before.seconds / now.seconds))],
    ...(found ? [[words.toBest, distance(now.seconds / found.seconds, found.how, crowded)] as Row] : []),
  ];
}

/** How much faster than now the best is. */
function distance(ratio: number, how: string, crowded: boolean): string {
  if (!(ratio >= 1.005)) return crowded ? words.isNone : words.isBest(how);
  return words.faster(ratioOf(ratio), how);
}

/** Near one, two digits would hide what is gained. */
const ratioOf = (ratio: number) => (ratio < 1.1 ? formatSignificant(ratio) : formatRatio(ratio));
