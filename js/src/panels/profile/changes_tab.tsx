// The tab of two runs: how the time of each kernel has changed, and the kernels that only one of the two runs has.

import { useComputed, useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { clamp } from "../../chart/scales.ts";
import type { Theme } from "../../chart/theme.ts";
import { changeOf, largestChanges, passing, type RunChange, type Runs } from "../../roofline/compare_runs.ts";
import { idleRows } from "../../roofline/positions.ts";
import type { Store } from "../../state/store.ts";
import { nameOf, shortNameOf } from "../../text/kernel_names.ts";
import { formatChange, formatQuantity } from "../../text/numbers.ts";
import { Button, Sign } from "../../ui/button.tsx";
import { useDisclosure } from "../../ui/disclosure.ts";
import { OWN_KEYS } from "../../ui/keys.ts";
import { PopoverButton } from "../../ui/popover.tsx";
import type { Kernels } from "../../wire/columns.ts";
import { runWords as words } from "../../words/words.ts";
import type { TabProps } from "../tab.ts";
import type { Column, NumberColumn } from "../table/columns.ts";
import { cardLayout, Grid, gridLayout } from "../table/grid.tsx";
import { badgeColumn, Head, nameColumn, spokenName } from "../table/kernels_tab.tsx";
import { copyRows } from "../table/table.tsx";

/** How many kernels of one run alone are named. */
const MAX_NAMED = 20;
/** The maximum height of the list of kernels of one run alone, px. */
const ALONE_PX = 320;
/** The widths of the columns, px. */
const [TIME_PX, BAR_PX, CHANGE_PX] = [64, 44, 60];

const seconds = (time: number) => formatQuantity(time, "s");
/**
 * Formats a time. If `launches` is not 1, the time is that of one launch, and the text also has the number of launches.
 */
const secondsOf = (time: number, launches = 1) =>
  launches === 1 || Number.isNaN(time) ? seconds(time) : words.launches(seconds(time), launches);

export const hasChanges = ({ rows: { runs } }: Store) => runs.value !== undefined;

/** The number of kernels beside the title of the tab: those whose time has changed. */
export const changesNote = ({ rows: { runs } }: Store) => String(runs.value?.changes.filter(isChanged).length ?? 0);

const isChanged = ({ verdict }: RunChange) => verdict !== "same";

export function ChangesTab({ store, theme, height, narrow }: TabProps) {
  const passed = useComputed(() => {
    const {
      rows: { runs, earlierRows, passing: rows },
    } = store;
    return runs.value && passing(runs.value, earlierRows.value, rows.value);
  });
  const runs = passed.value;
  const root = useRef<HTMLDivElement>(null);
  const isUnfolded = useSignal(false);
  const kernels = store.rows.kernels.value;
  const changes = useMemo(() => {
    const isIdle = idleRows(kernels);
    return runs?.changes.filter(({ row }) => !isIdle(row)) ?? [];
  }, [runs, kernels]);
  if (!runs) return null;
  const changed = changes.filter(isChanged);
  const same = changes.filter((change) => !isChanged(change));
  const order = Int32Array.from([...changed, ...(isUnfolded.value ? same : [])], ({ row }) => row);
  const columns = columnsOf(
    store,
    theme,
    changes,
    largestChanges(runs, (row) => (store.rows.points.value.home[row] ?? -1) >= 0),
  );
  const captions = same.length > 0 ? [changed.length] : [];
  const layout = { ...(narrow ? cardLayout(height) : gridLayout(columns, height)), captions };
  const fold = (
    <button
      type="button"
      {...OWN_KEYS}
      aria-expanded={isUnfolded.value}
      onClick={() => {
        isUnfolded.value = !isUnfolded.value;
      }}
    >
      {words.same(same.length)}
      <Sign> {isUnfolded.value ? "▾" : "▸"}</Sign>
    </button>
  );
  const byRow = new Map(changes.map((change) => [change.row, change]));
  return (
    <div ref={root} class="rw-kernels rw-changes">
      <Head store={store} roof={store.rates.focusRoof.value} />
      {changes.length > 0 && (
        <Grid
          {...{ store, columns, order, layout, sorting: undefined }}
          captions={captions.map(() => fold)}
          {...(narrow && {
            card: (row: number) => <Card columns={columns} row={row} change={byRow.get(row)} />,
            spoken: (row: number) => spokenCard(kernels, columns, row, byRow.get(row)),
          })}
          copy={() =>
            void copyRows(
              store,
              root.current,
              columns.filter(({ title }) => title),
              order,
            )
          }
        />
      )}
      <Footer store={store} runs={runs} />
    </div>
  );
}

function columnsOf(store: Store, theme: Theme, changes: readonly RunChange[], largest: readonly RunChange[]): Column[] {
  const byRow = new Map(changes.map((change) => [change.row, change]));
  const most = Math.max(...largest.map((change) => Math.abs(changeOf(change))));
  const column = (key: string, title: string, width: number, parts: Partial<NumberColumn>): Column => ({
    ...{ key, title, width, meaning: "", ofFile: false, from: [], kind: "s", isFixed: true, at: () => Number.NaN },
    ...parts,
  });
  const of = <T,>(row: number, read: (change: RunChange) => T) => {
    const change = byRow.get(row);
    return change && read(change);
  };
  return [
    badgeColumn(largest.map(({ row }) => row)),
    nameColumn(store, theme),
    column("before", words.before, TIME_PX, {
      at: (row) => of(row, ({ from }) => from) ?? Number.NaN,
      draw: (row) => of(row, ({ from, launches }) => secondsOf(from, launches?.[0])),
    }),
    column("now", words.now, TIME_PX, {
      at: (row) => of(row, ({ to }) => to) ?? Number.NaN,
      draw: (row) => of(row, ({ to, launches }) => secondsOf(to, launches?.[1])),
    }),
    column("bar", "", BAR_PX, { draw: (row) => of(row, (change) => <Bar share={changeOf(change) / most} />) }),
    column("change", words.change, CHANGE_PX, {
      kind: "share",
      at: (row) => of(row, ({ from, to }) => to / from - 1) ?? Number.NaN,
      draw: (row) => of(row, changeText),
    }),
  ];
}

const isCompared = ({ verdict }: RunChange) => ["faster", "slower", "same"].includes(verdict);

function changeText(change: RunChange) {
  const text = wordOf(change);
  return isCompared(change) ? <b>{text}</b> : <span class="rw-muted">{text}</span>;
}

const wordOf = (change: RunChange) =>
  isCompared(change) ? formatChange(change.from, change.to) : (words.verdicts[change.verdict] ?? change.verdict);

/** A bar from the middle: to the left for less time, to the right for more time. */
const Bar = ({ share }: { readonly share: number }) => (
  <svg width={BAR_PX - 4} height={9} viewBox="-1 0 2 1" preserveAspectRatio="none" aria-hidden="true">
    <path class={share > 0 ? "rw-slower" : ""} d={`M0,0H${clamp(share || 0, -1, 1)}V1H0Z`} fill="currentColor" />
  </svg>
);

/** A row on a narrow widget. */
function Card({ columns, row, change }: { columns: readonly Column[]; row: number; change: RunChange | undefined }) {
  const [badge, name] = columns;
  if (!change) return null;
  const { from, to, launches } = change;
  return (
    <>
      <span>{badge?.draw?.(row)}</span>
      <span>{name?.draw?.(row)}</span>
      <span>{changeText(change)}</span>
      <span class="rw-muted">{`${secondsOf(from, launches?.[0])} → ${secondsOf(to, launches?.[1])}`}</span>
    </>
  );
}

/** Returns a card as screen readers speak it. */
function spokenCard(kernels: Kernels, columns: readonly Column[], row: number, change: RunChange | undefined): string {
  if (!change) return "";
  const { from, to, launches } = change;
  return [
    spokenName(columns, kernels, row),
    `${words.before} ${secondsOf(from, launches?.[0])}`,
    `${words.now} ${secondsOf(to, launches?.[1])}`,
    wordOf(change),
  ].join(", ");
}

function Footer({ store, runs: { before, changes, onlyBefore, onlyNow } }: { store: Store; runs: Runs }) {
  const how = useDisclosure();
  const kernels = store.rows.kernels.value;
  const perLaunch = changes.filter(({ launches }) => launches).length;
  const timeOf = (table: Kernels, rows: readonly number[]) =>
    seconds(rows.reduce((sum, row) => sum + (table.selfTime[row] || 0), 0));
  const only = [
    ...(onlyBefore.length > 0 ? [words.onlyBefore(onlyBefore.length, timeOf(before, onlyBefore))] : []),
    ...(onlyNow.length > 0 ? [words.onlyNow(onlyNow.length, timeOf(kernels, onlyNow))] : []),
  ];
  return (
    <div class="rw-footer">
      {only.length > 0 && (
        <p class="rw-opener">
          {only.join(", ")}{" "}
          <PopoverButton look="link" label={only.join(", ")} text={words.showAlone} room={ALONE_PX} place="rw-above-it">
            <Alone title={words.titleBefore} kernels={before} rows={onlyBefore} />
            <Alone title={words.titleNow} kernels={kernels} rows={onlyNow} />
          </PopoverButton>
        </p>
      )}
      <p>
        {words.matched}{" "}
        <Button look="link" {...how.button}>
          {words.how}
        </Button>
        {how.isOpen && (
          <span id={how.opened.id}>
            {" "}
            {words.verdictTitle} {perLaunch > 0 && words.perLaunch(perLaunch)}
          </span>
        )}
      </p>
    </div>
  );
}

interface AloneProps {
  readonly title: string;
  readonly kernels: Kernels;
  readonly rows: readonly number[];
}

function Alone({ title, kernels, rows }: AloneProps) {
  if (rows.length === 0) return null;
  const left = rows.length - MAX_NAMED;
  return (
    <div class="rw-alone">
      <h4>{title}</h4>
      <ul>
        {rows.slice(0, MAX_NAMED).map((row) => (
          <li key={row} title={nameOf(kernels, row)}>
            {shortNameOf(kernels, row)} <span class="rw-muted">{seconds(kernels.time[row] as number)}</span>
          </li>
        ))}
        {left > 0 && <li class="rw-muted">{words.more(left)}</li>}
      </ul>
    </div>
  );
}
