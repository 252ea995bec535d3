// The menu with the range and the units of the axes: per second or per cycle, bytes or machine words, intensity or
// balance, powers of ten or powers of two.

import type { Store } from "../state/store.ts";
import type { Axes } from "../state/traits.ts";
import { formatQuantity } from "../text/numbers.ts";
import { type Option, Select } from "../ui/select.tsx";
import { axisWords as words } from "../words/words.ts";
import { xUnitIn } from "./axis_units.ts";
import type { Scene } from "./scene.ts";

/** The content of the menu. */
export function AxesMenu({ store, scene }: { readonly store: Store; readonly scene: Scene }) {
  const {
    view: { axes },
  } = store;
  const chip = scene.focus?.chip;
  const pick = <K extends keyof Axes>(
    name: K,
    label: string,
    values: readonly Axes[K][],
    textOf: (value: Axes[K]) => string,
  ) => (
    <Select
      label={label}
      row={true}
      lock={store.lesson.lockNote("view")}
      value={String(axes[name].value)}
      options={values.map((value): Option => [String(value), textOf(value)])}
      disabled={name === "rateUnit" && !chip?.clock ? "FLOP/cycle" : undefined}
      choose={(text) => {
        const chosen = values.find((value) => String(value) === text);
        if (chosen !== undefined) store.view.setAxis(name, chosen);
      }}
    />
  );
  if (store.view.plane.value === "time") {
    return pick("timeScale", words.times, ["log", "linear"], (scale) => words.scales[scale]);
  }
  const moved = axes.word.value > 0 ? words.word : "B";
  const perCycle = axes.rateUnit.value === "FLOP/cycle";
  const clock =
    chip &&
    (chip.clock ? perCycle && words.clock(chip.name, formatQuantity(chip.clock, "Hz", 4)) : words.noClock(chip.name));
  return (
    <>
      {pick("frame", words.frame, ["points", "chip"], (frame) => words.frames[frame])}
      {axes.frame.value === "chip" && <small class="rw-muted">{words.frameNote}</small>}
      {pick("rateUnit", words.rate, ["FLOP/s", "FLOP/cycle"], (unit) => words.rates[unit])}
      {clock && <small class="rw-muted">{clock}</small>}
      {pick("word", words.data, [0, 2, 4, 8], words.bytes)}
      {pick("xAxis", words.across, ["intensity", "balance"], (kind) =>
        words.kinds[kind](xUnitIn(kind === "balance", moved, scene.units.operation)),
      )}
      {pick("tickBase", words.ticks, [10, 2], (base) => words.bases[base])}
      <small class="rw-muted">{words.note}</small>
    </>
  );
}
