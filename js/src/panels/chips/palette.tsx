// The palette of all chips: a search box over a list that the arrow keys walk.

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { operationIn } from "../../roofline/operations.ts";
import type { Store } from "../../state/store.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { OWN_KEYS, used } from "../../ui/keys.ts";
import { Popover } from "../../ui/popover.tsx";
import { useUid } from "../../ui/uid.ts";
import type { Chip } from "../../wire/types.ts";
import { strings, words } from "../../words/words.ts";
import { generationsOf, MAX_PILLS, type Match, type Section, sectionsOf } from "./picking.ts";

interface PaletteProps {
  readonly store: Store;
  readonly opener: RefObject<HTMLElement | null>;
  /** The maximum height, px. */
  readonly room: number;
  close(isDone: boolean): void;
}

/** A line that can be chosen: a chip, or one chip of each generation of a vendor. */
interface Line {
  readonly key: string;
  readonly match?: Match;
  readonly vendor?: string;
  readonly ids: readonly string[];
}

export function Palette({ store, opener, room, close }: PaletteProps) {
  const query = useSignal("");
  const active = useSignal("");
  // The list does not change while it is open, so that no line moves when its chip is shown or hidden.
  const first = useSignal(store.rates.shown.value).value;
  const input = useRef<HTMLInputElement>(null);
  const id = useUid();
  useLayoutEffect(() => input.current?.focus({ preventScroll: true }), []);
  useEffect(() => void store.rates.loadCatalogue(), []);

  const catalogue = store.rates.catalogue.value;
  const chips = allChips(store);
  const precisionOf = precisionsIn(store);
  const peakOf = (chip: Chip) => chip.peaks.get(precisionOf(chip));
  const near =
    chips.find((chip) => chip.id === store.rates.focusChip.value)?.vendor ??
    store.rows.kernels.value.chip?.vendor ??
    "";
  const sections = sectionsOf(chips, query.value, { used: first, near, words });
  const lists = sections.map((section) => ({ section, lines: linesOf(section, chips, peakOf) }));
  const lines = lists.flatMap((list) => list.lines);
  const now = Math.max(
    0,
    lines.findIndex(({ key }) => key === active.value),
  );
  const counted = sections[0]?.matches.length ?? 0;
  const shown = store.rates.shown.value;

  function take({ match, ids }: Line, stays: boolean) {
    const hidden = ids.filter((own) => !shown.includes(own));
    if (hidden.length > 0) store.rates.addChips(hidden);
    else if (match) hide(store, match.chip.id);
    if (!stays) close(true);
  }
  function onKeyDown(event: KeyboardEvent) {
    const { key, ctrlKey, altKey, metaKey, shiftKey } = event;
    if (ctrlKey || altKey || metaKey) return;
    const to = { ArrowDown: now + 1, ArrowUp: now - 1 }[key] ?? (query.value ? undefined : { Home: 0, End: -1 }[key]);
    const line = lines[now];
    if (lines.length === 0) return;
    if (key === "Enter" && line) take(line, shiftKey);
    else if (to === undefined) return;
    else {
      active.value = lines.at(to % lines.length)?.key ?? "";
      const option = input.current?.ownerDocument.getElementById(`${id} ${active.value}`);
      option?.scrollIntoView({ block: "nearest" });
    }
    used(event);
  }
  const precision = store.rates.askedPrecision.value || precisionOf(lines[0]?.match?.chip);
  return (
    <Popover label={words.picker} opener={opener} room={room} close={close} look="rw-palette">
      <div class="rw-find">
        <input
          ref={input}
          type="text"
          role="combobox"
          {...OWN_KEYS}
          aria-label={words.search}
          aria-expanded={lines.length > 0}
          aria-controls={lines.length > 0 ? id : undefined}
          aria-autocomplete="list"
          aria-activedescendant={lines[now] && `${id} ${lines[now].key}`}
          autocomplete="off"
          placeholder={words.searchHint}
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value;
            active.value = "";
          }}
          onKeyDown={onKeyDown}
        />
        <span class="rw-muted" role="status">
          {query.value ? words.found(counted, chips.length) : null}
        </span>
        <Button look="tool" title={words.close} aria-label={words.close} onClick={() => close(true)}>
          ×
        </Button>
      </div>
      {typeof catalogue === "string" && (
        <p class="rw-muted" role="status">
          {catalogue === "waiting" ? words.loadingCatalogue : words.noCatalogue}
        </p>
      )}
      {lines.length === 0 && (
        <p class="rw-muted" role="status">
          {words.noneFound(query.value)}
        </p>
      )}
      {lines.length > 0 && (
        <div id={id} class="rw-list" role="listbox" aria-label={words.picker}>
          {lists.map(({ section, lines: own }, at) => (
            <fieldset key={section.title} aria-label={section.title}>
              <div class="rw-head" aria-hidden="true">
                <span>{section.title}</span>
                {at === 0 && (
                  <>
                    <span>{words.vendor}</span>
                    <span>{words.year}</span>
                    <span>{precision && words.peakAt(precision)}</span>
                    <span>{strings.memory}</span>
                  </>
                )}
              </div>
              {own.map((line) => (
                <Option
                  key={line.key}
                  id={`${id} ${line.key}`}
                  line={line}
                  isActive={line === lines[now]}
                  isShown={line.match !== undefined && shown.includes(line.match.chip.id)}
                  precision={precision}
                  own={line.match && precisionOf(line.match.chip)}
                  take={(stays) => take(line, stays)}
                />
              ))}
            </fieldset>
          ))}
        </div>
      )}
      <p class="rw-hints rw-muted" aria-hidden="true">
        {(shown.length >= MAX_PILLS ? [words.many] : words.keys).map((text) => (
          <span key={text}>{text}</span>
        ))}
      </p>
    </Popover>
  );
}

