// The toolbar below the chart: buttons with icons and words, and the menus that they open.

import { type ReadonlySignal, type Signal, useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { Store } from "../state/store.ts";
import { Button } from "../ui/button.tsx";
import { toggleFullscreen } from "../ui/full_screen.ts";
import { isModified, used } from "../ui/keys.ts";
import { Popover } from "../ui/popover.tsx";
import {
  axisWords,
  marksWords,
  numerals,
  words as panelWords,
  rulerWords,
  snapshotWords,
  toolWords as words,
} from "../words/words.ts";
import { AxesMenu } from "./axes_menu.tsx";
import { type Navigation, STEP, type Tool } from "./gestures/navigate.ts";
import { Icon, type IconName } from "./icons.tsx";
import { textWidth } from "./labels/text_fitting.ts";
import { MarksLegend } from "./marks_legend.tsx";
import { pictureOf } from "./picture.tsx";
import { savePicture } from "./save_picture.ts";
import type { Scene } from "./scene.ts";
import { BUTTON_PX, fitTools } from "./tool_layout.ts";

interface ToolbarProps {
  readonly store: Store;
  readonly scene: Scene;
  /** The number of kernels out of sight. */
  readonly outside: number;
  /** The chip of the hovered mark. */
  readonly pointedChip: ReadonlySignal<string | undefined>;
  readonly navigation: Navigation;
  /** The open menu of the toolbar. */
  readonly menu: Signal<ToolMenu | undefined>;
  /** Handles a key that the toolbar does not use. The key does the same as on the chart. */
  keys(event: KeyboardEvent): void;
  /** Available width, px. */
  readonly room: number;
}

/** The menus of the toolbar: the tools that do not fit, the units of the axes, and the meanings of the marks. */
export type ToolMenu = "more" | "axes" | "marks";

interface Entry {
  readonly picture: IconName;
  readonly label: string;
  /** The word beside the icon, if there is room. */
  readonly word?: string;
  /** The place of the tool in the order of importance. */
  readonly rank: number;
  /** What a click does. Undefined if the button has nothing to do. */
  readonly act: ((event: MouseEvent) => unknown) | undefined;
  /** Whether a toggle is on. Undefined for other buttons. */
  readonly isOn?: boolean;
  /** The menu that the button opens. */
  readonly opens?: ToolMenu;
  /** A text that is shown instead of the icon. */
  readonly count?: string;
  /** Says that a lesson locks the tool. */
  readonly lock?: string | undefined;
}

/** The padding of the hint with the number of kernels out of sight, px. */
const HINT_PADDING_PX = 8;
/**
 * If the toolbar has less room than this beside the hint, px, the hint is not shown. Instead, the fit button shows the
 * number of kernels out of sight in place of its icon.
 */
const MIN_PX_BESIDE_HINT = 12 * BUTTON_PX;

export function Toolbar(props: ToolbarProps) {
  const { store, scene, outside, navigation, menu, keys, room } = props;
  const hasRoof = useComputed(() => store.focusRoof.value !== undefined);
  const failure = useSignal("");
  const current = useSignal<string>("undo");
  const opener = useRef<HTMLElement | null>(null);
  const bar = useRef<HTMLDivElement>(null);
  // The hint always has the width that its largest number needs. Therefore no button moves when the hint appears.
  const most = numerals.whole(Math.max(store.kernels.value.n, 999));
  const left = room - textWidth(words.outsideShort(most)) - 2 * HINT_PADDING_PX;
  const isApart = left >= MIN_PX_BESIDE_HINT;
  const hasHint = outside > 0 && isApart;
  const out = outside > 0 ? words.outside(numerals.whole(outside), outside === 1) : "";
  const fitLabel = `${out}: ${words.fit}`;
  const { shown, rest } = fitTools(buttonsOf(props, hasRoof.value, failure), isApart ? left : room);
  const stops = [...shown.map(({ picture }) => picture), "more", ...(hasHint ? ["outside"] : [])];
  const tabStop = stops.includes(current.value) ? current.value : shown[0]?.picture;
  // Before the first zoom nothing is announced. When the chart shows the whole view again after a zoom, this is
  // announced.
  const wasZoomed = useRef(false);
  wasZoomed.current ||= scene.scales.whole !== undefined;
  opener.current = bar.current?.querySelector<HTMLElement>(`[data-tool='${menu.value}'], [data-tool='more']`) ?? null;

  function onKeyDown(event: KeyboardEvent) {
    const bar = event.currentTarget as HTMLElement;
    const all = [...bar.querySelectorAll<HTMLElement>(":scope > button")];
    const now = all.indexOf(event.target as HTMLElement);
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: all.length - 1 }[event.key];
    if (now < 0 || isModified(event)) return;
    // The chart's keys also work in the toolbar, because the titles of the buttons name these keys.
    if (to === undefined) return /^[^ ]$/.test(event.key) ? keys(event) : undefined;
    all[(to + all.length) % all.length]?.focus();
    used(event);
  }
  function dismiss() {
    failure.value = "";
    bar.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  }
  function close(closed: ToolMenu, isDone: boolean) {
    // A menu that another menu replaces also loses the focus.
    if (menu.value !== closed) return;
    if (isDone) opener.current?.focus();
    menu.value = undefined;
  }
  function toggle(opened: ToolMenu) {
    menu.value = menu.value === opened ? undefined : opened;
  }
  const own = (picture: string) => ({
    tabIndex: picture === tabStop ? 0 : -1,
    onFocus: () => {
      current.value = picture;
    },
  });
  const buttonOf = ({ opens, act, ...button }: Entry): ToolButtonProps =>
    opens
      ? { ...button, act: () => toggle(opens), isOpen: menu.value === opens }
      : button.picture === "fit" && outside > 0 && !isApart
        ? { ...button, act, label: fitLabel, count: outside > 99 ? "99+" : numerals.whole(outside) }
        : { ...button, act };
  const contents: Readonly<Record<ToolMenu, readonly [label: string, content: () => ComponentChildren]>> = {
    more: [
      words.more,
      () => (
        <div class="roofwidget-rest-of-tools">
          {rest.map((tool) => (
            <ToolButton
              key={tool.picture}
              {...buttonOf(tool)}
              isRow={true}
              act={
                tool.act &&
                ((event) => {
                  // The opened menu replaces this menu. Otherwise, this menu closes.
                  if (tool.opens) menu.value = tool.opens;
                  else close("more", true);
                  tool.act?.(event);
                })
              }
            />
          ))}
        </div>
      ),
    ],
    axes: [axisWords.menu, () => <AxesMenu store={store} scene={scene} />],
    marks: [marksWords.title, () => <MarksLegend store={store} scene={scene} />],
  };
  const opened = menu.value ?? "more";
  const [label, content] = contents[opened];
  return (
    <>
      <div ref={bar} class="roofwidget-toolbar" role="toolbar" aria-label={words.bar} onKeyDown={onKeyDown}>
        {shown.map((button) => (
          <ToolButton key={button.picture} {...buttonOf(button)} {...own(button.picture)} hasWord={button.hasWord} />
        ))}
        {rest.length > 0 && (
          <ToolButton
            picture="more"
            label={words.more}
            rank={0}
            act={() => toggle("more")}
            isOpen={menu.value === "more"}
            {...own("more")}
          />
        )}
        {hasHint && (
          <Button
            look="tool roofwidget-hint"
            title={words.fit}
            aria-label={fitLabel}
            {...own("outside")}
            onClick={() => {
              navigation.fit();
              // The hint disappears when the user clicks it. Move the focus to another button of the toolbar.
              bar.current?.querySelector<HTMLElement>("[data-tool]")?.focus();
            }}
          >
            {words.outsideShort(numerals.whole(outside))}
          </Button>
        )}
      </div>
      {menu.value && (
        <Popover
          key={opened}
          label={label}
          opener={opener}
          room={scene.scales.height - 32}
          close={(isDone) => close(opened, isDone)}
        >
          {content()}
        </Popover>
      )}
      {failure.value && (
        <p class="roofwidget-failure" role="alert">
          {failure.value}
          <Button look="tool" title={panelWords.close} aria-label={panelWords.close} onClick={dismiss}>
            ×
          </Button>
        </p>
      )}
      <span class="roofwidget-spoken" role="status">
        {(!navigation.isMoving && spoken(scene, out, wasZoomed.current)) || null}
      </span>
    </>
  );
}

