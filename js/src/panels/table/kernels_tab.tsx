// The tab of the kernels: which to fix first, and what each could save. A selection is summed up above the rows.

import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { CategoryDot } from "../../chart/layers/points.tsx";
import { isPatternedIn, judgingRoof } from "../../chart/scene.ts";
import { categoryColour, type Theme } from "../../chart/theme.ts";
import { headroomOf, probeOf } from "../../roofline/bound.ts";
import { codeAt, colouringOf } from "../../roofline/colouring.ts";
import { busyTime, idleRows } from "../../roofline/positions.ts";
import { type Roof, roofElsewhere } from "../../roofline/roofline.ts";
import { MIN_ABOVE } from "../../roofline/verdict.ts";
import type { Store } from "../../state/store.ts";
import { nameOf, shortNameOf } from "../../text/kernel_names.ts";
import { shortNames } from "../../text/names.ts";
import { formatPercent, formatQuantity } from "../../text/numbers.ts";
import { Button, lockedBy, Sign } from "../../ui/button.tsx";
import { keepFocusNear } from "../../ui/focus.ts";
import { Select } from "../../ui/select.tsx";
import type { Kernels } from "../../wire/columns.ts";
import { numerals, tabWords, tableWords as words } from "../../words/words.ts";
import { FilterRow, hasFilters } from "../filters/filters.tsx";
import type { TabProps } from "../tab.ts";
import { type Column, cellText, columnFor, spokenCell } from "./columns.ts";
import { Footer } from "./footer.tsx";
import { cardLayout, Grid, gridLayout } from "./grid.tsx";
import { ranksOf } from "./natural.ts";
import { type Sorting, sortingOf } from "./sorting.ts";
import { copyRows, useColumns, useOrder } from "./table.tsx";
import { Why } from "./why.tsx";

export const hasKernels = ({ rows: { kernels } }: Store) => kernels.value.n > 0;

/** The number of kernels beside the title of the tab: how many pass the filters, if some do not. */
export function kernelsNote(store: Store): string {
  const { kernels, all } = store.rows.totals.value;
  return kernels === all ? numerals.whole(all) : `${numerals.whole(kernels)} / ${numerals.whole(all)}`;
}

/** The button that shows the table with all columns below the chart. */
export const AllColumns = ({ store }: { readonly store: Store }) => (
  <Button
    look="word"
    aria-pressed={store.view.isTableOpen.value}
    onClick={() => store.view.openTable(!store.view.isTableOpen.value)}
  >
    {tabWords.allColumns}
    <Sign>{" ⤢"}</Sign>
  </Button>
);

export function KernelsTab({ store, theme, height, narrow }: TabProps) {
  const kernels = store.rows.kernels.value;
  const shown = judgingRoof(store);
  // The kernels are judged where they ran, as the headline judges them.
  const roof = useMemo(() => shown && (roofElsewhere(kernels, shown) ?? shown), [kernels, shown]);
  const root = useRef<HTMLDivElement>(null);
  const columns = useColumns(store, roof);
  const first = useFirst(store);
  const own = useMemo(() => tabColumns(columns, kernels, roof), [columns, kernels, roof]);
  const sorting = usualSorting(own, columns, store.view.sortBy.value);
  const isUsual = sorting?.falling === true && sorting.column.key === "headroom";
  const order = withFirst(kernels, useOrder(store, sorting), isUsual ? first.rows : []);
  const drawn = [badgeColumn(first.rows), ...own.map((column) => withLooks(column, store, theme))];
  const captions = isUsual && first.rows.length > 0 ? captionsOf(store, first, order.length, roof) : [];
  const places = captions.length > 1 ? [0, first.rows.length] : captions.length > 0 ? [0] : [];
  const layout = { ...(narrow ? cardLayout(height) : gridLayout(drawn, height)), captions: places };
  return (
    <div ref={root} class="rw-kernels">
      <Head store={store} roof={roof}>
        {narrow && sorting && (
          <Select
            row
            label={words.sortBy}
            lock={store.lesson.lockNote("filters")}
            value={sorting.column.key}
            options={own.map(({ key, title }) => [key, title])}
            choose={(key) => store.view.setSortBy(key === "name" ? key : `-${key}`)}
          />
        )}
      </Head>
      <Grid
        {...{ store, columns: drawn, order, sorting, layout, captions }}
        {...(narrow && {
          card: (row: number) => <Card {...{ columns: drawn, kernels, row }} />,
          spoken: (row: number) => spokenCard({ columns: drawn, kernels, row }),
        })}
        copy={() => void copyRows(store, root.current, own, order)}
      />
      <Why store={store} />
      <Footer store={store} roof={roof} rows={order} />
    </div>
  );
}

