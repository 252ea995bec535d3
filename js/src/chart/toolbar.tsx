// The toolbar below the chart: buttons with icons, and a menu for the buttons that do not fit.

import { type ReadonlySignal, type Signal, useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Store } from "../state/store.ts";
import { Button } from "../ui/button.tsx";
import { toggleFullscreen } from "../ui/full_screen.ts";
import { isModified, used } from "../ui/keys.ts";
import { numerals, words as panelWords, rulerWords, snapshotWords, toolWords as words } from "../words/words.ts";
import { AxesMenu } from "./axes_menu.tsx";
import { type Navigation, STEP, type Tool } from "./gestures/navigate.ts";
import { Icon, type IconName } from "./icons.tsx";
import { textWidth } from "./labels/text_fitting.ts";
import { pictureOf } from "./picture.tsx";
import { savePicture } from "./save_picture.ts";
import type { Scene } from "./scene.ts";

interface ToolbarProps {
  readonly store: Store;
  readonly scene: Scene;
  /** The number of kernels out of sight. */
  readonly outside: number;
  /** The chip of the hovered mark. */
  readonly pointedChip: ReadonlySignal<string | undefined>;
  readonly navigation: Navigation;
  /** Handles a key that the toolbar does not use. The key does the same as on the chart. */
  keys(event: KeyboardEvent): void;
  /** Available width, px. */
  readonly room: number;
}

interface Entry {
  readonly picture: IconName;
  readonly label: string;
  /** What a click does. Undefined if the button has nothing to do. */
  readonly act: ((event: MouseEvent) => unknown) | undefined;
  /** Whether a toggle is on. Undefined for other buttons. */
  readonly isOn?: boolean;
  /** A text that is shown instead of the icon. */
  readonly count?: string;
}

/**
 * BUTTON_PX: the width of a button. HINT_PADDING_PX: the padding of the hint with the number of kernels out of sight.
 */
const [BUTTON_PX, HINT_PADDING_PX] = [24, 8];
/**
 * If fewer buttons than this fit beside the hint, the hint is not shown. Instead, the fit button shows the number of
 * kernels out of sight in place of its icon.
 */
const MIN_BUTTONS_BESIDE_HINT = 10;

