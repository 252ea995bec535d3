// The bytes meter: a cell for each pass, in the order of the kernels. The cells of a kernel have one outline. A merge strikes
// the cells that it saves, and they drop out.

import { useMemo } from "preact/hooks";
import { tally } from "../../fusion/forms.ts";
import { unfused } from "../../fusion/partition.ts";
import { type Kept, type Pass, passesOf, savedPasses } from "../../fusion/passes.ts";
import type { Store } from "../../state/store.ts";
import type { Workload } from "../../state/workload.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { fusionWords as words } from "../../words/words.ts";

/** With more passes than this, cells are too narrow to be told apart. */
const MAX_CELLS = 48;
/** The width of the number of passes beside the cells, px. */
const COUNT_PX = 72;
/** The least widths of a cell with direction and name, and of a cell with its name alone, px. */
const [BOTH_PX, NAME_PX, LETTER_PX] = [31, 14, 6.4];

interface MeterProps {
  readonly store: Store;
  readonly workload: Workload;
  /** The width of the panel, px. */
  readonly width: number;
}

/** Returns a pass as text, such as "read x, 537 MB". */
export const passText = ({ isWrite, bytes }: Pass, name: string) =>
  `${words.direction(isWrite)} ${name}, ${formatQuantity(bytes, "B")}`;

export function Meter({ store, workload, width }: MeterProps) {
  const { graph, partition, forms } = workload;
  const merges = store.workload.trails.value?.merges;
  const isSmall = graph.ops.length <= MAX_CELLS;
  const kernels = useMemo(
    () => (isSmall ? partition.groups.map((group) => passesOf(workload, group)) : []),
    [partition, forms],
  );
  const now = kernels.flat().length;
  const most = useMemo(() => tally(forms, isSmall ? unfused(graph) : partition).bytes, [forms]);
  if (now === 0 || now > MAX_CELLS) return null;
  const before = partition.groups.map((group, row): readonly Kept[] => {
    const own = kernels[row] as Pass[];
    const parts = merges?.find((one) => one.row === row)?.groups;
    if (parts?.flat().length !== group.length) return own.map((pass) => ({ ...pass, isSaved: false }));
    return savedPasses(
      parts.map((part) => passesOf(workload, part)),
      own,
    );
  });
  const scale = (width - COUNT_PX - 8 * graph.ops.length) / Math.max(most, tally(forms, partition).bytes);
  const row = (cells: readonly (readonly Kept[])[], look: string) => (
    <div class={look}>
      {cells.map((passes, at) => (
        <span key={partition.groups[at]?.[0]} class="rw-kernel">
          {passes.map((pass) => {
            const name = pass.tensor === undefined ? "…" : (graph.tensors[pass.tensor]?.name ?? "");
            const px = pass.bytes * scale;
            const isNamed = name.length * LETTER_PX < px && px >= NAME_PX;
            return (
              <span
                key={pass.key}
                class="rw-pass"
                data-write={pass.isWrite}
                data-saved={pass.isSaved}
                style={{ width: `${px}px` }}
                title={passText(pass, name)}
              >
                {isNamed && px >= BOTH_PX && <small>{words.direction(pass.isWrite)}</small>}
                {isNamed && name}
              </span>
            );
          })}
        </span>
      ))}
    </div>
  );
  return (
    <div class="rw-meter" aria-hidden="true" data-rw="meter">
      <div>
        {row(before, "rw-passes rw-was")}
        {row(before, "rw-passes")}
      </div>
      <b>{words.passes(now)}</b>
    </div>
  );
}
