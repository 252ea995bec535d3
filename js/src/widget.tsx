// The anywidget entry. This file makes a store per model and a component tree per view. The tree adapts to the size of
// the view and to the colours of the host, such as JupyterLab.

import { type ReadonlySignal, signal, useComputed, useSignal } from "@preact/signals";
import { type ComponentChildren, render as renderTree } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { hasLegend } from "./chart/caption.ts";
import { Chart } from "./chart/chart.tsx";
import { followTheme, themeOf } from "./chart/host.ts";
import { chartHeight, MIN_CHART_PX } from "./chart/scales.ts";
import type { Theme } from "./chart/theme.ts";
import { TimeChart } from "./chart/time/view.tsx";
import { Chips } from "./panels/chips/chips.tsx";
import { ConnectionNote } from "./panels/connection.tsx";
import { Legend } from "./panels/filters/categories.tsx";
import { Emptied, Filters } from "./panels/filters/filters.tsx";
import { Fusion } from "./panels/fusion/fusion.tsx";
import { Hardware } from "./panels/hardware/hardware.tsx";
import { DropTarget } from "./panels/opening.tsx";
import { Compare } from "./panels/profile/compare_runs.tsx";
import { Outlook } from "./panels/profile/projected.tsx";
import { Sentence } from "./panels/sentence.tsx";
import { Table } from "./panels/table/table.tsx";
import { Workload } from "./panels/workload/workload.tsx";
import type { Model } from "./state/model.ts";
import { createStore, type Store } from "./state/store.ts";
import { InUse } from "./ui/fold.tsx";
import { isFullscreen } from "./ui/full_screen.ts";
import { undoByKey } from "./ui/keys.ts";
import { numerals, strings } from "./words/words.ts";

/** If a view is narrower than this, in px, the panels are placed under the chart. */
const NARROW_PX = 640;
const PANEL_PX = 256;
/** Height of the sentence under the chart, px. */
const SENTENCE_PX = 40;
/** Height of the sliders under the chart, px. */
const SLIDERS_PX = 230;
/** In full screen: the height in px that is reserved for the chips and the sentence around the chart. */
const AROUND_CHART_PX = 176;
/** The factor by which a presentation enlarges the widget. */
const PRESENTATION_SCALE = 1.6;

interface WidgetContext {
  model: Model;
  el: HTMLElement;
  signal: AbortSignal;
}

export default () => {
  let started: Promise<Store>;
  return {
    /**
     * Starts to decode the model's state in a separate task, and returns at once. anywidget waits two seconds for the
     * initialization. If the initialization takes longer or fails, anywidget drops all messages from Python. Decoding a
     * million kernels takes seconds on a slow machine.
     */
    initialize({ model, signal: abort }: WidgetContext) {
      started = new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          try {
            resolve(createStore(model, abort));
          } catch (error) {
            reject(error);
          }
        });
        abort.addEventListener("abort", () => clearTimeout(timer));
      });
      // Prevents the browser's message about an unhandled error. Each view shows the error itself.
      started.catch(() => {});
    },
    async render({ el, signal: abort }: WidgetContext) {
      try {
        const store = await started;
        if (!abort.aborted) mount(el, store, abort);
      } catch (error) {
        console.error(error);
        el.textContent = strings.failed(error instanceof Error ? error.message : String(error));
      }
    },
  };
};

function mount(el: HTMLElement, store: Store, abort: AbortSignal) {
  const box = signal<ViewSize>({ width: 0 });
  const theme = signal(themeOf(el));
  const root = el.ownerDocument.createElement("div");
  root.className = "roofwidget";
  el.append(root);

  const resized = new ResizeObserver(([entry]) => {
    const { width = 0, height = 0 } = entry?.contentRect ?? {};
    const now = isFullscreen(root) ? { width: Math.floor(width), screen: height } : { width: Math.floor(width) };
    // A hidden view, for example a view in another tab, has no size. Keep the last size, so that open panels stay open.
    const isSame = now.width === box.value.width && now.screen === box.value.screen;
    if (now.width > 0 && !isSame) box.value = now;
  });
  resized.observe(root);
  followTheme(el, abort, () => {
    theme.value = themeOf(el, theme.value);
  });
  root.addEventListener("keydown", (event) => undoByKey(event, store), { signal: abort });

  renderTree(<View store={store} box={box} theme={theme} />, root);
  abort.addEventListener("abort", () => {
    resized.disconnect();
    renderTree(null, root);
    el.replaceChildren();
  });
}

