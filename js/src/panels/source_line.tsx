// The line above the verdict: which file, of which tool, with how many kernels on which chip, and what to know of it.

import { useComputed } from "@preact/signals";
import type { Store } from "../state/store.ts";
import { shortNames } from "../text/names.ts";
import { toolOf } from "../text/tools.ts";
import { Button, Sign } from "../ui/button.tsx";
import { PopoverButton } from "../ui/popover.tsx";
import type { Kernels } from "../wire/columns.ts";
import type { ReadAs } from "../wire/types.ts";
import { networkWords, sourceWords as words } from "../words/words.ts";

/** The maximum height of the list of remarks, px. */
const REMARKS_PX = 420;

export function SourceLine({ store }: { store: Store }) {
  const kernels = store.rows.kernels.value;
  const runs = store.rows.runs.value;
  const graph = store.workload.graph.value?.graph;
  const count = useComputed(() => countOf(store));
  if (kernels.n === 0) return null;
  return (
    <div class={runs ? "rw-source rw-two" : "rw-source"} data-rw="source">
      {runs ? (
        <span>
          {words.before} <b>{fileOf(runs.before)}</b> <Sign>{"→"}</Sign> {words.now} <b>{fileOf(kernels)}</b>
          <Sign>{"\u00a0· "}</Sign>
          {count}
        </span>
      ) : graph ? (
        <>
          <span>{words.graph(graph.ops.length)}</span>
          <span>{words.leastTimes}</span>
        </>
      ) : (
        <>
          {kernels.source && <b title={kernels.source}>{fileOf(kernels)}</b>}
          {kernels.readAs && toolOf(kernels.readAs.format) && <span>{toolOf(kernels.readAs.format)}</span>}
        </>
      )}
      {!graph && !runs && <span class="rw-on">{count}</span>}
      {!graph && kernels.warnings.length > 0 && <span class="rw-remark">{kernels.warnings[0]}</span>}
      {!graph && <Remarks kernels={kernels} />}
      {runs && store.view.openFiles.value !== "nothing" && (
        <>
          <Button look="link" onClick={store.python.swapRuns}>
            {words.swap}
          </Button>
          <Button look="link" onClick={store.python.stopComparing}>
            {words.stop}
          </Button>
        </>
      )}
    </div>
  );
}

const fileOf = ({ source }: Kernels) => source.split(/[/\\]/).pop() || words.python;

function countOf({ rows: { kernels, messages, totals }, rates: { chips, focusRoof, topology }, view }: Store): string {
  const { chip, source } = kernels.value;
  const roof = focusRoof.value;
  const count = totals.value.all;
  // That the file names no chip is more important.
  if (chip && view.plane.value === "network" && messages.value.length > 0)
    return messagesOf(kernels.value, topology.value);
  if (!source) return words.fromPython(count);
  if (!roof) return words.count(count);
  const name = shortNames(chips.value).get(roof.chip.id) ?? roof.chip.name;
  return chip ? words.onChip(count, name) : words.onUnknown(count, name);
}

/** Says how many messages there are, of how many ranks, and for which topology their bytes are counted. */
function messagesOf({ messages }: Kernels, topology: keyof typeof networkWords.topologies): string {
  const ranks = [...new Set(messages.map((one) => one.ranks))].filter(Number.isFinite).sort((a, b) => a - b);
  return networkWords.counted(messages.length, ranks, networkWords.topologies[topology]);
}

/** A link that opens the remarks of the reader, and how it read each field. */
function Remarks({ kernels: { warnings, readAs } }: { kernels: Kernels }) {
  if (warnings.length === 0 && !readAs) return null;
  const label = warnings.length > 0 ? words.remarks(warnings.length) : words.readAs;
  return (
    <span class="rw-opener">
      <PopoverButton look="link" label={label} room={REMARKS_PX}>
        {warnings.length > 0 && (
          <ul class="rw-remarks">
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        )}
        {readAs && <HowRead readAs={readAs} />}
      </PopoverButton>
    </span>
  );
}

/** For each field of the file: how many rows have a value, and the column or rule behind it. */
function HowRead({ readAs: { format, fields } }: { readAs: ReadAs }) {
  return (
    <div class="rw-read-as">
      <h4>
        {words.readAs} {words.readAsNote(format)}
      </h4>
      <table>
        <thead>
          <tr>
            {words.readAsColumns.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {fields.map(([field, known, rule]) => (
            <tr key={field}>
              <th scope="row">{field}</th>
              <td>{known}</td>
              <td>{rule}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
