// The menu of units: per second or per cycle, bytes or machine words, intensity or balance, powers of ten or of two.

import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Store } from "../state/store.ts";
import type { Axes } from "../state/sync.ts";
import { formatQuantity } from "../text/numbers.ts";
import { stepOf } from "../ui/keys.ts";
import { type Option, Select } from "../ui/select.tsx";
import { axisWords as words } from "../words/words.ts";
import type { Scene } from "./scene.ts";

interface AxesMenuProps {
  readonly store: Store;
  readonly scene: Scene;
  readonly opener: RefObject<HTMLElement | null>;
  /**
   * Closes the menu. With `isDone` the focus returns to the button. Without it, the focus has already moved elsewhere.
   */
  close(isDone: boolean): void;
  /** Tools for which the toolbar has no room. */
  readonly children: ComponentChildren;
}

export function AxesMenu({ store, scene, opener, close, children }: AxesMenuProps) {
  const dialog = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => dialog.current?.focus({ preventScroll: true }), []);
  return (
    <div
      ref={dialog}
      class="roofwidget-axesmenu"
      style={{ maxHeight: `${scene.scales.height - 32}px` }}
      role="dialog"
      aria-label={words.menu}
      tabIndex={-1}
      data-lm-suppress-shortcuts="true"
      onKeyDown={(event) => {
        if (!stepOf(event)) event.stopPropagation();
        if (event.key === "Escape") close(true);
      }}
      onFocusOut={({ relatedTarget }) => {
        const to = relatedTarget as Node | null;
        if (!dialog.current?.contains(to) && !opener.current?.contains(to)) close(false);
      }}
    >
      <div class="roofwidget-rest-of-tools">{children}</div>
      <h4>{words.menu}</h4>
      <Choices store={store} scene={scene} />
    </div>
  );
}

function Choices({ store, scene }: Pick<AxesMenuProps, "store" | "scene">) {
  const { axes } = store;
  const chip = scene.focus?.chip;
  const pick = <K extends keyof Axes>(name: K, label: string, values: readonly (readonly [Axes[K], string])[]) => (
    <Select
      label={label}
      row={true}
      value={String(axes[name].value)}
      options={values.map(([value, text]): Option => [String(value), text])}
      disabled={name === "rateUnit" && !chip?.clock ? "FLOP/cycle" : undefined}
      choose={(text) => {
        const chosen = values.find(([value]) => String(value) === text);
        if (chosen) store.setAxis(name, chosen[0]);
      }}
    />
  );
  if (store.view.value === "time") {
    return pick("timeScale", words.times, [
      ["log", words.scales.log],
      ["linear", words.scales.linear],
    ]);
  }
  const moved = axes.word.value > 0 ? words.word : "B";
  const perCycle = axes.rateUnit.value === "FLOP/cycle";
  const clock =
    chip &&
    (chip.clock ? perCycle && words.clock(chip.name, formatQuantity(chip.clock, "Hz", 4)) : words.noClock(chip.name));
  return (
    <>
      {pick("rateUnit", words.rate, [
        ["FLOP/s", words.rates["FLOP/s"]],
        ["FLOP/cycle", words.rates["FLOP/cycle"]],
      ])}
      {clock && <small class="roofwidget-muted">{clock}</small>}
      {pick(
        "word",
        words.data,
        [0, 2, 4, 8].map((bytes) => [bytes, words.bytes(bytes)] as const),
      )}
      {pick("xAxis", words.across, [
        ["intensity", words.kinds.intensity(moved)],
        ["balance", words.kinds.balance(moved)],
      ])}
      {pick("tickBase", words.ticks, [
        [10, words.bases[10]],
        [2, words.bases[2]],
      ])}
      <small class="roofwidget-muted">{words.note}</small>
    </>
  );
}
