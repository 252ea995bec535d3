// The fusion tab. It shows the graph, what merging and splitting would gain, and the totals. The user merges and splits
// groups by pointer, key and button.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Cost, timeOf } from "../../fusion/forms.ts";
import { groupName, type Ops, opName } from "../../fusion/graph.ts";
import { fuseLikeXla, pairOps } from "../../fusion/greedy.ts";
import { kernelsOf } from "../../fusion/group_kernels.ts";
import { groupAt, groupWith, mergedWith, mergesOf, type Partition } from "../../fusion/legality.ts";
import { fuse, split, unfused } from "../../fusion/partition.ts";
import { passesOf } from "../../fusion/passes.ts";
import { type BestPartition, searchPartition } from "../../fusion/search.ts";
import type { Store } from "../../state/store.ts";
import type { Workload } from "../../state/workload.ts";
import { briefNamesOf, shortNames } from "../../text/names.ts";
import { formatIntensity, formatQuantity } from "../../text/numbers.ts";
import { SAME_SPEED } from "../../text/verdict.ts";
import { Button, Sign } from "../../ui/button.tsx";
import { useDisclosure } from "../../ui/disclosure.ts";
import { keepFocusNear } from "../../ui/focus.ts";
import { keyShortcuts, lookUp, stepOf, UNDO_KEYS, used } from "../../ui/keys.ts";
import { Menu, Opener } from "../../ui/menu.tsx";
import type { Work } from "../../ui/slices.ts";
import { graphLinkWords as linkWords, storyWords, strings, fusionWords as words } from "../../words/words.ts";
import { operationAt } from "../workload/dims.ts";
import { useFlow, useFusion, useNext, useSearch, useSoon, useWork } from "./background.ts";
import { Figures } from "./figures.tsx";
import { boxesOf, MAX_LARGE_BOXES, type Room } from "./flow.ts";
import { stepFrom } from "./flow_parts.ts";
import { FlowView, type OpPair } from "./flow_view.tsx";
import {
  againOf,
  cut,
  descriptionOf,
  downstream,
  formSentence,
  isMerged,
  proposalOf,
  sentenceOf,
  sidesOf,
  spoken,
} from "./merging.ts";
import { Meter, passText } from "./meter.tsx";

/** Assumed size of the graph until it is measured. */
const INITIAL_ROOM: Room = { width: 360, height: 340 };
/** In a panel at least this wide the row of figures has room for both values of each, px. */
const WIDE_PX = 480;
/** The maximum height of the menu of other ways, px. */
const MENU_PX = 240;

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
  " ": "fold",
  Escape: "unmark",
} as const;
const SHORTCUTS = keyShortcuts(GRAPH_KEYS, UNDO_KEYS);

/** Whether there is something to merge: a single op has nothing to merge with. */
export const hasFusion = ({ view: { hiddenPanels }, throttled }: Store) =>
  (throttled.fused.value?.graph.ops.length ?? 0) > 1 && !hiddenPanels.value.includes("fusion");

export const fusionNote = ({ throttled }: Store) => words.ops(throttled.fused.value?.graph.ops.length ?? 0);

/** Searches the best partition, also while another tab is open. It draws nothing. */
export function FusionSearch({ store }: { readonly store: Store }) {
  const workload = store.throttled.fused.value;
  return workload && hasFusion(store) ? <Search store={store} workload={workload} /> : null;
}

function Search({ store, workload }: { readonly store: Store; readonly workload: Workload }) {
  useSearch(store, useFusion(store, workload));
  return null;
}

export function FusionTab({ store }: { readonly store: Store }) {
  // The fused kernels are throttled, because during a drag the chart needs the time of each frame.
  const workload = store.throttled.fused.value;
  const isDue = useNext(workload?.graph);
  // The marks and messages of a panel belong to one graph. If the graph changes, a new panel replaces the old panel.
  const turn = useRef(0);
  useMemo(() => turn.current++, [workload?.graph]);
  if (!workload || !isDue || workload.graph.ops.length < 2) return null;
  return (
    <section class="rw-fusion" aria-label={words.title}>
      <Panel key={turn.current} store={store} workload={workload} />
    </section>
  );
}