export function Toolbar(props: ToolbarProps) {
  const { store, scene, outside, navigation, keys, room } = props;
  const hasRoof = useComputed(() => store.focusRoof.value !== undefined);
  const isOpen = useSignal(false);
  const failure = useSignal("");
  const current = useSignal<string>("in");
  const opener = useRef<HTMLButtonElement>(null);
  // The hint always has the width that its largest number needs. Therefore no button moves when the hint appears.
  const most = numerals.whole(Math.max(store.kernels.value.n, 999));
  const left = room - textWidth(words.outsideShort(most)) - 2 * HINT_PADDING_PX;
  const isApart = left >= MIN_BUTTONS_BESIDE_HINT * BUTTON_PX;
  const hasHint = outside > 0 && isApart;
  const out = outside > 0 ? words.outside(numerals.whole(outside), outside === 1) : "";
  const fitLabel = `${out}: ${words.fit}`;
  const buttons = buttonsOf(props, hasRoof.value, failure).map((button) =>
    button.picture === "fit" && outside > 0 && !isApart
      ? { ...button, label: fitLabel, count: outside > 99 ? "99+" : numerals.whole(outside) }
      : button,
  );
  // The button that opens the menu also needs room.
  const fit = Math.max(2, Math.floor((isApart ? left : room) / BUTTON_PX) - 1);
  const [shown, rest] = [buttons.slice(0, fit), buttons.slice(fit)];
  const stops = [...shown.map(({ picture }) => picture), "more", ...(hasHint ? ["outside"] : [])];
  const tabStop = stops.includes(current.value) ? current.value : "in";
  // Before the first zoom nothing is announced. When the chart shows the whole view again after a zoom, this is
  // announced.
  const wasZoomed = useRef(false);
  wasZoomed.current ||= scene.scales.whole !== undefined;

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
    opener.current?.focus();
  }
  function close(isDone: boolean) {
    isOpen.value = false;
    if (isDone) opener.current?.focus();
  }
  const own = (picture: string) => ({
    tabIndex: picture === tabStop ? 0 : -1,
    onFocus: () => {
      current.value = picture;
    },
  });
  return (
    <>
      <div class="roofwidget-toolbar" role="toolbar" aria-label={words.bar} onKeyDown={onKeyDown}>
        {shown.map((button) => (
          <ToolButton key={button.picture} {...button} {...own(button.picture)} />
        ))}
        <button
          ref={opener}
          type="button"
          class="roofwidget-tool"
          data-lm-suppress-shortcuts="true"
          data-tool="more"
          title={words.more}
          aria-label={words.more}
          aria-haspopup="dialog"
          aria-expanded={isOpen.value}
          {...own("more")}
          // Some browsers do not focus a clicked button. Without preventDefault, the menu would lose the focus and
          // close.
          onMouseDown={(event) => isOpen.value && event.preventDefault()}
          onClick={() => {
            if (isOpen.value) close(true);
            else isOpen.value = true;
          }}
        >
          <Icon picture="more" />
        </button>
        {hasHint && (
          <Button
            look="tool roofwidget-hint"
            title={words.fit}
            aria-label={fitLabel}
            {...own("outside")}
            onClick={() => {
              navigation.fit();
              // The hint disappears when the user clicks it. Move the focus to another button of the toolbar.
              opener.current?.focus();
            }}
          >
            {words.outsideShort(numerals.whole(outside))}
          </Button>
        )}
      </div>
      {isOpen.value && (
        <AxesMenu store={store} scene={scene} opener={opener} close={close}>
          {rest.map((button) => (
            <ToolButton key={button.picture} {...button} />
          ))}
        </AxesMenu>
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

/**
 * Returns the buttons, most important first. If the toolbar has no room for all buttons, the last buttons are in the
 * menu.
 */
function buttonsOf(
  { store, scene, navigation, pointedChip }: ToolbarProps,
  hasRoof: boolean,
  failure: Signal<string>,
): Entry[] {
  const { tool, by, fit } = navigation;
  const choice = (picture: Tool): Entry => ({
    picture,
    label: words[picture],
    isOn: tool.value === picture,
    act: () => {
      tool.value = picture;
    },
  });
  const saving = (kind: "png" | "svg"): Entry => ({
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
  return [
    { picture: "in", label: words.zoomIn, act: () => by(STEP) },
    { picture: "out", label: words.zoomOut, act: () => by(1 / STEP) },
    { picture: "fit", label: words.fit, act: store.zoom.value ? fit : undefined },
    ...(["select", "zoom", "pan"] as const).map(choice),
    { picture: "undo", label: words.undo, act: store.canUndo.value ? store.undo : undefined },
    { picture: "redo", label: words.redo, act: store.canRedo.value ? store.redo : undefined },
    { picture: "freeze", label: snapshotWords.freeze, act: hasRoof ? () => store.freeze() : undefined },
    saving("png"),
    saving("svg"),
    {
      picture: "rulers",
      label: rulerWords.rulers,
      isOn: store.rulers.value,
      act: () => store.setRulers(!store.rulers.value),
    },
    {
      picture: "screen",
      label: words.screen,
      act: ({ currentTarget }) => toggleFullscreen(currentTarget as Element),
    },
    {
      picture: "presentation",
      label: words.presentation,
      isOn: store.presentation.value,
      act: () => store.setPresentation(!store.presentation.value),
    },
  ];
}

type ToolButtonProps = Entry & { readonly tabIndex?: number; readonly onFocus?: () => void };

function ToolButton({ picture, label, act, isOn, count, ...rest }: ToolButtonProps) {
  return (
    <Button
      look="tool"
      data-tool={picture}
      title={label}
      aria-label={label}
      aria-pressed={isOn}
      // The attribute is `aria-disabled`, because a button with the attribute `disabled` would lose the focus.
      aria-disabled={act === undefined}
      onClick={act}
      {...rest}
    >
      {count ? <b>{count}</b> : <Icon picture={picture} />}
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
