// The state of the playground beside the widget: the table of kernels with its undo, and what is opened, linked and saved.

import { computed, signal } from "@preact/signals";
import { showSaved } from "../saved_view.ts";
import { hasGraph, LinkError, readLink } from "../state/graph_link.ts";
import { copyText } from "../ui/copy.ts";
import { fileName, saveFile } from "../ui/download.ts";
import { createStatus } from "../ui/status.ts";
import { linkLetters, linkValue, MAX_LINK_LETTERS } from "../wire/link.ts";
import type { WireKernels } from "../wire/types.ts";
import { type GivenFile, openedFile } from "./files.ts";
import { EMPTY_TABLE, type KernelTable, kernelsOf, recordOf, tableOf } from "./kernel_table.ts";
import { type LocalModel, localModel, type Values } from "./local_model.ts";
import {
  exampleOf,
  graphValues,
  lessonState,
  linkedState,
  linkOf,
  missingChips,
  NewerError,
  type Stock,
  sessionText,
} from "./play_state.ts";
import { kernelRecord, wireKernels } from "./records.ts";
import { playgroundWords as words } from "./words.ts";

/** Stands in an address before the letters of a link. */
const LINK_MARK = "#s=";
/** The chip of a graph if no chip is shown. */
const CHIP_OF_GRAPHS = "h100-sxm";
const MAX_UNDO = 100;
/** The most bytes that a link may inflate to. */
const MAX_LINK_BYTES = 2 ** 20;

export type Playground = ReturnType<typeof createPlayground>;

