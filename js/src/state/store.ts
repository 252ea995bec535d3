// The store of one model: makes the slices, which slices.ts describes.

import { batch, computed } from "@preact/signals";
import type { Partition } from "../fusion/legality.ts";
import { withTypedWork } from "../roofline/typed_work.ts";
import { changedText } from "../text/undone.ts";
import { isEqual } from "../ui/equal.ts";
import { createStatus } from "../ui/status.ts";
import { areSameRows } from "../wire/columns.ts";
import { toolWords, words } from "../words/words.ts";
import { createCatalogue } from "./catalogue.ts";
import { followConnection } from "./connection.ts";
import { derive } from "./derived.ts";
import { createEdits } from "./edits.ts";
import { keepAnswers } from "./kept_answers.ts";
import { createLesson, lessonActions } from "./lesson.ts";
import { createLocks } from "./locks.ts";
import { createMergePreview } from "./merge_preview.ts";
import type { Model } from "./model.ts";
import { createOpening } from "./opening.ts";
import { createRates } from "./rates.ts";
import { createRequests } from "./requests.ts";
import { createRows } from "./rows.ts";
import { createSaving } from "./saving.ts";
import type {
  HistorySlice,
  LessonSlice,
  PythonSlice,
  RatesSlice,
  RowsSlice,
  Throttled,
  ViewSlice,
  WorkloadSlice,
} from "./slices.ts";
import { createSnapshots } from "./snapshots.ts";
import { followStepLink } from "./step_link.ts";
import { followMerges } from "./trails.ts";
import { isOfGraph } from "./traits.ts";
import { createView } from "./view.ts";
import { createWorkload } from "./workload.ts";

/** The state of one model, and the actions that change it. */
export interface Store {
  readonly rates: RatesSlice;
  readonly workload: WorkloadSlice;
  readonly rows: RowsSlice;
  readonly view: ViewSlice;
  readonly lesson: LessonSlice;
  readonly history: HistorySlice;
  readonly python: PythonSlice;
  readonly throttled: Throttled;
}

/** Returns the store for panels: while something is dragged, its signals change a few times a second. */
export function pacedStore(store: Store): Store {
  const { drawn, points, fused: _, ...rates } = store.throttled;
  return {
    ...store,
    rates: { ...store.rates, ...rates },
    rows: { ...store.rows, drawn, points },
  };
}

