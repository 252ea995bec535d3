// Every text that a user reads, in English, one object per topic.

import type { ReducingOp } from "../fusion/legality.ts";
import type { Roof } from "../roofline/roofline.ts";
import type { Share, Terms } from "../wire/types.ts";

/** Formats a count with separators between thousands. */
const whole = (count: number) => String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
const PREFIXES: Record<string, string> = { k: "kilo", M: "mega", G: "giga", T: "tera", P: "peta", E: "exa" };
const kernels = (count: number, written = String(count)) => (count === 1 ? "1 kernel" : `${written} kernels`);
const rows = (count: number) => (count === 1 ? "1 row" : `${whole(count)} rows`);
const listed = (names: readonly string[]) =>
  [...(names.length > 1 ? [names.slice(0, -1).join(", ")] : []), ...names.slice(-1)].join(" and ");
const reduced = (axes: readonly number[]) => `${axes.length === 1 ? "axis" : "axes"} ${axes.join(", ")}`;
/** The word for a ridge point, and its form beside a number. */
const ridgePoint = ({ ridge = "ridge point" }: Terms) => ridge;
const ridge = (terms: Terms) => (ridgePoint(terms) === "ridge point" ? "ridge" : ridgePoint(terms));
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const ai = ({ intensity }: Terms) => (intensity === "operational" ? "OI" : "AI");
const ofBytes = (bytes: number) => (bytes === 0 ? "" : ` of ${bytes} B`);

/** The subject and the verb of a headline on kernels of one family, and the family's plural noun. */
const FAMILIES: Readonly<Record<string, readonly [takes: string, noun: string]>> = {
  "matrix product": ["Matrix products take", "matrix products"],
  attention: ["Attention takes", "attention kernels"],
  "element by element": ["Element-by-element kernels take", "element-by-element kernels"],
  normalisation: ["Normalisation takes", "normalisations"],
  collective: ["Collectives take", "collectives"],
  copy: ["Copies take", "copies"],
  "look-up": ["Look-ups take", "look-ups"],
};
const boundWord = (regime: string) => (regime === "unknown" ? "of unknown bound" : `${regime}-bound`);