/** `catalogue` is the packed catalogue of chips, which the widget reads itself. */
export function createPlayground(host: HTMLElement, stock: Stock, catalogue: string) {
  const page = host.ownerDocument;
  const values = signal<Values>(stock.empty);
  /** The typed table; undefined while the chart shows kernels that it cannot hold. */
  const table = signal<KernelTable | undefined>(EMPTY_TABLE);
  const [past, future] = [signal<readonly KernelTable[]>([]), signal<readonly KernelTable[]>([])];
  const { status, say } = createStatus();
  /** What was there before a file or a link was opened. */
  const before = signal<{ readonly values: Values; readonly table: KernelTable | undefined } | undefined>(undefined);
  let local: LocalModel;
  let closing = new AbortController();

  /** Shows values in a new widget. */
  function show(next: Values, shownTable = tableOf(next["kernels"] as WireKernels)) {
    closing.abort();
    closing = new AbortController();
    const own = localModel(next, stock.chip, () => {
      if (own === local) values.value = local.values();
    });
    local = own;
    values.value = local.values();
    table.value = shownTable;
    [past.value, future.value] = [[], []];
    const el = page.createElement("div");
    host.replaceChildren(el);
    void showSaved(el, local.model, new Map([["catalogue", catalogue]]), closing.signal);
  }
  /** Replaces everything, and keeps what was there for `bringBack`. */
  function replace(next: Values, text: string) {
    const isEmpty = JSON.stringify(linkOf(local.values(), stock)) === JSON.stringify(linkOf(stock.empty, stock));
    before.value = isEmpty ? undefined : { values: local.values(), table: table.peek() };
    show(next);
    say(text, { stays: before.value !== undefined });
  }
  function send(next: KernelTable) {
    local.receive({ kernels: wireKernels(recordOf(next)) });
  }
  function setTable(next: KernelTable) {
    table.value = next;
    if (JSON.stringify(recordOf(next)) !== JSON.stringify(kernelRecord(local.values()["kernels"] as WireKernels)))
      send(next);
  }

  const showsGraph = computed(() => (values.value["graphs"] as readonly unknown[]).length > 0);
  const actions = {
    edit(next: KernelTable) {
      const now = table.peek();
      if (now) past.value = [...past.value, now].slice(-MAX_UNDO);
      future.value = [];
      setTable(next);
    },
    undo() {
      const [last, now] = [past.value.at(-1), table.peek()];
      if (!last || !now) return;
      past.value = past.value.slice(0, -1);
      future.value = [...future.value, now];
      setTable(last);
    },
    redo() {
      const [next, now] = [future.value.at(-1), table.peek()];
      if (!next || !now) return;
      future.value = future.value.slice(0, -1);
      past.value = [...past.value, now];
      setTable(next);
    },
    /** Shows the graph of a key, or with "" the kernels of the table. */
    showGraph(key: string) {
      const graph = stock.graphs[key]?.graph;
      const isBare = (local.values()["shown"] as readonly string[]).length === 0;
      if (graph && isBare) local.receiveQuietly(chipValues());
      local.receive(graphValues(graph));
    },
    typeOwn() {
      actions.showGraph("");
      if (!table.peek()) actions.edit(EMPTY_TABLE);
    },
    setTitle: (title: string) => local.receive({ title }),
    async open(files: readonly GivenFile[]) {
      const [file, ...others] = files;
      if (!file) return;
      if (others.length > 0) return say(words.oneFile, { isFault: true });
      const found = await openedFile(file, stock);
      if (typeof found === "string") return say(found, { isFault: true, stays: true });
      page.defaultView?.history.replaceState(null, "", page.location.pathname);
      replace(found.values, words.opened(file.name, found.notTaken));
    },
    startAgain: () => replace(stock.empty, words.startedAgain),
    bringBack() {
      const old = before.peek();
      if (!old) return;
      before.value = undefined;
      show(old.values, old.table);
      say(words.broughtBack);
    },
    async copyLink() {
      const letters = LINK_MARK + (await linkLetters(linkOf(local.values(), stock)));
      const tooLong = showsGraph.peek() ? words.tooLongGraph : words.tooLong;
      if (letters.length > MAX_LINK_LETTERS) return say(tooLong, { isFault: true });
      page.defaultView?.history.replaceState(null, "", letters);
      const isDone = await copyText(page, page.location.href);
      say(isDone ? words.copied(page.location.href.length) : words.notCopied, { isFault: !isDone });
    },
    save() {
      if (showsGraph.peek()) return say(words.graphNotSaved, { isFault: true });
      const now = local.values();
      const name = fileName(`${now["title"]}.`, "json", "playground");
      saveFile(page, name, new Blob([sessionText(now, stock)], { type: "application/json" }));
      say(words.saved(name));
    },
    close() {
      before.value = undefined;
      say("");
    },
    /** Shows what the address holds: a state of the playground, or a graph of the course. */
    async followAddress() {
      const { hash } = page.location;
      if (!hash.startsWith(LINK_MARK) && !hasGraph(hash)) return;
      try {
        const { values, notTaken } = await addressed(hash, stock);
        replace(values, words.linkOpened(notTaken));
      } catch (error) {
        const text = error instanceof NewerError ? words.newerLink : words.damagedLink;
        say(error instanceof LinkError ? error.message : text, { isFault: true, stays: true });
      }
    },
  };
  function chipValues(): Values {
    const added = [...new Set([...(local.values()["added_chips"] as readonly string[]), CHIP_OF_GRAPHS])];
    return { added_chips: added, shown: [CHIP_OF_GRAPHS], focus_chip: CHIP_OF_GRAPHS };
  }

  show(stock.empty);
  return {
    table: computed(() => table.value),
    read: computed(() => (table.value ? kernelsOf(table.value) : undefined)),
    canUndo: computed(() => past.value.length > 0),
    canRedo: computed(() => future.value.length > 0),
    /** The key of the graph that is shown, "" without a graph, and undefined for a graph of a file. */
    graphKey: computed(() => (showsGraph.value ? exampleOf(values.value, stock) : "")),
    showsGraph,
    hasChips: computed(() => (values.value["chips"] as readonly unknown[]).length > 0),
    title: computed(() => values.value["title"] as string),
    count: computed(() => (values.value["kernels"] as WireKernels).n),
    status,
    say,
    canBringBack: computed(() => before.value !== undefined),
    stock,
    ...actions,
  };
}

async function addressed(
  hash: string,
  stock: Stock,
): Promise<{ readonly values: Values; readonly notTaken: readonly string[] }> {
  if (hasGraph(hash)) return { values: lessonState(await readLink(hash), stock), notTaken: [] };
  const link = await linkValue(hash.slice(LINK_MARK.length), MAX_LINK_BYTES);
  const values = linkedState(link, stock);
  return { values, notTaken: missingChips((link as { readonly chips?: unknown }).chips, stock) };
}
