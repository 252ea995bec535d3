// The store of one model: makes the slices, which slices.ts describes, of the parts of the state.

import { batch, computed } from "@preact/signals";
import type { Partition } from "../fusion/legality.ts";
import { UNFILTERED } from "../roofline/filters.ts";
import { withTypedWork } from "../roofline/typed_work.ts";
import { changedText } from "../text/undone.ts";
import { createStatus } from "../ui/status.ts";
import type { Attempt } from "../wire/types.ts";
import { toolWords, words } from "../words/words.ts";
import { createCatalogue } from "./catalogue.ts";
import { followConnection } from "./connection.ts";
import { derive } from "./derived.ts";
import { filterActions } from "./filters.ts";
import { createWorkload, type GraphEntry } from "./graph.ts";
import { createHistory } from "./history.ts";
import { keepAnswers } from "./kept_answers.ts";
import { answerOnChart, createLesson, verdictOf } from "./lesson.ts";
import { createLocks } from "./locks.ts";
import { createMergePreview } from "./merge_preview.ts";
import type { Model } from "./model.ts";
import { createMoves } from "./moves.ts";
import { createOpening } from "./opening.ts";
import { createRates } from "./rates.ts";
import { createRequests } from "./requests.ts";
import { restorableChoices } from "./restorable.ts";
import { createSaving } from "./saving.ts";
import { createSelection } from "./selection.ts";
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
import { type ChangeOptions, createSync, isEqual, type View } from "./sync.ts";
import { followMerges } from "./trails.ts";
import { createViewing } from "./view.ts";

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
  const { chips, focusChip, roofs, shownRoofs, focusRoof, shownLevels, subRoofs, possibleCeilings, ...others } =
    store.throttled;
  const { drawn, points } = others;
  return {
    ...store,
    rates: {
      ...store.rates,
      ...{ chips, focusChip, roofs, shownRoofs, focusRoof, shownLevels, subRoofs, possibleCeilings },
    },
    rows: { ...store.rows, drawn, points },
  };
}

