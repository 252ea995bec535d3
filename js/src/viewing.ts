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

export function createViewing({ put, tell, send }: Pick<Outbox, "put" | "tell" | "send">, history: History) {
  const view = signal<View>("roofline");
  /** None fits all that there is. */
  const zoom = signal<Zoom | null>(null);
  const presentation = signal(false);
  const axes: { readonly [K in keyof Axes]: Signal<Axes[K]> } = {
    rate_unit: signal("FLOP/s"),
    word: signal(0),
    x_axis: signal("intensity"),
    tick_base: signal(10),
    time_scale: signal("log"),
  };
  const part = { view, zoom, time_scale: axes.time_scale };
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
    traits: { ...part, ...axes, presentation } as Readonly<Record<string, Signal>>,
    state: { view, zoom, presentation, axes },
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
      /** `stream`: as a hand or a wheel goes on; the steps of one make one entry of the history. */
      setZoom(next: Zoom | null, { stream = false } = {}) {
        const change = () => {
          zoom.value = next;
        };
        history.change(change, stream ? "zoom" : undefined);
        tell("zoom", next, { stream });
      },
      holdZoom: history.hold,
      releaseZoom() {
        history.release();
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
      setPresentation(on: boolean) {
        presentation.value = on;
        tell("presentation", on);
      },
    },
  };
}
