// The rows of the table, of which only those in sight are drawn: by mouse and by keyboard, linked with the chart.

// biome-ignore-all lint/a11y/useSemanticElements: rows stand where they are scrolled to, as those of a table cannot

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Store } from "../../state/store.ts";
import { keyShortcuts, LIST_KEYS, lookUp, used } from "../../ui/keys.ts";
import { useUid } from "../../ui/uid.ts";
import { tableWords as words } from "../../words/words.ts";
import type { Column } from "./columns.ts";
import { cardLayout, gridLayout, placesInSight, scrollFor } from "./layout.ts";
import { pick } from "./picking.ts";
import { Card, Heads, Row } from "./row.tsx";
import type { Sorting } from "./sorting.ts";

/** The keys of the table beside those of every list. */
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
  /** The row that the keys are at, and the one that a range starts from. */
  const active = useSignal<number | null>(null);
  const anchor = useSignal<number | null>(null);
  const layout = narrow ? cardLayout(columns) : gridLayout(columns);
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
  // What is selected elsewhere is brought into sight; what is selected here is there already.
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
  /** What the keys of TABLE_KEYS do; whether they did anything. */
  const acts = {
    select: (range: boolean) => chooseActive(false, range),
    selectMore: (range: boolean) => chooseActive(true, range),
    selectAll() {
      store.select([...order]);
      return true;
    },
    copy() {
      // Marked text is what a person means to copy.
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
        // The buttons of the headings are pressed by the same keys.
        if (event.target === event.currentTarget && act(event)) used(event);
      }}
    >
      {!narrow && <Heads {...shared} sorting={sorting} sort={store.setSortBy} />}
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
