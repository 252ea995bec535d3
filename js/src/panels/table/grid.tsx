// biome-ignore-all lint/a11y/useSemanticElements: rows are placed by scrolling, which those of a table cannot be
// The grid of a table: rows, or cards on a narrow widget. Only visible rows are drawn.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { textWidth } from "../../chart/labels/text_fitting.ts";
import { clamp } from "../../chart/scales.ts";
import type { Store } from "../../state/store.ts";
import { shortNameOf } from "../../text/kernel_names.ts";
import { Sign } from "../../ui/button.tsx";
import { keyShortcuts, LIST_KEYS, lookUp, OWN_KEYS, used } from "../../ui/keys.ts";
import { useUid } from "../../ui/uid.ts";
import type { Kernels } from "../../wire/columns.ts";
import { tableWords as words } from "../../words/words.ts";
import { type Column, cellText, cellTitle, isAlarming, spokenCell } from "./columns.ts";
import { pick } from "./picking.ts";
import { type Sorting, sortedNext } from "./sorting.ts";

/** The keys of the table, in addition to the keys of every list. */
export const TABLE_KEYS = {
  Enter: "select",
  " ": "selectMore",
  Escape: "clear",
  "Control+A": "selectAll",
  "Control+C": "copy",
} as const;
const SHORTCUTS = keyShortcuts(LIST_KEYS, TABLE_KEYS);

interface GridProps {
  readonly store: Store;
  readonly columns: readonly Column[];
  readonly order: Int32Array;
  readonly sorting: Sorting | undefined;
  readonly layout: Layout;
  /** The captions between the rows, in the order of `layout.captions`. */
  readonly captions?: readonly ComponentChildren[];
  /** Draws the card of a row. Without this function, the rows have a cell for each column. */
  card?(row: number): ComponentChildren;
  /** Returns the card of a row as screen readers speak it. */
  spoken?(row: number): string;
  /** Copies the rows at Ctrl+C. */
  copy(): void;
}

