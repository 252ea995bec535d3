// The anywidget entry: one store a model, and for each view a tree that follows its size and the host's colours.

import { signal, useSignal } from "@preact/signals";
import { render as renderTree } from "preact";
import { Chart } from "./chart/chart.tsx";
import { TimeChart } from "./chart/timeview.tsx";
import { sentenceOf, sentenceOfRoof } from "./describe.ts";
import { Chips } from "./panels/chips.tsx";
import { Compare } from "./panels/compare.tsx";
import { Emptied, Filters } from "./panels/filters.tsx";
import { Fusion } from "./panels/fusion.tsx";
import { Hardware } from "./panels/hardware.tsx";
import { Legend } from "./panels/legend.tsx";
import { Outlook } from "./panels/outlook.tsx";
import { reasonOf } from "./panels/reasons.ts";
import { Table } from "./panels/table/table.tsx";
import { Workload } from "./panels/workload.tsx";
import { SMALLEST } from "./scales.ts";
import { createStore, type Model, type Store } from "./store.ts";
import { strings } from "./strings.ts";
import { DARK, LIGHT, type Theme } from "./theme.ts";

/** Below this width the panels go under the chart, px. */
const NARROW = 640;
const PANEL = 256;
/** Heights of what stands under the chart, px. */
const SENTENCE = 40;
const SLIDERS = 150;

interface Context {
  model: Model;
  el: HTMLElement;
  signal: AbortSignal;
}

export default () => {
  let store: Store | undefined;
  return {
    initialize({ model, signal: abort }: Context) {
      store = createStore(model, abort);
    },
    render({ el, signal: abort }: Context) {
      if (!store) throw new Error("roofwidget: rendered before it was initialized");
      mount(el, store, abort);
    },
  };
};

function mount(el: HTMLElement, store: Store, abort: AbortSignal) {
  const width = signal(0);
  const theme = signal(themeOf(el));
  const root = el.ownerDocument.createElement("div");
  root.className = "roofwidget";
  el.append(root);

  const resized = new ResizeObserver(([entry]) => {
    const now = Math.floor(entry?.contentRect.width ?? 0);
    // Hidden for a while, as in another tab, it keeps what is open.
    if (now > 0) width.value = now;
  });
  resized.observe(root);
  // The host switches its theme by an attribute of body; a plain page by the system's preference.
  const recoloured = () => {
    theme.value = themeOf(el);
  };
  const attributes = new MutationObserver(recoloured);
  attributes.observe(el.ownerDocument.body, { attributes: true });
  el.ownerDocument.defaultView
    ?.matchMedia("(prefers-color-scheme: dark)")
    .addEventListener("change", recoloured, { signal: abort });

  renderTree(<View store={store} width={width} theme={theme} />, root);
  abort.addEventListener("abort", () => {
    resized.disconnect();
    attributes.disconnect();
    renderTree(null, root);
    el.replaceChildren();
  });
}

interface ViewProps {
  readonly store: Store;
  readonly width: { readonly value: number };
  readonly theme: { readonly value: Theme };
}

function View({ store, width, theme }: ViewProps) {
  const wide = width.value >= NARROW;
  // The chip whose mark is pointed at: what is said of an unmeasured kernel is said of this one's roof.
  const pointedChip = useSignal<string | undefined>(undefined);
  const chartWidth = wide ? width.value - PANEL - 16 : width.value;
  if (width.value < SMALLEST) return null;
  const below = wide ? SENTENCE : SENTENCE + SLIDERS;
  const chart = { store, width: chartWidth, theme: theme.value, below, pointedChip };
  return (
    <div class={`roofwidget-frame${wide ? "" : " roofwidget-narrow"}${theme.value.dark ? " roofwidget-dark" : ""}`}>
      {store.title.value && <h2>{store.title.value}</h2>}
      <Chips store={store} theme={theme.value} />
      <div class="roofwidget-main">
        <div>
          <div class="roofwidget-drawn">
            {store.view.value === "time" ? <TimeChart {...chart} /> : <Chart {...chart} points={store.points} />}
            <Emptied store={store} />
          </div>
          {!store.showsTotals.value && (
            <Legend kernels={store.kernels.value} points={store.points.value} theme={theme.value} />
          )}
          <Sentence store={store} notDrawn={store.points.value.notDrawn} pointedChip={pointedChip.value} />
          <Filters store={store} theme={theme.value} />
          <Compare store={store} />
        </div>
        <div class="roofwidget-side">
          <Hardware store={store} />
          <Outlook store={store} />
          <Workload store={store} />
        </div>
        <Fusion store={store} theme={theme.value} />
      </div>
      <Table store={store} narrow={!wide} />
    </div>
  );
}

interface SentenceProps {
  readonly store: Store;
  readonly notDrawn: number;
  readonly pointedChip: string | undefined;
}

function Sentence({ store, notDrawn, pointedChip }: SentenceProps) {
  const row = store.pointed.value ?? store.selected.value[0];
  const roofs = store.shownRoofs.value;
  const pointed = row === undefined ? undefined : roofs.find((roof) => roof.chip.id === pointedChip);
  const roof = pointed ?? store.focusRoof.value ?? roofs[0];
  if (!roof) return <p class="roofwidget-sentence">{noRoof(store)}</p>;
  return (
    <p class="roofwidget-sentence" role="status" aria-live={store.held.value ? "off" : "polite"}>
      {unbroken(row === undefined ? sentenceOfRoof(roof, store.view.value) : sentenceOf(store.drawn.value, row, roof))}
      {notDrawn > 0 && <span class="roofwidget-muted roofwidget-note">{strings.notDrawn(notDrawn)}</span>}
    </p>
  );
}

/** Why there is no roof: no chip is shown, or those that are lack what was chosen. */
function noRoof(store: Store): string {
  if (store.chips.value.length === 0) return strings.noChips;
  const shown = store.chips.value.filter(({ id }) => store.shown.value.includes(id));
  const reasons = shown.flatMap((chip) => {
    const missing = store.lacking.value.get(chip.id);
    return missing ? [reasonOf(chip, missing)] : [];
  });
  return reasons.length > 0 ? `${reasons.join("; ")}.` : strings.noChip;
}

/** A number keeps its unit on its line. */
const unbroken = (sentence: string) => sentence.replace(/(?<=\d) (?=%|[kMGTPEµnpm]?(?:FLOP|B|s)\b)/g, "\u00a0");

function themeOf(el: HTMLElement): Theme {
  const told = el.ownerDocument.body.dataset["jpThemeLight"];
  if (told !== undefined) return told === "false" ? DARK : LIGHT;
  return el.ownerDocument.defaultView?.matchMedia("(prefers-color-scheme: dark)").matches ? DARK : LIGHT;
}