interface OptionProps {
  readonly id: string;
  readonly line: Line;
  readonly isActive: boolean;
  readonly isShown: boolean;
  /** The precision of the column of peaks, and the one by which the chip is judged. */
  readonly precision: string;
  readonly own: string | undefined;
  /** Shows the chip, or hides it. */
  take(stays: boolean): void;
}

function Option({ id, line, isActive, isShown, precision, own, take }: OptionProps) {
  const { match, vendor } = line;
  return (
    // The keys are those of the search box, which keeps the focus.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    // biome-ignore lint/a11y/useFocusableInteractive: see above
    <div
      id={id}
      class="rw-choice"
      role="option"
      aria-selected={isActive}
      data-chip={match?.chip.id}
      onMouseDown={(event) => event.preventDefault()}
      onClick={({ target }) => take((target as Element).matches(".rw-stay"))}
    >
      {match ? (
        <ChipCells match={match} precision={precision} own={own ?? ""} isShown={isShown} />
      ) : (
        <span>{words.generations(vendor ?? "")}</span>
      )}
      <span class="rw-muted">
        {isActive && <span class="rw-enter">{words.enter[isShown ? "hides" : "adds"]}</span>}
        {!isShown && (
          <span class="rw-stay" title={words.addAndStay} aria-hidden="true">
            {"+"}
          </span>
        )}
      </span>
    </div>
  );
}

type ChipCellsProps = Omit<OptionProps, "id" | "line" | "isActive" | "take" | "own"> & {
  readonly match: Match;
  readonly own: string;
};

function ChipCells({ match: { chip, name, detail, letters }, precision, own, isShown }: ChipCellsProps) {
  const peak = chip.peaks.get(own);
  const bandwidth = chip.memories.values().next().value;
  return (
    <>
      <span>
        {isShown && "✓ "}
        {partsIn(name, letters).map(([text, isMatch]) => (isMatch ? <b>{text}</b> : text))}
        {detail && <small class="rw-muted"> {detail}</small>}
      </span>
      <span class="rw-muted">{chip.vendor}</span>
      <span class="rw-muted">{chip.year}</span>
      <span class={peak === undefined ? "rw-muted" : undefined}>
        {peak === undefined ? strings.lacksPeak(own) : formatQuantity(peak, `${operationIn(own)}/s`, 4)}
        {peak !== undefined && own !== precision && <small class="rw-muted"> {own}</small>}
      </span>
      <span>{bandwidth ? formatQuantity(bandwidth, "B/s", 4) : strings.unknown}</span>
    </>
  );
}

/** Returns the parts of a name, and whether the query has their letters. */
function partsIn(name: string, letters: readonly number[]): readonly (readonly [text: string, isMatch: boolean])[] {
  const parts: [string, boolean][] = [];
  for (const [at, letter] of [...name].entries()) {
    const isMatch = letters.includes(at);
    const last = parts.at(-1);
    if (last?.[1] === isMatch) last[0] += letter;
    else parts.push([letter, isMatch]);
  }
  return parts;
}

/** The chips of the model, and those of the catalogue. */
function allChips({ rates: { chips, catalogue } }: Store): readonly Chip[] {
  const own = chips.value;
  const others = typeof catalogue.value === "string" ? [] : catalogue.value;
  return [...own, ...others.filter(({ id }) => !own.some((chip) => chip.id === id))];
}

/** Returns a function that returns the precision by which a chip is judged. */
function precisionsIn({ rates: { precision, commonPrecision } }: Store) {
  const common = commonPrecision.value;
  return (chip: Chip | undefined) => {
    if (precision.value !== "auto") return precision.value;
    return common !== undefined && (!chip || chip.peaks.has(common)) ? common : (chip?.precision ?? "");
  };
}

function linesOf(
  { matches, vendor }: Section,
  chips: readonly Chip[],
  peakOf: (chip: Chip) => number | undefined,
): Line[] {
  const generations = vendor ? generationsOf(chips, vendor, peakOf) : [];
  const first: Line[] =
    vendor && generations.length > 1 ? [{ key: `all ${vendor}`, vendor, ids: generations.map(({ id }) => id) }] : [];
  return [...first, ...matches.map((match): Line => ({ key: match.chip.id, match, ids: [match.chip.id] }))];
}

/** Hides a chip. A chip of the catalogue is taken away. */
function hide(store: Store, id: string) {
  if (store.rates.addedChips.value.includes(id)) store.rates.removeChip(id);
  else store.rates.toggle(id);
}
