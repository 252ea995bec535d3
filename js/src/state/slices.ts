// The slices of the store: what the page knows of one model, and all actions that change it. Every member that is a
// signal of `Signals` is a synced trait, which Python has too. An action with a lock does nothing while a lesson locks
// it (locks.ts).

import type { ReadonlySignal, Signal } from "@preact/signals";
import type { Partition } from "../fusion/legality.ts";
import type { Searched } from "../fusion/search.ts";
import type { Verdict as AnswerVerdict } from "../roofline/answers.ts";
import type { PossibleCeiling, SubRoof } from "../roofline/ceilings.ts";
import type { Colouring } from "../roofline/colouring.ts";
import type { Runs } from "../roofline/compare_runs.ts";
import type { Moved } from "../roofline/kernel_moves.ts";
import type { Peaks } from "../roofline/measured_rates.ts";
import type { ChipLink, RatedMessage } from "../roofline/network.ts";
import type { Points } from "../roofline/points.ts";
import type { Ranking } from "../roofline/ranking.ts";
import type { Level, Missing, Roof } from "../roofline/roofline.ts";
import type { Fusion } from "../roofline/verdict.ts";
import type { MovedKernels } from "../text/moves.ts";
import type { Verdict } from "../text/verdict.ts";
import type { SayOptions, Status } from "../ui/status.ts";
import type { DictColumn, Kernels } from "../wire/columns.ts";
import type { Attempt, Move, Quantity, Question, StoryStep, Work, Zoom } from "../wire/types.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Connection } from "./connection.ts";
import type { ChangeOptions, Gesture } from "./edits.ts";
import type { Part } from "./filters.ts";
import type { Hidden, Hint } from "./lesson.ts";
import type { Lock } from "./locks.ts";
import type { MergePreview } from "./merge_preview.ts";
import type { Given, Opening } from "./opening.ts";
import type { RateKey, RateLimits } from "./rates.ts";
import type { Reply, RuleRequest } from "./requests.ts";
import type { FigureStyle, ShareGraph } from "./saving.ts";
import type { Trails } from "./trails.ts";
import type { Axes, Signals, TraitValues, View } from "./traits.ts";
import type { Gaps } from "./view.ts";
import type { Workload } from "./workload.ts";

/** An action that sets one trait. */
type Setter<N extends keyof TraitValues> = (value: TraitValues[N], how?: ChangeOptions) => void;

/** The chips and their rates: which are shown, how kernels are judged, and what-ifs of rates. */
export interface RatesSlice {
  /** The chips of Python, and those that a person has added. */
  readonly chips: Signals["chips"];
  /** The ids of the chips that a person has added. */
  readonly addedChips: Signals["addedChips"];
  /** The ids of the chips whose roofs are drawn, in the order of `chips`. */
  readonly shown: Signals["shown"];
  /** The id of the chip that judges the kernels, and whose rates the sliders change. */
  readonly focusChip: Signals["focusChip"];
  /** The chosen precision: a name, or "auto". */
  readonly precision: Signals["precision"];
  /** The chosen memory level: a name, "main", or "all". */
  readonly memory: Signals["memory"];
  /** Shares of exposed communication. For each, the chart draws what it leaves of the focus roof. */
  readonly exposedRoofs: Signals["exposedRoofs"];
  /** The share of the time in which only the link works. */
  readonly exposedComm: Signals["exposedComm"];
  /** The minimum time of a launch, s. */
  readonly launchOverhead: Signals["launchOverhead"];
  /** The keys of the drawn ceilings. Null for those of the focus chip. */
  readonly ceilings: Signals["ceilings"];
  /** Whether levels that bind no kernel are drawn too. */
  readonly allLevels: Signals["allLevels"];
  /** The name of the link in the network plane; "" for the link of each chip to other chips. */
  readonly link: Signals["link"];
  readonly setLink: Setter<"link">;
  /** The link of the focus chip in the network plane. Undefined if its bandwidth is unknown. */
  readonly focusLink: ReadonlySignal<ChipLink | undefined>;
  /** How the ranks are connected. */
  readonly topology: Signals["topology"];
  readonly setTopology: Setter<"topology">;
  /** Changed rates, by chip id, quantity, and precision or level. */
  readonly whatIf: Signals["whatIf"];

