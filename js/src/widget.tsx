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
import { createTools, type Tools } from "./chart/tools.ts";
import { ConnectionNote } from "./panels/connection.tsx";
import { Legend } from "./panels/filters/categories.tsx";
import { Emptied, Filters } from "./panels/filters/filters.tsx";
import { Fusion } from "./panels/fusion/fusion.tsx";
import { Hardware, Rates } from "./panels/hardware/hardware.tsx";
import { DropTarget } from "./panels/opening.tsx";
import { Compare } from "./panels/profile/compare_runs.tsx";
import { Outlook } from "./panels/profile/projected.tsx";
import { Sentence } from "./panels/sentence.tsx";
import { StoryPanel } from "./panels/story/story.tsx";
import { StatusRow } from "./panels/status.tsx";
import { Table } from "./panels/table/table.tsx";
import { Toolbar } from "./panels/toolbar/toolbar.tsx";
import { TypedWork } from "./panels/typed_work.tsx";
import { VerdictHeading } from "./panels/verdict.tsx";
import { Workload } from "./panels/workload/workload.tsx";
import { freeWhenClosed } from "./state/closing.ts";
import type { Model } from "./state/model.ts";
import { createStore, type Store } from "./state/store.ts";
import { InUse } from "./ui/fold.tsx";
import { isFullscreen } from "./ui/full_screen.ts";
import { isModified, TEXT_INPUTS, undoByKey, used } from "./ui/keys.ts";
import { numerals, strings } from "./words/words.ts";

/** If a view is narrower than this, in px, the panels are placed under the chart. */
const STACKED_PX = 1000;
/** If a view is narrower than this, in px, each panel has its own row, and the table is a list of cards. */
const NARROW_PX = 640;
const PANEL_PX = 256;
/** Height of the sentence under the chart, px. */
const SENTENCE_PX = 40;
/** Height of the sliders under the chart, px. */
const SLIDERS_PX = 230;
/** Space between the parts of a view, px. */
const GAPS_PX = 24;
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
      freeWhenClosed(model);
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
  const box = signal<ViewSize>({ width: 0, isFull: false, visible: 0 });
  const theme = signal(themeOf(el));
  const root = el.ownerDocument.createElement("div");
  root.className = "roofwidget";
  el.classList.add("roofwidget-view");
  el.append(root);

  function measure(width: number, height: number) {
    const isFull = isFullscreen(root);
    const now = { width: Math.floor(width), isFull, visible: isFull ? height : visibleHeight(root) };
    // A hidden view, for example a view in another tab, has no size. Keep the last size, so that open panels stay open.
    const { value: last } = box;
    const isSame = now.width === last.width && now.isFull === last.isFull && now.visible === last.visible;
    if (now.width > 0 && !isSame) box.value = now;
  }
  const resized = new ResizeObserver(([entry]) => {
    const { width = 0, height = 0 } = entry?.contentRect ?? {};
    measure(width, height);
  });
  resized.observe(root);
  const page = root.ownerDocument.defaultView;
  page?.addEventListener("resize", () => measure(root.clientWidth, root.clientHeight), { signal: abort });
  followTheme(el, abort, () => {
    theme.value = themeOf(el, theme.value);
  });
  const tools = createTools();
  root.addEventListener(
    "keydown",
    (event) => {
      undoByKey(event, store);
      chipByKey(event, tools, store);
    },
    { signal: abort },
  );

  renderTree(<View store={store} box={box} theme={theme} tools={tools} />, root);
  abort.addEventListener("abort", () => {
    resized.disconnect();
    renderTree(null, root);
    el.classList.remove("roofwidget-view");
    el.replaceChildren();
  });
}

interface ViewSize {
  readonly width: number;
  /** Whether the view is in full screen. */
  readonly isFull: boolean;
  /** How much of the view's height is visible at once, px. */
  readonly visible: number;
}

/** Returns the height of the part of the page that scrolls the view, px. */
function visibleHeight(root: HTMLElement): number {
  const page = root.ownerDocument.defaultView;
  for (let one = root.parentElement; one && page; one = one.parentElement) {
    const scrolls = one.scrollHeight > one.clientHeight && /auto|scroll/.test(page.getComputedStyle(one).overflowY);
    if (scrolls && one.clientHeight > 0) return Math.min(one.clientHeight, page.innerHeight);
  }
  return page?.innerHeight ?? 0;
}

interface ViewProps {
  readonly store: Store;
  readonly box: { readonly value: ViewSize };
  readonly theme: { readonly value: Theme };
  readonly tools: Tools;
}

/** The key "C" opens the palette of chips, unless it is typed into a text box. */
function chipByKey(event: KeyboardEvent, { open }: Tools, store: Store) {
  const isFree = !store.isLocked("chips") && !store.hiddenPanels.value.includes("chips");
  if (event.defaultPrevented || event.key.toLowerCase() !== "c" || isModified(event)) return;
  if (!isFree || (event.target as Element).matches(TEXT_INPUTS)) return;
  open.value = "chips";
  used(event);
}