export function Grid({ store, columns, order, sorting, layout, captions = [], card, spoken, copy }: GridProps) {
  const id = useUid();
  const list = useRef<HTMLDivElement>(null);
  const scrolled = useSignal(0);
  /** The row that keys act on. */
  const active = useSignal<number | null>(null);
  /** The row where the next range selection starts. */
  const anchor = useSignal<number | null>(null);
  const places = placesInSight(scrolled.value, layout, order.length);
  const kernels = store.rows.kernels.value;
  const selected = store.rows.selected.value;
  const chosen = new Set(selected);
  const hovered = store.rows.hovered.value;
  const place = active.value === null ? -1 : order.indexOf(active.value);

  function show(at: number) {
    const box = list.current;
    if (box && at >= 0) box.scrollTop = scrollFor(at, box.scrollTop, layout, box.clientHeight - (card ? 0 : HEADS_PX));
  }
  // Scrolls to a row that was selected outside the table. A row that was selected in the table is already visible.
  const ours = useRef(selected);
  useEffect(() => {
    if (ours.current !== selected && selected[0] !== undefined) show(order.indexOf(selected[0]));
    ours.current = selected;
  }, [selected]);

  function choose(row: number, add: boolean, range: boolean) {
    const next = pick({ selected, anchor: anchor.value }, order, row, { add, range });
    anchor.value = next.anchor;
    active.value = row;
    ours.current = next.selected;
    store.rows.select(next.selected);
    ours.current = store.rows.selected.value;
  }
  function walk(key: string, range: boolean): boolean {
    const at = place < 0 ? null : place;
    const to = order.length > 0 ? lookUp(LIST_KEYS, key)?.(at, order.length, layout.inSight) : undefined;
    const row = to === undefined || to === null ? undefined : order[to];
    if (row === undefined) return false;
    if (range) choose(row, false, true);
    active.value = row;
    store.rows.hover(row);
    show(to as number);
    return true;
  }
  function chooseActive(add: boolean, range: boolean): boolean {
    const row = place < 0 ? null : active.value;
    if (row !== null) choose(row, add, range);
    return row !== null;
  }
  /** The handlers of TABLE_KEYS. Each handler returns whether it did anything. */
  const acts = {
    select: (range: boolean) => chooseActive(false, range),
    selectMore: (range: boolean) => chooseActive(true, range),
    selectAll() {
      store.rows.select([...order]);
      return true;
    },
    copy() {
      // If the user has marked text, the browser copies the marked text instead of the rows.
      const isMarked = list.current?.ownerDocument.getSelection()?.isCollapsed === false;
      if (!isMarked) copy();
      return !isMarked;
    },
    clear() {
      if (selected.length === 0 && active.value === null) return false;
      active.value = anchor.value = null;
      store.rows.hover(null);
      store.rows.select([]);
      return true;
    },
  };
  function act({ key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean {
    const isControl = ctrlKey || metaKey;
    if (altKey || (isControl && shiftKey)) return false;
    const name = lookUp(TABLE_KEYS, isControl ? `Control+${key.toUpperCase()}` : key);
    return name ? acts[name](shiftKey) : !isControl && walk(key, shiftKey);
  }

  function captionAt(place: number) {
    const at = layout.captions.indexOf(place);
    if (at < 0) return null;
    return (
      <Caption key={`before ${place}`} {...{ layout, at }}>
        {captions[at]}
      </Caption>
    );
  }
  const shared = { kernels, columns, layout };
  return (
    <div
      ref={list}
      class={card ? "rw-grid rw-cards" : "rw-grid"}
      role="grid"
      tabIndex={0}
      {...OWN_KEYS}
      aria-label={words.grid(order.length)}
      aria-keyshortcuts={SHORTCUTS}
      aria-multiselectable="true"
      aria-rowcount={order.length + captions.length + (card ? 0 : 1)}
      aria-colcount={card ? 1 : columns.length}
      aria-activedescendant={places.includes(place) ? `${id}-${active.value}` : undefined}
      style={{ "--rw-columns": layout.template }}
      onScroll={({ currentTarget }) => {
        scrolled.value = currentTarget.scrollTop;
      }}
      onPointerLeave={() => store.rows.hover(null)}
      onFocusOut={() => store.rows.hover(null)}
      onKeyDown={(event) => {
        // Ignore key events from the buttons in the headings, because these buttons use the same keys as the table.
        if (event.target === event.currentTarget && act(event)) used(event);
      }}
    >
      {!card && (
        <Heads {...shared} sorting={sorting} sort={store.view.setSortBy} lock={store.lesson.lockNote("filters")} />
      )}
      <div
        class="rw-rows"
        role="rowgroup"
        style={{ height: `${topOf(order.length, layout)}px`, minWidth: `${layout.width}px` }}
      >
        {/* Keyed by place: in another order the same elements get other texts. */}
        {places.flatMap((at) => {
          const row = order[at] as number;
          return [
            captionAt(at),
            <Row
              key={at}
              {...shared}
              row={row}
              place={at}
              index={at + (card ? 1 : 2) + captionsBefore(at, layout)}
              id={`${id}-${row}`}
              isSelected={chosen.has(row)}
              isPointed={row === hovered}
              isActive={row === active.value}
              hover={() => store.rows.hover(row)}
              choose={(event) => choose(row, event.ctrlKey || event.metaKey, event.shiftKey)}
            >
              {card ? (
                <Whole label={spoken?.(row)}>{card(row)}</Whole>
              ) : (
                columns.map((column) => <Cell key={column.key} {...{ column, row, kernels }} />)
              )}
            </Row>,
          ];
        })}
        {captionAt(order.length)}
        {order.length === 0 && <p class="rw-muted">{words.none}</p>}
      </div>
    </div>
  );
}

interface Shared {
  readonly kernels: Kernels;
  readonly columns: readonly Column[];
  readonly layout: Layout;
}

/** The only cell of a line. Screen readers speak its label, if it has one. */
const Whole = ({ label, children }: { label?: string | undefined; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus and takes the keys
  <div role="gridcell" aria-label={label}>
    {children}
  </div>
);

/** A line between rows, such as the name of a group of rows. */
function Caption({ layout, at, children }: { layout: Layout; at: number; children: ComponentChildren }) {
  const place = layout.captions[at] as number;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its button has the focus
    <div
      class="rw-caption-line"
      role="row"
      aria-rowindex={2 + place + at}
      style={{ top: `${topOf(place, layout) - CAPTION_PX}px`, height: `${CAPTION_PX}px` }}
    >
      <Whole>{children}</Whole>
    </div>
  );
}

interface RowProps extends Shared {
  readonly row: number;
  /** The position of the row among all rows of the table. */
  readonly place: number;
  /** The position of the row among all lines of the table, from 1. */
  readonly index: number;
  readonly id: string;
  readonly isSelected: boolean;
  readonly isPointed: boolean;
  readonly isActive: boolean;
  readonly children: ComponentChildren;
  hover(): void;
  choose(event: MouseEvent): void;
}

function Row(props: RowProps) {
  const { row, place, layout, index, id, isSelected, isPointed, isActive } = props;
  const signs = [isSelected && "chosen", isPointed && "pointed", isActive && "active"].filter(Boolean);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the focus and takes the keys
    // biome-ignore lint/a11y/useFocusableInteractive: a row out of sight would take the focus with it
    <div
      id={id}
      class={["line", ...signs].map((sign) => `rw-${sign}`).join(" ")}
      role="row"
      aria-rowindex={index}
      aria-selected={isSelected}
      data-row={row}
      data-rw="row"
      style={{ top: `${topOf(place, layout)}px`, height: `${layout.height}px` }}
      // Not when the pointer enters: in another order another row is below a pointer that has not moved.
      onPointerMove={props.hover}
      onMouseDown={(event) => {
        // With Shift, a click selects a range of rows and must not select text.
        if (!event.shiftKey) return;
        event.preventDefault();
        event.currentTarget.closest<HTMLElement>("[role=grid]")?.focus();
      }}
      onClick={props.choose}
    >
      {props.children}
    </div>
  );
}

interface CellProps {
  readonly column: Column;
  readonly row: number;
  readonly kernels: Kernels;
}

export function Cell({ column, row, kernels }: CellProps) {
  const alarming = isAlarming(column, row);
  // A column without a heading has a picture in place of a value.
  const notes = column.title ? [alarming ? words.aboveRoof : "", cellTitle(column, row, kernels)] : [];
  const title = notes.filter(Boolean).join("\n");
  const text = cellText(column, row);
  return (
    <div
      class={classOf(column)}
      role={column.key === "name" ? "rowheader" : "gridcell"}
      data-column={column.key}
      title={title || undefined}
      {...labelOf(column, row, kernels)}
    >
      {column.draw?.(row) ?? (
        <span class={alarming ? "rw-fault" : undefined}>
          {text}
          {alarming && <Sign>{" ▲"}</Sign>}
        </span>
      )}
    </div>
  );
}

/** What screen readers speak in place of a name that is drawn in two parts, and of a dash. */
function labelOf(column: Column, row: number, kernels: Kernels) {
  if (column.key === "name" && column.draw) return { "aria-label": shortNameOf(kernels, row) };
  const spoken = column.title ? spokenCell(column, row) : "";
  return spoken === "" || spoken === cellText(column, row) ? {} : { "aria-label": spoken };
}

/** The role of a heading. A column without a name, such as that of the bars, has an empty cell in its place. */
const headOf = ({ title, meaning, isFixed }: Column, sort: "none" | "ascending" | "descending") =>
  title || meaning
    ? ({ role: "columnheader", "aria-sort": isFixed ? undefined : sort } as const)
    : ({ role: "gridcell" } as const);

const classOf = ({ key, kind }: Column) =>
  `rw-cell rw-${key === "name" ? "first" : kind === "text" ? "text" : "number"}`;

interface HeadsProps extends Shared {
  readonly sorting: Sorting | undefined;
  /** Says why the table cannot be sorted. */
  readonly lock?: string | undefined;
  sort(sortBy: string): void;
}

export function Heads({ columns, layout, sorting, lock, sort }: HeadsProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its buttons have the focus
    <div class="rw-heads" role="row" aria-rowindex={1} style={{ minWidth: `${layout.width}px` }}>
      {columns.map((column) => {
        const isSorted = sorting?.column.key === column.key;
        const way = sorting?.falling ? "descending" : "ascending";
        return (
          <div key={column.key} class={classOf(column)} {...headOf(column, isSorted ? way : "none")}>
            {column.isFixed ? (
              column.title || <span class="rw-spoken">{column.meaning}</span>
            ) : (
              <button
                type="button"
                {...OWN_KEYS}
                title={`${column.meaning}. ${lock ?? words.sort(column.title)}`}
                aria-disabled={lock !== undefined}
                onClick={() => sort(sortedNext(sorting, column))}
              >
                <span class="rw-headtext">{column.title}</span>
                {isSorted && <span aria-hidden="true">{sorting?.falling ? "▾" : "▴"}</span>}
              </button>
            )}
          </div>
        );
      })}
    </div>
  );
}