  /**
   * The precision that all kernels share, if the chosen precision is "auto". Otherwise undefined. If a chip has a
   * peak for this precision, the roof of the chip uses this peak.
   */
  readonly commonPrecision: ReadonlySignal<string | undefined>;
  /** The precision of kernels without a precision of their own: that of the focus roof, or of the first shown roof. */
  readonly askedPrecision: ReadonlySignal<string>;
  /** The roof of each chip, by chip id. If a chip has no roof, the value is the figure that the chip lacks. */
  readonly roofs: ReadonlySignal<ReadonlyMap<string, Roof | Missing>>;
  /**
   * For each chip without a roof, by chip id: the figure that the chip lacks. What-ifs do not change which figures a
   * chip lacks.
   */
  readonly lacking: ReadonlySignal<ReadonlyMap<string, Missing>>;
  readonly shownRoofs: ReadonlySignal<readonly Roof[]>;
  readonly focusRoof: ReadonlySignal<Roof | undefined>;
  /**
   * The focus roof. During a drag with very many kernels, this is the roof from before the drag, because adding the
   * times of all kernels would be slow.
   */
  readonly restedRoof: ReadonlySignal<Roof | undefined>;
  readonly possibleCeilings: ReadonlySignal<readonly PossibleCeiling[]>;
  /** The drawn ceilings, and what exposed communication leaves of the focus roof. */
  readonly subRoofs: ReadonlySignal<readonly SubRoof[]>;
  /** The drawn memory levels of the focus roof. */
  readonly shownLevels: ReadonlySignal<readonly Level[]>;
  /** The levels of the focus chip that have no known bandwidth, if the chosen memory is "all". */
  readonly unknownLevels: ReadonlySignal<readonly string[]>;
  /** Which rates are in force on the shown chips, where they have measured rates. */
  readonly peaksInUse: ReadonlySignal<Peaks | "changed" | undefined>;

  readonly catalogue: ReadonlySignal<Catalogue>;
  /** Loads the catalogue, unless it is there. An exported page has it from the start. */
  loadCatalogue(): Promise<void>;
  addChip(id: string, how?: { readonly focus?: boolean }): void;
  /** Shows chips. Adds those of the catalogue first. The last of them may get the focus. */
  addChips(ids: readonly string[], how?: { readonly focus?: boolean }): void;
  removeChip(id: string): void;
  /** Shows a chip, and makes it the focus chip. */
  focus(id: string): void;
  /** Shows or hides a chip. */
  toggle(id: string): void;
  /** If the focus chip has no peak for the precision, a shown chip that has one becomes the focus chip. */
  choosePrecision(precision: string): void;
  /** If the focus chip lacks the memory, a shown chip that has it becomes the focus chip. */
  chooseMemory(memory: string): void;

  /**
   * Judges by the measured rates of all chips, or by those of the data sheets. Other what-ifs stay. If a lesson does
   * not allow such a rate, the nearest allowed rate is used.
   */
  usePeaks(peaks: Peaks): void;
  /**
   * Judges by the rates of the focus chip at a clock, Hz. Off-chip memories and links keep their rates. If a lesson does
   * not allow such a rate, the nearest allowed rate is used.
   */
  useClock(hertz: number): void;
  /** The present value of a rate of the focus chip. It is not throttled. */
  rateNow(key: RateKey): number | undefined;
  /**
   * Returns the rates that a learner may set. A lesson limits the bandwidth of the roof's own memory level. The other
   * levels have other rates.
   */
  rateLimits(key: RateKey): RateLimits;
  /** Returns the allowed rate that is nearest to `rate` on a logarithmic scale. */
  allowedRate(key: RateKey, rate: number): number;
  /** Sets a rate of the focus chip, or the nearest that is allowed. Without a level, a bandwidth is of the roof's level. */
  setRate(quantity: Quantity, rate: number, how?: ChangeOptions & Partial<RateKey>): void;
  /** Starts a drag of rates. `move` takes one value for each key. Locked rates do not move. */
  dragRates(...keys: RateKey[]): Gesture<readonly number[]>;

