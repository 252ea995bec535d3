// The table of kernels under the chart: the rows that pass the filters, sorted, with all known data.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { inOrder } from "../../roofline/filters.ts";
import { roofElsewhere } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { Button } from "../../ui/button.tsx";
import { copyText } from "../../ui/copy.ts";
import { type Disclosed, useDisclosure } from "../../ui/disclosure.ts";
import { fileName } from "../../ui/download.ts";
import { Fold } from "../../ui/fold.tsx";
import { Select } from "../../ui/select.tsx";
import { inSlices } from "../../ui/slices.ts";
import { everyRow } from "../../wire/columns.ts";
import { tableWords as words } from "../../words/words.ts";
import { type Column, columnsOf, exportedColumns, picked, roofFreeColumns, toggled, usualColumns } from "./columns.ts";
import { saveText, toCsv, toTsv } from "./csv.ts";
import { Grid } from "./grid.tsx";
import { orderOf } from "./natural.ts";
import { rankAhead, type Sorting, sortingOf, valuesOf } from "./sorting.ts";

interface TableProps {
  readonly store: Store;
  readonly narrow: boolean;
}

export function Table({ store, narrow }: TableProps) {
  const { n } = store.kernels.value;
  if (n === 0) return null;
  const chosen = store.selected.value.length;
  const counted = words.counted(store.rows.value.length, n);
  // Without a point the table is all that shows where the time goes.
  const { n: drawn, notDrawn } = store.points.value;
  return (
    <div class="roofwidget-table">
      <Fold
        name="table"
        title={words.title}
        note={chosen > 0 ? `${counted} · ${words.chosen(chosen)}` : counted}
        unfolded={drawn === 0 && notDrawn > 0}
      >
        <Unfolded store={store} narrow={narrow} />
      </Fold>
    </div>
  );
}

function Unfolded({ store, narrow }: TableProps) {
  const kernels = store.kernels.value;
  const roof = store.focusRoof.value ?? store.shownRoofs.value[0];
  const elsewhere = roof && roofElsewhere(kernels, roof)?.chip.name;
  const roofFree = useMemo(() => roofFreeColumns(kernels), [kernels]);
  const columns = useMemo(() => columnsOf(kernels, roof, roofFree), [kernels, roof, roofFree]);
  // Computes the order before the user clicks a heading. With very many names this computation takes too long for a
  // click.
  useEffect(
    () => inSlices(rankAhead([...roofFree.ours, ...roofFree.theirs]), () => undefined, { later: true }),
    [roofFree],
  );
  const keys = store.columns.value;
  const chosen = keys ? picked(columns, keys) : usualColumns(columns, kernels, roof);
  const shown = chosen.length > 0 ? chosen : picked(columns, ["name"]);
  const sorting = sortingOf(columns, store.sortBy.value);
  const order = useOrder(store, sorting);
  const choosing = useDisclosure();
  const root = useRef<HTMLDivElement>(null);
  const said = useSignal("");

  const selected = new Set(store.selected.value);
  const some = order.filter((row) => selected.has(row));
  const rows = some.length > 0 ? some : order;
  const what = some.length > 0 ? words.selectedRows(some.length) : words.allRows(order.length);
  async function copy() {
    const document = root.current?.ownerDocument;
    const done = document && (await copyText(document, toTsv(shown, rows)));
    said.value = done ? words.copied(rows.length) : words.notCopied;
  }
  function save() {
    const name = fileName(kernels.source || store.title.value, "csv", "kernels");
    if (root.current)
      saveText(root.current.ownerDocument, name, toCsv(exportedColumns(columns, shown, kernels, roof), rows));
    said.value = words.saved(rows.length, name);
  }
  return (
    <div ref={root}>
      <div class="roofwidget-tools">
        <button type="button" class="roofwidget-button" data-lm-suppress-shortcuts="true" {...choosing.button}>
          {words.columns}
        </button>
        {narrow && <Sorter store={store} columns={columns} sorting={sorting} />}
        <span class="roofwidget-muted" role="status">
          {said.value}
        </span>
        <Tool text={words.copy} title={words.copyTitle(what)} use={copy} />
        <Tool text={words.csv} title={words.csvTitle(what)} use={save} />
      </div>
      {choosing.isOpen && <Chooser opened={choosing.opened} store={store} columns={columns} shown={shown} />}
      {roof && elsewhere && <p class="roofwidget-muted">{words.elsewhere(elsewhere, roof.chip.name)}</p>}
      <Grid {...{ store, columns: shown, order, sorting, narrow, copy }} />
    </div>
  );
}