export interface Layout {
  /** Height of a row, px. */
  readonly height: number;
  /** The maximum number of visible rows. */
  readonly inSight: number;
  /** The widths of the columns as a CSS template. Empty for cards. */
  readonly template: string;
  /** The grid scrolls horizontally if it is narrower than this, in px. */
  readonly width: number;
  /** The rows that have a caption before them, by their positions. */
  readonly captions: readonly number[];
}

const [ROW_PX, CARD_PX, CAPTION_PX, HEADS_PX] = [28, 48, 26, 26];
const [NAME_PX, TEXT_PX, NUMBER_PX, RATE_PX] = [240, 128, 88, 108];
/** The font size of a heading, and the space around the heading and its arrow, px. */
const [HEAD_FONT_PX, PADDING_PX] = [13, 34];

/** Returns the layout of a grid that is `height` px high. The heading of the `sorted` column is never cut. */
export function gridLayout(columns: readonly Column[], height: number, sorted?: string): Layout {
  const widths = columns.map((column) => column.width ?? widthOf(column, column.key === sorted));
  const template = columns.map(({ key }, at) => (key === "name" ? `minmax(${widths[at]}px, 1fr)` : `${widths[at]}px`));
  return {
    height: ROW_PX,
    inSight: Math.ceil(height / ROW_PX),
    template: template.join(" "),
    width: widths.reduce((sum, one) => sum + one, 0),
    captions: [],
  };
}

