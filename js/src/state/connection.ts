// Whether Python answers, and whether it is still the Python that made the model.

import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { hasNoKernel, isKnown, isLive, type Model } from "./model.ts";

/**
 * "answering": Python answers, or there has never been a kernel, as in a saved notebook. "waiting": a change is
 * unanswered for PATIENCE_MS. "ended": the host has no kernel any more. "restarted": another kernel answers, and this
 * kernel does not know the model.
 */
export type Connection = "answering" | "waiting" | "ended" | "restarted";

/** How long Python's answer to a change may take before the page says that it waits for Python, ms. */
const PATIENCE_MS = 5000;
/** How long the page waits before it asks again whether the kernel knows the model, ms. */
const QUESTION_MS = 5000;

interface Waiting {
  /** The time of the oldest unanswered change. */
  readonly waitingSince: ReadonlySignal<number | undefined>;
  /** Stops sending messages for good. */
  disconnect(): void;
}

/** Follows the connection to Python until `abort`. If another kernel answers, disconnects the model for good. */
export function followConnection(
  model: Model,
  { waitingSince, disconnect }: Waiting,
  abort: AbortSignal,
): ReadonlySignal<Connection> {
  const connection = signal<Connection>("answering");
  let wasLive = isLive(model);
  let patience: ReturnType<typeof setTimeout> | undefined;
  let pause: ReturnType<typeof setTimeout> | undefined;
  let questions = 0;

  /**
   * Asks whether the kernel knows the model. If the page still waits for Python after the answer, or if the host has
   * lost the kernel, asks again after QUESTION_MS. If the kernel does not know the model, does not ask again.
   */
  function question() {
    clearTimeout(pause);
    questions += 1;
    const own = questions;
    void isKnown(model).then((known) => {
      if (own === questions && !abort.aborted && connection.value !== "restarted") answer(known);
    });
  }
  function answer(known: boolean | undefined) {
    if (known === false) {
      connection.value = "restarted";
      disconnect();
      return;
    }
    if (hasNoKernel(model)) connection.value = "ended";
    // The host may find the same kernel again.
    else if (connection.value === "ended")
      connection.value = waitingSince.peek() === undefined ? "answering" : "waiting";
    if (connection.value !== "answering" || (wasLive && !isLive(model))) pause = setTimeout(question, QUESTION_MS);
  }
  const stop = effect(() => {
    const since = waitingSince.value;
    clearTimeout(patience);
    if (connection.peek() === "restarted") return;
    const left = since === undefined ? PATIENCE_MS : since + PATIENCE_MS - performance.now();
    if (left > 0) connection.value = "answering";
    if (since === undefined) return;
    patience = setTimeout(() => {
      connection.value = "waiting";
      question();
    }, left);
  });
  /** Called after the host has lost or found the kernel. The host loses the kernel when the kernel restarts. */
  function onLiveness() {
    if (isLive(model)) wasLive = true;
    else if (wasLive && connection.value !== "restarted") question();
  }
  model.on("comm_live_update", onLiveness);
  abort.addEventListener("abort", () => {
    model.off("comm_live_update", onLiveness);
    clearTimeout(patience);
    clearTimeout(pause);
    stop();
  });
  return connection;
}