/**
 * Returns the rows that pass the filters, sorted. While a rate is dragged, the order does not change, because a person
 * cannot read moving rows.
 */
function useOrder(store: Store, sorting: Sorting | undefined): Int32Array {
  const rows = store.rows.value;
  const { n } = store.kernels.value;
  const kept = useRef<Sorting>(undefined);
  const isSame = kept.current?.column.key === sorting?.column.key;
  const column = store.isInDrag() && isSame ? kept.current?.column : sorting?.column;
  const falling = sorting?.falling ?? true;
  kept.current = column && { column, falling };
  // Filters do not change the order, so all rows are sorted once.
  const all = useMemo(() => column && orderOf(everyRow({ n }), valuesOf(column, n), falling), [column, n, falling]);
  return useMemo(() => (all ? inOrder(all, rows) : rows), [rows, all]);
}

/** Controls to sort cards, because cards have no column headings. */
function Sorter({
  store,
  columns,
  sorting,
}: {
  store: Store;
  columns: readonly Column[];
  sorting: Sorting | undefined;
}) {
  if (!sorting) return null;
  const { column, falling } = sorting;
  const lock = store.lockNote("filters");
  const sortBy = (key: string, down: boolean) => store.setSortBy(down ? `-${key}` : key);
  return (
    <>
      <Select
        label={words.sortBy}
        lock={lock}
        value={column.key}
        options={columns.map(({ key, title }) => [key, title])}
        choose={(key) => sortBy(key, columns.find((other) => other.key === key)?.kind !== "text")}
      />
      <Tool
        text={falling ? "▾" : "▴"}
        title={words.turn(falling)}
        lock={lock}
        use={() => sortBy(column.key, !falling)}
      />
    </>
  );
}

interface ToolProps {
  readonly text: string;
  readonly title: string;
  readonly lock?: string | undefined;
  use(): unknown;
}

function Tool({ text, title, lock, use }: ToolProps) {
  return (
    <Button title={lock ?? title} aria-label={title} aria-disabled={lock !== undefined} onClick={use}>
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

export function Chooser({ opened, store, columns, shown }: ChooserProps) {
  const keys = shown.map(({ key }) => key);
  const group = (title: string, some: readonly Column[]) =>
    some.length > 0 && (
      <fieldset>
        <h4>{title}</h4>
        <div class="roofwidget-options">
          {some.map(({ key, title: head, meaning }) => (
            <label key={key} class="roofwidget-option" title={meaning}>
              <input
                type="checkbox"
                data-lm-suppress-shortcuts="true"
                checked={keys.includes(key)}
                onChange={() => store.setColumns(toggled(columns, keys, key))}
              />
              {head}
            </label>
          ))}
        </div>
      </fieldset>
    );
  const button = (text: string, choose: () => void) => <Button onClick={choose}>{text}</Button>;
  return (
    <fieldset class="roofwidget-chooser" aria-label={words.columns} {...opened}>
      {group(
        words.ours,
        columns.filter(({ ofFile }) => !ofFile),
      )}
      {group(
        words.ofFile,
        columns.filter(({ ofFile }) => ofFile),
      )}
      <div class="roofwidget-presets">
        {button(words.usualColumns, () => store.setColumns(null))}
        {button(words.allColumns, () => store.setColumns(columns.map(({ key }) => key)))}
      </div>
    </fieldset>
  );
}