/** Returns the layout of cards. */
export const cardLayout = (height: number): Layout => ({
  ...{ height: CARD_PX, inSight: Math.ceil(height / CARD_PX), template: "", width: 0, captions: [] },
});

function widthOf({ key, kind, title }: Column, isSorted: boolean): number {
  const head = Math.ceil(textWidth(title, true, HEAD_FONT_PX)) + PADDING_PX;
  const wanted = isSorted ? head : Math.min(head, NAME_PX);
  const cells = key === "name" ? NAME_PX : kind === "text" ? TEXT_PX : kind.startsWith("FLOP/") ? RATE_PX : NUMBER_PX;
  return Math.max(cells, wanted);
}

const captionsBefore = (place: number, { captions }: Layout) => captions.filter((at) => at <= place).length;

/** Returns the distance of a row from the first line, px. */
export const topOf = (place: number, layout: Layout) =>
  place * layout.height + captionsBefore(place, layout) * CAPTION_PX;

/** Returns the rows to draw: the visible rows and one additional row at each end. */
export function placesInSight(scrolled: number, { height, inSight, captions }: Layout, count: number): number[] {
  const extra = captions.length;
  const first = clamp(Math.floor(scrolled / height) - 1 - extra, 0, count - inSight - 2 - extra);
  return Array.from({ length: Math.min(inSight + 3 + extra, count - first) }, (_, at) => first + at);
}

/** Returns the scroll position that makes a row visible in a view that is `view` px high. */
export function scrollFor(place: number, scrolled: number, layout: Layout, view: number): number {
  const top = place === 0 ? 0 : topOf(place, layout);
  return Math.max(topOf(place, layout) + layout.height - view, Math.min(top, scrolled));
}
