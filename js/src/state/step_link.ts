// The address of an exported page names the step of a story: "#step=3" shows the third step.

import { effect, type ReadonlySignal } from "@preact/signals";
import type { Model } from "./model.ts";
import type { TraitValues } from "./traits.ts";

/** The part of a page's address that names a step. */
export interface StepLink {
  /** Returns the step that the address names, from 1; NaN if it names none. */
  read(): number;
  write(step: number): void;
  /** Calls `changed` when the address changes, until `abort`. */
  follow(changed: () => void, abort: AbortSignal): void;
}

interface Steps {
  readonly story: ReadonlySignal<TraitValues["story"]>;
  readonly step: ReadonlySignal<number>;
  show(step: number): void;
}

/** Keeps the step and the address of the page equal. Only exported pages have such an address. */
export function followStepLink(model: Model, { story, step, show }: Steps, abort: AbortSignal): void {
  const link = model.get("step_link") as StepLink | undefined;
  if (!link || !story.value) return;
  const follow = () => {
    const wanted = link.read() - 1;
    if (wanted !== step.peek() && story.value?.steps[wanted]) show(wanted);
  };
  follow();
  link.follow(follow, abort);
  const stop = effect(() => {
    // The first step needs no address, unless the address names another step.
    if (step.value > 0 || link.read() >= 1) link.write(step.value + 1);
  });
  abort.addEventListener("abort", stop);
}
