// The bytes meter: a cell for each pass, in the order of the kernels. The cells of a kernel have one outline. A merge strikes
// the cells that it saves, and they drop out.

import { useMemo } from "preact/hooks";
import type { Ops } from "../../fusion/graph.ts";
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

const bytesOf = (passes: readonly Pass[]) => passes.reduce((sum, { bytes }) => sum + bytes, 0);

export function Meter({ store, workload, width }: MeterProps) {
  const { graph, values, partition, forms } = workload;
  const merges = store.workload.trails.value?.merges;
  const whole = useMemo(() => {
    if (graph.ops.length > MAX_CELLS) return;
    const passes = unfused(graph).groups.map((group) => passesOf(workload, group));
    return passes.flat().length > MAX_CELLS ? undefined : bytesOf(passes.flat());
  }, [graph, values, forms]);
  const kernels = useMemo(() => partition.groups.map((group) => passesOf(workload, group)), [partition, forms]);
  const now = kernels.flat();
  if (whole === undefined || now.length > MAX_CELLS) return null;
  const isOf = (group: Ops, parts: readonly Ops[]) =>
    parts.flat().length === group.length && parts.flat().every((op) => group.includes(op));
  const before = partition.groups.map((group, row): readonly Kept[] => {
    const own = kernels[row] as Pass[];
    const parts = merges?.find((one) => one.row === row)?.groups;
    if (!parts || !isOf(group, parts)) return own.map((pass) => ({ ...pass, isSaved: false }));
    return savedPasses(
      parts.map((part) => passesOf(workload, part)),
      own,
    );
  });
  const scale = (width - COUNT_PX - 8 * graph.ops.length) / Math.max(whole, bytesOf(now));
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
                title={`${words.pass(pass.isWrite, name)}, ${formatQuantity(pass.bytes, "B")}`}
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
      <b>{words.passes(now.length)}</b>
    </div>
  );
}