export const catalogue = {
  // How numbers are written and read.
  numerals: {
    whole,
    /** The code of this language. The page marks its parts in this language with this code. */
    language: "en",
    mark: ".",
    list: (numbers: readonly string[]) => numbers.join(", "),
    /** Matches the characters between two numbers in a list that the user typed. */
    apart: /[\s,;]+/,
    /** Returns a number that the user typed, with a point as decimal mark. */
    read: (typed: string) => typed,
    /**
     * Returns a size that the user typed, with a point as decimal mark. In German, a point before exactly three digits
     * separates thousands: "4.096" is 4096. The German texts "1,5k" and "1.5k" are 1500.
     */
    readWhole: (typed: string) => typed,
    /** Returns a rate as screen readers speak it. */
    spoken: (number: string, prefix: string, unit: "FLOP/s" | "OP/s" | "B/s") =>
      `${number} ${PREFIXES[prefix] ?? prefix}${{ "B/s": "bytes", "OP/s": "operations", "FLOP/s": "FLOPs" }[unit]} per second`,
  },

  // Texts of the chart, the tooltip, the sentence under the chart, the inputs for rates, and the controls above the
  // chart.
  strings: {
    unknown: "unknown",
    locked: "Locked in this lesson",
    noNumber: (typed: string, example: string) => `no number in “${typed}”; write for example “${example}”`,
    notAUnit: (suffix: string, unit: string, example: string) =>
      `“${suffix}” is not a unit of ${unit}; write for example “${example}”`,
    unitMissing: (typed: string, example: string) => `“${typed}” has no unit; write for example “${example}”`,
    notAboveZero: (example: string) => `a rate must be above zero; write for example “${example}”`,
    noHardware: (low: string, high: string, example: string) =>
      `hardware has a rate from ${low} to ${high}; write for example “${example}”`,
    precision: "Precision",
    memory: "Memory",
    auto: "auto",
    main: "main",
    focus: (chip: string) => `Focus ${chip}: the sliders change it`,
    show: (chip: string) => `Show ${chip}`,
    lacksPeak: (precision: string) => `no ${precision}`,
    lacksBandwidth: (memory: string) => `no ${memory}`,
    lacksPeakReason: (chip: string, precision: string) => `${chip} has no peak for ${precision}`,
    lacksBandwidthReason: (chip: string, memory: string) => `${chip} has no bandwidth for ${memory}`,
    failed: (reason: string) => `This roofwidget could not be drawn (${reason}): run the cell again.`,
    noSliders: (reason: string) => `${reason}: choose another chip, precision or memory.`,
    peak: (precision: string) => `Peak ${precision}`,
    bandwidth: (level: string) => `${level} bandwidth`,
    typed: (label: string) => `${label}, typed`,
    reset: "Back to the data sheet",
    chart: (chips: string, count: number) =>
      count === 0
        ? `Roofline of ${chips || "no chip"}.`
        : `Roofline of ${chips || "no chip"} with ${kernels(count)}. Arrow keys move from kernel to kernel, Enter selects one, M moves one.`,
    memoryRegion: "memory-bound",
    computeRegion: "compute-bound",
    noChip: "No chip is shown: switch one on.",
    noPlaces: (count: number) =>
      count === 1
        ? "The kernel has no FLOPs or no bytes.\nIts time is in the table."
        : `None of the ${whole(count)} kernels has FLOPs and bytes.\nTheir times are in the table.`,
    noChips: "No chip to compare these kernels with: add one with “+ Chip”.",
    ridge: (roof: Roof, intensity: string, peak: string, bandwidth: string, terms: Terms) =>
      `${roof.chip.name} · ${peak} at ${roof.precision}, ${bandwidth} from ${roof.level} · ${ridgePoint(terms)} ${intensity}`,
    ridges: (roof: Roof, peak: string) =>
      `${roof.chip.name} · ${peak} at ${roof.precision} · every level counts; the slowest binds`,
    /** The label of the ridge point, with the intensity at this point. */
    ridgeAt: (intensity: string, terms: Terms) => `${ridge(terms)} ${intensity}`,
    sides: {
      roofline: "kernels left of it are memory-bound, right of it compute-bound",
      time: "kernels above the diagonal are memory-bound, below it compute-bound",
    },
    sidesOf: (chip: string, ridge: string) =>
      `${chip}: kernels left of ${ridge} are memory-bound, right of it compute-bound.`,
    on: (kernel: string, chip: string) => `${kernel} on ${chip}`,
    measuredOn: (chip: string) => `measured on ${chip}`,
    /** A formula, and the share of its result that remains after exposed communication. */
    leaving: (percent: string, formula: string) => `${percent} of ${formula}`,
    least: (terms: readonly string[]) => `min(${terms.join(", ")})`,
    attainable: (formula: string, rate: string) => `${formula} = ${rate} attainable`,
    bound: (by: string, regime: string, time: string) =>
      ({
        memory: `memory-bound (${by})`,
        compute: "compute-bound",
        network: `network-bound: ${time} over its link`,
        overhead: `launch-bound: ${time} of launch overhead`,
      })[regime] ?? "bound unknown",
    /**
     * The displayed names of what can bind a kernel. Memory levels are missing here, because their own names are
     * displayed.
     */
    binding: {
      compute: "compute",
      network: "network",
      overhead: "overhead",
      unknown: "unknown",
    } as Readonly<Record<string, string>>,
    ofPeak: (percent: string) => `${percent} of peak`,
    atMostOfPeak: (percent: string) => `at most ${percent} of peak`,
    ofRoof: (percent: string) => `${percent} of roof`,
    possible: (ratio: string) => `${ratio}× possible`,
    upTo: (ratio: string) => `up to ${ratio}×`,
    belowRoof: (ratio: string) => `${ratio}× below its roof`,
    namesAbove: (names: string, isOffScale: boolean) =>
      `${names}: above the roof${isOffScale ? ", off the scale" : ""}`,
    /** The measured rate beside the rate of the data sheet. */
    measuredRoof: (rate: string) => ` · measured ${rate}`,
    /** Follows the rate of a roof at another clock. */
    atClock: (clock: string) => ` at ${clock}`,
    countAbove: (count: number) => `${count} above the roof`,
    farBelow: "far below its roof",
    moreThan: (ratio: string) => `> ${ratio}`,
    aboveRoof: "above its roof: check its counts, its time and the peaks",
    aboveRoofShort: "above its roof",
    /** The work of kernels, by the unit of their operations. */
    work: { FLOP: "FLOPs", OP: "operations" },
    zeroFlopsSentence: (unit: string, bytes: string, time: string, bandwidth: string) =>
      `0 ${unit}, ${bytes}: at least ${time} at ${bandwidth}`,
    unknownSentence: (work: string) => `its ${work} or bytes are unknown, so it is not on the chart`,
    bytesElsewhere: (levels: string, level: string) => `its bytes are at ${levels}, not at ${level}`,
    bytesUnrated: (levels: string, chip: string, level: string) =>
      `its bytes are at ${levels}, and ${chip} has no bandwidth for ${level}`,
    bytesLacked: (levels: string, chip: string, own: string) =>
      `its bytes are at ${levels}, which ${chip} lacks; it has ${own}`,
    noLinkForKernel: (chip: string) => `${chip} has no known link to other chips`,
    noPeakForKernel: (chip: string, precision: string, work: string) =>
      `${chip} has no peak for its ${precision} ${work}`,
    /** `names`: the names of the first few of these kernels. */
    notDrawn: (count: number, names: readonly string[]) =>
      count === 1
        ? `1 kernel is not drawn: ${names[0]}. Its FLOPs, bytes or peak are unknown.`
        : `${whole(count)} kernels are not drawn: ${names.join(", ")}${count > names.length ? ", …" : ""}. Their FLOPs, bytes or peaks are unknown.`,
    /** The axes have the range of the chips, which has no place for some kernels. */
    outside: (count: number, names: readonly string[]) =>
      count === 1
        ? `1 kernel is outside the axes: ${names[0]}. Let the axes fit the kernels to see it.`
        : `${whole(count)} kernels are outside the axes: ${names.join(", ")}${count > names.length ? ", …" : ""}. Let the axes fit the kernels to see them.`,
    noCategory: "no category",
    moreCategories: (count: number) => `and ${count} more, in the same colours`,
    series: "Series",
    /** `ticks`: the lowest, the middle and the highest value. */
    scale: (column: string, ticks: readonly string[]) => `${column}: a scale of colours, ${ticks.join(", ")}`,
    unnamed: (row: number) => `(unnamed ${row})`,
    level: (name: string, bandwidth: string, illustrative: boolean) =>
      `${name} · ${bandwidth}${illustrative ? " (illustrative)" : ""}`,
    exposed: (percent: string) => `${percent} exposed`,
    tooltip: {
      category: "category",
      chip: "on",
      measuredOn: "measured on",
      ai,
      aiAt: (level: string, terms: Terms) => `${ai(terms)} at ${level}`,
      achieved: "achieved",
      attainable: "attainable",
      withOutside: "with network and launches",
      roof: "of roof",
      peak: "of peak",
      atMost: "of peak, at most",
      boundBy: "bound by",
      why: "because",
      bandwidth: (level: string) => `${level} rate`,
      flip: "compute-bound from",
      computeBoundOn: "compute-bound on",
      time: "time",
      noTime: "unknown: no amounts given",
      selfTime: "self time",
      boundTime: "least time",
      launches: "launches",
      share: (percent: string) => `${percent} of the run`,
      of: (rate: string, limit: string) => `${rate} of ${limit}`,
      limit: "at most",
      ofRoof: "of its roof",
      above: "above",
    },
    time: {
      chart: (chip: string, count: number) =>
        `Compute and memory time of ${kernels(count)} on ${chip || "no chip"}. Arrow keys move from kernel to kernel, Enter selects one.`,
      axisX: "compute time per launch",
      axisY: "memory time per launch",
      diagonal: (chip: string) => `${chip}: compute = memory`,
      overhead: (seconds: string) => `launch overhead ${seconds}`,
      zeroFlops: "0 FLOP",
      zeroBytes: "0 B",
      empty: "No kernel has both FLOPs and bytes.",
    },
  },

  // Texts of the chip picker, the chip card and the folded panels.
  words: {
    addChip: "Chip",
    addAChip: "Add a chip",
    addChipKey: "Add a chip (C)",
    loadingCatalogue: "Loading the catalogue…",
    noCatalogue: "Further chips come from Python: run the cell first.",
    picker: "Chips",
    search: "Search chips",
    searchHint: "H200, AMD, 2023",
    found: (count: number, all: number) => `${count} of ${all} chips`,
    noneFound: (query: string) => `No chip has “${query}”. Your own: rw.Chip(…)`,
    best: "Best matches",
    inUse: "In use",
    likely: (vendor: string) => `Likely: ${vendor}, newest first`,
    also: (vendor: string) => `Also from ${vendor}, newest first`,
    generations: (vendor: string) => `${vendor}, all generations`,
    peakAt: (precision: string) => `Peak, ${precision}`,
    enter: { adds: "Enter adds", hides: "Enter hides" },
    addAndStay: "Add, and stay here (Shift+Enter)",
    keys: ["↑ ↓ choose", "Enter adds and closes", "Shift+Enter adds and stays", "Esc closes"],
    many: "8 chips: names may be hidden.",
    close: "Close",
    otherVendor: "Other",
    allLevels: "all levels",
    view: "View",
    views: { roofline: "Roofline", time: "Time", network: "Network", instructions: "Instructions" },
    details: "Details",
    waiting: "Python is busy or gone; changes wait.",
    ended: "Python has ended: run the cell again.",
    restarted: "Python was restarted: run the cell again.",
    detailsOf: (chip: string) => `Details of ${chip}`,
    vendor: "Vendor",
    family: "Family",
    year: "Year",
    status: "Status",
    statuses: {
      "single-source": "from one source; no second source found",
      "cross-checked": "checked against a second source",
      given: "as given, not checked",
    } as Record<string, string>,
    noSource: "no source was given",
    source: "source",
    confidence: (word: string) => `(${word})`,
    othersSay: (value: string, ratio: string) => `others say ${value} (×${ratio}):`,
    measured: "measured",
    /**
     * Returns the text for a chip's figure. In English, this is the label that Python sends. Other languages translate
     * the label.
     */
    figure: (label: string) => label,
    peaks: "Peaks",
    printed: "data sheet",
    achievable: "achievable",
    changed: "changed",
    clock: "Clock",
    clockTyped: "Clock, typed",
    clockTitle:
      "A what-if: peaks and memories on the chip run at this clock. The main memory and links keep their rates.",
    ceilings: "Ceilings",
    communication: "Communication",
    exposed: "Exposed communication",
    exposedShort: "exposed",
    exposedFractions: "Fractions exposed, typed",
    noneExposed: "none exposed",
    fractionsHint: "20, 40, 60 %",
    nothingExposed: "No exposed communication",
    flat: (percent: string, rate: string) => `${percent} exposed → ${rate} flat`,
    noFraction: (typed: string) => `no number in “${typed}”; write for example “20, 40, 60 %”`,
    notAFraction: (typed: string) => `“${typed}” is not a share from 0 to below 100 %`,
    levels: "Levels",
    level: "Level",
    bandwidth: "Bandwidth",
    ridgeAt: (precision: string, terms: Terms) => `${capital(ridge(terms))}, ${precision}`,
    showAllLevels: "show levels that bind no kernel",
    unknownLevels: "Bandwidth unknown, so not drawn:",
  },

  // The source line.
  sourceWords: {
    before: "Before",
    now: "Now",
    python: "Python",
    graph: (ops: number) => `graph of ${ops} ops`,
    leastTimes: "times are the least that the roof allows",
    count: (count: number) => kernels(count, whole(count)),
    fromPython: (count: number) => `${kernels(count, whole(count))} from Python`,
    onChip: (count: number, chip: string) => `${kernels(count, whole(count))} on ${chip}`,
    onUnknown: (count: number, chip: string) =>
      `${kernels(count, whole(count))} · chip not named in the file, shown on ${chip}`,
    swap: "Swap",
    stop: "Stop comparing",
    remarks: (count: number) => (count === 1 ? "1 remark" : `${count} remarks`),
    readAs: "How the file was read",
    readAsNote: (format: string) => `(format ${format})`,
    readAsColumns: ["field", "rows", "from"],
  },
  tabWords: {
    title: "Inspector",
    close: "Close the inspector",
    allColumns: "All columns",
    names: {
      changes: "Changes",
      fusion: "Fusion",
      kernels: "Kernels",
      messages: "Messages",
      unknown: "Unknown",
      workload: "Workload",
      projection: "Projection",
      chip: "Chip",
      snapshots: "Snapshots",
    },
  },

  // Kernels of unknown work, and rules for them.
  unknownWords: {
    operation: "Operation",
    calls: "Calls",
    withoutWork: "Without work",
    ofTime: (time: string, percent: string) => `${time}, ${percent} of kernel time`,
    hasRule: "has a rule",
    sizes: "sizes",
    missing: "missing",
    rule: "Rule, for",
    proposed: "Proposed from the sizes",
    says: "What it says",
    atLeast: "at least ",
    amount: (call: string, total: string) => `${call} a call · ${total} in all`,
    known: "Known kernel time:",
    check: (keys: string) => `Not in the trace: ${keys}. Check with the model's config.json.`,
    fill: (keys: string) => `Write a number or an expression for "?": ${keys}`,
    needsPython: "Rules are read by Python.",
    save: "Save to work.toml",
    saved: (file: string) => `Saved to ${file}`,
    copy: "Copy",
    copied: "Copied",
    apply: "Apply",
    discard: "Discard",
    atOnce: "Rules apply to this chart at once. A file of rules:",
    openFile: "Open work.toml…",
  },

  // A widget without chips and kernels.
  emptyWords: {
    drop: "Drop a profile here",
    files: "Nsight Compute, PyTorch, XProf, rocprof, LIKWID, or a table with FLOPs, bytes and time",
    open: "Open file…",
    another: "Open another file…",
    example: "Try an example",
    pick: "Pick a chip",
    python: "From Python:",
    code: 'rw.roofline("profile.ncu-rep")',
  },

  // Opening a profile.
  openWords: {
    open: "Open",
    title: "Open a profile",
    choose: "Choose a file…",
    hint: "Or drop a file anywhere on this widget.",
    drop: "Drop the profile to open it",
    path: "Path, in the notebook's folder",
    pathHint: "runs/step_7.json.gz",
    openPath: "Open path",
    close: "Close",
    both: (name: string) => `${name}: compare it with the kernels shown here, or show it alone?`,
    compare: "Compare",
    replace: "Show alone",
    cancel: "Cancel",
    sending: (name: string, sent: string, size: string) => `Sending ${name}: ${sent} of ${size}`,
    reading: (name: string) => `Python reads ${name}…`,
    opened: (name: string, count: number) => `${kernels(count, whole(count))} from ${name}`,
    invite: "Open a profile, or add a chip, to begin.",
  },

  // The filter bar.
  filterWords: {
    title: "Filter",
    menu: (count: number) => (count === 0 ? "Filter" : `Filter · ${whole(count)}`),
    remove: (filter: string) => `Remove the filter “${filter}”`,
    only: (count: number) => (count === 1 ? "Only 1 kernel" : `Only ${whole(count)} kernels`),
    noInfeed: "No infeed and outfeed",
    counted: (shown: number, all: number) => `${whole(shown)} of ${kernels(all, whole(all))}`,
    ofTime: (percent: string) => `${percent} of time`,
    totals: (count: number) => (count === 1 ? "1 total" : `${whole(count)} totals`),
    search: "Search names",
    searchHint: "gemm  fused*norm",
    category: "Category",
    boundBy: "Bound by",
    precision: "Precision",
    all: "all",
    chosen: (count: number) => `${count} chosen`,
    notTold: "not given",
    timeShare: "Time",
    longest: (percent: string) => `the longest kernels, together ${percent} of the time`,
    top: "Top",
    infeed: "Infeed and outfeed",
    scope: "Points",
    scopes: { kernels: "kernels", program: "program and steps" },
    clear: "Clear filters",
    toggle: "Click: only these. Shift or Ctrl and click: add or remove them.",
    idle: (percent: string, time: string) => `idle ${percent} · ${time}`,
    kernelTime: "Kernel time",
    kernelTimeNow: "Kernel time now",
    moreEntries: (count: number) => `+ ${whole(count)} more`,
    colourBy: "Colour",
    byCategory: "Kernel time by category",
  },

  // The fusion panel.
  fusionWords: {
    title: "Fusion",
    ops: (count: number) => `${count} ops`,
    graph: (name: string, ops: number) => `${name || "Graph"} of ${ops === 1 ? "1 op" : `${ops} ops`}.`,
    hint: "Click an edge to merge; click inside a kernel to split.",
    keys: "Keys",
    keyList:
      "Arrow keys move from op to op, Tab to the edges below it. Enter on an edge merges or splits; on an op it merges with the marked op or the next op downstream. M marks an op, S splits it off, X cuts its kernel above it, Space folds or unfolds its kernel, Ctrl+Z and Ctrl+Y undo and redo. An op can be dragged onto another, or out of its kernel.",
    /** The name of an edge for screen readers. */
    edge: (from: string, to: string, tensors: string) => `From ${from} to ${to}, ${tensors}`,
    proposed: (isMerge: boolean, before: string, now: string) => `${isMerge ? "Merge" : "Split"}: ${before} → ${now}`,
    noGain: (isMerge: boolean, time: string) => (isMerge ? `No gain: ${time}` : `No loss: ${time}`),
    cannot: (why: string) => `Cannot merge: ${why}`,
    /** Said after the name of an edge whose ends may not merge. */
    barred: ", cannot merge",
    runs: (op: string, times: number, flops: string) => `${op} runs ${times} times: ${flops}`,
    isRead: (tensor: string, times: number) => `${tensor} is read ${times} times`,
    partial: (bytes: string) => `${bytes} of partial sums are written and read`,
    sides: { memory: "memory-bound", compute: "compute-bound", "": "" },
    fold: "Fold this kernel",
    fuse: (kernels: number, ops: number, chip: string, time: string) =>
      `${kernels === 1 ? `Fuse all ${ops}` : kernels === ops ? "Split all" : `Fuse into ${kernels} kernels`} for ${chip}: ${time}`,
    fuseFor: (chip: string) => (chip ? `Fuse for ${chip}` : "Fuse"),
    /** `isProven`: whether the search was exact. */
    bestFor: (isProven: boolean, chip: string, time: string) =>
      `${isProven ? "Best" : "None better found"} for ${chip}: ${time}`,
    others: "Other ways",
    details: "All figures",
    ends: (first: string, last: string, count: number) => `${first} + … + ${last} (${count} ops)`,
    same: (group: string) => `${group} is already one kernel`,
    notConnected: (one: string, other: string) => `${one} and ${other} share no tensor`,
    barrier: (op: string) => `${op} is opaque: a whole algorithm that cannot share its kernel`,
    reasons: {
      beside: (op: string, product: string) => `${op} neither feeds ${product} nor uses its result`,
      unrelated: (one: string, other: string) =>
        `${one} and ${other} are matrix products that share no input and no result`,
      levels: (one: string, two: string, three: string) =>
        `${one}, ${two} and ${three} are three matrix products one after the other: a kernel has at most two`,
      "both made": (op: string) =>
        `both operands of ${op} are products of the same kernel: a block has rows of only one`,
      window: (op: string, maker: string) =>
        `${op} reads a window of the result of ${maker}: neighbouring blocks would compute the same elements`,
      "window rows": (op: string, reduction: string) =>
        `${op} reads neighbours of each element, so ${reduction} cannot have its rows whole`,
      "other axes": (op: string, product: string) => `${op} reduces other axes than those of ${product}`,
      "unused axes": (op: string, product: string) => `${op} has axes that ${product} does not use`,
      "no rows": (op: string, product: string) => `${op} does not have the rows of ${product}`,
      "block rows": (op: string) => `${op} reduces along the rows that are spread over blocks`,
      "across blocks": (op: string) => `${op} adds up rows that are spread over blocks`,
      "whole rows": (op: string, product: string) =>
        `${op} needs rows of ${product} whole: show the chip that holds them`,
      chain: (one: string, other: string) =>
        `${one} and ${other} are a chain of two products: show the chip that holds their rows`,
    },
    joined: (tensor: string) => `each block of ${tensor} needs elements that other blocks make`,
    prologueAxis: ({ name, axes }: ReducingOp, product: string) =>
      `${name} reduces ${reduced(axes)}, which ${product} does not add up: every block would need all of its rows`,
    shuffle: (op: string, size: string, holds: string) =>
      `${op} moves elements in a way that is not described: its tensors (${size}) do not fit on chip whole; ${holds}`,
    notConvex: (inner: string, first: string, last: string) => `${inner} must run after ${first} and before ${last}`,
    cycle: (group: string, between: string) => `${group} in one kernel would run both before and after ${between}`,
    tiles: (group: string) => `the tiles of ${group}`,
    tilesOf: (side: number) => `tiles of ${side} × ${side} elements`,
    capacity: (what: string, need: string, holds: string) => `${what} need ${need} at a time; ${holds}`,
    holds: ({ level, units }: Share, chip: string, there: string) =>
      `${units > 1 ? "a unit's share of the" : "the"} ${level} of ${chip} holds ${there}`,
    holdsUnknown: "show the chip that holds this much",
    rows: (needs: readonly (readonly [count: number, of: readonly string[], need: string])[], holds: string) => {
      const each = needs.map(([count, of, need], at) => {
        const verb = count === 1 ? " needs" : " need";
        return `${rows(count)} of ${listed(of)}${at === 0 ? verb : ""} ${need}`;
      });
      return `${each.join(", ")}${needs.length === 1 ? " at a time" : ""}; ${holds}`;
    },
    axes: (
      one: ReducingOp,
      other: ReducingOp,
      { group, need, holds }: { group: string; need: string; holds: string },
    ) =>
      `${
        reduced(one.axes) === reduced(other.axes)
          ? `${one.name} and ${other.name} reduce ${reduced(one.axes)}, but elements are moved between them`
          : `${one.name} reduces ${reduced(one.axes)} and ${other.name} reduces ${reduced(other.axes)}`
      }: one kernel of ${group} would keep ${need} on chip at a time; ${holds}`,
    crowded: (sentence: string, more: number) =>
      `${sentence}${more > 0 ? `, and ${more} more ${more === 1 ? "kernel does" : "kernels do"} not fit` : ""}: the figures assume that they fit`,
    merged: (group: string) => `${group}: one kernel`,
    apartNow: (op: string) => `${op} is now a kernel of its own`,
    alone: (op: string) => `${op} is already a kernel of its own`,
    last: (op: string) => `no op reads the output of ${op}: mark one of the two ops with M`,
    marked: (op: string) => `${op} is marked: Enter on another op merges them`,
    topmost: (op: string) => `${op} is the first op of its kernel`,
    at: (
      op: string,
      kind: string,
      parts: { enters: string; leaves: string; from: string; to: string; others: string },
    ) =>
      [
        ...[op, kind, `${parts.enters} in, ${parts.leaves} out`],
        ...(parts.from ? [`from ${parts.from}`] : []),
        ...(parts.to ? [`to ${parts.to}`] : []),
        ...(parts.others ? [`in one kernel with ${parts.others}`] : []),
      ].join(" · "),
    members: "Kernels and their ops",
    passes: (count: number) => (count === 1 ? "1 pass" : `${count} passes`),
    direction: (isWrite: boolean) => (isWrite ? "write" : "read"),
    more: (kernels: number) => `and ${kernels} more`,
    none: "None: split all",
    pairs: "Pairs",
    xla: "XLA-like",
    flops: "FLOPs",
    /** Four ways to run the graph: their names, and what is said of each. */
    unfused: "Unfused",
    compiler: "As compilers do",
    best: (isProven: boolean) => (isProven ? "Best" : "Best found"),
    light: "Speed of light",
    now: (ratio: string) => `now ${ratio}×`,
    /** Labels next to a merged kernel on the chart. */
    fewerBytes: (ratio: string) => `${ratio}× fewer bytes`,
    fewerBytesSameTime: (ratio: string) => `${ratio}× fewer bytes · same time`,
    mergeFaster: (ratio: string) => `this merge: ${ratio}× faster`,
    mergeSlower: (ratio: string) => `this merge: ${ratio}× slower`,
    working: "computing…",
    counted: (count: number) => kernels(count),
  },

  // Texts about the what-ifs of kernels.
  moveWords: {
    less: (ratio: string) => `${ratio}× less traffic`,
    more: (ratio: string) => `${ratio}× more traffic`,
    faster: (change: string, ratio: string) => `${change} (${ratio}× faster)`,
    slower: (change: string, ratio: string) => `${change} (${ratio}× slower)`,
    still: (time: string) => `still ${time}`,
    unknownTime: "time unknown",
    attainable: (change: string) => `attainable ${change}`,
    atRoof: "reaches its roof",
    all: (change: string) => `all kernels ${change}`,
    whatIf: (parts: string) => `what if: ${parts}`,
    told: "what if",
    pickedUp: (kernel: string, can: { readonly bytes: boolean; readonly time: boolean }, byKeys: boolean) => {
      const ways = [
        ...(can.bytes ? ["left and right change its bytes"] : []),
        ...(can.time ? [can.bytes ? "up and down its time" : "up and down change its time"] : []),
      ];
      return `${kernel} can be moved: ${ways.join(", ")}${byKeys ? ", by 5 %; Enter ends, Escape undoes" : ""}`;
    },
    reset: (kernel: string) => `Remove the what-if of ${kernel}`,
    moved: (count: number) => (count === 1 ? "1 kernel has a what-if" : `${count} kernels have a what-if`),
    back: "Remove",
    resetAll: (count: number) => (count === 1 ? "Remove this what-if" : "Remove all what-ifs"),
  },

  /** Typing the work of a kernel whose FLOPs or bytes are unknown. */
  workWords: {
    panel: (kernel: string) => `Work of ${kernel}`,
    amounts: { FLOP: "FLOPs", OP: "Operations", B: "Bytes" },
    /** The label of a box, such as "FLOPs of one launch". */
    box: (amount: string, count: number) => (count === 1 ? amount : `${amount} of one launch`),
    example: (amount: string) => `e.g. ${amount}`,
    reset: (amount: string) => `Remove the typed ${amount === "FLOPs" ? amount : amount.toLowerCase()}`,
    total: (count: number, amounts: readonly string[]) =>
      `${whole(count)} launches${amounts.length > 0 ? `: ${amounts.join(", ")}` : ""}`,
    negative: (example: string) => `a kernel has no less than nothing; write for example “${example}”`,
    tooMuch: (most: string, example: string) => `a launch has at most ${most}; write for example “${example}”`,
  },

  // Rulers and snapshots.
  rulerWords: {
    roofsAbove: (limits: readonly string[]) => `Roofs above it: ${limits.join("; ")}.`,
    rulers: "Rulers",
    patterns: "Patterns",
    joins: "Join the levels of every kernel (L)",
    noJoins: "Choose all levels of memory first.",
    gaps: "Gap arrows (R)",
    gapKinds: { first: "first ones", all: "all", none: "none" },
  },

  snapshotWords: {
    title: "Snapshots",
    freeze: "Freeze this curve (F)",
    hint: "F freezes the current curve; R changes which kernels have gap arrows.",
    /** The default name of a snapshot. */
    name: (place: number) => `snapshot ${place}`,
    nameOf: (name: string) => `Name of ${name}`,
    show: (name: string) => `Show ${name}`,
    remove: (name: string) => `Delete ${name}`,
    noName: "A snapshot needs a name.",
    kept: (name: string, chip: string, peak: string, count: number) =>
      `Frozen as ${name}: ${chip}, ${peak}, ${kernels(count)}.`,
    faster: (ratio: string) => `${ratio}×`,
    intensity: (ratio: string, terms: Terms) => `${ai(terms)} ${ratio}×`,
    peak: (ratio: string) => `peak ${ratio}×`,
    bandwidth: (level: string, ratio: string) => `${level} ${ratio}×`,
  },

  // The headline above the chart, and the line below it.
  verdictWords: {
    withWhatIf: (text: string) => `With your what-if: ${text.charAt(0).toLowerCase()}${text.slice(1)}`,
    noMatch: "No kernel of the two runs has the same name.",
    totals: (before: string, now: string) =>
      `Only totals can be compared: ${before} before, ${now} now. If the runs come from different tools, their names differ.`,
    noChange: (time: string) => `No change: ${time} before and now.`,
    timesAsFast: (factor: string, before: string, now: string) => `${factor}× as fast: ${before} before, ${now} now.`,
    timesAsLong: (factor: string, before: string, now: string) => `${factor}× the time: ${before} before, ${now} now.`,
    lessTime: (percent: string, before: string, now: string) => `${percent} less time: ${before} before, ${now} now.`,
    moreTime: (percent: string, before: string, now: string) => `${percent} more time: ${before} before, ${now} now.`,
    changed: (parts: readonly (readonly [kind: string, count: number, change: string])[]) =>
      `${parts
        .map(([kind, count, change], at) => {
          const who = at === 0 ? kernels(count, whole(count)) : whole(count);
          if (kind === "same") return `${who} the same within 1 %`;
          return kind === "other" ? `${who} not comparable` : `${who} ${kind} (${change})`;
        })
        .join(", ")}.`,
    only: (before: number, now: number) =>
      `${[before && `${whole(before)} only before`, now && `${whole(now)} only now`].filter(Boolean).join(", ")}.`,
    inBoth: (count: number) => `${count === 1 ? "The kernel is" : `All ${whole(count)} kernels are`} in both runs.`,
    above: "Most kernels are above the roof: the chip or the counts are wrong.",
    aboveDetail: (above: number, count: number, chip: string) =>
      `${whole(above)} of ${kernels(count, whole(count))} ${above === 1 ? "needs" : "need"} less time than the roof of ${chip} allows. Check the chip, the precision, the FLOPs and the bytes.`,
    idle: (device: string, percent: string) => `The ${device} is idle ${percent} of the time.`,
    noneRan: (time: string) => `No kernel ran in ${time}.`,
    run: (running: string, time: string, launches: number, each: string) =>
      `Kernels run ${running} of ${time}, in ${launches === 1 ? "one launch" : `${whole(launches)} launches of ${each}`}.`,
    runWithGap: (running: string, time: string, gap: string, start: string) =>
      `Kernels run ${running} of ${time}. One gap of ${gap}, which begins ${start} after the first kernel starts, is most of the idle time.`,
    savings: (count: number, time: string, rest: string) =>
      `The ${count === 1 ? "one" : count} to fix first could save up to ${time}; at every roof ${rest} would remain.`,
    firstSave: (count: number, time: string) =>
      `The ${count === 1 ? "one" : count} to fix first could save up to ${time}.`,
    firstSaveOf: (count: number, saved: string, time: string) =>
      `The ${count === 1 ? "one" : count} to fix first could save up to ${saved} of ${time}.`,
    remains: (time: string) => `At every roof ${time} would remain.`,
    between: (least: string, most: string) => `${least} to ${most}`,
    exposed: (percent: string) => `Exposed communication takes ${percent} of the busy time.`,
    /** `percent`: the hidden share; empty if nothing is hidden. */
    exposedDetail: (time: string, percent: string) =>
      `It runs for ${time}, ${percent || "none"} of it hidden behind other kernels.`,
    waited: (time: string) => `In all calls of the same messages together, ranks waited at most ${time}.`,
    overLink: (link: string, now: string, before: string) =>
      `With your what-if: over a link of ${link} the same messages need at least ${now} instead of ${before}.`,
    category: (family: string, percent: string, device: string, idle: string) =>
      `${FAMILIES[family]?.[0] ?? `Kernels of “${family}” take`} ${percent} of the time${idle && `; the ${device} is idle for ${idle}`}.`,
    slowest: (family: string, count: number, regime: string, limit: string, percent: string) => {
      const who = count === 1 ? "The slowest of them" : `The ${count} slowest ${FAMILIES[family]?.[1] ?? "of them"}`;
      const s = count === 1 ? "s" : "";
      if (regime === "memory") return `${who} move${s} bytes at ${percent} of the ${limit} bandwidth.`;
      if (regime === "compute") return `${who} run${s} at ${percent} of the ${limit} peak.`;
      return `${who} run${s} at ${percent} of ${count === 1 ? "its roof" : "their roofs"}.`;
    },
    noRoof: (count: number, time: string) => `${kernels(count, whole(count))} in ${time}.`,
    noRoofDetail: "Show the chip that they ran on to see what could be saved.",
    noneKnown: (count: number) => (count === 1 ? "The kernel has no known roof." : "No kernel has a known roof."),
    fewKnown: (percent: string) => `Only ${percent} of kernel time has a known roof.`,
    giveWork: "Give FLOPs and bytes to see what could be saved.",
    restUnknown: "Without FLOPs and bytes nothing can be said of the other kernels.",
    one: (name: string, percent: string, saved: string, time: string) =>
      `${name} runs at ${percent} of its roof: up to ${saved} of ${time} could be saved.`,
    oneDetail: (regime: string, rest: string) => `It is ${regime}-bound: at its roof ${rest} would remain.`,
    near: (name: string, percent: string, chip: string) =>
      `${name ? `${name} runs at ${percent} of its roof` : `Kernels run at ${percent} of their roofs`}: little is left to save on ${chip}.`,
    first: (first: number, count: number, saved: string, time: string) =>
      `${first} of ${whole(count)} kernels hold most of what could be saved: up to ${saved} of ${time}.`,
    spread: (saved: string, time: string, percent: string) =>
      `Up to ${saved} of ${time} could be saved: kernels run at ${percent} of their roofs.`,
    noneStandsOut: (count: number, time: string) =>
      `No kernel stands out: the ${count} to fix first could save up to ${time}.`,
    mostIn: (parts: readonly string[]) => `Most could be saved in ${parts.join(" and ")}.`,
    fused: (count: number, factor: string) =>
      `Fused into ${count === 1 ? "one kernel" : `${whole(count)} kernels`}, this graph runs ${factor}× as fast.`,
    bestPartition: (chip: string, isExact: boolean) =>
      `This partition is the best${isExact ? "" : " found"} for ${chip}.`,
    graphDetail: (isUnfused: boolean, bound: number, count: number, moved: string, least: string) => {
      const some =
        bound === count
          ? `all ${whole(count)}`
          : bound === 0
            ? `none of the ${whole(count)}`
            : `${whole(bound)} of ${whole(count)}`;
      const who = count === 1 && bound === 1 ? "the kernel is" : `${some} kernels are`;
      return `${isUnfused ? "Unfused" : "As it is"}, ${who} memory-bound: ${count === 1 ? "it moves" : "they move"} ${moved} where the graph needs at least ${least}.`;
    },
    noTimes: (count: number) => `${kernels(count, whole(count))} without times.`,
    showAChip: (count: number) => `Show a chip to see what bounds ${count === 1 ? "it" : "them"}.`,
    unmeasured: (
      name: string,
      count: number,
      parts: readonly (readonly [regime: string, count: number])[],
      chip: string,
    ) => {
      const told = parts.map(([regime, each]) => [whole(each), boundWord(regime)] as const);
      const all = told[0]?.[1] ?? "";
      if (name) return `${name} is ${all} on ${chip}.`;
      const which = told.length > 1 ? `: ${told.map((part) => part.join(" ")).join(", ")}` : `, all ${all}`;
      return `${whole(count)} kernels${which} on ${chip}.`;
    },
    atRoofs: (count: number, time: string, isWhole: boolean) =>
      `${count === 1 ? "At its roof it needs" : "At their roofs they need"} ${isWhole ? "" : "at least "}${time}.`,
  },

  // The latency roof.
  latencyWords: {
    name: "latency",
    moves: (bytes: string) => `moves ${bytes}`,
    hasInFlight: (bytes: string) => `has ${bytes} in flight`,
    atMost: (what: string, latency: string, rate: string, bandwidth: string) =>
      `${what}: at ${latency} that is at most ${rate} of ${bandwidth}`,
    explains: (percent: string) => `latency explains ${percent} of its time`,
    contradicted: (factor: string) =>
      `that would take ${factor}× its time, so its bytes are miscounted or are those of a nearer level`,
    /** The label of a latency roof on the chart, and its short form. */
    label: (latency: string, bytes: string, rate: string) => `at ${latency}, ${bytes} in flight: at most ${rate}`,
    brief: (rate: string) => `latency: at most ${rate}`,
    /** What bounds a kernel, where latency takes even longer. */
    and: (boundBy: string) => `${boundBy}, latency`,
  },
  // The network plane.
  networkWords: {
    link: "Link",
    topology: "Topology",
    topologies: { ring: "ring", switch: "switch", "in-network": "switch that adds" },
    latency: "Latency",
    latencyOf: (time: string) => `latency ${time}`,
    axisX: "message size, bytes",
    axisY: "bus bandwidth, B/s",
    halfAt: (size: string) => `half at ${size}`,
    latencyBound: "◂ latency-bound",
    bandwidthBound: "bandwidth-bound ▸",
    ifAdds: (rate: string) => `${rate} if the switch adds`,
    model: (factor: string, link: string) => `time = latency + ${factor}size / ${link}`,
    flatFor: (rate: string, kind: string) => `${rate} for ${kind}`,
    whatIf: "what if:",
    noSizes: "This profile has no message sizes.",
    noLink: "The bandwidth of the chip's links is unknown.",
    noRates: "The ranks or the times of these messages are unknown.",
    nothingSent: "These messages send nothing: one rank, or no bytes.",
    noLatency: (link: string) => `The latency of ${link} is unknown: type it to see where messages are latency-bound.`,
    typeLatency: "The latency is unknown: type it into the box",
    fixed: "What-ifs change only the link between chips",
    unknown: "unknown",
    meanCall: "mean call",
    fastestCall: "fastest call",
    algorithm: "algbw",
    ofLinkRow: "of link",
    ofNamed: (percent: string, link: string) => `${percent} of ${link}`,
    waitingRow: "waiting, at most",
    note: "note",
    group: "group",
    above: {
      ring: "above the roof of a ring: a switch may connect the ranks",
      switch: "above the wire: the switch may add",
      "in-network": "above the roof of a switch that adds: the ring algorithm may have run",
      all: "above every roof of the link: check the link, the size and the ranks",
    },
    severalNodes: (link: string) => `if ${link} does not connect all ranks, the network between them is the limit`,
    ranks: (count: number) => (count === 1 ? "1 rank" : `${whole(count)} ranks`),
    chart: (chip: string, count: number) =>
      `Network plane of ${chip}: bus bandwidth by message size, ${whole(count)} messages. The arrow keys go from message to message.`,
    exposed: (percent: string, time: string) => `exposed ${percent} · ${time}`,
    hidden: (percent: string, time: string) => `hidden ${percent} · ${time}`,
    communication: "Communication",
    counted: (count: number, ranks: readonly number[], topology: string) => {
      const of = ranks.length > 0 ? ` of ${listed(ranks.map(whole))} ${ranks.join() === "1" ? "rank" : "ranks"}` : "";
      return `${count === 1 ? "1 message" : `${whole(count)} messages`}${of} · bus bandwidths under the roof of a ${topology}`;
    },
    heads: ["Message", "Calls", "Bus bandwidth", "Of link", "Waiting\u00a0≤"],
    ofLink: (percent: string) => `${percent} of link`,
    waiting: "waiting",
    waitLongest: "Wait longest",
    takeLongest: "Take longest",
    sum: (count: number, part: string, total: string) =>
      `${count === 1 ? "this one" : `these ${count}`}: ${part} of ${total}`,
    dragHint: { peak: "Drag: bandwidth of the link", bandwidth: "Drag: latency", ridge: "Drag: bandwidth and latency" },
  },

  // The plane of the instruction roofline.
  instructionWords: {
    axisX: "instructions per transaction",
    axisY: { warp: "warp instructions/s", wavefront: "wavefront instructions/s" },
    peak: "peak",
    about: (rate: string) => `about ${rate}`,
    walls: {
      "stride 0": "stride 0",
      "stride 1, 4 B": "stride 1, 4 B",
      "stride 1, 8 B": "stride 1, 8 B",
      "stride 8 and more, 4 B": "stride 8 and more, 4 B",
      "no bank conflict": "no bank conflict",
      "32-way bank conflict": "32-way bank conflict",
    },
    rate: "rate",
    perLevelRow: (level: string) => `per ${level} TXN`,
    perLevel: (ratio: string, level: string) => `${ratio} per ${level} transaction`,
    ofRoof: (percent: string) => `${percent} of roof`,
    ofPeak: (percent: string, peak: string) => `${percent} of the peak of ${peak}`,
    ofProduct: (percent: string, product: string) => `${percent} of ${product}`,
    lowest: "of lowest roof",
    lanes: "active lanes",
    accesses: { global: "global accesses", shared: "shared accesses" },
    each: {
      global: (count: string) => `${count} transactions each`,
      shared: (count: string) => `${count} turns each`,
    },
    model: "roof = min(peak, instructions per transaction × transactions/s)",
    estimate: "the peak is an estimate, one instruction a cycle and CU",
    unknownRoof: "its lowest roof is unknown",
    uncounted: "no count of instructions",
    noCounts: "This profile has no counts of instructions.",
    noRoofs: "This profile does not name its chip, so its roofs are unknown.",
    fixed: "These roofs are those of the chip of the profile. Sliders, precision and memory do not change them.",
    chart: (chip: string, count: number) =>
      `Instruction roofline of ${chip}: instructions per second by instructions per transaction, ${kernels(count, whole(count))}. The arrow keys go from kernel to kernel and from level to level.`,
  },

  // Texts of the ranking, the projected time, and the comparison of two runs.
  runWords: {
    timeOn: (time: string, chip: string, precision: string) => `${time} on ${chip} at ${precision}`,
    projected: (before: string, now: string, ratio: string) => `${before} → ${now} (${ratio}×)`,
    sameChip: "Choose another chip to see the projected time there.",
    projectOnto: "Projected onto",
    keeps: "Each kernel keeps its share of the roof.",
    stays: (time: string) => `${time} of kernels with an unknown bound stay as measured.`,
    far: (percent: string, limit: string) =>
      `Kernels below ${limit} of their roof (${percent} of the time) may not get faster on another chip.`,
    above: (percent: string) =>
      `Kernels above their roof (${percent} of the time) have wrong counts, times or peaks, so their projected times are wrong too.`,
    ranOn: "Ran on",
    chooseRan: "choose a chip",
    ranNowhere: "These kernels do not name the chip that they ran on: choose it.",
    runIn: "All FLOPs in",
    asTold: "their precision",
    reaching: "If these reach their roof:",
    selectSome: "Select kernels to see the time if they reach their roof.",
    allSelected: (count: number) => (count === 1 ? "the selected kernel" : `all ${count} selected`),
    more: (count: number) => `and ${count} more`,

    verdicts: {
      faster: "faster",
      slower: "slower",
      same: "same",
      "other work": "other work",
      unknown: "unknown",
    } as Record<string, string>,
    verdictTitle:
      "Kernels match if they have the same name, or the same work if names repeat. The same: the ranges of their times overlap, or single timings are within 1 %. Other work: their FLOPs differ.",
    before: "Before",
    now: "Now",
    change: "Change",
    same: (count: number) => `${whole(count)} the same`,
    matched: "Matched by name and work.",
    how: "How",
    launches: (time: string, count: number) => `${time} × ${whole(count)}`,
    perLaunch: (count: number) =>
      `${kernels(count)} ${count === 1 ? "was" : "were"} launched more or less often than before; compared are times per launch.`,
    onlyBefore: (count: number, time: string) => `${whole(count)} only before (${time})`,
    onlyNow: (count: number, time: string) => `${whole(count)} only now (${time})`,
    showAlone: "Show",
    titleBefore: "Only before",
    titleNow: "Only now",
  },

  // The table.
  tableWords: {
    title: "All columns",
    close: "Close the table",
    tabHeads: { self_time: "Time", headroom: "Could save", ai: "AI" },
    above: "above",
    ofItsRoof: (percent: string) => `${percent} of its roof`,
    boundBy: (limit: string) => `bound by ${limit}`,
    fixFirst: (chip: string) => (chip ? `Fix first on ${chip}` : "Fix first"),
    couldSave: (count: number, time: string) =>
      `${count === 1 ? "this one" : `these ${count}`} could save up to ${time}`,
    select: "Select",
    selectFirst: (count: number) => (count === 1 ? "Select it" : `Select these ${count}`),
    others: "Others",
    ofKernelTime: (time: string, percent: string) => `${time}, ${percent} of kernel time`,
    saves: (time: string) => `could save ${time}`,
    onlyThese: "Only these",
    clear: "Clear",
    areAbove: (count: number) =>
      count === 1 ? "1 kernel is above the roof." : `${whole(count)} kernels are above the roof.`,
    causes: {
      asynchronous: () => "Likely: asynchronous copies. Their time is the time to start or end the copy, not to do it.",
      precision: (ran: string, judged: string) => `Likely: they ran at ${ran}, but are judged at ${judged}.`,
      cache: (level: string) => `Likely: their bytes come from ${level}.`,
      shapes: () => "Likely: their bytes were computed from shapes, not measured.",
      chip: (chip: string) => `Likely: the chip is not ${chip}.`,
      clock: () => "Likely: clock boost or rounding.",
      wrong: () => "Likely: wrong counts, a wrong time or a wrong peak.",
    },
    judgeAt: (precision: string) => `Judge at ${precision}`,
    showLevels: "Show all levels",
    showThem: (count: number) => (count === 1 ? "Show it" : "Show them"),
    withoutWork: (count: number, percent: string) =>
      `${count === 1 ? "1 kernel has" : `${whole(count)} kernels have`} no FLOPs or bytes${percent && ` (${percent} of kernel time)`}.`,
    typeWork: (count: number) => (count === 1 ? "Type its work…" : "Type their work…"),
    why: "Why below the roof",
    notRanked: (count: number, percent: string) =>
      `${count === 1 ? "1 collective" : `${whole(count)} collectives`} (${percent} of the time) ${count === 1 ? "is" : "are"} not ranked: the file has no bytes over ${count === 1 ? "its" : "their"} link.`,
    whatIfs: (count: number) => `${count === 1 ? "1 what-if" : `${whole(count)} what-ifs`} ·`,
    removeWhatIfs: "Remove",
    chosen: (count: number) => `${whole(count)} selected`,
    grid: (count: number) =>
      `Table of ${kernels(count, whole(count))}. Arrow keys move from row to row, Enter selects one row, Space adds one, Escape clears the selection.`,
    unknown: "–",
    unknownTitle: "unknown",
    less: (percent: string) => `< ${percent}`,
    aboveRoof: "above its roof: check its counts, its time and the peaks",
    columns: "Columns",
    allColumns: "All",
    usualColumns: "Default",
    ours: "Counts and bounds",
    ofFile: "From the file",
    sortBy: "Sort by",
    sort: (title: string) => `Sort by ${title}`,
    copy: "Copy",
    csv: "CSV",
    copyTitle: (what: string) => `Copy ${what} to paste into a spreadsheet`,
    csvTitle: (what: string) => `Save ${what} as a CSV file`,
    selectedRows: (count: number) => (count === 1 ? "the selected row" : `the ${whole(count)} selected rows`),
    allRows: (count: number) => (count === 1 ? "the row" : `all ${whole(count)} rows`),
    copied: (count: number) => `${rows(count)} copied`,
    notCopied: "The browser does not allow copying here: save a CSV file instead.",
    saved: (count: number, file: string) => `${rows(count)} in ${file}`,
    none: "No kernel passes the filters.",
    elsewhere: (ran: string, judging: string) =>
      `Measured on ${ran}; bounds, shares of the roof and headroom are for ${judging}.`,
    main: "main memory",
    heads: {
      name: "Kernel",
      category: "Category",
      precision: "Precision",
      count: "Launches",
      rank: "Rank",
      time: "Time",
      self_time: "Self time",
      share: "Share",
      cumulative_share: "Cumulative",
      flops: "FLOPs",
      achieved: "Achieved",
      attainable: "Attainable",
      bound_by: "Bound by",
      bound_time: "Least time",
      utilization: "Of roof",
      roof_fraction: "Of attainable",
      peak_fraction: "Of peak",
      headroom: "Headroom",
    },
    operations: "Operations",
    flopsOf: (key: string, work: string) => `${key} ${work}`,
    bytesAt: (level: string) => `${level} bytes`,
    aiAt: (level: string) => `${level} AI`,
    rateAt: (level: string) => `${level} rate`,
    usedAt: (level: string) => `${level} used`,
    meanings: {
      name: "The kernel's name",
      category: "Its category in the file",
      precision: "Its precision, if the file gives one",
      count: "Number of launches; all other columns are totals over them",
      rank: "Rank by self time, the longest first",
      time: "Measured time",
      self_time: "Measured time without the rows nested in it",
      share: "Self time over the self time of all kernels",
      cumulative_share: "Share of this kernel and of those with more self time",
      flops: (work: string) => `${work} over all precisions`,
      achieved: (work: string) => `${work} over measured time`,
      attainable: "min(peak, AI × bandwidth)",
      bound_by: "The resource that needs the most time",
      bound_time: "The least time that the roof allows",
      utilization: "Least time over measured time",
      roof_fraction: "Achieved over attainable",
      peak_fraction: "Achieved over peak",
      headroom: "Self time that the kernel would save at its roof",
    },
    flopsMeaning: (key: string, work: string) => `${work} of ${key}`,
    bytesMeaning: (level: string) => `Bytes moved, ${level}`,
    aiMeaning: (level: string, work: string) => `${work} over bytes, ${level}`,
    rateMeaning: (level: string) => `Bytes over measured time, ${level}`,
    usedMeaning: (level: string) => `Bytes over measured time against the bandwidth, ${level}`,
    ofTheFile: (name: string) => `“${name}” from the file`,
  },

  // Texts of figures for papers and slides.
  figureWords: {
    performance: (unit: string) => `Performance (${unit})`,
    /** The title of the horizontal axis, from that of the chart: units are written in full. */
    across: (title: string) => capital(title).replace(/OP\/B\b/g, "OP/byte"),
    more: (count: number) => `+ ${count} more`,
    /** The caption. `of`: the chips with their precision. */
    caption: (count: number, file: string, of: string, isTimed: boolean) =>
      `Roofline${count > 0 ? ` of ${kernels(count, whole(count))}${file && ` of ${file}`} on ${of}` : ` of ${of}`}.${isTimed ? " Area: share of kernel time." : ""}`,
    at: (chips: string, precision: string) => `${chips} at ${precision}`,
    notShown: (zeroFlops: number, withoutCounts: number, share: string) => {
      const parts = [
        zeroFlops > 0 ? `${kernels(zeroFlops, whole(zeroFlops))} with 0 FLOP` : "",
        withoutCounts > 0
          ? `${zeroFlops > 0 ? whole(withoutCounts) : kernels(withoutCounts, whole(withoutCounts))} without counts`
          : "",
      ].filter(Boolean);
      return `Not shown: ${parts.join(" and ")}${share && `, together ${share} of kernel time`}.`;
    },
  },

  // Texts of the axes, the units and the tools of the chart.
  axisWords: {
    word: "word",
    cycle: "cycle",
    intensity: (unit: string, bytes: number, { intensity = "arithmetic" }: Terms) =>
      `${intensity} intensity (${unit}${ofBytes(bytes)})`,
    intensityShort: (unit: string, bytes: number, terms: Terms) => `${ai(terms)} (${unit}${ofBytes(bytes)})`,
    balance: (unit: string, bytes: number) => `balance (${unit}${bytes === 0 ? "" : `, words${ofBytes(bytes)}`})`,
    /** A unit of the axis in words. */
    inWords: (title: string) => title.replaceAll("/B", " per byte").replaceAll("/word", " per word"),
    zeroFlops: (operation: string) => `0 ${operation}`,
    /** What the strip of kernels without FLOPs shows: their bytes/s. */
    byBandwidth: (unit: string) => `by ${unit.replace("B/", "bytes/")}`,
    menu: "Axes",
    /** Note about the units of the chart. The axes may have other units than the sentences, tooltips and tables. */
    note: "Units of the chart. Sentences, tooltips and tables stay in FLOP/s or OP/s, and bytes.",
    frame: "Range",
    frames: { points: "fits the kernels", chip: "set by the chips alone" },
    frameNote: "Charts of other kernels on these chips have the same range.",
    rate: "Rate",
    rates: { "FLOP/s": "per second", "FLOP/cycle": "per clock cycle" },
    /** A text of the axes menu. `chip` is the chip whose clock rate converts seconds to cycles. */
    clock: (chip: string, clock: string) => `Cycles of ${chip}: ${clock}`,
    noClock: (chip: string) => `${chip}: clock unknown, rates are per second`,
    data: "Data",
    bytes: (bytes: number) => (bytes === 0 ? "in bytes" : `in words of ${bytes} bytes`),
    across: "Across",
    kinds: {
      intensity: (unit: string) => `intensity, ${unit}`,
      balance: (unit: string) => `balance, ${unit}`,
    },
    ticks: "Ticks",
    bases: { 10: "powers of ten", 2: "powers of two" },
    times: "Time axes",
    scales: { log: "logarithmic", linear: "linear, from 0" },
  },

  toolWords: {
    bar: "Toolbar",
    zoomIn: "Zoom in (+)",
    zoomOut: "Zoom out (−)",
    everything: "Show everything",
    fit: "Show everything (0)",
    undo: "Undo",
    undoKeys: "Undo (Ctrl+Z)",
    redo: "Redo",
    redoKeys: "Redo (Ctrl+Shift+Z)",
    undone: (what: string) => `Undone: ${what}`,
    redone: (what: string) => `Redone: ${what}`,
    rateOf: {
      peak_flops: (chip: string) => `peak of ${chip}`,
      bandwidth: (chip: string) => `bandwidth of ${chip}`,
      latency: (chip: string) => `latency of ${chip}`,
    },
    rates: "rates",
    /** The parts of the state that undo changes, the most telling first. */
    parts: {
      graph: "graph",
      precision: "precision",
      memory: "memory",
      link: "link",
      topology: "topology",
      addedChips: "chips",
      shown: "chips",
      focusChip: "chip in focus",
      exposedRoofs: "communication",
      ceilings: "ceilings",
      allLevels: "levels",
      moves: "what-if of a kernel",
      rules: "rule of work",
      typedWork: "typed work",
      snapshots: "snapshots",
      timeScale: "axes",
      frame: "axes",
      view: "view",
      zoom: "zoom",
      step: "step",
    },
    select: "Drag selects",
    zoom: "Drag zooms",
    pan: "Drag moves (W A S D)",
    ceilings: "Ceilings",
    axes: "Axes…",
    present: "Present",
    screen: "Full screen",
    figures: "About the figures",
    more: "More",
    drag: "Drag",
    outside: (count: string, one: boolean) => `${count} ${one ? "kernel" : "kernels"} outside`,
    shows: (x: readonly [string, string], y: readonly [string, string], outside: string) =>
      `Zoomed: ${x.join(" to ")}, ${y.join(" to ")}.${outside && ` ${outside}.`}`,
    whole: "Everything is shown.",
    keys: "Keys",
    keyList: [
      ["← → Home End", "from kernel to kernel"],
      ["↑ ↓", "between the marks of a kernel"],
      ["Enter, Space", "select the kernel, add it"],
      ["M", "move the kernel"],
      ["C", "add a chip"],
      ["N", "network view"],
      ["F", "freeze this curve"],
      ["R", "gap arrows: first ones, all, none"],
      ["L", "memory levels: all, each kernel’s joined, main memory"],
      ["+ − 0", "zoom in, zoom out, show everything"],
      ["W A S D", "move the chart"],
      ["?", "what the marks mean"],
      ["Esc", "close, cancel, select nothing"],
      ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
    ] as readonly (readonly [keys: string, meaning: string])[],
  },

  // Saving figures and files.
  saveWords: {
    save: "Save",
    title: "Save a figure or a file",
    style: "Style",
    styles: { "paper-1col": "Paper 1", "paper-2col": "Paper 2", slide: "Slide", screen: "Screen" },
    format: "Format",
    caption: "caption",
    preview: "Preview",
    size: (width: string, height: string, unit: string) => `${width} × ${height} ${unit}`,
    drawing: "Python draws the figure…",
    copy: "Copy",
    copied: (kind: string) => `Copied the figure (${kind})`,
    done: "Saved ✓",
    saved: (file: string) => `Saved ${file}`,
    failed: (reason: string) => `Not saved: ${reason}`,
    noPng: "Could not make a PNG here: saved as SVG instead.",
    notCopied: "The browser does not allow copying here: save the figure instead.",
    page: "Page (.html)",
    table: "Table (.csv)",
    session: "Session (.json)",
    needsPython: "Only a notebook can make this file.",
    name: "roofline",
  },

  // The legend of the chart.
  marksWords: {
    open: "What the marks mean (?)",
    title: "What the marks mean",
    gestures: "What can be dragged",
    dragHint: { peak: "drag: peak", bandwidth: "drag: bandwidth", ridge: "drag: both" },
    fine: "Fine: the roof moves a fifth of the way.",
    shapes: {
      kernel: "a kernel",
      memory: "a kernel that memory bounds",
      compute: "a kernel that compute bounds",
      outside: "a kernel that its link or its launch bounds",
      program: "a whole program",
    },
    area: "larger area: more of the time",
    unmeasured: "on the roof: not measured, the most it can reach",
    otherLevel: "outline: at a memory level that does not bind",
    aboveRoof: "faster than its roof: check its counts and the chip",
    ring: "ring: the kernel under the pointer, or selected",
    roof: "thick line: the roof of the chip in focus",
    ceilings: (terms: Terms) => `dashes beyond the ${ridge(terms)}: peak or bandwidth alone`,
    sheet: "dashes: the data sheet, before your change",
    measured: "thin line: a measured roof",
    ceiling: "thin dashes: a ceiling inside the chip",
    link: "long dashes: a link between chips",
    snapshot: "short dashes: a frozen roof",
    latency: "thin slope: what the bytes in flight of one kernel allow",
    gap: "arrow up: from the measured rate to the roof",
    moved: "arrow: a what-if of the kernel",
    trail: "thin arrow: from a part to its merged kernel",
    runs: "arrow: from the earlier run to this run; red if slower",
    strip: "left strip: kernels without FLOPs, by bytes per second",
    diagonal: "diagonal: compute and memory take the same time",
    isochrone: "thin corner: all kernels with the same least time",
    drag: {
      peak: "the flat, up or down: the peak",
      bandwidth: "a slope, sideways: its bandwidth",
      ridge: (terms: Terms) => `the ${ridgePoint(terms)}: both`,
      fine: "with Shift, or after a finger has rested: fine",
      kernel: "a kernel, sideways: fewer bytes; up: less time (a finger rests first)",
      select: "the background: selects kernels",
      wheel: "Ctrl and the wheel, or two fingers: zoom",
    },
  },

  // The steps of a story and their questions.
  storyWords: {
    title: "Story",
    step: (step: number, steps: number) => `Step ${step} of ${steps}`,
    back: "Back",
    next: "Next",
    restart: "Start of this step",
    restartHint: "Shows the chart as it was at the start of this step",
    save: "Save answers",
    forget: "Remove answers",
    forgetNow: "Remove all of them?",
    forgetHint: "This browser keeps your answers for the next time that you open the page",
    notKept: "This browser does not keep your answers: they are lost when the page closes. Save them as a file.",
    check: "Check",
    show: "Show the answer",
    right: "Right.",
    notYet: "Not yet",
    tooLarge: "too large",
    tooSmall: "too small",
    /** How far off a wrong number is, after `tooLarge` or `tooSmall`. */
    bands: {
      near: "within a factor of 2.",
      some: "2 to 10 times off: a factor such as 2, or the bytes of a number.",
      far: "more than 10 times off: look at the prefixes.",
    },
    /** What is said to the first and to the second wrong partition. */
    fewerBytes: "Fewer bytes are possible.",
    lessTime: "Less time is possible.",
    costsMost: (tensor: string) => `'${tensor}' costs most bytes.`,
    notFastest: (kernel: string) => `'${kernel}' is no kernel of the fastest partition.`,
    moves: (count: number, moved: string) => `${kernels(count)} ${count === 1 ? "moves" : "move"} ${moved}.`,
    takes: (count: number, taken: string) => `${kernels(count)} ${count === 1 ? "takes" : "take"} ${taken}.`,
    reachable: (least: string) => `${least} can be reached.`,
    noNumber: (typed: string, example: string) => `“${typed}” is not a number; write for example “${example}”`,
    dividedByZero: (typed: string) => `“${typed}” divides by zero`,
    tooLargeToRead: (typed: string) => `“${typed}” is too large`,
    /** A number of another quantity. `is` and `asked` are quantities with their units. */
    wrongUnit: (typed: string, is: string, asked: string) => `“${typed}” is ${is}; the question asks for ${asked}`,
    quantities: {
      "FLOP/s": "a rate",
      "B/s": "a bandwidth",
      FLOP: "a number of FLOPs",
      B: "a number of bytes",
      s: "a time",
      "FLOP/B": "an intensity",
      Hz: "a clock",
      W: "a power",
    },
    noUnit: "a number without a unit",
    readAs: (number: string) => `read as ${number}`,
    thousands: "Thousands?",
    example: (number: string) => `such as ${number}`,
    choose: "Choose one of them first.",
    answer: "Your answer",
    answerIs: (answer: string) => `The answer is ${answer}.`,
    yours: (answer: string) => `Your answer: ${answer}`,
    isRight: "right",
    isYours: "your answer",
    /** In the place of what could tell the answer to the open question. */
    hidden: "Hidden while the story asks for it.",
    attempts: (count: number) => (count === 1 ? "1 answer" : `${count} answers`),
    /** `within`: how far off a right answer may be, such as "20 %". */
    dragMarker: (within: string) =>
      `Drag the marker on the chart, or move it with the arrow keys, to within ${within}. Then check.`,
    dragRoof: (within: string) => `Drag the roof or its slider to within ${within}. Then check.`,
    merge: "Merge operations in the fusion panel. Then check.",
    marker: { intensity: "Your intensity", rate: "Your rate" },
    source: (source: string) => `Source: ${source}`,
  },

  // A graph that came with the address of the page.
  graphLinkWords: {
    newer: "This link was made with a newer version.",
    damaged: "This link is damaged.",
    ask: "How many times faster are the kernels of the sender?",
    times: "times",
    asSent: "The kernels of the sender.",
    gain: (before: number, after: number, times: string) => `${before} → ${after} passes: ${times} times.`,
    yours: "Which graph is yours?",
    copy: "Copy link",
    notCopied: "The link is not copied.",
  },

  // The workload panel.
  workloadWords: {
    title: "Workload",
    phase: "Phase",
    dtype: "dtype",
    asBuilt: (dtype: string) => `as built (${dtype})`,
    noPeak: (dtype: string, chip: string) => `${dtype} (${chip} has no peak)`,
    convention: "Convention",
    asPeaks: "Kernels count a multiply-add as 2 FLOPs, as peaks do.",
    reset: (name: string, size: number) => `Back to the default: ${name} = ${size}`,
    notWhole: (typed: string, example: number) => `“${typed}” is not a whole number; write for example “${example}”`,
    outside: (name: string, low: number, high: number) => `${name} must be from ${low} to ${high}`,
    tooSmall: (whose: string, size: string) => `${whose} = ${size}, which is not at least 1`,
    noMultiple: (whose: string, count: string, divisor: string) => `${whose} = ${count} is no multiple of ${divisor}`,
    wouldDo: (fault: string, name: string, size: number | undefined) =>
      size === undefined ? fault : `${fault}; ${name} = ${size} would do`,
    operations: "Operations",
    counted: (ops: number) => (ops === 1 ? "1 operation" : `${whole(ops)} operations`),
    pointAtOne: "Hover an operation, or move to it with the arrow keys, to see its formula.",
    flops: (kind: string, work: string) => (kind === "" ? work : `${work}, ${kind}`),
    bytes: "Bytes",
    terms: (work: string) => `Of its ${work}`,
  },
} as const;

// Texts of the loader. The loader is sent separately from the rest of the front end.
export const loadWords = {
  language: "en",
  noCode:
    "The code of this roofwidget has not reached the page. Run the cell that makes the widget again. If that does not " +
    "help, set the environment variable ROOFWIDGET_INLINE=1 before the kernel starts.",
};
