// One row of the table, as cells side by side or as a card; and the headings, which sort.

// biome-ignore-all lint/a11y/useSemanticElements: rows stand where they are scrolled to, as those of a table cannot

import type { ComponentChildren } from "preact";
import type { Kernels } from "../../wire/columns.ts";
import { tableWords as words } from "../../words/words.ts";
import { cellText, cellTitle, isAlarming } from "./cells.ts";
import type { Column } from "./columns.ts";
import type { Layout } from "./layout.ts";
import { type Sorting, sortedNext } from "./sorting.ts";

interface Shared {
  readonly kernels: Kernels;
  readonly columns: readonly Column[];
  readonly layout: Layout;
}

interface RowProps extends Shared {
  readonly row: number;
  /** Among all rows of the table. */
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

/** The name above, the others under it with their headings. */
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
        // A range of rows is meant, not one of letters.
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
  sort(sortBy: string): void;
}

export function Heads({ columns, layout, sorting, sort }: HeadsProps) {
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
              title={`${column.meaning}. ${words.sort(column.title)}`}
              onClick={() => sort(sortedNext(sorting, column))}
            >
              {column.title}
              <span aria-hidden="true">{isSorted ? (sorting?.falling ? " ▾" : " ▴") : ""}</span>
            </button>
          </div>
        );
      })}
    </div>
  );
}
