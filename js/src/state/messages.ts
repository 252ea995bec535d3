// The messages between this page and Python. roofwidget/state/messages.py describes the form of the messages, and how
// the page and Python agree on each value.

import { type ReadonlySignal, signal } from "@preact/signals";
import { whenIdle } from "../ui/idle.ts";
import { applied, type Changes, merged } from "./changes.ts";
import { isLive, type Model } from "./model.ts";

/**
 * Who caused Python to send a value: Python itself, the user of this page, or the user of another page. If the page has
 * already received a newer value, this is "outdated".
 */
export type Origin = "Python" | "this page" | "another page" | "outdated";

/** Options of sending. */
export interface SendOptions {
  /**
   * If true, the change is one of a series, such as a drag. The page sends one message per PERIOD_MS, and sends the
   * last value REST_MS after the last change.
   */
  readonly stream?: boolean;
  /** If true, the page sends the message when it is idle, because the message would delay the next frame. */
  readonly later?: boolean;
}

/** Changes that are sent in one message. */
interface Batch {
  readonly values: Map<string, unknown>;
  readonly changes: Map<string, Changes>;
  readonly asked: Set<string>;
  /** The time of the first change whose loss a user would notice, in ms. */
  since?: number;
}

/** The key of the stamp in each update from Python. The stamp says what caused the update. */
export const STAMP = "_sync";
/** Python sets this in hosts that run the cells which read a widget again when it changes. */
const RUNS_CELLS = "_runs_cells";
/** If Python sends its whole state, the stamp has this value in place of a message number. */
const WHOLE_STATE = -1;
type Stamp = readonly [clock: number, page: string, number: number];

/**
 * The time between two messages of a stream, such as a drag, ms: at least four messages per second. For each message
 * the host draws the kernel's status as busy and as idle again, which takes longer than a step of a drag.
 */
const PERIOD_MS = 225;
/** A stream without changes for this time, ms, rests: the page sends the last value. */
const REST_MS = 100;
/** If the page is not idle for this time, ms, the page sends the message in any case. */
const MAX_WAIT_MS = 50;
/**
 * If Python has not answered a message after this time, ms, the page sends the message again. After each repetition,
 * the time doubles, up to the maximum.
 */
const [FIRST_RETRY_MS, MAX_RETRY_MS] = [1000, 10_000];

const emptyBatch = (): Batch => ({ values: new Map(), changes: new Map(), asked: new Set() });
const sizeOf = ({ values, changes, asked }: Batch) => values.size + changes.size + asked.size;