/** Returns the buttons in the order of the toolbar. */
function buttonsOf(
  { store, scene, navigation, pointedChip }: ToolbarProps,
  hasRoof: boolean,
  failure: Signal<string>,
): Entry[] {
  const { tool, by, fit } = navigation;
  const lock = store.lockNote("view");
  const unlocked = <T,>(act: T) => ({ lock, act: lock ? undefined : act });
  const choose = (picture: Tool) => () => {
    tool.value = picture;
  };
  const choice = (picture: Tool, rank: number): Entry => ({
    ...{ picture, rank },
    label: words[picture],
    isOn: tool.value === picture,
    ...(picture === "select" ? { act: choose(picture) } : unlocked(choose(picture))),
  });
  const saving = (kind: "png" | "svg", rest: Pick<Entry, "rank" | "word">): Entry => ({
    ...rest,
    picture: kind,
    label: words[kind],
    act: async ({ currentTarget }) => {
      failure.value = "";
      const { width, height } = scene.scales;
      const picture = pictureOf(store, width, () => height, scene.theme, pointedChip.value);
      const name = store.title.value || store.kernels.value.source;
      const { ownerDocument } = currentTarget as Element;
      if (!(await savePicture(ownerDocument, picture, kind, name))) failure.value = words.noPng;
    },
  });
  const { short } = words;
  return [
    {
      ...{ picture: "undo", label: words.undo, word: short.undo, rank: 0 },
      act: store.canUndo.value ? store.undo : undefined,
    },
    { picture: "redo", label: words.redo, rank: 6, act: store.canRedo.value ? store.redo : undefined },
    saving("png", { word: short.save, rank: 1 }),
    saving("svg", { rank: 14 }),
    { picture: "fit", label: words.fit, word: short.fit, rank: 2, ...unlocked(store.zoom.value ? fit : undefined) },
    { picture: "in", label: words.zoomIn, rank: 7, ...unlocked(() => by(STEP)) },
    { picture: "out", label: words.zoomOut, rank: 8, ...unlocked(() => by(1 / STEP)) },
    {
      ...{ picture: "freeze", label: snapshotWords.freeze, word: short.freeze, rank: 3 },
      act: hasRoof ? () => store.freeze() : undefined,
    },
    {
      ...{ picture: "screen", label: words.screen, word: short.screen, rank: 5 },
      act: ({ currentTarget }) => toggleFullscreen(currentTarget as Element),
    },
    {
      ...{ picture: "presentation", label: words.presentation, word: short.presentation },
      // The button that ends a presentation must not be hidden in the menu.
      rank: store.presentation.value ? 1.5 : 4,
      isOn: store.presentation.value,
      act: () => store.setPresentation(!store.presentation.value),
    },
    choice("select", 9),
    choice("zoom", 10),
    choice("pan", 11),
    {
      ...{ picture: "rulers", label: rulerWords.rulers, rank: 13 },
      isOn: store.rulers.value,
      act: () => store.setRulers(!store.rulers.value),
    },
    { picture: "axes", label: axisWords.menu, rank: 6.5, opens: "axes", act: () => undefined },
    { picture: "marks", label: marksWords.open, rank: 2.5, opens: "marks", act: () => undefined },
  ];
}