  setExposedRoofs(exposedRoofs: readonly number[], how?: ChangeOptions): void;
  dragExposedRoofs(): Gesture<readonly number[]>;
  toggleCeiling(key: string): void;
  readonly setCeilings: Setter<"ceilings">;
  readonly setAllLevels: Setter<"allLevels">;
}

/** The graph: its phase, its partition and its sizes. */
export interface WorkloadSlice {
  /** The graphs of all phases, as Python sent them. */
  readonly graphs: Signals["graphs"];
  /** The name of the shown phase. */
  readonly phase: Signals["phase"];
  /** The groups of ops. Null until Python has sent those of a new graph. */
  readonly partition: Signals["partition"];
  /** The sizes that differ from their defaults, by dimension. */
  readonly dims: Signals["dims"];
  /** The counting convention; "" for that of the graph. */
  readonly convention: Signals["convention"];
  /** The dtype. Null for that of the graph. */
  readonly dtype: Signals["dtype"];

  /** The graph of the phase with its counts and its partition. Undefined without a graph, or until it is prepared. */
  readonly graph: ReadonlySignal<Workload | undefined>;
  /** The names of the phases. */
  readonly phases: ReadonlySignal<readonly string[]>;
  readonly trails: ReadonlySignal<Trails | undefined>;
  /** What the edge under the pointer would do. Only the page knows it. */
  readonly preview: Signal<MergePreview | undefined>;
  /** The best partition, and the best of compilers. Undefined until the search is done. Only the page knows it. */
  readonly best: Signal<Searched | undefined>;

  /** Tells what the search for the best partition has found; undefined while it is not known. */
  setFusion(found: Fusion | undefined): void;
  setPartition(next: Partition): void;
  setPhase(name: string): void;
  setDim(name: string, value: number, how?: ChangeOptions): void;
  dragDim(name: string): Gesture<number>;
  setConvention(name: string): void;
  setDtype(name: string | null): void;
}

/** The kernels: which pass the filters, which are selected, moved, or have typed work, and what they show. */
export interface RowsSlice {
  /** The shown kernels: those of the graph, or those that Python sent, with the work that was typed for them. */
  readonly kernels: ReadonlySignal<Kernels>;
  /** The kernels without the work that was typed for them. */
  readonly given: ReadonlySignal<Kernels>;
  /** The earlier run. Null without one. */
  readonly baseline: Signals["baseline"];
  /** The comparison with the baseline. */
  readonly runs: ReadonlySignal<Runs | undefined>;
  /** The rows of the baseline that pass the filters. */
  readonly earlierRows: ReadonlySignal<Int32Array>;

  /** The rows that pass the filters and that no question hides, in the order of the table. */
  readonly passing: ReadonlySignal<Int32Array>;
  /** The rows that pass the filters and that a question hides. */
  readonly hidden: ReadonlySignal<Int32Array>;
  /** The kernels that the user has singled out. Null if there is no such choice. */
  readonly only: ReadonlySignal<readonly number[] | null>;
  /** Whether any filter is set. */
  readonly isFiltered: ReadonlySignal<boolean>;
  /** Whether a question hides the kernel of a row, or the total that follows the kernels. */
  isHidden(row: number): boolean;
  /** The rows of the kernels that pass the filters, longest time first. */
  readonly longestFirst: ReadonlySignal<Int32Array>;
  /**
   * The number of kernels that pass, the number of all kernels, and the share of the passing rows in the total self
   * time. Idle time is no kernel. The share is NaN if no row was measured.
   */
  readonly totals: ReadonlySignal<{ readonly kernels: number; readonly all: number; readonly share: number }>;
  /** The messages of the kernels. None while a question hides kernels, because they could tell the answer. */
  readonly messages: ReadonlySignal<readonly RatedMessage[]>;
  /** What binds each kernel on the focus chip, for all rows of the table. */
  readonly boundBy: ReadonlySignal<DictColumn>;
  /** The number of kernels and the share of time of each category, longest self time first. */
  readonly byCategory: ReadonlySignal<readonly Part[]>;
  /** The same of each phase of a trace. In a table without phases: of all kernels, with the name "". */
  readonly byPhase: ReadonlySignal<readonly Part[]>;
  /** The ranking of the filtered kernels by the time that each kernel could save on the focus chip. */
  readonly ranking: ReadonlySignal<Ranking>;

