// The comparison with an earlier run. It shows the kernels whose times changed, and the kernels that only one of the
// two runs has.

import { useComputed, useSignal } from "@preact/signals";
import { countsOf, passing, type Runs } from "../../roofline/compare_runs.ts";
import type { Store } from "../../state/store.ts";
import { nameOf, shortNameOf } from "../../text/kernel_names.ts";
import { formatChange, formatQuantity } from "../../text/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { Fold } from "../../ui/fold.tsx";
import type { Kernels } from "../../wire/columns.ts";
import { runWords as words } from "../../words/words.ts";
import { KernelButton } from "../kernel_button.tsx";

/** How many rows are shown at first. Each click on "more" adds the same number of rows. */
const ROWS_PER_PAGE = 20;
const seconds = (time: number) => formatQuantity(time, "s");
/**
 * Formats a time. If `launches` is not 1, the time is that of one launch, and the text also has the number of launches.
 */
const secondsOf = (time: number, launches = 1) =>
  launches === 1 || Number.isNaN(time) ? seconds(time) : words.launches(seconds(time), launches);

export function Compare({ store }: { store: Store }) {
  const passed = useComputed(() => {
    const { runs, earlierRows, rows } = store;
    return runs.value && passing(runs.value, earlierRows.value, rows.value);
  });
  const runs = passed.value;
  if (!runs) return null;
  const found = countsOf(runs.changes);
  const counts = Object.entries(words.verdicts).flatMap(([verdict, word]) => {
    const count = found.get(verdict) ?? 0;
    return count > 0 ? [`${count} ${word}`] : [];
  });
  return (
    <div class="roofwidget-compare">
      <Fold name="compare" title={words.compared} note={counts.join(" · ")}>
        <Differences store={store} runs={runs} />
        <Alone title={words.onlyBefore} kernels={runs.before} rows={runs.onlyBefore} />
        <Alone title={words.onlyNow} kernels={store.kernels.value} rows={runs.onlyNow} />
      </Fold>
    </div>
  );
}

function Differences({ store, runs: { changes } }: { store: Store; runs: Runs }) {
  const shown = useSignal(ROWS_PER_PAGE);
  const left = changes.length - shown.value;
  const perLaunch = changes.filter(({ launches }) => launches).length;
  if (changes.length === 0) return null;
  return (
    <>
      <table>
        <thead>
          <tr>
            {[words.kernel, words.before, words.now, words.change].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
            <th scope="col" title={words.verdictTitle}>
              {words.verdict}
            </th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, shown.value).map(({ earlier, row, from, to, launches, verdict }) => (
            <tr key={earlier} data-verdict={verdict}>
              <th scope="row">
                <KernelButton store={store} row={row} />
              </th>
              <td>{secondsOf(from, launches?.[0])}</td>
              <td>{secondsOf(to, launches?.[1])}</td>
              <td>{formatChange(from, to)}</td>
              <td>{words.verdicts[verdict] ?? verdict}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {perLaunch > 0 && <p class="roofwidget-muted">{words.perLaunch(perLaunch)}</p>}
      {left > 0 && (
        <Button
          onClick={() => {
            shown.value += ROWS_PER_PAGE;
          }}
        >
          {words.showMore(left)}
        </Button>
      )}
    </>
  );
}

interface AloneProps {
  title(count: number): string;
  readonly kernels: Kernels;
  readonly rows: readonly number[];
}

function Alone({ title, kernels, rows }: AloneProps) {
  if (rows.length === 0) return null;
  const left = rows.length - ROWS_PER_PAGE;
  return (
    <div class="roofwidget-alone">
      <h4>{title(rows.length)}</h4>
      <ul>
        {rows.slice(0, ROWS_PER_PAGE).map((row) => (
          <li key={row} title={nameOf(kernels, row)}>
            {shortNameOf(kernels, row)} <span class="roofwidget-muted">{seconds(kernels.time[row] as number)}</span>
          </li>
        ))}
        {left > 0 && <li class="roofwidget-muted">{words.more(left)}</li>}
      </ul>
    </div>
  );
}