interface HeadProps {
  readonly store: Store;
  /** The roof that judges the kernels. */
  readonly roof: Roof | undefined;
  /** Further choices in the menu of filters. */
  readonly children?: ComponentChildren;
}

/** The line above the rows: the search and the filters, or what the selected kernels take. */
export function Head({ store, roof, children }: HeadProps) {
  if (store.rows.selected.value.some((row) => !store.rows.isHidden(row)))
    return <Selection store={store} roof={roof} />;
  if (store.view.hiddenPanels.value.includes("filters") || !hasFilters(store)) return null;
  return <FilterRow store={store}>{children}</FilterRow>;
}

interface First {
  readonly rows: readonly number[];
  readonly gains: readonly number[];
}

/** Returns the kernels to fix first. They stay the same while a rate is dragged, because a person cannot read moving rows. */
function useFirst(store: Store): First {
  const { rows, gains } = store.rows.ranking.value;
  const kept = useRef<readonly number[]>(rows);
  if (!store.view.isInDrag() || rows.length !== kept.current.length) kept.current = rows;
  return { rows: kept.current, gains };
}

/** Returns the order without idle time, and with the kernels to fix first at its beginning. */
function withFirst(kernels: Kernels, order: Int32Array, first: readonly number[]): Int32Array {
  const isIdle = idleRows(kernels);
  const known = new Set(first);
  return Int32Array.from([...first, ...order.filter((row) => !known.has(row) && !isIdle(row))]);
}

function usualSorting(own: readonly Column[], all: readonly Column[], sortBy: string): Sorting | undefined {
  const sorting = sortingOf(all, sortBy);
  return sorting && { ...sorting, column: columnFor(own, sorting.column.key) ?? sorting.column };
}

/** The columns of measured kernels and of other kernels, with their widths, px. "ai" stands for that of the roof's level. */
const MEASURED = { name: 96, self_time: 64, utilization: 52, headroom: 82 };
const PLANNED = { name: 96, ai: 84, attainable: 92, bound_by: 72, bound_time: 80 };
const BADGE_PX = 26;

/** Returns the columns of the tab. */
function tabColumns(all: readonly Column[], kernels: Kernels, roof: Roof | undefined): Column[] {
  const isMeasured = kernels.totalTime > 0;
  const heads: Readonly<Record<string, string>> = words.tabHeads;
  return Object.entries(isMeasured ? MEASURED : PLANNED).flatMap(([key, width]): Column[] => {
    const column = columnFor(all, key === "ai" ? `ai:${roof?.level ?? "main"}` : key);
    if (!column) return [];
    const look = { title: heads[key] ?? column.title, width };
    if (column.kind === "text" || key !== "headroom") return [{ ...column, ...look }];
    // A kernel above its roof saves nothing: its counts or its time are wrong.
    return [{ ...column, ...look, at: (row) => (column.at(row) >= 0 ? column.at(row) : Number.NaN) }];
  });
}

