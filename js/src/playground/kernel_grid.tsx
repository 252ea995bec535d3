// The table under the widget in which a person types kernels.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { useUid } from "../ui/uid.ts";
import {
  COLUMNS,
  columnName,
  EMPTY_TABLE,
  emptyRow,
  FORMS,
  type Form,
  type KernelTable,
  nameOf,
  type Row,
  readPasted,
  withPasted,
} from "./kernel_table.ts";
import type { Playground } from "./playground.ts";
import { playgroundWords as words } from "./words.ts";

const titleOf = (form: Form, place: number) => {
  const key = COLUMNS[form][place - 1]?.key;
  return key ? words.heads[key] : words.columns.name;
};

/** Moves the focus to the first empty name, or to the button that adds a row. */
export function focusFreeCell(page: Document) {
  const names = [...page.querySelectorAll<HTMLInputElement>("[data-cell$=' 0']")];
  const free = names.find(({ value }) => value === "") ?? page.querySelector<HTMLElement>("[data-add]");
  free?.focus();
}

export function KernelGrid({ play }: { readonly play: Playground }) {
  const id = useUid();
  const table = play.table.value;
  const isPasting = useSignal(false);
  const graph = play.graphKey.value;
  const graphTitle = graph === undefined ? "" : (play.stock.graphs[graph]?.title ?? "");
  return (
    <section class="rw-play" aria-labelledby={id}>
      <h2 id={id}>{words.table}</h2>
      {play.showsGraph.value || !table ? (
        <p class="rw-play-row">
          <span>{play.showsGraph.value ? words.ofGraph(graphTitle) : words.ofFile(play.count.value)}</span>
          <Button onClick={play.typeOwn}>{words.typeOwn}</Button>
        </p>
      ) : (
        <>
          <div class="rw-play-row">
            <label>
              <span class="rw-muted">{words.form}</span>{" "}
              <select
                value={table.form}
                onChange={({ currentTarget }) => play.edit({ ...table, form: currentTarget.value as Form })}
              >
                {FORMS.map((form) => (
                  <option key={form} value={form}>
                    {words.forms[form]}
                  </option>
                ))}
              </select>
            </label>
            <Button aria-expanded={isPasting.value} onClick={() => (isPasting.value = !isPasting.value)}>
              {words.paste}
            </Button>
            <Button title={words.undoHint} aria-disabled={!play.canUndo.value} onClick={play.undo}>
              {words.undo}
            </Button>
            <Button title={words.redoHint} aria-disabled={!play.canRedo.value} onClick={play.redo}>
              {words.redo}
            </Button>
          </div>
          {isPasting.value && <PasteBox play={play} table={table} close={() => (isPasting.value = false)} />}
          <Cells play={play} table={table} />
          <p class="rw-muted">{play.hasChips.value ? words.hint : `${words.noChip} ${words.hint}`}</p>
        </>
      )}
    </section>
  );
}

interface PartProps {
  readonly play: Playground;
  readonly table: KernelTable;
}

