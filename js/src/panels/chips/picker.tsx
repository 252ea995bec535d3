// The list of all chips, to search and tick. The chips that were shown when the list opened come first. The other chips
// follow by vendor and family.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Store } from "../../state/store.ts";
import { shortNames } from "../../text/names.ts";
import { reasonOf, shortReasonOf } from "../../text/reasons.ts";
import { Button } from "../../ui/button.tsx";
import type { Disclosed } from "../../ui/disclosure.ts";
import { isModified, used } from "../../ui/keys.ts";
import type { Chip } from "../../wire/types.ts";
import { words } from "../../words/words.ts";
import { found, grouped } from "./picking.ts";

interface PickerProps {
  readonly opened: Disclosed;
  readonly store: Store;
  close(): void;
}

export function Picker({ opened, store, close }: PickerProps) {
  const query = useSignal("");
  /** The option that Tab focuses. Arrow keys focus the other options. */
  const active = useSignal("");
  // The chips that were shown when the picker opened. The list is not updated, so that an option does not move when it
  // is ticked.
  const first = useSignal(store.shown.value).value;
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => search.current?.focus({ preventScroll: true }), []);
  useEffect(() => void store.loadCatalogue(), []);

  const own = store.chips.value;
  const catalogue = store.catalogue.value;
  const others = typeof catalogue === "string" ? [] : catalogue;
  const chips = [...own, ...others.filter(({ id }) => !own.some((chip) => chip.id === id))];
  const matches = found(chips, query.value);
  const names = shortNames(chips);
  const shownFirst = matches.filter((chip) => first.includes(chip.id));
  const vendors = grouped(
    matches.filter((chip) => !first.includes(chip.id)),
    words.otherVendor,
  );
  const order = [...shownFirst, ...vendors.flatMap(({ families }) => families.flatMap((family) => family.chips))];
  const stop = order.find((chip) => chip.id === active.value)?.id ?? order[0]?.id;
  const options = (members: readonly Chip[]) =>
    members.map((chip) => (
      <Option
        key={chip.id}
        chip={chip}
        name={names.get(chip.id) ?? chip.name}
        store={store}
        stop={chip.id === stop}
        onFocus={() => {
          active.value = chip.id;
        }}
      />
    ));

  function key(event: KeyboardEvent) {
    opened.onKeyDown(event);
    if (isModified(event)) return;
    if (!(list.current && search.current && walk(event, list.current, search.current))) return;
    used(event);
  }

  return (
    <fieldset id={opened.id} class="roofwidget-picker" aria-label={words.picker} onKeyDown={key}>
      <div class="roofwidget-row">
        <input
          ref={search}
          type="search"
          class="roofwidget-search"
          data-lm-suppress-shortcuts="true"
          aria-label={words.search}
          placeholder={words.searchHint}
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            const [only, second] = matches;
            if (event.key !== "Enter" || !only || second || isModified(event)) return;
            tick(store, only.id);
            used(event);
          }}
        />
        <span class="roofwidget-muted" role="status">
          {query.value && `${words.found(matches.length)} · `}
          {words.counted(store.shown.value.length, chips.length)}
        </span>
        <Button onClick={close}>{words.close}</Button>
      </div>
      {typeof catalogue === "string" && (
        <p class="roofwidget-muted" role="status">
          {catalogue === "waiting" ? words.loadingCatalogue : words.noCatalogue}
        </p>
      )}
      <div class="roofwidget-list" ref={list}>
        {order.length === 0 && <p class="roofwidget-muted">{words.noneFound(query.value)}</p>}
        {shownFirst.length > 0 && (
          <fieldset aria-label={words.shownFirst}>
            <h4>{words.shownFirst}</h4>
            <div class="roofwidget-options">{options(shownFirst)}</div>
          </fieldset>
        )}
        {vendors.map((vendor) => (
          <div key={vendor.name}>
            {vendor.families.map((family, index) => (
              <fieldset key={family.name} aria-label={`${vendor.name} ${family.name}`.trim()}>
                <h4>
                  <span class={index > 0 ? "roofwidget-again" : undefined}>{vendor.name}</span>
                  <span class="roofwidget-muted">{family.name}</span>
                </h4>
                <div class="roofwidget-options">{options(family.chips)}</div>
              </fieldset>
            ))}
          </div>
        ))}
      </div>
    </fieldset>
  );
}

interface OptionProps {
  readonly chip: Chip;
  readonly name: string;
  readonly store: Store;
  readonly stop: boolean;
  onFocus(): void;
}

function Option({ chip, name, store, stop, onFocus }: OptionProps) {
  const missing = store.lacking.value.get(chip.id);
  return (
    <label class={`roofwidget-option${missing ? " roofwidget-muted" : ""}`} title={missing && reasonOf(chip, missing)}>
      <input
        type="checkbox"
        data-lm-suppress-shortcuts="true"
        data-chip={chip.id}
        tabIndex={stop ? 0 : -1}
        checked={store.shown.value.includes(chip.id)}
        onFocus={onFocus}
        onChange={() => tick(store, chip.id)}
      />
      <span>
        {name}
        {missing && <small> {shortReasonOf(missing)}</small>}
      </span>
    </label>
  );
}

/** Shows or hides a chip. A chip of the catalogue is added first, and taken away again. */
function tick(store: Store, id: string) {
  if (store.addedChips.value.includes(id)) store.removeChip(id);
  else if (store.chips.value.some((chip) => chip.id === id)) store.toggle(id);
  else store.addChip(id);
}

/** Moves the focus for an arrow key, Home or End. Returns false for other keys. */
function walk(event: KeyboardEvent, list: HTMLElement, search: HTMLElement): boolean {
  const boxes = [...list.querySelectorAll("input")];
  const at = boxes.indexOf(event.target as HTMLInputElement);
  if (at < 0) {
    if (event.key !== "ArrowDown" || event.target !== search) return false;
    boxes.find((box) => box.tabIndex === 0)?.focus();
    return true;
  }
  const right = getComputedStyle(list).direction === "rtl" ? -1 : 1;
  const targets: Record<string, () => HTMLElement | undefined> = {
    ArrowRight: () => boxes[at + right],
    ArrowLeft: () => boxes[at - right],
    ArrowDown: () => neighbour(boxes.slice(at), 1),
    ArrowUp: () => neighbour(boxes.slice(0, at + 1).reverse(), -1) ?? search,
    Home: () => boxes[0],
    End: () => boxes.at(-1),
  };
  const target = targets[event.key];
  target?.()?.focus();
  return target !== undefined;
}

/**
 * Returns the box that is nearest to the first of `boxes` and on the next line. If `way` is 1, the next line is below
 * the first box. If `way` is -1, the next line is above the first box.
 */
function neighbour(boxes: readonly HTMLElement[], way: 1 | -1): HTMLElement | undefined {
  const places = boxes.map((box) => {
    const { x, y } = box.getBoundingClientRect();
    return { box, x, y };
  });
  const [here] = places;
  if (!here) return undefined;
  const line = places.find(({ y }) => (y - here.y) * way > LINE_TOLERANCE_PX)?.y;
  const there = places.filter(({ y }) => line !== undefined && Math.abs(y - line) < LINE_TOLERANCE_PX);
  return there.sort((a, b) => Math.abs(a.x - here.x) - Math.abs(b.x - here.x))[0]?.box;
}

/** Two boxes whose tops differ by less than this are on one line. */
const LINE_TOLERANCE_PX = 8;