/** `shared` are the traits that this page asks for when it starts, and when it has missed an update from Python. */
export function createMessages(
  model: Model,
  shared: readonly string[],
  onAnswer: (names: ReadonlySet<string>) => void,
) {
  const page = Math.random().toString(36).slice(2);
  let stamp = model.get(STAMP) as Stamp | undefined;
  let clock = stamp?.[0];
  let origin: Origin = "Python";
  let number = 0;
  /** The message that Python has not answered yet; undefined if there is none. */
  let sent: { readonly batch: Batch; readonly number: number; readonly content: unknown } | undefined;
  /** The batches that are sent after Python's answer, in this order. New changes are added to the last batch. */
  let outbox: Batch[] = [];
  /** Sends collected changes later; undefined if there are none to send later. */
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** The start of the present period of a stream: the time of the last message, or of the first change after a pause. */
  let start = Number.NEGATIVE_INFINITY;
  let retry: ReturnType<typeof setTimeout> | undefined;
  /** Whether a batch of a stream waits until the page is idle: it takes the changes that come until then. */
  let isDue = false;
  /** Whether the next batch is sent immediately after Python's answer. If false, a stream sends it later. */
  let isUrgent = false;
  /** Whether this page has ever had a kernel. If not, the page may belong to a saved notebook without a kernel. */
  let hasHeard = isLive(model);
  let isConnected = true;
  const waitingSince = signal<number | undefined>(undefined);

  const unanswered = () => (sent ? [sent.batch, ...outbox] : outbox);
  function updateWaiting() {
    waitingSince.value =
      hasHeard && isConnected ? unanswered().find(({ since }) => since !== undefined)?.since : undefined;
  }
  /** Returns the batch for new changes or, if `isQuestion`, for new names to ask for. */
  function lastBatch(isQuestion = false): Batch {
    const last = outbox.at(-1);
    if (last && last.asked.size > 0 === isQuestion) return last;
    const batch = emptyBatch();
    outbox.push(batch);
    return batch;
  }

  function deliver(content: unknown) {
    try {
      model.send(content, model.widget_manager?.callbacks?.());
    } catch {
      // The host has no connection to Python. The message is sent again later.
    }
  }
  function contentOf({ values, changes, asked }: Batch) {
    const part = (name: string, map: Map<string, unknown>) => (map.size > 0 ? { [name]: Object.fromEntries(map) } : {});
    number += 1;
    const own = asked.size > 0 ? { ask: [...asked] } : { ...part("values", values), ...part("changes", changes) };
    return { kind: "roofwidget", page, number, ...own };
  }
  /** Sends the next batch, unless a message is unanswered. */
  function transmit() {
    if (sent || !isConnected) return;
    outbox = outbox.filter((one) => sizeOf(one) > 0);
    const batch = outbox.shift();
    isUrgent = outbox.length > 0;
    if (!batch) return;
    clearTimeout(timer);
    timer = undefined;
    start = performance.now();
    const content = contentOf(batch);
    sent = { batch, number, content };
    repeat(FIRST_RETRY_MS);
    deliver(content);
  }
  function flush() {
    isUrgent = true;
    transmit();
  }
  function repeat(ms: number) {
    retry = setTimeout(() => {
      if (!sent) return;
      repeat(Math.min(2 * ms, MAX_RETRY_MS));
      deliver(sent.content);
    }, ms);
  }

  /**
   * Tells a host such as marimo that Python has applied a change. It runs the cells that read the widget when a page
   * saves changes in ipywidgets' own way, and does not notice custom messages.
   */
  function tellHost(answered: number) {
    if (!model.get(RUNS_CELLS)) return;
    model.set?.("_answered", answered);
    model.save_changes?.();
  }

  /** Reads the stamp of the latest update. Returns who caused the update. */
  function read(): Origin {
    const now = model.get(STAMP) as Stamp | undefined;
    if (!now || now === stamp) return origin;
    stamp = now;
    hasHeard = true;
    const [time, by, answered] = now;
    if (clock !== undefined && time < clock) {
      origin = "outdated";
      return origin;
    }
    // Each update from Python increases the clock by 1. A whole state does not increase the clock. If the clock is
    // larger than expected, this page has missed an update.
    const hasMissed = clock !== undefined && time > clock + (answered === WHOLE_STATE ? 0 : 1);
    clock = time;
    origin = by === page ? "this page" : by === "" ? "Python" : "another page";
    if (hasMissed) ask(shared, { later: true });
    if (origin === "this page" && sent?.number === answered) {
      const { values, changes, asked } = sent.batch;
      sent = undefined;
      clearTimeout(retry);
      onAnswer(new Set([...values.keys(), ...changes.keys(), ...asked]));
      if (asked.size === 0) tellHost(answered);
    }
    updateWaiting();
    if (isUrgent) transmit();
    return origin;
  }
  /** Sends the collected changes. If a message is unanswered, the changes are sent after the answer. */
  function send({ stream = false, later = false }: SendOptions = {}) {
    if (!stream && !later) return flush();
    if (stream && isDue) return;
    let wait = 0;
    if (stream) {
      const now = performance.now();
      if (timer === undefined && now - start > PERIOD_MS) start = now;
      wait = Math.min(REST_MS, start + PERIOD_MS - now);
    }
    clearTimeout(timer);
    timer = setTimeout(() => {
      isDue = true;
      whenIdle(() => {
        isDue = false;
        flush();
      }, MAX_WAIT_MS);
    }, wait);
  }
  /** Asks Python for the values of traits. */
  function ask(names: Iterable<string>, how?: SendOptions) {
    const { asked } = lastBatch(true);
    for (const name of names) asked.add(name);
    send(how);
  }
  /** Stops sending messages for good. Called, for example, if the kernel of this model is gone. */
  function disconnect() {
    isConnected = false;
    clearTimeout(timer);
    clearTimeout(retry);
    updateWaiting();
  }

  return {
    /**
     * The time of the oldest unanswered change, in ms, from `performance.now()`. If every change is answered, this is
     * undefined. If this page has never had a kernel, this is undefined too.
     */
    waitingSince: waitingSince as ReadonlySignal<number | undefined>,
    /** Returns whether a change of a trait is still unanswered. */
    isUnanswered: (name: string) => unanswered().some(({ values, changes }) => values.has(name) || changes.has(name)),
    /** Returns a value from Python with the unanswered changes applied. */
    overlaid(name: string, value: unknown): unknown {
      let found = value;
      for (const { values, changes } of unanswered()) {
        if (values.has(name)) found = values.get(name);
        const own = changes.get(name);
        if (own) found = applied(found as Changes, own);
      }
      return found;
    },
    /** Returns who caused the latest update from Python. */
    origin: read,
    ask,
    /** Collects a new value of a trait for the next message. If `isSilent`, `waitingSince` ignores this value. */
    put(name: string, value: unknown, isSilent = false) {
      const batch = lastBatch();
      batch.changes.delete(name);
      batch.values.set(name, value);
      if (!isSilent) batch.since ??= performance.now();
      updateWaiting();
    },
    /** Collects changes of a mapping for the next message. */
    change(name: string, changes: Changes) {
      if (Object.keys(changes).length === 0) return;
      const batch = lastBatch();
      if (batch.values.has(name)) batch.values.set(name, applied(batch.values.get(name) as Changes, changes));
      else batch.changes.set(name, merged(batch.changes.get(name) ?? {}, changes));
      batch.since ??= performance.now();
      updateWaiting();
    },
    /** Drops the unsent changes of a trait. */
    drop(name: string) {
      for (const batch of outbox) {
        batch.values.delete(name);
        batch.changes.delete(name);
        if (sizeOf(batch) === 0) delete batch.since;
      }
      updateWaiting();
    },
    send,
    /** Makes a new batch, so that later changes are sent in another message. */
    separate() {
      if (outbox.length > 0) outbox.push(emptyBatch());
    },
    disconnect,
    /** Listens to the model until `abort`. Then sends the collected changes. */
    follow(abort: AbortSignal) {
      const event = `change:${STAMP}`;
      model.on(event, read);
      ask(shared);
      abort.addEventListener("abort", () => {
        model.off(event, read);
        if (isConnected) for (const batch of outbox.filter((one) => sizeOf(one) > 0)) deliver(contentOf(batch));
        disconnect();
      });
    },
  };
}