function Cells({ play, table }: PartProps) {
  const id = useUid();
  const body = useRef<HTMLTableElement>(null);
  /** A table that was pasted into a cell and cannot be read. */
  const refused = useSignal("");
  const { form } = table;
  const rows = table.rows[form];
  const faults = play.read.value?.faults ?? [];
  const places = emptyRow(form).map((_, place) => place);
  const setRows = (next: readonly Row[]) =>
    play.edit({ ...table, rows: { ...table.rows, [form]: next.length > 0 ? next : EMPTY_TABLE.rows[form] } });
  const focusCell = (row: number, place: number) =>
    // The row is drawn with the next frame.
    requestAnimationFrame(() => body.current?.querySelector<HTMLElement>(`[data-cell='${row} ${place}']`)?.focus());

  function type(row: number, place: number, text: string) {
    refused.value = "";
    if (text !== rows[row]?.[place])
      setRows(
        rows.map((cells, at) => (at === row ? cells.map((cell, column) => (column === place ? text : cell)) : cells)),
      );
  }
  function remove(row: number) {
    setRows(rows.filter((_, at) => at !== row));
    focusCell(Math.min(row, Math.max(0, rows.length - 2)), 0);
  }
  function add() {
    setRows([...rows, emptyRow(form)]);
    focusCell(rows.length, 0);
  }
  function onPaste(event: ClipboardEvent) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    // One cell is text for the box under the caret.
    if (!/[\t\n]./.test(text.trim())) return;
    event.preventDefault();
    const read = readPasted(text, form);
    refused.value = typeof read === "string" ? read : "";
    if (typeof read === "string") return;
    play.edit(withPasted(table, read.form, read.rows));
    play.say(words.pasted(read.rows.length));
  }
  /** Enter goes to the cell below, and makes a row at the end. */
  function onKeyDown(event: KeyboardEvent, row: number, place: number) {
    if (event.key !== "Enter" || event.isComposing) return;
    type(row, place, (event.currentTarget as HTMLInputElement).value);
    if (row + 1 < rows.length) focusCell(row + 1, place);
    else
      requestAnimationFrame(() => body.current?.closest("section")?.querySelector<HTMLElement>("[data-add]")?.focus());
  }
  return (
    <>
      <table ref={body} class="rw-play-table" onPaste={onPaste}>
        <thead>
          <tr>
            {places.map((place) => (
              <th key={place} scope="col">
                {titleOf(form, place)}
              </th>
            ))}
            <td />
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {places.map((place) => {
                const fault = faults.find((one) => one.row === row && one.column === place);
                return (
                  <td key={place}>
                    <input
                      type="text"
                      class="rw-box"
                      data-cell={`${row} ${place}`}
                      aria-label={words.cell(row + 1, columnName(form, place))}
                      aria-invalid={fault !== undefined}
                      aria-describedby={fault && `${id}-faults`}
                      placeholder={place === 0 ? nameOf([""], row) : COLUMNS[form][place - 1]?.example}
                      maxLength={300}
                      value={cells[place]}
                      onChange={({ currentTarget }) => type(row, place, currentTarget.value)}
                      onKeyDown={(event) => onKeyDown(event, row, place)}
                    />
                  </td>
                );
              })}
              <td>
                <Button
                  look="tool"
                  aria-label={words.remove(nameOf(cells, row))}
                  title={words.remove(nameOf(cells, row))}
                  onClick={() => remove(row)}
                >
                  ×
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div id={`${id}-faults`} role="alert">
        {[...faults.map(({ text }) => text), refused.value].filter(Boolean).map((text) => (
          <p key={text} class="rw-fault">
            {text}
          </p>
        ))}
      </div>
      <Button data-add="" onClick={add}>
        {words.add}
      </Button>
    </>
  );
}

function PasteBox({ play, table, close }: PartProps & { close(): void }) {
  const id = useUid();
  const text = useSignal("");
  const fault = useSignal("");
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus(), []);
  const columns = emptyRow(table.form).map((_, place) => columnName(table.form, place));
  function add() {
    const read = readPasted(text.value, table.form);
    if (typeof read === "string") {
      fault.value = read;
      return;
    }
    play.edit(withPasted(table, read.form, read.rows));
    play.say(words.pasted(read.rows.length));
    close();
  }
  return (
    <div class="rw-play-paste">
      <textarea
        rows={6}
        aria-label={words.pasteLabel}
        aria-describedby={`${id}-hint`}
        aria-invalid={fault.value !== ""}
        ref={box}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          fault.value = "";
        }}
      />
      <p id={`${id}-hint`} class="rw-muted">
        {words.pasteHint(columns.join(", "))}
      </p>
      <p class="rw-fault" role="alert">
        {fault.value}
      </p>
      <p class="rw-play-row">
        <Button look="button rw-primary" onClick={add}>
          {words.pasteAdd}
        </Button>
        <Button onClick={close}>{words.pasteCancel}</Button>
      </p>
    </div>
  );
}