function Panel({ store, workload }: { readonly store: Store; readonly workload: Workload }) {
  const { graph, values, partition } = workload;
  const fusion = useFusion(store, workload);
  const { cost, light, forms, chip, lacked } = fusion;
  // In the first frame of another graph, the best partition is still that of the last one.
  const best = store.workload.best.value;
  const found = best?.graph === graph ? best : undefined;
  const lacking = chip && lacked ? strings.lacksPeakReason(chip.name, lacked) : "";
  const crowded = useMemo(
    () => new Set(partition.groups.flatMap((group, at) => (group.length > 1 && forms.refusalOf(group) ? [at] : []))),
    [partition, forms],
  );
  const [tight] = crowded;
  const room = useSignal(INITIAL_ROOM);
  /** The kernels of a large graph that are not folded. */
  const unfolded = useSignal<ReadonlySet<string>>(new Set());
  const boxes = useMemo(() => {
    if (graph.ops.length <= MAX_LARGE_BOXES) return undefined;
    return boxesOf(partition, (group) => group.length > 1 && !unfolded.value.has(group.join()));
  }, [partition, unfolded.value]);
  const flow = useFlow(graph, room.value, boxes);
  const cursor = useSignal<number | undefined>(undefined);
  const marked = useSignal<number | undefined>(undefined);
  const refused = useSignal<{ ops: readonly number[]; count: number }>({ ops: [], count: 0 });
  const meant = useSignal<OpPair | undefined>(undefined);
  const said = useSignal("");
  const work = useWork(fusion, store, () => {
    if (said.value === words.working) said.value = "";
  });
  // While a question is open that figures would answer, the panel draws the graph alone.
  const isQuiet = store.lesson.hidesHint("fusion");
  const lock = isQuiet ? storyWords.hidden : store.lesson.lockNote("partition");
  const nameOf = (op: number) => opName(graph, op);
  const groupOf = (op: number, of = partition) => groupWith(of, op);
  const edge = lock ? undefined : meant.value;
  const intensity = useMemo(() => (isQuiet ? () => "" : intensities(workload)), [forms, isQuiet]);
  const sideOf = useMemo(() => sidesOf(workload, cost), [forms, cost]);
  const proposal = useMemo(
    () => edge && proposalOf(workload, edge.from, edge.to, fusion),
    [edge?.from, edge?.to, workload, cost],
  );
  useEffect(() => {
    if (!proposal?.next) return;
    const { groups, next } = proposal;
    store.workload.preview.value = {
      rows: partition.groups.flatMap((group, row) => (next.groups.includes(group) ? [] : [row])),
      kernels: kernelsOf(graph, { groups }, values, forms),
      names: groups.map((group) => spoken(graph, group)),
    };
    return () => {
      store.workload.preview.value = undefined;
    };
  }, [proposal]);

  function say(sentence: string) {
    refused.value = { ...refused.value, ops: [] };
    said.value = sentence;
  }
  function change(next: Partition, sentence: string) {
    if (lock) return say(lock);
    store.workload.setPartition(next);
    say(sentence);
  }
  /** Returns the groups that the group of `op` may merge with. */
  const partnersOf = (op: number) => new Set(mergesOf(graph, partition, groupAt(partition, op), forms.refusalOf));
  function step(by: "undo" | "redo", control: EventTarget | null) {
    keepFocusNear(control as Element, store.history[by]);
    say(words.counted(store.workload.graph.value?.partition.groups.length ?? 0));
  }
  const take = (name: string, next: Partition) => change(next, `${name}: ${words.counted(next.groups.length)}`);
  function preset(name: string, job: Work<Partition>) {
    say(words.working);
    work(job, (next) => take(name, next));
  }
  function merge(from: number, to: number) {
    const [a, b] = [groupAt(partition, from), groupAt(partition, to)];
    const merged = mergedWith(graph, partition, a, b, forms.refusalOf);
    marked.value = undefined;
    if (!isMerged(merged)) {
      refused.value = { ops: [from, to], count: refused.value.count + 1 };
      said.value = sentenceOf(workload, from, to, merged, chip);
      return;
    }
    const next = fuse(graph, partition, ...merged);
    change(next, words.merged(spoken(graph, groupOf(to, next))));
  }
  function splitOff(op: number) {
    if (groupOf(op).length < 2) say(words.alone(nameOf(op)));
    else change(split(graph, partition, op, forms.refusalOf), words.apartNow(nameOf(op)));
  }
  function pick(op: number) {
    cursor.value = op;
    store.rows.hover(groupAt(partition, op));
    const figures = () => [
      descriptionOf(workload, op),
      intensity([op]),
      words.sides[sideOf([op])],
      againOf(workload, groupOf(op)),
    ];
    say((isQuiet ? [nameOf(op)] : figures()).filter(Boolean).join(" · "));
  }
  function cutAbove(op: number) {
    const next = cut(graph, partition, op, forms.refusalOf);
    if (next.groups.length === partition.groups.length) say(words.topmost(nameOf(op)));
    else change(next, words.apartNow(nameOf(op)));
  }
  const act = ({ from, to }: OpPair) => (groupOf(from) === groupOf(to) ? cutAbove(to) : merge(from, to));
  function fold(op: number) {
    const key = groupOf(op).join();
    if (boxes && groupOf(op).length > 1)
      unfolded.value = new Set(
        unfolded.value.has(key) ? [...unfolded.value].filter((one) => one !== key) : [...unfolded.value, key],
      );
  }
  function enter(op: number) {
    const other = marked.value ?? downstream(graph, partition, op);
    if (other === undefined) say(words.last(nameOf(op)));
    else merge(other, op);
  }
  const soon = useSoon(graph, { merge, splitOff, cutAbove, act, enter, step });
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
    fold,
    unmark() {
      marked.value = undefined;
    },
  };
  function press(event: KeyboardEvent & { readonly currentTarget: HTMLElement }) {
    if (!flow) return;
    const op = cursor.value ?? flow.boxes[flow.layers[0]?.[0] ?? -1]?.ops[0];
    const by = stepOf(event);
    const control = event.currentTarget;
    if (by) soon((now) => now.step(by, control));
    else if (event.ctrlKey || event.metaKey || event.altKey || op === undefined) return;
    else {
      const name = lookUp(GRAPH_KEYS, event.key.length === 1 ? event.key.toLowerCase() : event.key);
      if (!name || (name === "unmark" && marked.value === undefined)) return;
      keyActs[name](op, event.key);
      // From an edge back to the ops.
      control.focus({ preventScroll: true });
    }
    used(event);
  }
  // While a question asks for a partition, the panel does not suggest one.
  const isAsked = store.lesson.question.value?.kind === "merge" && !store.lesson.isRevealed.value;
  const tightGroup = tight === undefined ? undefined : partition.groups[tight];
  const refusal = tightGroup && forms.refusalOf(tightGroup);
  const hint = tightGroup && refusal ? formSentence(workload, refusal, tightGroup, chip) : undefined;
  const warning = hint === undefined ? lacking : words.crowded(hint, crowded.size - 1);
  const isRefused = ({ from, to }: OpPair) =>
    !isAsked &&
    !isQuiet &&
    !isMerged(mergedWith(graph, partition, groupAt(partition, from), groupAt(partition, to), forms.refusalOf));
  const keys = useDisclosure();
  const share = store.python.shareGraph;
  const copy = share && (async () => say((await share(store, workload)) ?? ""));
  return (
    <>
      {!isAsked && !isQuiet && (
        <div class="rw-fuse">
          <Fuse
            {...{ store, workload, cost, found, lock, lacking, say }}
            isCrowded={tight !== undefined}
            fuse={() => {
              if (!cost) return;
              const name = words.fuseFor(chipNameOf(store));
              const show = (one: BestPartition) => take(name, one);
              if (found) return show(found);
              say(words.working);
              work(searchPartition(graph, forms, cost), show);
            }}
          />
          <OtherWays
            lock={lock}
            ways={[
              ...(copy ? [[linkWords.copy, copy] as const] : []),
              [words.none, () => take(words.none, unfused(graph))],
              [words.pairs, () => preset(words.pairs, pairOps(graph, values, forms))],
              [words.xla, cost && (() => preset(words.xla, fuseLikeXla(graph, forms, cost))), lacking],
              [
                words.compiler,
                cost && (() => preset(words.compiler, searchPartition(graph, forms, cost, forms.isOfCompilers))),
                lacking,
              ],
            ]}
          />
        </div>
      )}
      {flow ? (
        <FlowView
          {...{ flow, workload, room, pick, crowded, fold, meant, proposal }}
          cursor={cursor.value}
          marked={marked.value}
          refused={refused.value}
          pointed={store.rows.hovered.value}
          label={`${words.graph(graph.name, graph.ops.length)} ${words.keyList}`}
          point={store.rows.hover}
          intensityOf={intensity}
          sideOf={sideOf}
          isRefused={isRefused}
          merge={(from, to) => soon((now) => now.merge(from, to))}
          split={(op) => soon((now) => now.splitOff(op))}
          act={(edge) => soon((now) => now.act(edge))}
          isLocked={lock !== undefined}
          isQuiet={isQuiet}
          partnersOf={partnersOf}
          onKeyDown={press}
          shortcuts={SHORTCUTS}
        />
      ) : (
        <div class="rw-graph" />
      )}
      <Members workload={workload} isQuiet={isQuiet} />
      {flow && !isQuiet && <Meter store={store} workload={workload} width={room.value.width} />}
      <div class="rw-totals">
        {flow && !isQuiet && (
          <Figures
            {...{ workload, cost, light }}
            found={isAsked ? undefined : found}
            isWide={room.value.width >= WIDE_PX}
          />
        )}
        {keys.isOpen && (
          <p class="rw-popover" {...keys.opened}>
            {words.keyList}
          </p>
        )}
        <p class={refused.value.ops.length > 0 || (warning && !said.value) ? "rw-refused" : "rw-muted"}>
          <span class="rw-told" role="status">
            {said.value || lock || warning || words.hint}
          </span>{" "}
          <Button look="link" {...keys.button}>
            {words.keys}
          </Button>
        </p>
      </div>
    </>
  );
}