  /** The table of the points: the kernels, followed by the totals of their program. */
  readonly drawn: ReadonlySignal<Kernels>;
  /** The rows of `drawn` that become points if FLOPs and bytes are known. */
  readonly drawnRows: ReadonlySignal<Int32Array>;
  readonly points: ReadonlySignal<Points>;
  /** The column that gives the points their colours. */
  readonly colouring: ReadonlySignal<Colouring>;
  /** Whether the chart shows the totals of the program and its steps instead of the kernels. */
  readonly showsTotals: ReadonlySignal<boolean>;
  /**
   * The headline above the chart. Undefined where nothing is said: while a question is open, because the headline could
   * tell the answer, and where a title stands in place of what needs no measured times.
   */
  readonly headline: ReadonlySignal<Verdict | undefined>;
  /** The headline of a picture. It does not wait for the search for the best partition. */
  readonly pictureHeadline: ReadonlySignal<Verdict | undefined>;

  readonly selected: Signals["selected"];
  readonly hovered: Signals["hovered"];
  /** The hovered row of `drawn`. It is a kernel or a total, because the totals follow the kernels in `drawn`. */
  readonly pointed: ReadonlySignal<number | null>;
  /** The row of `drawn` that the status row describes: hovered or selected, and not hidden by a question. */
  readonly described: ReadonlySignal<number | undefined>;
  /** The rows of the kernels that reach their roof in the projected time. */
  readonly atRoof: Signals["atRoof"];
  readonly setAtRoof: Setter<"atRoof">;
  /** Hovers a row of `drawn`, or none. */
  hover(row: number | null): void;
  select(rows: readonly number[]): void;
  /** Leaves out all other kernels. Null shows them again. */
  setOnly(rows: readonly number[] | null): void;

  /** The what-ifs of kernels, by row. */
  readonly moves: Signals["moves"];
  /** The work that a person has typed for kernels without, by row. */
  readonly typedWork: Signals["typedWork"];
  /** The kernel that is being dragged, by pointer or by keys. */
  readonly kernelDrag: Signal<MovedKernels["dragged"]>;
  /** The kernels with their what-ifs applied. If there is no roof, or if no kernel has a what-if, this is undefined. */
  readonly moved: ReadonlySignal<Moved | undefined>;
  /** The data that texts about what-ifs need; undefined without a roof. */
  readonly movedKernels: ReadonlySignal<MovedKernels | undefined>;
  setMove(row: number, move: Move, stream?: boolean): void;
  dragKernel(row: number, byKeys: boolean): Gesture<Move>;
  /** Removes the what-if of one kernel, or of all kernels. */
  resetMoves(row?: number): void;
  /** The rules of work in force, by the name of the kernels for which a person has written them. */
  readonly rules: Signals["rules"];
  readonly setRules: Setter<"rules">;
  /** Sets the work of one launch of a kernel whose own is unknown. If `work` is empty, removes it. */
  setTypedWork(row: number, work: Work): void;
}

/** How the chart is seen: its plane, zoom, units, filters, snapshots, and what is open beside it. */
export interface ViewSlice {
  readonly title: Signals["title"];
  /** From where Python opens files. */
  readonly openFiles: Signals["openFiles"];
  /** The words that the model uses for a ridge point and for the intensity. */
  readonly terms: Signals["terms"];
  /** The panels and tabs that a lesson hides. */
  readonly hiddenPanels: Signals["hiddenPanels"];
  readonly presentation: Signals["presentation"];
  readonly setPresentation: Setter<"presentation">;