export function createStore(model: Model, abort: AbortSignal): Store {
  const history = createHistory();
  const status = createStatus();
  const requests = createRequests(model, abort);
  const received = createSync(model, history);
  const catalogue = createCatalogue(model, requests, received.signals);
  const sync = { ...received, signals: { ...received.signals, chips: catalogue.all } };
  const { signals, dragging, isInDrag, set } = sync;
  const { chips, shown, focusChip, ceilings } = signals;
  const workload = createWorkload(sync, history);
  const given = workload.kernels;
  const kernels = computed(() => {
    const typed = signals.typedWork.value;
    return isEqual(typed, {}) || workload.state.workload.value ? given.value : withTypedWork(given.value, typed);
  });
  const viewing = createViewing(sync);
  const selection = createSelection(sync, kernels);
  const lesson = createLesson(sync, workload.state.workload);
  const { isLocked, lockNote, guard } = createLocks(signals.locks);
  const { hidden } = lesson;
  const derived = derive({ signals, kernels, given, workload: workload.state.workload, hidden, dragging, isInDrag });
  const { shownRoofs, focusRoof } = derived;
  const snapshots = createSnapshots(sync, derived);
  const rates = createRates(sync, derived, { isLocked });
  const whatIfs = createMoves(sync, kernels, focusRoof);
  const trails = followMerges(workload.state.workload, abort);

  /** Applies a change from Python that replaces the kernels. After the change, the same row is another kernel. */
  function forgetRows(change: () => void) {
    batch(() => {
      change();
      selection.reread();
      whatIfs.reread();
    });
  }
  /** Applies a change made in the page that replaces the kernels. After the change, the same row is another kernel. */
  function regroup(change: () => void) {
    batch(() => {
      selection.clear();
      whatIfs.clear();
      change();
    });
    sync.send({ later: true });
  }
  /** Changes several traits at once, and sends them in one message. */
  function apply(change: () => void) {
    batch(change);
    sync.send();
  }
  const opening = createOpening(requests, () => kernels.value.totalTime > 0);
  function disconnect() {
    sync.disconnect();
    requests.refuseAll(words.restarted);
  }
  const connection = followConnection(model, { waitingSince: sync.waitingSince, disconnect }, abort);
  /** Changes several traits at once. All changes together make one undo entry and one message. */
  const act = (change: () => void) => apply(() => history.change(change));
  selection.reread();
  sync.follow(
    {
      ...workload.receivers,
      ...viewing.receivers,
      ...selection.receivers,
      chips: (_, accept) => {
        accept();
        rates.forgetChips();
        for (const [name, usable] of Object.entries(restorableChoices(chips)))
          sync.reviseHistory(name as "shown", usable as (entry: readonly string[]) => readonly string[] | undefined);
      },
      kernels: (_, accept) => forgetRows(accept),
      graphs: (graphs) => forgetRows(() => workload.receivers.graphs(graphs)),
      phase: (phase) => {
        // The model also reports changes that this page has made. Only a new phase from Python needs a reaction.
        if (phase !== signals.phase.value) forgetRows(() => workload.receivers.phase(phase));
      },
      partition: (groups, accept) =>
        batch(() => {
          const before = signals.partition.value;
          workload.receivers.partition(groups, accept);
          if (before && signals.partition.value !== before) whatIfs.reread();
        }),
    },
    { whatIf: rates.restorable, ...restorableChoices(chips) },
    abort,
  );

  /** Undoes a change, or makes it again, and says which. */
  function stepThrough(isBack: boolean) {
    const before = signals.whatIf.peek();
    let parts: readonly string[] = [];
    (workload.actions.keepsRows(isBack) ? apply : regroup)(() => {
      parts = isBack ? history.undo() : history.redo();
    });
    if (parts.length === 0) return;
    const changed = changedText(parts, [before, signals.whatIf.peek()], chips.peek());
    status.say(isBack ? toolWords.undone(changed) : toolWords.redone(changed));
  }
  function show(ids: readonly string[]) {
    sync.queue({ shown: chips.value.map((chip) => chip.id).filter((id) => ids.includes(id)) });
  }
  function giveFocus(id: string) {
    if (!shown.value.includes(id)) show([...shown.value, id]);
    sync.queue({ focusChip: id });
  }
  const focus = (id: string) => act(() => giveFocus(id));
  function toggle(id: string) {
    act(() => {
      const on = !shown.value.includes(id);
      show(on ? [...shown.value, id] : shown.value.filter((other) => other !== id));
      const next = shown.value[0];
      if (!shown.value.includes(focusChip.value) && next !== undefined) giveFocus(next);
    });
  }
  function addChips(ids: readonly string[], { focus: isFocus = false } = {}) {
    const last = ids.at(-1);
    if (last === undefined) return;
    act(() => {
      const added = ids.filter((id) => !chips.value.some((chip) => chip.id === id));
      if (added.length > 0) sync.queue({ addedChips: [...signals.addedChips.value, ...added] });
      show([...shown.value, ...ids]);
      if (isFocus || !focusRoof.value || !shown.value.includes(focusChip.value)) giveFocus(last);
    });
  }
  const addChip = (id: string, how?: { readonly focus?: boolean }) => addChips([id], how);
  function removeChip(id: string) {
    act(() => {
      if (shown.value.includes(id)) toggle(id);
      sync.queue({ addedChips: signals.addedChips.value.filter((other) => other !== id) });
    });
  }
  /**
   * Chooses a precision or a memory. If the focus chip lacks the choice, a shown chip that has the choice becomes the
   * focus chip, unless the chips are locked.
   */
  function choose(choice: { readonly precision: string } | { readonly memory: string }) {
    act(() => {
      sync.queue(choice);
      const able = shownRoofs.value[0];
      if (!focusRoof.value && able && !isLocked("chips")) giveFocus(able.chip.id);
    });
  }
  function toggleCeiling(key: string) {
    const before = ceilings.value ?? focusRoof.value?.chip.ceilings.map((ceiling) => ceiling.key) ?? [];
    const others = before.filter((other) => other.toLowerCase() !== key.toLowerCase());
    set({ ceilings: others.length < before.length ? others : [...before, key] });
  }

  function showStep(step: number) {
    const { phase, partition, dims, convention, dtype, ...others } = sync.decoded(lesson.valuesAt(step));
    const entry = { phase, groups: partition, dims, convention, dtype } as GraphEntry;
    const isNew = ([name, value]: [string, unknown]) => !isEqual(value, signals[name as keyof typeof others]?.value);
    selection.actions.hover(null);
    lesson.prediction.value = undefined;
    act(() => {
      if (entry.groups && workload.state.workload.value) {
        selection.clear();
        whatIfs.clear();
        workload.actions.restore(entry);
      }
      sync.queue(Object.fromEntries(Object.entries({ ...others, step }).filter(isNew)));
    });
  }
  function giveAnswer(given: Attempt) {
    const asked = lesson.question.value;
    if (!asked) return;
    sync.set({ answers: { ...signals.answers.value, [asked.key]: [...lesson.attempts.value, given] } });
  }

  const told = (verdict: typeof derived.headline) =>
    computed(() => {
      if (lesson.question.value && !lesson.isRevealed.value) return;
      const isTitled = signals.title.value !== "" && !(kernels.value.totalTime > 0);
      return verdict.value?.headline && !isTitled ? verdict.value : undefined;
    });

  const { setColumns, setColourBy, setAtRoof, ...filters } = filterActions(sync);
  const { setOnly } = derived;
  function clearFilters() {
    setOnly(null);
    set(UNFILTERED);
  }
  const { setRulers, setPresentation, openTab, openTable, setView, ...zooming } = viewing.actions;
  const { setDim, dragDim, setConvention, setDtype } = workload.actions;
  const isStorageRefused = keepAnswers(model, signals.answers, abort);
  followStepLink(model, { story: signals.story, step: signals.step, show: showStep }, abort);

  const saving = createSaving(model, requests);
  const merging = createMergePreview();
  // Each slice shows of these what its interface names.
  const state = { ...signals, ...derived };
  return {
    rates: {
      ...state,
      catalogue: catalogue.catalogue,
      loadCatalogue: catalogue.load,
      ...guard("chips", { addChip, addChips, removeChip, focus, toggle }),
      ...guard("precision", { choosePrecision: (precision: string) => choose({ precision }) }),
      ...guard("memory", { chooseMemory: (memory: string) => choose({ memory }) }),
      peaksInUse: rates.peaksInUse,
      ...rates.actions,
      setExposedRoofs: (exposedRoofs: readonly number[], { stream = false }: ChangeOptions = {}) =>
        sync.set({ exposedRoofs }, { stream, series: "exposedRoofs" }),
      dragExposedRoofs: () => sync.dragOf("exposedRoofs"),
      toggleCeiling,
      setCeilings: sync.setter("ceilings"),
      setAllLevels: sync.setter("allLevels"),
    },
    workload: {
      ...signals,
      graph: workload.state.workload,
      phases: workload.state.phases,
      trails,
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
          sync.send();
          sync.separate();
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
      pointed: selection.pointed,
      described: computed(() => {
        const row = selection.pointed.value ?? signals.selected.value[0];
        return row === undefined || derived.isHidden(row) ? undefined : row;
      }),
      ...selection.actions,
      setAtRoof,
      ...whatIfs.state,
      ...guard("moves", whatIfs.actions),
      ...guard("filters", { setOnly }),
    },
    view: {
      ...signals,
      plane: signals.view,
      ...viewing.state,
      ...guard("view", {
        ...zooming,
        setPlane(next: View) {
          selection.actions.hover(null);
          setView(next);
        },
      }),
      setRulers,
      setPresentation,
      openTab,
      openTable,
      ...guard("filters", { ...filters, clearFilters, dragTimeShare: () => sync.dragOf("timeShare") }),
      setColumns,
      setColourBy,
      ...snapshots,
      dragging,
      isInDrag,
      isHeld: sync.isHeld,
      ...status,
    },
    lesson: {
      ...signals,
      ...lesson,
      isLocked,
      lockNote,
      showStep,
      giveAnswer,
      isStorageRefused,
      forgetAnswers: () => sync.set({ answers: {} }),
      answerNow: () => {
        const asked = lesson.question.value;
        return asked && answerOnChart(asked, focusRoof, workload.state.workload);
      },
      judge: (given: Attempt) => {
        const asked = lesson.question.value;
        return asked && verdictOf(asked, given, workload.state.workload.value);
      },
    },
    history: {
      undo: () => stepThrough(true),
      redo: () => stepThrough(false),
      canUndo: history.canUndo,
      canRedo: history.canRedo,
    },
    python: {
      connection,
      waitingSince: sync.waitingSince,
      disconnect: sync.disconnect,
      canAsk: saving.canAskPython,
      figureText: saving.figureText,
      fileText: saving.fileText,
      ...opening.state,
      ...opening.actions,
    },
    throttled: derived.throttled,
  };
}