const chipNameOf = (store: Store) =>
  briefNamesOf(store.rates.shownRoofs.value, shortNames(store.rates.chips.value)).get(store.rates.focusChip.value) ??
  "";

/** Returns a function that returns the intensity of ops that run as one kernel, such as "2.5 FLOP/B". */
function intensities({ graph, values, forms }: Workload) {
  return (ops: Ops) => {
    const load = forms.loadOf(ops);
    const flops = load.flops.reduce((sum, one) => sum + one, 0);
    const { bytes } = load;
    if (flops === 0 && bytes === 0) return "";
    return formatIntensity(flops / bytes, 3, `${operationAt(graph, values, ops[0] as number)}/B`);
  };
}

interface FuseProps {
  readonly store: Store;
  readonly workload: Workload;
  readonly cost: Cost | undefined;
  readonly found: BestPartition | undefined;
  readonly lock: string | undefined;
  /** The reason why times are unknown. Empty if they are known. */
  readonly lacking: string;
  readonly isCrowded: boolean;
  fuse(): void;
  say(sentence: string): void;
}

/** The button that makes the best partition. Disabled if the present one is the best. */
function Fuse({ store, workload, cost, found, lock, lacking, isCrowded, fuse, say }: FuseProps) {
  const { graph, forms, partition } = workload;
  const seconds = useMemo(
    () => (cost ? partition.groups.map(timeOf(forms, cost)).reduce((a, b) => a + b, 0) : Number.NaN),
    [forms, partition, cost],
  );
  const chip = chipNameOf(store);
  const time = formatQuantity(found?.seconds ?? Number.NaN, "s");
  const isBest = found !== undefined && !isCrowded && !(found.seconds < seconds * (1 - SAME_SPEED));
  const text = !found
    ? words.fuseFor(chip)
    : isBest
      ? words.bestFor(found.how === "optimal", chip, time)
      : words.fuse(found.groups.length, graph.ops.length, chip, time);
  return (
    <Button
      look="button rw-best"
      aria-disabled={lock !== undefined || isBest || lacking !== ""}
      title={lock ?? lacking}
      onClick={() => (lacking ? say(lacking) : lock || isBest || fuse())}
    >
      {text}
    </Button>
  );
}