  readonly plane: Signals["view"];
  /** The number of the message under the pointer or with the focus. Only the page knows it. */
  readonly message: Signal<number | undefined>;
  /** Shows another plane, without zoom. */
  setPlane(next: View): void;
  readonly zoom: Signals["zoom"];
  /**
   * Sets the zoom. Zooms with the same `run` make one undo entry. A run is a series of turns of the wheel or of
   * repeats of a key.
   */
  setZoom(next: Zoom | null, how?: ChangeOptions & { readonly run?: number }): void;
  dragZoom(): Gesture<Zoom | null>;
  readonly timeScale: Signals["timeScale"];
  /** What the axes of the roofline plane fit. */
  readonly frame: Signals["frame"];
  readonly rateUnit: Signals["rateUnit"];
  /** The number of bytes per word, if the intensity is shown in FLOP/word. 0 if the intensity is shown in FLOP/B. */
  readonly word: Signals["word"];
  readonly xAxis: Signals["xAxis"];
  readonly tickBase: Signals["tickBase"];
  /** The units and ticks of the axes, together. */
  readonly axes: Pick<Signals, keyof Axes>;
  /**
   * Sets a property of the axes. A new time scale removes the zoom, because the zoom does not apply to the new
   * scale. A new frame removes the zoom, because the zoom would hide the frame.
   */
  setAxis<K extends keyof Axes>(name: K, value: Axes[K]): void;
  readonly rulers: Signals["rulers"];
  readonly setRulers: Setter<"rulers">;
  /** Whether points have shapes and patterns. */
  readonly patterns: ReadonlySignal<boolean>;
  setPatterns(next: boolean): void;
  /** Which kernels have gap arrows. */
  readonly gaps: ReadonlySignal<Gaps>;
  setGaps(next: Gaps): void;
  /** Gives gap arrows to more kernels, and after all kernels to none. */
  cycleGaps(): void;
  /** Whether lines join the points of each kernel at several memory levels. */
  readonly allJoins: ReadonlySignal<boolean>;
  setAllJoins(next: boolean): void;
  /** The key of the column that gives the points their colours. */
  readonly colourBy: Signals["colourBy"];
  readonly setColourBy: Setter<"colourBy">;

  // The filters; `Filters` in roofline/filters.ts describes each.
  readonly search: Signals["search"];
  readonly setSearch: Setter<"search">;
  readonly categories: Signals["categories"];
  readonly setCategories: Setter<"categories">;
  readonly bounds: Signals["bounds"];
  readonly setBounds: Setter<"bounds">;
  readonly precisions: Signals["precisions"];
  readonly setPrecisions: Setter<"precisions">;
  readonly phases: Signals["phases"];
  readonly setPhases: Setter<"phases">;
  readonly timeShare: Signals["timeShare"];
  readonly setTimeShare: Setter<"timeShare">;
  dragTimeShare(): Gesture<number>;
  readonly top: Signals["top"];
  readonly setTop: Setter<"top">;
  readonly infeed: Signals["infeed"];
  readonly setInfeed: Setter<"infeed">;
  /** Clears all filters, and the kernels that the user has singled out. */
  clearFilters(): void;
  readonly scope: Signals["scope"];
  readonly setScope: Setter<"scope">;

  /** The tab of the inspector that the user has opened, or "closed". Null before any choice. */
  readonly tab: ReadonlySignal<string | null>;
  openTab(name: string): void;
  /** Whether the table with all columns is shown below the chart. */
  readonly isTableOpen: ReadonlySignal<boolean>;
  openTable(isOpen: boolean): void;
  /** The key of the column by which the table is sorted, with "-" in front for falling; "" for "-headroom". */
  readonly sortBy: Signals["sortBy"];
  readonly setSortBy: Setter<"sortBy">;
  /** The keys of the shown columns of the table. Null for the usual ones. */
  readonly columns: Signals["columns"];
  readonly setColumns: Setter<"columns">;

  readonly snapshots: Signals["snapshots"];
  /** Makes a snapshot of the focus roof, if there is a focus roof. */
  freeze(name?: string): void;
  renameSnapshot(place: number, name: string): void;
  hideSnapshot(place: number, hidden: boolean): void;
  deleteSnapshot(place: number): void;

  /**
   * Whether a control is being dragged, or moved by a series of steps. Slow updates and screen readers wait until the
   * end.
   */
  readonly dragging: ReadonlySignal<boolean>;
  /**
   * Returns `dragging`. A component that calls this function is drawn again at the end of a drag, but not at its
   * start: a press alone changes nothing that the component shows.
   */
  isInDrag(): boolean;
  /** Whether a control is being dragged. */
  readonly isHeld: ReadonlySignal<boolean>;
  /** What was just done. */
  readonly status: ReadonlySignal<Status>;
  /** Shows a text as `status`. "" shows nothing. */
  say(text: string, how?: SayOptions): void;
}

