// The footer of the kernels' tab: the most important thing to know of the rows above it, and what to do.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { causeOf, rowsAbove } from "../../roofline/above_roof.ts";
import { busyTime } from "../../roofline/positions.ts";
import type { Roof } from "../../roofline/roofline.ts";
import { rowsWithoutWork } from "../../roofline/typed_work.ts";
import type { Store } from "../../state/store.ts";
import { formatPercent } from "../../text/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { focusNeighbour } from "../../ui/focus.ts";
import type { Kernels } from "../../wire/columns.ts";
import { tableWords as words } from "../../words/words.ts";
import { hasTypedWork, TypedWork } from "../typed_work.tsx";
import { takesRules } from "../unknown_tab.tsx";

interface FooterProps {
  readonly store: Store;
  /** The roof that judges the kernels. */
  readonly roof: Roof | undefined;
  readonly rows: Int32Array;
}

export function Footer({ store, roof, rows }: FooterProps) {
  const kernels = store.rows.kernels.value;
  // Whether the button has asked for the boxes, so that the first box takes the focus.
  const isAsked = useSignal(false);
  const above = useMemo(() => (roof ? rowsAbove(kernels, roof, rows) : []), [kernels, roof, rows]);
  const unknown = useMemo(() => rowsWithoutWork(kernels, rows), [kernels, rows]);
  const { leftOut } = store.rows.ranking.value;
  const moved = Object.keys(store.rows.moves.value).length;
  const isLocked = store.lesson.lockNote("moves") !== undefined;
  const share = (seconds: number) => formatPercent(seconds / busyTime(kernels));
  const timeOf = (some: ArrayLike<number>) => share(secondsOf(kernels, some));
  const first = unknown[0];
  function removeWhatIfs(control: HTMLElement) {
    // The line with the button goes.
    focusNeighbour(control);
    store.rows.resetMoves();
  }
  // Without Python there are no rules, and a person types the numbers.
  const hasRules = takesRules(store);
  const line =
    hasTypedWork(store) && !hasRules ? (
      <TypedWork store={store} isAsked={isAsked} />
    ) : moved > 0 && !isLocked ? (
      <p>
        {words.whatIfs(moved)} <Link act={removeWhatIfs}>{words.removeWhatIfs}</Link>
      </p>
    ) : roof && above.length > 0 ? (
      <Above {...{ store, roof, above }} />
    ) : first !== undefined && !isLocked ? (
      <p>
        {words.withoutWork(unknown.length, kernels.totalTime > 0 ? timeOf(unknown) : "")}{" "}
        <Link
          act={() => {
            if (hasRules) return store.view.openTab("unknown");
            isAsked.value = true;
            store.rows.select([first]);
          }}
        >
          {words.typeWork(unknown.length)}
        </Link>
      </p>
    ) : leftOut.count > 0 ? (
      <p>{words.notRanked(leftOut.count, share(leftOut.seconds))}</p>
    ) : null;
  return line && <div class="rw-footer">{line}</div>;
}

function secondsOf({ selfTime }: Kernels, rows: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < rows.length; at++) sum += selfTime[rows[at] as number] || 0;
  return sum;
}

const Link = ({ act, children }: { act: (control: HTMLElement) => void; children: ComponentChildren }) => (
  <Button look="link" onClick={({ currentTarget }) => act(currentTarget)}>
    {children}
  </Button>
);

interface AboveProps {
  readonly store: Store;
  readonly roof: Roof;
  readonly above: readonly number[];
}

/** How many kernels are above the roof, and the likely cause. */
function Above({ store, roof, above }: AboveProps) {
  const kernels = store.rows.kernels.value;
  const { name, what } = useMemo(() => causeOf(kernels, roof, above), [kernels, roof, above]);
  return (
    <p class="rw-above">
      <b>{words.areAbove(above.length)}</b> {words.causes[name](what, roof.precision)}{" "}
      {name === "precision" && store.lesson.lockNote("precision") === undefined && (
        <Link act={() => store.rates.choosePrecision(what)}>{words.judgeAt(what)}</Link>
      )}
      {name === "cache" && store.lesson.lockNote("memory") === undefined && (
        <Link act={() => store.rates.chooseMemory("all")}>{words.showLevels}</Link>
      )}
      <Link act={() => store.rows.select(above)}>{words.showThem(above.length)}</Link>
    </p>
  );
}