interface ViewSize {
  readonly width: number;
  /** The height of the screen in px. Missing if the view is not in full screen. */
  readonly screen?: number;
}

interface ViewProps {
  readonly store: Store;
  readonly box: { readonly value: ViewSize };
  readonly theme: { readonly value: Theme };
}

function View({ store, box, theme }: ViewProps) {
  const isLarge = store.presentation.value;
  const scale = isLarge ? PRESENTATION_SCALE : 1;
  const width = Math.floor(box.value.width / scale);
  const wide = width >= NARROW_PX && !isLarge;
  /** The name of the panel that is unfolded during a presentation. */
  const inUse = useSignal("hardware");
  // The chip of the hovered mark. An unmeasured kernel has a mark on each roof. The sentence is about the roof of this
  // chip.
  const pointedChip = useSignal<string | undefined>(undefined);
  const isExplained = useComputed(() => hasLegend(store));
  const chartWidth = wide ? width - PANEL_PX - 16 : width;
  const below = wide || isLarge ? SENTENCE_PX : SENTENCE_PX + SLIDERS_PX;
  const panels = useMemo(() => ({ ...store, ...store.throttled }), [store]);
  // Whether the chart was drawn. The panels are rendered after the chart's first frame.
  const isSeen = useSignal(false);
  const hasRoom = width >= MIN_CHART_PX;
  useEffect(() => {
    if (hasRoom) isSeen.value = true;
  }, [hasRoom]);
  if (!hasRoom) return null;
  const { screen } = box.value;
  const room = screen === undefined ? undefined : screen / scale - AROUND_CHART_PX;
  const size = { width: chartWidth, height: chartHeight(chartWidth, room) };
  const chart = { store, size, theme: theme.value, below, pointedChip };
  const looks = { narrow: !wide, large: isLarge, dark: theme.value.dark };
  const signs = Object.entries(looks).flatMap(([name, is]) => (is ? [` roofwidget-${name}`] : []));
  return (
    <DropTarget
      store={store}
      lang={numerals.language}
      class={`roofwidget-frame${signs.join("")}`}
      style={{ zoom: `${scale}` }}
    >
      <InUse.Provider value={isLarge ? inUse : undefined}>
        {store.title.value && <h2>{store.title.value}</h2>}
        <Chips store={store} theme={theme.value} />
        <div class="roofwidget-main">
          <div>
            <div class="roofwidget-drawn">
              {store.view.value === "time" ? <TimeChart {...chart} /> : <Chart {...chart} points={store.points} />}
              <Emptied store={store} />
            </div>
            <ConnectionNote store={store} />
            <AfterChart isSeen={isSeen}>
              {isExplained.value && <Legend kernels={store.kernels.value} theme={theme.value} />}
              <Sentence store={panels} width={size.width} pointedChip={pointedChip.value} />
              <Filters store={panels} theme={theme.value} width={chartWidth} />
              <Compare store={panels} />
            </AfterChart>
          </div>
          <AfterChart isSeen={isSeen}>
            <div class="roofwidget-side">
              <Hardware store={panels} />
              <Outlook store={panels} />
              <Workload store={panels} />
            </div>
            <Fusion store={panels} theme={theme.value} />
          </AfterChart>
        </div>
        <AfterChart isSeen={isSeen}>
          <Table store={panels} narrow={width < NARROW_PX} />
        </AfterChart>
      </InUse.Provider>
    </DropTarget>
  );
}

/** Children that are rendered after the first frame of the chart. */
const AfterChart = ({ isSeen, children }: { isSeen: ReadonlySignal<boolean>; children: ComponentChildren }) =>
  isSeen.value && children;