/** The column with the numbers of the most important kernels. */
export const badgeColumn = (first: readonly number[]): Column => ({
  ...{
    key: "badge",
    title: "",
    meaning: words.fixFirst(""),
    ofFile: false,
    from: [],
    kind: "plain",
    isFixed: true,
    width: BADGE_PX,
  },
  at: (row) => (first.includes(row) ? first.indexOf(row) + 1 : Number.NaN),
  draw: (row) => (first.includes(row) ? <b class="rw-badge">{first.indexOf(row) + 1}</b> : ""),
});

/** The column of names in a table that cannot be sorted. */
export const nameColumn = (store: Store, theme: Theme): Column => ({
  ...{
    key: "name",
    title: words.heads.name,
    meaning: "",
    ofFile: false,
    from: [],
    kind: "text",
    isFixed: true,
    width: 96,
  },
  at: (row) => nameOf(store.rows.kernels.value, row),
  texts: () => store.rows.kernels.value.name,
  ranks: ranksOf(() => []),
  draw: (row) => <KernelName {...{ store, theme, row }} />,
});

function withLooks(column: Column, store: Store, theme: Theme): Column {
  const kernels = store.rows.kernels.value;
  if (column.key === "name") return { ...column, draw: (row) => <KernelName {...{ store, theme, row }} /> };
  if (column.key !== "utilization" || column.kind === "text") return column;
  const above = <span class="rw-fault">{words.above}</span>;
  const draw = (row: number) => {
    const share = kernels.n > row ? column.at(row) : Number.NaN;
    // The column has no room for more digits.
    return share > MIN_ABOVE ? above : share > 0 && share < 0.01 ? `< ${formatPercent(0.01)}` : undefined;
  };
  return { ...column, draw };
}

/** A longer name is cut in its middle: this many letters at its end are always shown. */
const TAIL_LETTERS = 6;
const MIN_CUT_LETTERS = 13;

/** The name of a kernel after the dot of its colour. */
export function KernelName({
  store,
  theme,
  row,
}: {
  readonly store: Store;
  readonly theme: Theme;
  readonly row: number;
}) {
  const kernels = store.rows.kernels.value;
  const name = shortNameOf(kernels, row);
  const colouring = colouringOf(kernels, store.view.colourBy.value);
  const code = codeAt(colouring, row);
  const isScale = colouring.kind === "number";
  const colour = code < 0 ? theme.muted : isScale ? theme.scale[code] : categoryColour(theme, colouring, code);
  const at = name.length > MIN_CUT_LETTERS ? name.length - TAIL_LETTERS : name.length;
  return (
    <span class="rw-kernelname">
      {kernels.totalTime > 0 && (
        <svg width={12} height={12} aria-hidden="true">
          <CategoryDot
            {...{ x: 5, y: 6, colour: colour ?? theme.muted, outline: theme.background }}
            category={isScale && code >= 0 ? 0 : code}
            isPatterned={isPatternedIn(store, theme)}
          />
        </svg>
      )}
      <span>{name.slice(0, at)}</span>
      {at < name.length && <span class="rw-tail">{name.slice(at)}</span>}
    </span>
  );
}

interface CardProps {
  readonly columns: readonly Column[];
  readonly kernels: Kernels;
  readonly row: number;
}

/** Returns the column of the number at the right of a card, and the texts of its second line. */
function cardOf({ columns, kernels, row }: CardProps) {
  const others = columns.slice(2);
  const last = others.find(({ key }) => key === "headroom") ?? others.pop();
  const text = (column: Column) => {
    const value = cellText(column, row);
    return value === words.unknown
      ? value
      : column.key === "utilization"
        ? words.ofItsRoof(value)
        : column.key === "bound_by"
          ? words.boundBy(value)
          : value;
  };
  const texts = others.flatMap((column) => (column === last || Number.isNaN(kernels.time[row]) ? [] : [text(column)]));
  return { last, texts };
}

