// biome-ignore-all lint/a11y/useSemanticElements: rows are placed by scrolling, which those of a table cannot be
// The grid of the table: rows on a wide widget, cards on a narrow one. Only visible rows are drawn.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { textWidth } from "../../chart/labels/text_fitting.ts";
import type { Store } from "../../state/store.ts";
import { keyShortcuts, LIST_KEYS, lookUp, used } from "../../ui/keys.ts";
import { useUid } from "../../ui/uid.ts";
import type { Kernels } from "../../wire/columns.ts";
import { tableWords as words } from "../../words/words.ts";
import { type Column, cellText, cellTitle, isAlarming } from "./columns.ts";
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
  readonly narrow: boolean;
  copy(): void;
}

export function Grid({ store, columns, order, sorting, narrow, copy }: GridProps) {
  const id = useUid();
  const list = useRef<HTMLDivElement>(null);
  const scrolled = useSignal(0);
  /** The row that keys act on. */
  const active = useSignal<number | null>(null);
  /** The row where the next range selection starts. */
  const anchor = useSignal<number | null>(null);
  const layout = narrow ? cardLayout(columns) : gridLayout(columns, sorting?.column.key);
  const places = placesInSight(scrolled.value, layout, order.length);
  const kernels = store.kernels.value;
  const selected = store.selected.value;
  const chosen = new Set(selected);
  const hovered = store.hovered.value;
  const place = active.value === null ? -1 : order.indexOf(active.value);

  function show(at: number) {
    const box = list.current;
    if (box && at >= 0) box.scrollTop = scrollFor(at, box.scrollTop, layout);
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
    store.select(next.selected);
    ours.current = store.selected.value;
  }
  function walk(key: string, range: boolean): boolean {
    const at = place < 0 ? null : place;
    const to = order.length > 0 ? lookUp(LIST_KEYS, key)?.(at, order.length, layout.inSight) : undefined;
    const row = to === undefined || to === null ? undefined : order[to];
    if (row === undefined) return false;
    if (range) choose(row, false, true);
    active.value = row;
    store.hover(row);
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
      store.select([...order]);
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
      store.hover(null);
      store.select([]);
      return true;
    },
  };
  function act({ key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean {
    const isControl = ctrlKey || metaKey;
    if (altKey || (isControl && shiftKey)) return false;
    const name = lookUp(TABLE_KEYS, isControl ? `Control+${key.toUpperCase()}` : key);
    return name ? acts[name](shiftKey) : !isControl && walk(key, shiftKey);
  }

  const shared = { kernels, columns, layout };
  return (
    <div
      ref={list}
      class={narrow ? "roofwidget-grid roofwidget-cards" : "roofwidget-grid"}
      role="grid"
      tabIndex={0}
      data-lm-suppress-shortcuts="true"
      aria-label={words.grid(order.length)}
      aria-keyshortcuts={SHORTCUTS}
      aria-multiselectable="true"
      aria-rowcount={order.length + (narrow ? 0 : 1)}
      aria-colcount={columns.length}
      aria-activedescendant={places.includes(place) ? `${id}-${active.value}` : undefined}
      style={{ "--rw-columns": layout.template, maxHeight: `${layout.inSight * layout.height + (narrow ? 2 : 30)}px` }}
      onScroll={({ currentTarget }) => {
        scrolled.value = currentTarget.scrollTop;
      }}
      onPointerLeave={() => store.hover(null)}
      onFocusOut={() => store.hover(null)}
      onKeyDown={(event) => {
        // Ignore key events from the buttons in the headings, because these buttons use the same keys as the table.
        if (event.target === event.currentTarget && act(event)) used(event);
      }}
    >
      {!narrow && <Heads {...shared} sorting={sorting} sort={store.setSortBy} lock={store.lockNote("filters")} />}
      <div
        class="roofwidget-rows"
        role="rowgroup"
        style={{ height: `${order.length * layout.height}px`, minWidth: `${layout.width}px` }}
      >
        {places.map((at) => {
          const row = order[at] as number;
          const One = narrow ? Card : Row;
          return (
            <One
              key={row}
              {...shared}
              row={row}
              place={at}
              id={`${id}-${row}`}
              isSelected={chosen.has(row)}
              isPointed={row === hovered}
              isActive={row === active.value}
              hover={() => store.hover(row)}
              choose={(event) => choose(row, event.ctrlKey || event.metaKey, event.shiftKey)}
            />
          );
        })}
        {order.length === 0 && <p class="roofwidget-muted">{words.none}</p>}
      </div>
    </div>
  );
}

interface Shared {
  readonly kernels: Kernels;
  readonly columns: readonly Column[];
  readonly layout: Layout;
}

interface RowProps extends Shared {
  readonly row: number;
  /** The position of the row among all rows of the table. */
  readonly place: number;
  readonly id: string;
  readonly isSelected: boolean;
  readonly isPointed: boolean;
  readonly isActive: boolean;
  hover(): void;
  choose(event: MouseEvent): void;
}

export function Row(props: RowProps) {
  const { columns, row, kernels, place } = props;
  return (
    <Frame {...props} index={place + 2}>
      {columns.map((column) => (
        <Cell key={column.key} {...{ column, row, kernels }} />
      ))}
    </Frame>
  );
}

/** A row drawn as a card. The name is on top. The other cells are below the name, each with its heading. */
export function Card(props: RowProps) {
  const { columns, row, kernels, place } = props;
  const name = columns.find(({ key }) => key === "name");
  return (
    <Frame {...props} index={place + 1}>
      {name && <Cell {...{ column: name, row, kernels }} />}
      {columns.map((column) => column !== name && <Cell key={column.key} {...{ column, row, kernels }} isLabelled />)}
    </Frame>
  );
}

function Frame(props: RowProps & { index: number; children: ComponentChildren }) {
  const { row, place, layout, index, id, isSelected, isPointed, isActive } = props;
  const signs = [isSelected && "chosen", isPointed && "pointed", isActive && "active"].filter(Boolean);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the focus and takes the keys
    // biome-ignore lint/a11y/useFocusableInteractive: a row out of sight would take the focus with it
    <div
      id={id}
      class={["line", ...signs].map((sign) => `roofwidget-${sign}`).join(" ")}
      role="row"
      aria-rowindex={index}
      aria-selected={isSelected}
      data-row={row}
      style={{ top: `${place * layout.height}px`, height: `${layout.height}px` }}
      onPointerEnter={props.hover}
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
  readonly isLabelled?: boolean;
}

function Cell({ column, row, kernels, isLabelled = false }: CellProps) {
  const alarming = isAlarming(column, row);
  const title = [alarming ? words.aboveRoof : "", cellTitle(column, row, kernels)].filter(Boolean).join("\n");
  const text = cellText(column, row);
  return (
    <div
      class={classOf(column)}
      role={column.key === "name" ? "rowheader" : "gridcell"}
      data-column={column.key}
      title={title || undefined}
    >
      {isLabelled && <span class="roofwidget-muted">{column.title}</span>}
      <span class={alarming ? "roofwidget-fault" : undefined}>{alarming ? `${text} ▲` : text}</span>
    </div>
  );
}

const classOf = ({ key, kind }: Column) =>
  `roofwidget-cell roofwidget-${key === "name" ? "first" : kind === "text" ? "text" : "number"}`;

interface HeadsProps extends Shared {
  readonly sorting: Sorting | undefined;
  /** Says why the table cannot be sorted. */
  readonly lock?: string | undefined;
  sort(sortBy: string): void;
}

export function Heads({ columns, layout, sorting, lock, sort }: HeadsProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its buttons have the focus
    <div class="roofwidget-heads" role="row" aria-rowindex={1} style={{ minWidth: `${layout.width}px` }}>
      {columns.map((column) => {
        const isSorted = sorting?.column.key === column.key;
        const way = sorting?.falling ? "descending" : "ascending";
        return (
          // biome-ignore lint/a11y/useFocusableInteractive: its button has the focus
          <div key={column.key} class={classOf(column)} role="columnheader" aria-sort={isSorted ? way : "none"}>
            <button
              type="button"
              data-lm-suppress-shortcuts="true"
              title={`${column.meaning}. ${lock ?? words.sort(column.title)}`}
              aria-disabled={lock !== undefined}
              onClick={() => sort(sortedNext(sorting, column))}
            >
              <span class="roofwidget-headtext">{column.title}</span>
              {isSorted && <span aria-hidden="true">{sorting?.falling ? "▾" : "▴"}</span>}
            </button>
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
}

const ROW_PX = 28;
const CARD_LINE_PX = 20;
const [NAME_PX, TEXT_PX, NUMBER_PX, RATE_PX] = [240, 128, 88, 108];
/** The font size of a heading, and the space around the heading and its arrow, px. */
const [HEAD_FONT_PX, PADDING_PX] = [13, 34];

/** Returns the layout of the grid. The heading of the `sorted` column is never cut. */
export function gridLayout(columns: readonly Column[], sorted?: string): Layout {
  const widths = columns.map((column) => widthOf(column, column.key === sorted));
  const template = columns.map(({ key }, at) => (key === "name" ? `minmax(${widths[at]}px, 1fr)` : `${widths[at]}px`));
  return {
    height: ROW_PX,
    inSight: 12,
    template: template.join(" "),
    width: widths.reduce((sum, one) => sum + one, 0),
  };
}

/** Returns the layout of cards. The name has a separate line. Each of the following lines has two cells. */
export function cardLayout(columns: readonly Column[]): Layout {
  const lines = 1 + Math.ceil(columns.filter(({ key }) => key !== "name").length / 2);
  return { height: lines * CARD_LINE_PX + 16, inSight: 3, template: "", width: 0 };
}

function widthOf({ key, kind, title }: Column, isSorted: boolean): number {
  const head = Math.ceil(textWidth(title, true, HEAD_FONT_PX)) + PADDING_PX;
  const wanted = isSorted ? head : Math.min(head, NAME_PX);
  const cells = key === "name" ? NAME_PX : kind === "text" ? TEXT_PX : kind.startsWith("FLOP/") ? RATE_PX : NUMBER_PX;
  return Math.max(cells, wanted);
}

/** Returns the rows to draw: the visible rows and one additional row at each end. */
export function placesInSight(scrolled: number, { height, inSight }: Layout, count: number): number[] {
  const first = Math.max(0, Math.min(Math.floor(scrolled / height) - 1, count - inSight - 2));
  return Array.from({ length: Math.min(inSight + 3, count - first) }, (_, at) => first + at);
}

/** Returns the scroll position that makes a row visible. */
export function scrollFor(place: number, scrolled: number, { height, inSight }: Layout): number {
  return Math.max((place + 1 - inSight) * height, Math.min(place * height, scrolled));
}
