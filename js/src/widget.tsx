// The anywidget entry. This file makes a store per model and a component tree per view. The tree adapts to the size of
// the view and to the colours of the host, such as JupyterLab.

import { type ReadonlySignal, signal, useComputed, useSignal } from "@preact/signals";
import { type ComponentChildren, render as renderTree } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Chart } from "./chart/chart.tsx";
import { followTheme, themeOf } from "./chart/host.ts";
import { InstructionChart } from "./chart/instructions/view.tsx";
import { NetworkChart } from "./chart/network/view.tsx";
import { MIN_CHART_PX } from "./chart/scales.ts";
import { roofColours } from "./chart/scene.ts";
import type { Theme } from "./chart/theme.ts";
import { TimeChart } from "./chart/time/view.tsx";
import { createTools, type Tools } from "./chart/tools.ts";
import { layoutOf, ROW_PX, SLIDERS_PX as SLIDERS_HEIGHT_PX, WIDE_PX } from "./layout.ts";
import { Empty, isEmpty } from "./panels/empty.tsx";
import { Emptied } from "./panels/filters/filters.tsx";
import { FusionSearch } from "./panels/fusion/fusion.tsx";
import { Sliders } from "./panels/hardware/sliders.tsx";
import { LatestSnapshot } from "./panels/hardware/snapshots.tsx";
import { Inspector, openTab } from "./panels/inspector.tsx";
import { NetworkBar } from "./panels/network/network_bar.tsx";
import { DropTarget } from "./panels/opening.tsx";
import { SourceLine } from "./panels/source_line.tsx";
import { StatusRow } from "./panels/status_row.tsx";
import { StoryPanel } from "./panels/story/story.tsx";
import { storyHeight } from "./panels/story/story_height.ts";
import { FullTable } from "./panels/table/table.tsx";
import { TimeBar } from "./panels/time_bar/time_bar.tsx";
import { planeChoice } from "./panels/toolbar/menus.ts";
import { Toolbar } from "./panels/toolbar/toolbar.tsx";
import { VerdictHeading } from "./panels/verdict.tsx";
import { freeWhenClosed } from "./state/closing.ts";
import type { Model } from "./state/model.ts";
import { createStore, pacedStore, type Store } from "./state/store.ts";
import { isEqual } from "./ui/equal.ts";
import { isFullscreen } from "./ui/full_screen.ts";
import { lookUp, TEXT_INPUTS, undoByKey, used, WIDGET_KEYS } from "./ui/keys.ts";
import { useUid } from "./ui/uid.ts";
import { numerals, strings } from "./words/words.ts";

/** The height of the sliders and the status row under the chart, px. */
const SLIDERS_PX = 72;
/** The height that a menu or a dialog of the toolbar has at least, px. */
const MIN_POPOVER_PX = 480;
/** The height of a view without chips and kernels, px. */
const [EMPTY_PX, EMPTY_NARROW_PX] = [600, 420];
/** What a notebook's window has around its cells, px. */
const NOTEBOOK_PX = 100;
/** Space between the parts of a view, px. */
const GAPS_PX = 24;
/** The factor by which a presentation enlarges the widget. */
const PRESENTATION_SCALE = 1.6;
/** If a presentation sees less height than this at once, px of the page, the chart takes the room of the time bar. */
const MIN_TIME_BAR_ROOM_PX = 720;

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
  const box = signal<ViewSize>({ width: 0, isFull: false, visible: 0, window: 0 });
  const theme = signal(themeOf(el));
  const root = el.ownerDocument.createElement("div");
  root.className = "roofwidget";
  el.classList.add("roofwidget-view");
  el.append(root);

  function measure(width: number, height: number) {
    const isFull = isFullscreen(root);
    const visible = isFull ? height : visibleHeight(root);
    const now = { width: Math.floor(width), isFull, visible, window: windowHeight(root) };
    // A hidden view, for example a view in another tab, has no size. Keep the last size, so that open panels stay open.
    if (now.width > 0 && !isEqual(now, box.value)) box.value = now;
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
      undoByKey(event, store.history);
      openByKey(event, tools, store);
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
  /** The height of the window for a view that scrolls with its page, px. */
  readonly window: number;
}