/** Returns a card as screen readers speak it: what could be saved follows its name. */
function spokenCard(props: CardProps): string {
  const { columns, kernels, row } = props;
  const { last, texts } = cardOf(props);
  const most = last ? [`${last.title.toLowerCase()} ${spokenCell(last, row)}`] : [];
  const known = texts.filter((text) => text !== words.unknown);
  return [spokenName(columns, kernels, row), ...known, ...most].join(", ");
}

/** Returns the name of a kernel after its number, if it has one. */
export function spokenName([badge]: readonly Column[], kernels: Kernels, row: number): string {
  const place = badge?.at(row) as number;
  return (Number.isNaN(place) ? "" : `${place} `) + shortNameOf(kernels, row);
}

/** A row on a narrow widget. */
function Card(props: CardProps) {
  const [badge, name] = props.columns;
  const { row } = props;
  const { last, texts } = cardOf(props);
  return (
    <>
      <span>{badge?.draw?.(row)}</span>
      <span title={name && cellText(name, row)}>{name?.draw?.(row)}</span>
      {last && <b>{cellText(last, row)}</b>}
      <span class="rw-muted">{texts.join(" · ")}</span>
      {last && <span class="rw-muted">{last.title.toLowerCase()}</span>}
    </>
  );
}

function captionsOf(store: Store, { rows, gains }: First, count: number, roof: Roof | undefined): ComponentChildren[] {
  if (count < 2) return [];
  const saved = formatQuantity(
    gains.reduce((sum, gain) => sum + gain, 0),
    "s",
  );
  const isElsewhere = roof && roof.chip.id !== (store.rates.focusRoof.value ?? roof).chip.id;
  const chip = isElsewhere ? (shortNames([roof.chip]).get(roof.chip.id) ?? "") : "";
  const others = count - rows.length;
  const fixFirst = (
    <>
      <span class="rw-headtext">
        <b>{words.fixFirst(chip)}</b> <Sign>{"·"}</Sign> {words.couldSave(rows.length, saved)}
      </span>
      <Button look="link" aria-label={words.selectFirst(rows.length)} onClick={() => store.rows.select(rows)}>
        {words.select}
      </Button>
    </>
  );
  const rest = (
    <span class="rw-headtext">
      {words.others} <Sign>{"·"}</Sign> {numerals.whole(others)}
    </span>
  );
  return others > 0 ? [fixFirst, rest] : [fixFirst];
}

/** What the selected kernels take and could save, in place of the search. */
function Selection({ store, roof }: { readonly store: Store; readonly roof: Roof | undefined }) {
  const kernels = store.rows.kernels.value;
  const rows = store.rows.selected.value.filter((row) => !store.rows.isHidden(row));
  const lock = store.lesson.lockNote("filters");
  const probe = roof && probeOf(kernels, roof);
  const [time, saved] = useMemo(() => {
    const own = rows.reduce((sum, row) => sum + (kernels.selfTime[row] || 0), 0);
    const gains = rows.map((row) => (probe ? headroomOf(kernels, row, probe(row).time) : 0));
    return [own, gains.reduce((sum, gain) => sum + (gain > 0 ? gain : 0), 0)];
  }, [kernels, roof, store.rows.selected.value]);
  const share = time / busyTime(kernels);
  return (
    <div class="rw-selection" role="status">
      <div class="rw-sum">
        <p>
          <b>{words.chosen(rows.length)}</b>
          {time > 0 && ` · ${words.ofKernelTime(formatQuantity(time, "s"), formatPercent(share))}`}
        </p>
        {saved > 0 && <p>{words.saves(formatQuantity(saved, "s"))}</p>}
      </div>
      <Button
        {...lockedBy(lock)}
        onClick={({ currentTarget }) =>
          keepFocusNear(currentTarget, () => {
            store.rows.setOnly(rows);
            if (!lock) store.rows.select([]);
          })
        }
      >
        {words.onlyThese}
      </Button>
      <Button look="word" onClick={({ currentTarget }) => keepFocusNear(currentTarget, () => store.rows.select([]))}>
        {words.clear}
      </Button>
    </div>
  );
}
