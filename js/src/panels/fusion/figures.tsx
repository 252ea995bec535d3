// The totals of a partition beside those of the unfused graph, and what is behind them.

import { useMemo } from "preact/hooks";
import { type Cost, type Tally, tally } from "../../fusion/forms.ts";
import { precisionOf, unfused } from "../../fusion/partition.ts";
import type { Light, Searched } from "../../fusion/search.ts";
import { operationIn } from "../../roofline/operations.ts";
import type { Workload } from "../../state/workload.ts";
import { formatFactor, formatIntensity, formatQuantity, formatSpeedUp } from "../../text/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { useDisclosure } from "../../ui/disclosure.ts";
import { tableWords, fusionWords as words } from "../../words/words.ts";

interface FiguresProps {
  readonly workload: Workload;
  readonly cost: Cost | undefined;
  readonly light: Light | undefined;
  readonly found: Searched | undefined;
  /** Whether the row has room for both values of all figures. */
  readonly isWide: boolean;
}

/** A row of the main figures. A press shows the others above it. */
export function Figures({ workload: { graph, values, partition, forms }, cost, light, found, isWide }: FiguresProps) {
  const all = useDisclosure();
  const apart = unfused(graph);
  const before = useMemo(() => tally(forms, apart, cost), [apart, forms, cost]);
  const now = useMemo(
    () => (partition === apart ? before : tally(forms, partition, cost)),
    [apart, values, partition, cost],
  );
  const operation = useMemo(() => {
    const isOfIntegers = (_: unknown, op: number) => operationIn(precisionOf(graph, values, [op]) ?? "") === "OP";
    return graph.ops.some(isOfIntegers) ? "OP" : "FLOP";
  }, [graph, values]);
  const speed = formatSpeedUp(before.seconds, now.seconds);
  const both = (text: (one: Tally) => string) => [text(before), text(now)] as const;
  const flops = both((one) => formatQuantity(one.flops, operation));
  const main = [
    both(({ kernels }) => words.counted(kernels)),
    both(({ bytes }) => formatQuantity(bytes, "B")),
    both((one) => formatIntensity(one.flops / one.bytes, 3, `${operation}/B`)),
    [speed.before, speed.now] as const,
  ];
  const others: (readonly [name: string, value: string])[] = [
    [operation === "OP" ? tableWords.operations : words.flops, flops[0] === flops[1] ? flops[0] : flops.join(" → ")],
  ];
  const level = (name: string, one: Light) => {
    const ratio = now.seconds / one.seconds;
    others.push([
      name,
      [
        ...(cost ? [formatQuantity(one.seconds, "s")] : []),
        formatQuantity(one.bytes, "B"),
        ...(ratio > 0 ? [words.now(formatFactor(ratio))] : []),
      ].join(" · "),
    ]);
  };
  level(words.unfused, before);
  if (found) {
    level(words.compiler, tally(forms, found.compiler, cost));
    level(words.best(found.how === "optimal"), tally(forms, found, cost));
  }
  if (light) level(words.light, light);
  return (
    <>
      {all.isOpen && (
        <dl class="rw-popover" {...all.opened}>
          {others.map(([name, value]) => (
            <div key={name} class="rw-row">
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <Button look="figures" title={words.details} {...all.button}>
        {main.map(([was, is], at) => (
          <span key={String(at)}>
            {was !== is && (isWide || at % 3 === 0) && <span class="rw-muted">{`${withoutUnit(was, is)} → `}</span>}
            {is}
          </span>
        ))}
      </Button>
    </>
  );
}

/** Returns the first text without its unit if both texts have the same unit: "4" of "4 kernels" and "3 kernels". */
function withoutUnit(was: string, is: string): string {
  const [number = "", unit] = was.split(/ (.*)/s);
  return unit !== undefined && is.endsWith(` ${unit}`) ? number : was;
}
