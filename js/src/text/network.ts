// Texts of the network plane: names of messages, and what is said of them and of the link.

import { type ChipLink, halfSize, leading, type RatedMessage } from "../roofline/network.ts";
import { networkWords as words } from "../words/words.ts";
import { withoutControls } from "./controls.ts";
import type { TooltipRow } from "./describe.ts";
import { formatPercent, formatQuantity, formatSignificant } from "./numbers.ts";

const seconds = (time: number) => formatQuantity(time, "s");
export const bytes = (size: number) => formatQuantity(size, "B");
export const bytesPerSecond = (rate: number) => formatQuantity(rate, "B/s");
const known = (value: number, format: (value: number) => string) => (Number.isFinite(value) ? format(value) : "–");

/** Returns the name of a message, such as "all-reduce 67.1 MB". */
export const messageName = ({ kind, size }: Pick<RatedMessage, "kind" | "size">) => `${kind} ${bytes(size)}`;

/** The texts of a message in the table. */
export const messageCells = ({ bus, waiting }: RatedMessage, link: ChipLink | undefined) => ({
  bus: known(bus, bytesPerSecond),
  share: known(bus / (link?.bandwidth ?? Number.NaN), formatPercent),
  waiting: known(waiting, seconds),
});

const MAX_GROUP_LETTERS = 40;

function groupName({ group }: RatedMessage): string {
  const name = withoutControls(group);
  return name.length > MAX_GROUP_LETTERS ? `${name.slice(0, MAX_GROUP_LETTERS - 1)}…` : name;
}

/** Returns the head and the rows of the tooltip. */
export function messageCard(
  message: RatedMessage,
  link: ChipLink | undefined,
  isAboveRing: boolean,
): readonly [name: string, rows: readonly TooltipRow[]] {
  const { count, time, fastest, algorithm, bus, best, ranks } = message;
  const cells = messageCells(message, link);
  const rate = (time: number, value: number) => `${seconds(time)} · ${known(value, bytesPerSecond)}`;
  const rows: TooltipRow[] = [
    [words.meanCall, rate(time / count, bus)],
    ...(count > 1 && Number.isFinite(fastest) ? [[words.fastestCall, rate(fastest, best)] as const] : []),
    [words.algorithm, known(algorithm, bytesPerSecond)],
    ...(link ? [[words.ofLinkRow, cells.share] as const] : []),
    ...(message.group ? [[words.group, groupName(message)] as const] : []),
    ...(Number.isFinite(message.waiting) ? [[words.waitingRow, cells.waiting] as const] : []),
    ...(isAboveRing ? [[words.note, words.aboveRing] as const] : []),
  ];
  return [Number.isFinite(ranks) ? `${messageName(message)} · ${words.ranks(ranks)}` : messageName(message), rows];
}

/** Returns the formula of a message, at its fastest call if this is known, else at the mean call. */
export function messageFormula(message: RatedMessage, link: ChipLink | undefined): string {
  const { factor, size, time, fastest, best, bus, count } = message;
  if (!Number.isFinite(bus)) return messageName(message);
  const [call, rate] = Number.isFinite(best) ? [fastest, best] : [time / count, bus];
  const share = link ? words.ofNamed(formatPercent(rate / link.bandwidth), link.name) : "";
  const formula = `${formatSignificant(factor)} × ${bytes(size)} ÷ ${seconds(call)} = ${bytesPerSecond(rate)}`;
  const mean = count > 1 && rate !== bus ? `; ${words.meanCall} ${bytesPerSecond(bus)}` : "";
  return `${messageName(message)}: ${formula}${share && `, ${share}`}${mean}`;
}

/** Returns what is said of the plane if no message is hovered. */
export function networkSentence(messages: readonly RatedMessage[], link: ChipLink | undefined): string {
  if (messages.length === 0) return words.noSizes;
  if (!link) return words.noLink;
  const { name, bandwidth, sheet, latency, sheetLatency } = link;
  const first = leading(messages);
  const changed = [
    bandwidth === sheet ? "" : `${name} ${bytesPerSecond(sheet)} → ${bytesPerSecond(bandwidth)}`,
    Object.is(latency, sheetLatency)
      ? ""
      : words.latencyOf(`${Number.isNaN(sheetLatency) ? "" : `${seconds(sheetLatency)} → `}${seconds(latency)}`),
  ].filter(Boolean);
  const half =
    first && first.factor > 0 && Number.isFinite(latency)
      ? words.halfAt(formatQuantity(halfSize(first.factor, link), "B", 2))
      : "";
  const told = half ? `${changed.length > 0 ? "" : `${words.model}; `}${half}` : words.noLatency(name);
  return changed.length > 0 ? `${words.whatIf} ${changed.join(", ")}; ${told}` : told;
}