/** The lesson: what it locks, its story, and the answers. */
export interface LessonSlice {
  isLocked(lock: Lock): boolean;
  /** Says that a value is locked; undefined if it is not. */
  lockNote(lock: Lock): string | undefined;

  readonly story: Signals["story"];
  /** The index of the current step. */
  readonly step: Signals["step"];
  /** The number of steps. */
  readonly steps: ReadonlySignal<number>;
  readonly current: ReadonlySignal<StoryStep | undefined>;
  /** Shows a step at its start, whatever the learner has changed. */
  showStep(step: number): void;

  readonly question: ReadonlySignal<Question | undefined>;
  /** The kernels that the question hides. */
  readonly hidden: ReadonlySignal<Hidden>;
  /** Whether the open question hides something that could tell its answer. */
  hidesHint(hint: Hint): boolean;
  /** All answers by the key of their question. Undo keeps them. */
  readonly answers: Signals["answers"];
  /** All answers to the question, the latest last, without the note that the answer was shown. */
  readonly attempts: ReadonlySignal<readonly Attempt[]>;
  /** How many different answers these are. */
  readonly tries: ReadonlySignal<number>;
  /** The value at the marker of a drag; undefined until the learner moves the marker. */
  readonly prediction: Signal<number | undefined>;
  giveAnswer(given: Attempt): void;
  /** Takes all answers back. */
  forgetAnswers(): void;
  /** Returns what the chart itself answers now to the question of the step. */
  answerNow(): Attempt | undefined;
  /** The verdict on the latest answer; undefined without an answer, or if the answer has another form. */
  readonly verdict: ReadonlySignal<AnswerVerdict | undefined>;
  /** Whether the answer is shown: the learner has found it, or has chosen "Show the answer". */
  readonly isRevealed: ReadonlySignal<boolean>;
  reveal(): void;
  /** Whether the browser refuses to keep the answers of an exported page; undefined elsewhere. */
  readonly isStorageRefused: ReadonlySignal<boolean> | undefined;
}

/** Undo and redo of everything that the page and Python share. */
export interface HistorySlice {
  undo(): void;
  redo(): void;
  readonly canUndo: ReadonlySignal<boolean>;
  readonly canRedo: ReadonlySignal<boolean>;
}

/** Python: whether it answers, and what it is asked for. */
export interface PythonSlice {
  readonly connection: ReadonlySignal<Connection>;
  /** The time of the oldest unanswered change. */
  readonly waitingSince: ReadonlySignal<number | undefined>;
  /** Stops sending messages for good. */
  disconnect(): void;

  readonly opening: ReadonlySignal<Opening>;
  /** Opens files. If there are kernels to compare with, the person chooses first. Several files become series. */
  openFile(given: Given): void;
  /** Opens the files that the person has chosen what to do with. */
  proceed(compare: boolean): void;
  /** Shows an example profile. */
  openExample(): void;
  /** Ends the opening, or takes its result from the page. */
  dismissOpening(): void;
  /** Makes the earlier run the present one, and the present one the earlier. */
  swapRuns(): void;
  stopComparing(): void;

  /**
   * Asks Python for the fastest partition of the graph on the focus chip. Undefined if Python knows none, refuses, or is
   * still asked.
   */
  askBest(): Promise<Reply["best"]>;
  /** Asks Python about rules of work. */
  ask(request: RuleRequest): Promise<Reply>;

  /** Whether Python can make a file. An exported page has no Python. */
  readonly canAsk: boolean;
  /** Returns a figure as SVG text. Rejects with the reason if there is none. */
  figureText(store: object, style: FigureStyle, caption: boolean): Promise<string>;
  /** Returns a page or a session as text. Rejects with the reason if there is none. */
  fileText(name: "html" | "json"): Promise<string>;
  /** Copies the address of the graph. Only an exported page has one. */
  readonly shareGraph: ShareGraph | undefined;
}

/** Signals that change a few times a second while something is dragged: those that panels read. */
export type Throttled = Pick<
  RatesSlice,
  | "chips"
  | "focusChip"
  | "roofs"
  | "shownRoofs"
  | "focusRoof"
  | "focusLink"
  | "shownLevels"
  | "subRoofs"
  | "possibleCeilings"
> &
  Pick<RowsSlice, "drawn" | "points"> & { readonly fused: WorkloadSlice["graph"] };
