// The table with all columns, below the chart: the rows that pass the filters, sorted, with all known data.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { judgingRoof } from "../../chart/scene.ts";
import { roofElsewhere } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { Button, Sign } from "../../ui/button.tsx";
import { copyText } from "../../ui/copy.ts";
import { type Disclosed, useDisclosure } from "../../ui/disclosure.ts";
import { fileName } from "../../ui/download.ts";
import { inSlices } from "../../ui/slices.ts";
import { Tick } from "../../ui/tick.tsx";
import { tableWords as words } from "../../words/words.ts";
import { type Column, columnsOf, exportedColumns, picked, roofFreeColumns, toggled, usualColumns } from "./columns.ts";
import { saveText, toCsv, toTsv } from "./csv.ts";
import { Grid, gridLayout } from "./grid.tsx";
import { orderOf } from "./natural.ts";
import { rankAhead, type Sorting, sortingOf, valuesOf } from "./sorting.ts";

/** The height of the rows of the table, px. */
const ROWS_PX = 336;

/** Returns the columns of the kernels under a roof. */
export function useColumns({ rows: { kernels } }: Store, roof: Parameters<typeof columnsOf>[1]): Column[] {
  const roofFree = useMemo(() => roofFreeColumns(kernels.value), [kernels.value]);
  // Computes the order before the user clicks a heading. With very many names this computation takes too long for a
  // click.
  useEffect(
    () => inSlices(rankAhead([...roofFree.ours, ...roofFree.theirs]), () => undefined, { later: true }),
    [roofFree],
  );
  return useMemo(() => columnsOf(kernels.value, roof, roofFree), [kernels.value, roof, roofFree]);
}

export function FullTable({ store }: { readonly store: Store }) {
  const kernels = store.rows.kernels.value;
  const roof = judgingRoof(store);
  const elsewhere = roof && roofElsewhere(kernels, roof)?.chip.name;
  const columns = useColumns(store, roof);
  const keys = store.view.columns.value;
  const chosen = keys ? picked(columns, keys) : usualColumns(columns, kernels, roof);
  const shown = chosen.length > 0 ? chosen : picked(columns, ["name"]);
  const sorting = sortingOf(columns, store.view.sortBy.value);
  const order = useOrder(store, sorting);
  const choosing = useDisclosure();
  const root = useRef<HTMLElement>(null);

  const selected = new Set(store.rows.selected.value);
  const some = order.filter((row) => selected.has(row));
  const rows = some.length > 0 ? some : order;
  const what = some.length > 0 ? words.selectedRows(some.length) : words.allRows(order.length);
  async function copy() {
    await copyRows(store, root.current, shown, rows);
  }
  function save() {
    const name = fileName(kernels.source || store.view.title.value, "csv", "kernels");
    if (root.current)
      saveText(root.current.ownerDocument, name, toCsv(exportedColumns(columns, shown, kernels, roof), rows));
    store.view.say(words.saved(rows.length, name));
  }
  return (
    <section ref={root} class="rw-table" aria-label={words.title}>
      <div class="rw-tools">
        <Button {...choosing.button}>
          {words.columns}
          <Sign>{" ▾"}</Sign>
        </Button>
        <Tool text={words.copy} title={words.copyTitle(what)} use={copy} />
        <Tool text={words.csv} title={words.csvTitle(what)} use={save} />
        <Tool text="×" title={words.close} use={() => store.view.openTable(false)} />
      </div>
      {choosing.isOpen && <Chooser opened={choosing.opened} store={store} columns={columns} shown={shown} />}
      {roof && elsewhere && <p class="rw-muted">{words.elsewhere(elsewhere, roof.chip.name)}</p>}
      <Grid
        {...{ store, columns: shown, order, sorting, copy }}
        layout={gridLayout(shown, ROWS_PX, sorting?.column.key)}
      />
    </section>
  );
}

/** Copies rows to the clipboard, and says so in the status row. */
export async function copyRows(
  store: Store,
  element: HTMLElement | null,
  columns: readonly Column[],
  rows: Int32Array,
): Promise<void> {
  const isDone = element && (await copyText(element.ownerDocument, toTsv(columns, rows)));
  store.view.say(isDone ? words.copied(rows.length) : words.notCopied, { isFault: !isDone });
}

/**
 * Returns the rows that pass the filters, sorted. Equal rows are in the order of their times. While a rate is dragged, the order does not change, because a person
 * cannot read moving rows.
 */
export function useOrder(store: Store, sorting: Sorting | undefined): Int32Array {
  const rows = store.rows.longestFirst.value;
  const { n } = store.rows.kernels.value;
  const kept = useRef<Sorting>(undefined);
  const isSame = kept.current?.column.key === sorting?.column.key;
  const column = store.view.isInDrag() && isSame ? kept.current?.column : sorting?.column;
  const falling = sorting?.falling ?? true;
  kept.current = column && { column, falling };
  return useMemo(() => (column ? orderOf(rows, valuesOf(column, n, rows), falling) : rows), [column, n, falling, rows]);
}

interface ToolProps {
  readonly text: string;
  readonly title: string;
  use(): unknown;
}

function Tool({ text, title, use }: ToolProps) {
  return (
    <Button title={title} aria-label={title} onClick={use}>
      {text}
    </Button>
  );
}

interface ChooserProps {
  readonly opened: Disclosed;
  readonly store: Store;
  readonly columns: readonly Column[];
  readonly shown: readonly Column[];
}

function Chooser({ opened, store, columns, shown }: ChooserProps) {
  const keys = shown.map(({ key }) => key);
  const group = (title: string, some: readonly Column[]) =>
    some.length > 0 && (
      <fieldset>
        <h4>{title}</h4>
        <div>
          {some.map(({ key, title: head, meaning }) => (
            <Tick
              key={key}
              label={head}
              title={meaning}
              checked={keys.includes(key)}
              onChange={() => store.view.setColumns(toggled(columns, keys, key))}
            />
          ))}
        </div>
      </fieldset>
    );
  const button = (text: string, choose: () => void) => <Button onClick={choose}>{text}</Button>;
  return (
    <fieldset class="rw-chooser" aria-label={words.columns} {...opened}>
      {group(
        words.ours,
        columns.filter(({ ofFile }) => !ofFile),
      )}
      {group(
        words.ofFile,
        columns.filter(({ ofFile }) => ofFile),
      )}
      <div>
        {button(words.usualColumns, () => store.view.setColumns(null))}
        {button(words.allColumns, () => store.view.setColumns(columns.map(({ key }) => key)))}
      </div>
    </fieldset>
  );
}
