// The toolbar: what is shown, how it is judged, and what can be done.

import { useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { AxesMenu } from "../../chart/axes_menu.tsx";
import { textWidth } from "../../chart/labels/text_fitting.ts";
import { MarksLegend } from "../../chart/marks_legend.tsx";
import type { Scene } from "../../chart/scene.ts";
import type { Theme } from "../../chart/theme.ts";
import type { ToolMenu, Tools } from "../../chart/tools.ts";
import type { Store } from "../../state/store.ts";
import { Button, lockedBy, Sign } from "../../ui/button.tsx";
import { isModified, used } from "../../ui/keys.ts";
import { Menu, type MenuGroup, Opener } from "../../ui/menu.tsx";
import { Popover } from "../../ui/popover.tsx";
import { axisWords, marksWords, openWords, saveWords, toolWords, words } from "../../words/words.ts";
import { Palette } from "../chips/palette.tsx";
import { Pills, usePills } from "../chips/pills.tsx";
import { isEmpty } from "../empty.tsx";
import { Choose, OpeningSteps } from "../opening.tsx";
import { actionGroups, chartGroups, hasZoom, judgingOf, moreGroup, planesGroup } from "./menus.ts";
import { Saving } from "./saving.tsx";

interface ToolbarProps {
  readonly store: Store;
  readonly theme: Theme;
  readonly tools: Tools;
  /** The width of the view, px. */
  readonly width: number;
  /** The maximum height of what the toolbar opens, px. */
  readonly room: number;
  readonly narrow: boolean;
}

/** The font size of the toolbar, px. */
const FONT_PX = 13;
/** What a menu, an action and a pill are wider than their text, and the space between two pills, px. */
const [MENU_PX, WORD_PX, PILL_PX, GAP_PX] = [32, 20, 46, 8];
/** The width of the buttons with a sign, and of the lines between the parts, px. */
const SIGNS_PX = 150;
/** From this many chips on, the pills have a row of their own. */
const MANY_PILLS = 5;
/** The pills also have a row of their own if less room than this would be left, px. */
const MIN_LEFT_PX = 16;

const widthOf = (texts: readonly string[], extra: number, isBold = false) =>
  texts.reduce((sum, text) => sum + textWidth(text, isBold, FONT_PX) + extra, 0);

export function Toolbar(props: ToolbarProps) {
  const { store, theme, tools, width, narrow } = props;
  const bar = useRef<HTMLDivElement>(null);
  const has = (panel: string) => !store.view.hiddenPanels.value.includes(panel);
  const [hasChips, hasTools] = [has("chips"), has("tools")];
  const canOpen = hasChips && store.view.openFiles.value !== "nothing";
  const pills = usePills(store, hasChips);
  const [precision, memory] = judgingOf(store);
  const plane = words.views[store.view.plane.value];
  const around =
    widthOf(hasChips ? [precision.value, memory.value, plane] : [], MENU_PX) +
    widthOf(canOpen ? [openWords.open] : [], MENU_PX) +
    widthOf(hasTools ? [`↶ ${toolWords.undo}`, `${saveWords.save}▾`, toolWords.present] : [], WORD_PX) +
    SIGNS_PX;
  const names = pills.map(({ name }) => name);
  const objects = widthOf([`+ ${words.addChip}`], WORD_PX) + widthOf(names, PILL_PX + GAP_PX, true);
  const isCompact = narrow || around > width;
  const isApart = !isCompact && hasChips && (pills.length >= MANY_PILLS || objects + around + MIN_LEFT_PX > width);
  const own = useStop(bar);
  const opening = useOpening(own, tools, contentsOf(props, { hasChips, hasTools, canOpen, isCompact }));
  const lock = store.lesson.lockNote("chips");

  const both = `${precision.value} · ${memory.value}`;
  const judging = isCompact
    ? hasChips &&
      opening("judging", `${precision.value}, ${memory.value}: ${precision.label}, ${memory.label}, ${words.view}`, {
        word: both,
      })
    : [
        hasChips &&
          [precision, memory].map(({ name, label, value, inFull, lock: reason }) =>
            opening(name, `${label}: ${inFull}`, { word: value, lock: reason }),
          ),
        opening("view", `${words.view}: ${plane}`, { word: plane, others: ["axes"] }),
      ];
  const isLarge = store.view.presentation.value;
  const present = hasTools && (isLarge || !isCompact) && (
    <Button
      {...own("present")}
      look="action"
      aria-pressed={isLarge}
      title={toolWords.present}
      onClick={() => store.view.setPresentation(!isLarge)}
    >
      {toolWords.present}
    </Button>
  );
  return (
    <div
      ref={bar}
      class={`rw-bar${isApart ? " rw-apart" : ""}${isCompact ? " rw-compact" : ""}`}
      data-rw="toolbar"
      role="toolbar"
      aria-label={toolWords.bar}
      onKeyDown={(event) => walk(event, bar.current, tools)}
    >
      {hasChips && (
        <div class="rw-objects">
          {opening("chips", words.addAChip, {
            ...{ sign: isCompact ? "+" : `+ ${words.addChip}`, title: words.addChipKey },
            ...{ opens: "dialog", look: "button", lock },
          })}
          <Pills store={store} theme={theme} pills={pills} own={own} />
        </div>
      )}
      {!isEmpty(store) && <div class="rw-judging">{judging}</div>}
      <div class="rw-actions">
        {hasTools && !isCompact && <Steps store={store} own={own} />}
        {canOpen &&
          !isCompact &&
          opening("open", openWords.open, { word: openWords.open, title: openWords.title, opens: "dialog" })}
        {hasTools &&
          !isCompact &&
          opening("save", saveWords.save, { word: saveWords.save, title: saveWords.title, opens: "dialog" })}
        {present}
        {hasTools &&
          !isCompact &&
          hasZoom(store) &&
          opening("marks", marksWords.title, { sign: "?", title: marksWords.open, opens: "dialog" })}
        {(hasTools || (isCompact && canOpen)) &&
          opening("more", toolWords.more, {
            ...{ sign: "⋯", others: isCompact ? ["open", "save", "axes", "marks", "keys"] : ["keys"] },
          })}
      </div>
      <OpeningSteps store={store} />
    </div>
  );
}

/** Undo and redo. */
function Steps({ store, own }: { readonly store: Store; readonly own: Own }) {
  const {
    history: { canUndo, canRedo, undo, redo },
  } = store;
  return (
    <>
      <Button
        {...own("undo")}
        look="action"
        title={toolWords.undoKeys}
        aria-disabled={!canUndo.value}
        onClick={canUndo.value ? undo : undefined}
      >
        <Sign>{"↶ "}</Sign>
        {toolWords.undo}
      </Button>
      <Button
        {...own("redo")}
        look="action"
        title={toolWords.redoKeys}
        aria-label={toolWords.redo}
        aria-disabled={!canRedo.value}
        onClick={canRedo.value ? redo : undefined}
      >
        {"↷"}
      </Button>
    </>
  );
}

interface Has {
  readonly hasChips: boolean;
  readonly hasTools: boolean;
  readonly canOpen: boolean;
  /** Whether most actions are in the menu of the last button. */
  readonly isCompact: boolean;
}

/** What the opened menu or dialog needs. */
interface Opened {
  readonly opener: RefObject<HTMLElement | null>;
  close(isDone: boolean): void;
}

type Contents = Readonly<Record<ToolMenu, (opened: Opened) => ComponentChildren>>;

function contentsOf({ store, tools, room }: ToolbarProps, { hasChips, hasTools, canOpen, isCompact }: Has): Contents {
  const menu = (label: string, groups: () => readonly MenuGroup[]) => (opened: Opened) => (
    <Menu label={label} groups={groups()} room={room} close={opened.close} />
  );
  const popover = (label: string, content: (opened: Opened) => ComponentChildren) => (opened: Opened) => (
    <Popover label={label} room={room} {...opened}>
      {content(opened)}
    </Popover>
  );
  const drawn = (content: (scene: Scene) => ComponentChildren) => () =>
    tools.plane.value?.scene && content(tools.plane.value.scene);
  const [precision, memory] = judgingOf(store);
  return {
    chips: (opened) => <Palette store={store} room={room} {...opened} />,
    ...{ precision: menu(precision.label, () => [precision.group]), memory: menu(memory.label, () => [memory.group]) },
    ...{ link: menu(precision.label, () => [precision.group]), topology: menu(memory.label, () => [memory.group]) },
    judging: menu(words.view, () => [precision.group, memory.group, planesGroup(store)]),
    view: menu(words.view, () => [
      // Without them there is no way back from a plane that has no other items.
      ...(hasChips || !hasZoom(store) ? [planesGroup(store)] : []),
      ...(hasTools ? chartGroups(store, tools) : []),
    ]),
    axes: popover(
      axisWords.menu,
      drawn((scene) => <AxesMenu store={store} scene={scene} />),
    ),
    open: popover(openWords.title, ({ close }) => <Choose store={store} close={() => close(true)} />),
    save: popover(saveWords.title, () => <Saving store={store} tools={tools} />),
    marks: popover(
      marksWords.title,
      drawn((scene) => <MarksLegend store={store} scene={scene} />),
    ),
    keys: popover(toolWords.keys, () => <Keys />),
    more: menu(toolWords.more, () => [
      ...(isCompact ? [...actionGroups(store, tools, { canOpen, hasTools })] : []),
      ...(isCompact && hasTools ? chartGroups(store, tools) : []),
      ...(hasTools ? [moreGroup(store, tools)] : []),
    ]),
  };
}

interface OpeningProps {
  /** What the button shows: a word with the sign of a menu, or a sign alone. */
  readonly word?: ComponentChildren;
  readonly sign?: string;
  /** The tooltip of a button whose name is its word. */
  readonly title?: string;
  readonly opens?: "menu" | "dialog";
  /** Further menus and dialogs that open at this button. */
  readonly others?: readonly ToolMenu[];
  readonly lock?: string | undefined;
  readonly look?: string;
}

/** Returns a function that makes a button with what it opens. */
function useOpening(own: Own, { open }: Tools, contents: Contents) {
  const opener = useRef<HTMLElement | null>(null);
  function close(isDone: boolean) {
    open.value = undefined;
    if (isDone) opener.current?.focus({ preventScroll: true });
  }
  return (name: ToolMenu, label: string, { word, sign, title, opens, others = [], lock, look }: OpeningProps) => {
    const isOpen = open.value === name;
    const shown = isOpen || others.some((other) => other === open.value) ? open.value : undefined;
    return (
      <span
        key={name}
        class="rw-opener"
        ref={(span) => {
          if (shown) opener.current = span?.querySelector("button") ?? null;
        }}
      >
        <Opener
          {...own(name)}
          data-rw={name === "chips" ? "add-chip" : undefined}
          look={look ?? "action"}
          isOpen={isOpen}
          opens={opens ?? "menu"}
          aria-label={sign || title === undefined ? label : undefined}
          {...lockedBy(lock, title ?? label)}
          onClick={() => {
            if (lock === undefined) open.value = isOpen ? undefined : name;
          }}
        >
          {sign ?? word}
          {sign === undefined && look === undefined && (
            <span class="rw-sign" aria-hidden="true">
              {"▾"}
            </span>
          )}
        </Opener>
        {shown && contents[shown]({ opener, close })}
      </span>
    );
  };
}

/** Returns the attributes of a button, of which the Tab key reaches one. The arrow keys go on to the others. */
type Own = (name: string) => { readonly "data-tool": string; readonly tabIndex: number; onFocus(): void };

function useStop(bar: RefObject<HTMLElement | null>): Own {
  const current = useSignal("");
  const first = useSignal("");
  useLayoutEffect(() => {
    const stops = stopsOf(bar.current).map(({ dataset }) => dataset["tool"] as string);
    first.value = stops.includes(current.value) ? current.value : (stops[0] ?? "");
  });
  return (name) => ({
    "data-tool": name,
    tabIndex: name === first.value ? 0 : -1,
    onFocus: () => {
      current.value = name;
    },
  });
}

const stopsOf = (bar: HTMLElement | null) => [
  ...(bar?.querySelectorAll<HTMLElement>("button[data-tool]:not([role^=menuitem])") ?? []),
];

/** Moves the focus for an arrow key, Home or End. The other keys of the chart also work in the toolbar. */
function walk(event: KeyboardEvent, bar: HTMLElement | null, { plane }: Tools) {
  const all = stopsOf(bar);
  const now = all.indexOf(event.target as HTMLElement);
  if (now < 0 || !bar || isModified(event)) return;
  if (event.key === "ArrowDown" && all[now]?.matches("[aria-haspopup]")) {
    all[now].click();
    return used(event);
  }
  const onward = getComputedStyle(bar).direction === "rtl" ? -1 : 1;
  const to = { ArrowRight: now + onward, ArrowLeft: now - onward, Home: 0, End: all.length - 1 }[event.key];
  if (to === undefined) return /^[^ ]$/.test(event.key) ? plane.value?.keys(event) : undefined;
  all[(to + all.length) % all.length]?.focus();
  used(event);
}

const Keys = () => (
  <dl class="rw-keys">
    {toolWords.keyList.map(([keys, meaning]) => (
      <div key={keys}>
        <dt>
          <kbd>{keys}</kbd>
        </dt>
        <dd>{meaning}</dd>
      </div>
    ))}
  </dl>
);