type ToolButtonProps = Entry & {
  readonly tabIndex?: number;
  readonly onFocus?: () => void;
  /** Whether the button shows its word. */
  readonly hasWord?: boolean;
  /** Whether the button is a row of the menu, with its label. */
  readonly isRow?: boolean;
  /** Whether the button's menu is open. Undefined if the button has no menu. */
  readonly isOpen?: boolean;
};

function ToolButton({
  picture,
  label,
  word,
  rank: _,
  act,
  isOn,
  isOpen,
  count,
  lock,
  hasWord = false,
  isRow = false,
  ...rest
}: ToolButtonProps) {
  const text = isRow ? label : hasWord && word;
  // The name has the word that is shown, for those who control the page by voice.
  const isNamed = !text || label === text || label.startsWith(`${text} `);
  return (
    <Button
      look={text ? "tool roofwidget-worded" : "tool"}
      data-tool={picture}
      title={lock ?? label}
      aria-label={isNamed ? label : `${text}: ${label}`}
      aria-pressed={isOn}
      aria-haspopup={isOpen === undefined ? undefined : "dialog"}
      aria-expanded={isOpen}
      // The attribute is `aria-disabled`, because a button with the attribute `disabled` would lose the focus.
      aria-disabled={act === undefined}
      // Some browsers do not focus a clicked button. Without preventDefault, the menu would lose the focus and close.
      onMouseDown={(event) => isOpen && event.preventDefault()}
      onClick={act}
      {...rest}
    >
      {count ? <b>{count}</b> : <Icon picture={picture} />}
      {text}
    </Button>
  );
}

/** Describes the visible part of the plane for screen readers. */
function spoken({ scales, units }: Scene, outside: string, wasZoomed: boolean): string {
  if (!scales.whole) return wasZoomed ? words.whole : "";
  const ends = ([low, high]: readonly [number, number], text: (value: number) => string) =>
    [text(low), text(high)] as const;
  const [x, y] = "outer" in scales ? [units.time, units.time] : [units.intensity, units.rate];
  return words.shows(ends(scales.x.domain, x), ends(scales.y.domain, y), outside);
}