/** Returns the height of the window, px. The bars of a notebook take a part of it. */
function windowHeight(root: HTMLElement): number {
  const height = root.ownerDocument.defaultView?.innerHeight ?? 0;
  return root.closest("[data-roofwidget]") ? height : height - NOTEBOOK_PX;
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

/** Opens the palette of chips, or the search among the kernels, at a key that is not typed into a text box. */
function openByKey(event: KeyboardEvent, { open }: Tools, store: Store) {
  const { key, ctrlKey, altKey, metaKey, target, currentTarget } = event;
  const name = lookUp(WIDGET_KEYS, key.toLowerCase());
  if (!name || event.defaultPrevented || ctrlKey || altKey || metaKey || (target as Element).matches(TEXT_INPUTS))
    return;
  if (name === "network") {
    const { act } = planeChoice(store, name);
    if (!act || store.view.hiddenPanels.value.includes("tools")) return;
    act();
    return used(event);
  }
  const isHidden = store.view.hiddenPanels.value.includes(name === "chips" ? "chips" : "table");
  if (isHidden || (name === "chips" ? store.lesson.isLocked("chips") : store.rows.kernels.value.n === 0)) return;
  if (name === "chips") open.value = "chips";
  else {
    const root = currentTarget as Element;
    store.view.openTab("kernels");
    // The tab is drawn in a microtask. With a task in between, the next key would go to the chart.
    queueMicrotask(() => root.querySelector<HTMLElement>("[data-rw=inspector] [type=search]")?.focus());
  }
  used(event);
}

function View({ store, box, theme, tools }: ViewProps) {
  const isLarge = store.view.presentation.value;
  const scale = isLarge ? PRESENTATION_SCALE : 1;
  const width = Math.floor(box.value.width / scale);
  const has = (panel: string) => !store.view.hiddenPanels.value.includes(panel);
  // The chip of the hovered mark. An unmeasured kernel has a mark on each roof. The status row is about the roof of
  // this chip.
  const pointedChip = useSignal<string | undefined>(undefined);
  const isBlank = useComputed(() => isEmpty(store));
  const opened = useComputed(() => openTab(store));
  const panels = useMemo(() => pacedStore(store), [store]);
  const headline = useUid();
  const isJudged = useComputed(() => panels.rows.headline.value !== undefined);
  // Computed, so that a drag, which changes the roofs and the points, does not render the frame.
  const focus = useComputed(() => roofColours(store, theme.value).get(store.rates.focusChip.value));
  // Whether the chart was drawn. The panels are rendered after the chart's first frame.
  const isSeen = useSignal(false);
  const hasRoom = width >= MIN_CHART_PX;
  useEffect(() => {
    if (hasRoom) isSeen.value = true;
  }, [hasRoom]);
  const { visible, window, isFull } = box.value;
  const story = store.lesson.story.value;
  const storyPx = useMemo(
    () => (story && !isLarge && width >= WIDE_PX ? storyHeight(story.steps, width, window) : undefined),
    [story, isLarge, width, window],
  );
  const [head, headHeight] = useHeight();
  const [foot, footHeight] = useHeight();
  if (!hasRoom) return null;
  // The heights are read only where they matter: each change of a signal that is read here renders the frame again, and
  // would do so with the panels before the chart's first frame is drawn.
  const around = () => (headHeight.value + footHeight.value) / scale + GAPS_PX;
  const room = isFull || isLarge ? visible / scale - around() : undefined;
  const isTitled = store.view.title.value !== "" && !(store.rows.kernels.value.totalTime > 0);
  // A lesson that hides the chips and the tools is read like a page: it has no toolbar.
  const isBare = story !== null && !has("chips") && !has("tools");
  const rows = [
    [ROW_PX.status, true],
    [ROW_PX.toolbar + ROW_PX.source, !isBare],
    [ROW_PX.title, isTitled],
    [ROW_PX.verdict, has("sentence")],
    [SLIDERS_HEIGHT_PX, has("hardware")],
  ] as const;
  const told = storyPx && rows.reduce((sum, [px, isShown]) => sum + (isShown ? px : 0), storyPx + GAPS_PX);
  const layout = layoutOf({
    ...{ width, visible: window, isOpen: opened.value !== undefined, room, told },
    hasSliders: has("hardware"),
  });
  const isNarrow = layout.kind === "narrow";
  const isBeside = layout.kind === "wide" && layout.inspector !== undefined;
  const chart = { store, size: layout.chart, theme: theme.value, below: SLIDERS_PX, pointedChip, tools };
  // In a presentation, a story and the chart with its sliders share the screen. Only the first step has the title.
  const isTold = isLarge && story !== null;
  const toolbar = (
    <Toolbar
      {...{ store, tools, width }}
      theme={theme.value}
      room={Math.max(layout.chart.height + SLIDERS_PX, MIN_POPOVER_PX)}
      narrow={isNarrow}
    />
  );
  const looks = { beside: isBeside, narrow: isNarrow, large: isLarge, dark: theme.value.dark };
  const signs = Object.entries(looks).flatMap(([name, is]) => (is ? [` rw-${name}`] : []));
  const hasVerdict = has("sentence") && !isTold;
  // The answer is the name of the widget, so screen readers say it before the toolbar.
  const name = hasVerdict && isJudged.value ? ({ role: "group", "aria-labelledby": headline } as const) : {};
  const isBarred = !isTold && !(isLarge && visible < MIN_TIME_BAR_ROOM_PX);
  return (
    <DropTarget
      store={store}
      lang={numerals.language}
      {...name}
      class={`rw-frame${signs.join("")}`}
      style={{ zoom: `${scale}`, "--rw-focus": focus.value }}
    >
      <div ref={head}>
        <StoryPanel store={store} height={storyPx} />
        {!isTold && !isBare && toolbar}
        {!isLarge && !isBare && <SourceLine store={store} />}
        {isTitled && !(isTold && store.lesson.step.value > 0) && <h2 class="rw-title">{store.view.title.value}</h2>}
        {/* On a projector the chart and its sliders need the room. */}
        {hasVerdict && <VerdictHeading store={panels} id={headline} brief={isLarge} />}
        {isBarred &&
          (store.view.plane.value === "network" ? (
            <NetworkBar store={panels} theme={theme.value} width={width} narrow={isNarrow} />
          ) : (
            <TimeBar store={panels} theme={theme.value} width={width} narrow={isNarrow} />
          ))}
      </div>
      {isBlank.value ? (
        <Empty store={store} height={isNarrow ? EMPTY_NARROW_PX : EMPTY_PX} />
      ) : (
        <div
          class="rw-main"
          style={isBeside ? { gridTemplateColumns: `minmax(0, 1fr) ${layout.inspector?.width}px` } : undefined}
        >
          <div class="rw-plane">
            <div class="rw-drawn" data-rw="chart">
              {store.view.plane.value === "network" ? (
                <NetworkChart {...chart} />
              ) : store.view.plane.value === "instructions" ? (
                <InstructionChart {...chart} />
              ) : store.view.plane.value === "time" ? (
                <TimeChart {...chart} />
              ) : (
                <Chart {...chart} points={store.rows.points} />
              )}
              {store.view.plane.value !== "network" && <Emptied store={store} />}
            </div>
            <div ref={foot}>
              <AfterChart isSeen={isSeen}>
                {has("hardware") && <Sliders store={panels} />}
                <LatestSnapshot store={store} />
                {isTold && toolbar}
                <StatusRow store={panels} pointedChip={pointedChip.value} />
              </AfterChart>
            </div>
          </div>
          <AfterChart isSeen={isSeen}>
            <FusionSearch store={panels} />
            <Inspector
              store={panels}
              theme={theme.value}
              open={opened.value}
              height={layout.inspector?.height ?? 0}
              narrow={isNarrow}
            />
          </AfterChart>
        </div>
      )}
      {store.view.isTableOpen.value &&
        has("table") &&
        !store.lesson.hidesHint("table") &&
        store.rows.kernels.value.n > 0 && <FullTable store={panels} />}
    </DropTarget>
  );
}

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
