// How the chart is looked at: which plane, which part of it, in which units and how large.

import { type Signal, signal } from "@preact/signals";
import { isEqual } from "./entries.ts";
import type { History } from "./history.ts";
import type { Outbox } from "./outbox.ts";

/** Rate against intensity, or memory time against compute time. */
export type View = "roofline" | "time";

/** The part of the plane that is shown, in base units. */
export type Zoom = readonly [xLow: number, xHigh: number, yLow: number, yHigh: number];

/** The units and ticks of the axes. */
export interface Axes {
  readonly rate_unit: "FLOP/s" | "FLOP/cycle";
  /** Bytes of a word, or 0 to count bytes. */
  readonly word: number;
  readonly x_axis: "intensity" | "balance";
  readonly tick_base: 10 | 2;
  readonly time_scale: "log" | "linear";
}

export type Viewing = ReturnType<typeof createViewing>;

/** Python's messages that follow one another within this time, ms, say one thing. */
const TOGETHER = 200;

export function createViewing({ put, tell, send }: Outbox, history: History) {
  const view = signal<View>("roofline");
  /** None fits all that there is. */
  const zoom = signal<Zoom | null>(null);
  const presentation = signal(false);
  const rulers = signal(true);
  const axes: { readonly [K in keyof Axes]: Signal<Axes[K]> } = {
    rate_unit: signal("FLOP/s"),
    word: signal(0),
    x_axis: signal("intensity"),
    tick_base: signal(10),
    time_scale: signal("log"),
  };
  const part = { view, zoom, time_scale: axes.time_scale };
  /** A hand that zooms: until it lets go Python's word on the zoom waits, and once it has moved counts for nothing. */
  let hand: { hasMoved: boolean; told?: () => void } | undefined;
  let [run, last] = [0, Number.NEGATIVE_INFINITY];
  /** What comes from Python: the first is no change, and what comes together, as a view and its zoom do, is one. */
  const taking = (name: string, held: Signal<unknown>) => {
    let isFirst = true;
    return (value: unknown) => {
      const change = () => {
        held.value = value;
      };
      const take = () => {
        if (isEqual(held.value, value)) return;
        const now = performance.now();
        if (now - last > TOGETHER) run = now;
        last = now;
        const isTaken = name !== "zoom" && hand !== undefined;
        history.change(() => {
          change();
          // What a hand has done to one plane is nothing to another.
          if (isTaken) zoom.value = null;
        }, `told ${run}`);
        if (!isTaken) return;
        hand = undefined;
        // Of that some may still be on its way to Python.
        tell("zoom", null);
      };
      if (isFirst) change();
      else if (hand && name === "zoom") hand.told = take;
      else take();
      isFirst = false;
    };
  };
  const here = () => Object.fromEntries(Object.entries(part).map(([name, { value }]) => [name, value]));
  history.add({
    here,
    isSame: isEqual,
    restore: (entry: Record<string, unknown>) => {
      for (const [name, held] of Object.entries(part) as [string, Signal<unknown>][]) {
        if (isEqual(held.value, entry[name])) continue;
        held.value = entry[name];
        put(name, entry[name]);
      }
    },
  });
  return {
    /** What Python sends as it is, by trait. */
    traits: { ...axes, presentation, rulers } as Readonly<Record<string, Signal>>,
    /** What it sends that can be undone. */
    read: Object.fromEntries(Object.entries(part).map(([name, held]) => [name, taking(name, held)])),
    state: { view, zoom, presentation, rulers, axes },
    actions: {
      /** Another plane is shown whole. */
      setView(next: View) {
        history.change(() => {
          view.value = next;
          zoom.value = null;
        });
        put("zoom", null);
        tell("view", next);
      },
      /** `stream`: as a hand or a wheel goes on; `run`: the steps of one make one entry of the history. */
      setZoom(next: Zoom | null, { stream = false, run }: { readonly stream?: boolean; readonly run?: number } = {}) {
        const change = () => {
          zoom.value = next;
        };
        if (hand) hand.hasMoved = true;
        history.change(change, run === undefined ? undefined : `zoom ${run}`);
        tell("zoom", next, { stream });
      },
      holdZoom() {
        hand = { hasMoved: false };
        history.hold();
      },
      releaseZoom() {
        const held = hand;
        hand = undefined;
        history.release();
        if (!held?.hasMoved) held?.told?.();
        else if (held.told) put("zoom", zoom.value);
        send();
      },
      setAxis<K extends keyof Axes>(name: K, value: Axes[K]) {
        history.change(() => {
          // Times on one scale are no places on the other.
          if (name === "time_scale") zoom.value = null;
          axes[name].value = value;
        });
        if (name === "time_scale") put("zoom", null);
        tell(name, value);
      },
      setRulers(on: boolean) {
        rulers.value = on;
        tell("rulers", on);
      },
      setPresentation(on: boolean) {
        presentation.value = on;
        tell("presentation", on);
      },
    },
  };
}
