// The totals of a partition, compared with the unfused graph, with the compulsory bytes, and with the best partition.

import { useMemo } from "preact/hooks";
import { type Cost, compulsory, precisionOf, type Tally, tally, unfused } from "../../fusion/partition.ts";
import type { BestPartition } from "../../fusion/search.ts";
import { type Operation, operationIn } from "../../roofline/operations.ts";
import type { Workload } from "../../state/graph.ts";
import { formatFactor, formatIntensity, formatQuantity, formatSpeedUp } from "../../text/numbers.ts";
import { strings, tableWords, fusionWords as words } from "../../words/words.ts";

interface FiguresProps {
  readonly workload: Workload;
  readonly cost: Cost | undefined;
  readonly found: BestPartition | undefined;
  readonly crowded: boolean;
  /** The reason why the time is unknown. Empty if the time is known. */
  readonly lacking: string;
}

export function Figures({ workload: { graph, values, partition }, cost, found, crowded, lacking }: FiguresProps) {
  const apart = unfused(graph);
  const before = useMemo(() => tally(graph, values, apart, cost), [apart, values, cost]);
  const now = useMemo(
    () => (partition === apart ? before : tally(graph, values, partition, cost)),
    [apart, values, partition, cost],
  );
  const least = useMemo(() => compulsory(graph, values), [graph, values]);
  const operation = useMemo(() => {
    const isOfIntegers = (_: unknown, op: number) => operationIn(precisionOf(graph, values, [op]) ?? "") === "OP";
    return graph.ops.some(isOfIntegers) ? "OP" : "FLOP";
  }, [graph, values]);
  const best = found
    ? distance(now.seconds / found.seconds, found.how, crowded)
    : lacking === ""
      ? undefined
      : strings.unknown;
  return (
    <>
      <dl class="roofwidget-figures">
        {rowsOf(before, now, least, best, operation).map(([name, value]) => (
          <div key={name} class="roofwidget-row">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {lacking && <p class="roofwidget-muted">{lacking}</p>}
    </>
  );
}

type FigureRow = [name: string, value: string];

function rowsOf(before: Tally, now: Tally, least: number, best: string | undefined, operation: Operation): FigureRow[] {
  const from = (texts: [string, string]) => (texts[0] === texts[1] ? texts[0] : texts.join(" → "));
  const both = (text: (one: Tally) => string) => from([text(before), text(now)]);
  const speed = formatSpeedUp(before.seconds, now.seconds);
  return [
    [words.kernels, both(({ kernels }) => `${kernels}`)],
    [operation === "OP" ? tableWords.operations : words.flops, both(({ flops }) => formatQuantity(flops, operation))],
    [words.bytes, both(({ bytes }) => formatQuantity(bytes, "B"))],
    [words.intensity, both(({ flops, bytes }) => formatIntensity(flops / bytes, 3, `${operation}/B`))],
    [words.time, from([speed.before, speed.now])],
    [words.compulsory, words.least(formatQuantity(least, "B"), formatFactor(now.bytes / least))],
    [words.speedUp, Number.isNaN(before.seconds / now.seconds) ? strings.unknown : words.times(speed.factor)],
    ...(best === undefined ? [] : [[words.toBest, best] as FigureRow]),
  ];
}

/** Returns the text that says how much faster the best partition is. */
function distance(ratio: number, how: string, crowded: boolean): string {
  if (!(ratio >= 1.005)) return crowded ? words.isNone : words.isBest(how);
  return words.faster(formatFactor(ratio), how);
}