interface WaysProps {
  readonly lock: string | undefined;
  /** The name and the action of each way. Without an action, the reason why. */
  readonly ways: readonly (readonly [name: string, act: (() => void) | undefined, why?: string])[];
}

function OtherWays({ lock, ways }: WaysProps) {
  const isOpen = useSignal(false);
  const opener = useRef<HTMLSpanElement>(null);
  function close(isDone: boolean) {
    isOpen.value = false;
    if (isDone) opener.current?.querySelector("button")?.focus({ preventScroll: true });
  }
  const items = ways.map(([name, act, why]) => ({
    name,
    text: name,
    act: lock === undefined ? act : undefined,
    reason: lock ?? (act ? undefined : why),
  }));
  return (
    <span ref={opener} class="rw-opener">
      <Opener
        look="button"
        isOpen={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        {words.others}
        <Sign>{" ▾"}</Sign>
      </Opener>
      {isOpen.value && (
        <Menu label={words.others} groups={[{ label: words.others, items }]} room={MENU_PX} close={close} />
      )}
    </span>
  );
}

/** The list names at most this many kernels. If there are more, the list says how many more there are. */
const MAX_LISTED_KERNELS = 100;

function Members({ workload, isQuiet }: { readonly workload: Workload; readonly isQuiet: boolean }) {
  const { graph, partition, forms } = workload;
  const listed = useMemo(() => {
    const moved = (group: Ops) =>
      passesOf(workload, group).map((pass) => passText(pass, graph.tensors[pass.tensor ?? -1]?.name ?? "…"));
    return partition.groups
      .slice(0, MAX_LISTED_KERNELS)
      .map((group) => [groupName(graph, group), isQuiet ? "" : `: ${moved(group).join("; ")}`] as const);
  }, [partition, forms, isQuiet]);
  const more = partition.groups.length - listed.length;
  return (
    <ol class="rw-spoken rw-members" aria-label={words.members}>
      {listed.map(([name, moves]) => (
        <li key={name}>
          <b>{name}</b>
          {moves}
        </li>
      ))}
      {more > 0 && <li>{words.more(more)}</li>}
    </ol>
  );
}