function View({ store, box, theme, tools }: ViewProps) {
  const isLarge = store.presentation.value;
  const scale = isLarge ? PRESENTATION_SCALE : 1;
  const width = Math.floor(box.value.width / scale);
  const has = (panel: string) => !store.hiddenPanels.value.includes(panel);
  // Without panels at its side, the chart has the whole width.
  const hasSide = useComputed(() => hasSidePanels(store));
  const isStacked = isLarge || width < STACKED_PX || !hasSide.value;
  /** The name of the panel that is unfolded during a presentation. */
  const inUse = useSignal("");
  // The chip of the hovered mark. An unmeasured kernel has a mark on each roof. The sentence is about the roof of this
  // chip.
  const pointedChip = useSignal<string | undefined>(undefined);
  const isExplained = useComputed(() => hasLegend(store));
  const chartWidth = isStacked ? width : width - PANEL_PX - 16;
  const below = isStacked ? SENTENCE_PX + SLIDERS_PX : SENTENCE_PX;
  const panels = useMemo(() => ({ ...store, ...store.throttled }), [store]);
  // Whether the chart was drawn. The panels are rendered after the chart's first frame.
  const isSeen = useSignal(false);
  const hasRoom = width >= MIN_CHART_PX;
  useEffect(() => {
    if (hasRoom) isSeen.value = true;
  }, [hasRoom]);
  const [head, headHeight] = useHeight();
  const [rates, ratesHeight] = useHeight();
  if (!hasRoom) return null;
  const { isFull, visible } = box.value;
  const around = (headHeight.value + (isStacked ? ratesHeight.value : 0)) / scale + GAPS_PX;
  const room = isFull || isLarge ? visible / scale - around - (isFull ? SENTENCE_PX : 0) : undefined;
  const size = { width: chartWidth, height: chartHeight(chartWidth, room, isFull) };
  const chart = { store, size, theme: theme.value, below, pointedChip, tools };
  // In a presentation, a story and the chart with its sliders share the screen. Only the first step has the title.
  const isTold = isLarge && store.story.value !== null;
  const isNarrow = width < NARROW_PX;
  const toolbar = (
    <Toolbar store={store} theme={theme.value} tools={tools} width={width} room={size.height + SLIDERS_PX} narrow={isNarrow} />
  );
  const looks = { stacked: isStacked, narrow: width < NARROW_PX, large: isLarge, dark: theme.value.dark };
  const signs = Object.entries(looks).flatMap(([name, is]) => (is ? [` roofwidget-${name}`] : []));
  return (
    <DropTarget
      store={store}
      lang={numerals.language}
      class={`roofwidget-frame${signs.join("")}`}
      style={{ zoom: `${scale}` }}
    >
      <InUse.Provider value={isLarge ? inUse : undefined}>
        <div ref={head}>
          {store.title.value && !(isTold && store.step.value > 0) && (
            <h2 class="roofwidget-title">{store.title.value}</h2>
          )}
          <StoryPanel store={store} />
          {!isTold && toolbar}
          {/* On a projector the chart and its sliders need the room. */}
          {has("sentence") && !isTold && <VerdictHeading store={panels} brief={isLarge} />}
        </div>
        <div class="roofwidget-main">
          <div>
            <div class="roofwidget-drawn">
              {store.view.value === "time" ? <TimeChart {...chart} /> : <Chart {...chart} points={store.points} />}
              <Emptied store={store} />
            </div>
            <ConnectionNote store={store} />
            <AfterChart isSeen={isSeen}>
              {isStacked && has("hardware") && (
                <div ref={rates} class="roofwidget-rates">
                  <Rates store={panels} />
                </div>
              )}
              {isTold && toolbar}
              {isExplained.value && <Legend store={store} theme={theme.value} />}
              {has("sentence") && <Sentence store={panels} width={size.width} pointedChip={pointedChip.value} />}
              {has("sentence") && <TypedWork store={panels} />}
              {has("filters") && <Filters store={panels} theme={theme.value} width={chartWidth} />}
              {has("comparison") && <Compare store={panels} />}
            </AfterChart>
          </div>
          <AfterChart isSeen={isSeen}>
            <div class="roofwidget-side">
              {has("hardware") && <Hardware store={panels} hasRates={!isStacked} />}
              {has("projection") && <Outlook store={panels} />}
              {has("workload") && <Workload store={panels} />}
            </div>
            {has("fusion") && <Fusion store={panels} theme={theme.value} />}
          </AfterChart>
        </div>
        <StatusRow store={store} />
        <AfterChart isSeen={isSeen}>{has("table") && <Table store={panels} narrow={width < NARROW_PX} />}</AfterChart>
      </InUse.Provider>
    </DropTarget>
  );
}

/** Whether a lesson leaves panels that are beside the chart. */
const hasSidePanels = ({ hiddenPanels, kernels, phases }: Store) =>
  !(
    hiddenPanels.value.includes("hardware") &&
    (hiddenPanels.value.includes("projection") || !(kernels.value.totalTime > 0)) &&
    (hiddenPanels.value.includes("workload") || phases.value.length === 0)
  );

/** Returns a ref of an element, and the element's height on the screen, px. The height is 0 without an element. */
function useHeight() {
  const height = useSignal(0);
  const ref = useMemo(() => {
    let resized: ResizeObserver | undefined;
    return (element: HTMLElement | null) => {
      resized?.disconnect();
      if (!element) return;
      resized = new ResizeObserver(() => {
        height.value = element.getBoundingClientRect().height;
      });
      resized.observe(element);
    };
  }, []);
  return [ref, height] as const;
}

/** Children that are rendered after the first frame of the chart. */
const AfterChart = ({ isSeen, children }: { isSeen: ReadonlySignal<boolean>; children: ComponentChildren }) =>
  isSeen.value && children;