export function createStore(model: Model, abort: AbortSignal): Store {
  const requests = createRequests(model, abort);
  const sent = createEdits(model);
  const { catalogue, all: chips, load: loadCatalogue } = createCatalogue(model, requests, sent.signals);
  const edits = { ...sent, signals: { ...sent.signals, chips } };
  const { signals, history } = edits;
  const status = createStatus();
  const workload = createWorkload(edits);
  const { graph } = workload;
  const given = workload.kernels;
  const kernels = computed(() => {
    const typed = signals.typedWork.value;
    return isEqual(typed, {}) || graph.value ? given.value : withTypedWork(given.value, typed);
  });
  const lesson = createLesson(edits, graph);
  const { hidden } = lesson;
  const locks = createLocks(signals.locks);
  const { isLocked, lockNote, guard } = locks;
  const { dragging, isInDrag } = edits;
  const derived = derive({ signals, kernels, given, workload: graph, hidden, dragging, isInDrag });
  const rates = createRates(edits, derived, locks);
  const rows = createRows(edits, kernels, derived, locks);
  const view = createView(edits, locks, () => rows.slice.hover(null), derived.setOnly);
  const { forgetRows, regroup } = rows;
  /** The rules of the kernels that Python has sent last. */
  let rulesBefore = signals.rules.peek();
  function disconnect() {
    edits.disconnect();
    requests.refuseAll(words.restarted);
  }
  const connection = followConnection(model, { waitingSince: edits.waitingSince, disconnect }, abort);
  edits.follow(
    {
      receivers: {
        ...workload.receivers,
        ...view.receivers,
        ...rows.receivers,
        ...rates.receivers,
        kernels(next, accept) {
          const now = [edits.received("rules"), signals.rules.value].find((rules) => !isEqual(rules, rulesBefore));
          rulesBefore = now ?? rulesBefore;
          view.slice.message.value = undefined;
          // Rules change what is known of the rows, and not which kernels they are.
          if (now && areSameRows(next, given.value)) accept();
          else forgetRows(accept);
        },
        graphs: (graphs) => forgetRows(() => workload.receivers.graphs(graphs)),
        phase(phase) {
          // The model also reports changes that this page has made. Only a new phase from Python needs a reaction.
          if (phase !== signals.phase.value) forgetRows(() => workload.receivers.phase(phase));
        },
        partition: (groups, accept) =>
          batch(() => {
            const before = signals.partition.value;
            workload.receivers.partition(groups, accept);
            if (before && signals.partition.value !== before) rows.rereadMoves();
          }),
      },
      restorable: rates.restorable,
      graphNow: () => workload.graphNow() ?? {},
      restoreGraph: workload.restore,
    },
    abort,
  );
  const opening = createOpening(requests, () => kernels.value.totalTime > 0);

  /** Undoes a change, or makes it again, and says which. */
  function stepThrough(isBack: boolean) {
    const before = signals.whatIf.peek();
    let names: readonly string[] = [];
    const step = () => {
      names = edits.step(isBack).map((name) => (isOfGraph(name) ? "graph" : name));
    };
    if (workload.keepsRows(isBack)) batch(step);
    else regroup(step);
    edits.send();
    if (names.length === 0) return;
    const changed = changedText(names, [before, signals.whatIf.peek()], chips.peek());
    status.say(isBack ? toolWords.undone(changed) : toolWords.redone(changed));
  }
  const told = (verdict: typeof derived.headline) =>
    computed(() => {
      if (lesson.hidesHint("headline")) return;
      const isTitled = signals.title.value !== "" && !(kernels.value.totalTime > 0);
      return verdict.value?.headline && !isTitled ? verdict.value : undefined;
    });

  const { setDim, dragDim, setConvention, setDtype } = workload.actions;
  const { restore } = workload;
  const { hover } = rows.slice;
  const actions = lessonActions(edits, lesson, {
    graph,
    focusRoof: derived.focusRoof,
    restore,
    clear: rows.clear,
    hover,
  });
  const isStorageRefused = keepAnswers(model, signals.answers, abort);
  followStepLink(model, { story: signals.story, step: signals.step, show: actions.showStep }, abort);

  let isAsked = false;
  async function askBest() {
    // An exported page has no Python. A search that is not answered yet is not asked for again.
    if (isAsked || !saving.canAskPython) return undefined;
    isAsked = true;
    try {
      return (await requests.ask({ ask: "best" })).best;
    } catch {
      return undefined;
    } finally {
      isAsked = false;
    }
  }

  const saving = createSaving(model, requests);
  const merging = createMergePreview();
  // Each slice shows of these what its interface names.
  const state = { ...signals, ...derived };
  return {
    rates: { ...state, catalogue, loadCatalogue, ...rates.slice },
    workload: {
      ...signals,
      graph,
      phases: workload.phases,
      trails: followMerges(graph, abort),
      preview: merging.mergePreview,
      best: merging.bestPartition,
      setFusion: derived.setFusion,
      ...guard("partition", {
        setPartition: (next: Partition) => regroup(() => workload.actions.setPartition(next)),
      }),
      ...guard("dims", { setDim, dragDim }),
      ...guard("phase", {
        setPhase(name: string) {
          // When the user leaves a phase, Python stores the state of this phase. Therefore the queued changes of the
          // old phase must be sent before the new phase.
          edits.send();
          edits.separate();
          regroup(() => workload.actions.setPhase(name));
        },
        setConvention,
        setDtype,
      }),
    },
    rows: {
      ...state,
      kernels,
      given,
      passing: derived.rows,
      hidden: derived.hiddenRows,
      only: derived.onlyRows,
      headline: told(derived.headline),
      pictureHeadline: told(derived.pictureHeadline),
      ...rows.slice,
    },
    view: { ...signals, ...view.slice, ...createSnapshots(edits, derived), ...status },
    lesson: { ...signals, ...lesson, ...actions, isLocked, lockNote, isStorageRefused },
    history: {
      undo: () => stepThrough(true),
      redo: () => stepThrough(false),
      canUndo: history.canUndo,
      canRedo: history.canRedo,
    },
    python: {
      connection,
      waitingSince: edits.waitingSince,
      disconnect: edits.disconnect,
      canAsk: saving.canAskPython,
      figureText: saving.figureText,
      fileText: saving.fileText,
      shareGraph: saving.shareGraph,
      askBest,
      ask: requests.ask,
      ...opening.state,
      ...opening.actions,
    },
    throttled: derived.throttled,
  };
}
