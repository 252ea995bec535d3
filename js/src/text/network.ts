// Texts of the network plane: names of messages, and what is said of them and of the link.

import {
  aboveOf,
  busRoof,
  type ChipLink,
  drawnMessages,
  leading,
  type RatedMessage,
  roofOver,
} from "../roofline/network.ts";
import { networkWords as words } from "../words/words.ts";
import { withoutControls } from "./controls.ts";
import type { TooltipRow } from "./describe.ts";
import { formatPercent, formatQuantity, formatSignificant } from "./numbers.ts";

const seconds = (time: number) => formatQuantity(time, "s");
export const bytes = (size: number) => formatQuantity(size, "B");
export const bytesPerSecond = (rate: number) => formatQuantity(rate, "B/s");
const known = (value: number, format: (value: number) => string) => (Number.isFinite(value) ? format(value) : "–");

const MAX_LETTERS = 40;

function brief(text: string): string {
  const name = withoutControls(text);
  return name.length > MAX_LETTERS ? `${name.slice(0, MAX_LETTERS - 1)}…` : name;
}

/** Returns the name of a message, such as "all-reduce 67.1 MB", with its series if there are several. */
export const messageName = ({ kind, size, series }: Pick<RatedMessage, "kind" | "size" | "series">) =>
  `${kind} ${bytes(size)}${series === undefined ? "" : ` · ${brief(series)}`}`;

/** A link, and how ranks are connected over it. */
interface Network {
  readonly link: ChipLink | undefined;
  readonly topology: keyof typeof words.topologies;
}

/** Returns the share of its roof that a message reaches at a bus bandwidth. */
const shareOf = (message: RatedMessage, rate: number, { link, topology }: Network) =>
  link ? rate / busRoof(message, link.bandwidth, topology) : Number.NaN;

/** The texts of a message in the table. */
export const messageCells = (message: RatedMessage, network: Network) => ({
  bus: known(message.bus, bytesPerSecond),
  share: known(shareOf(message, message.bus, network), formatPercent),
  waiting: known(message.waiting, seconds),
});

/** A larger group may be on several nodes, whose network is not the link. Most nodes have at most so many chips. */
const MAX_RANKS_OF_A_NODE = 8;

/** Says what a rate above a roof means, or what of the roof is uncertain; empty if there is nothing to say. */
function noteOf(message: RatedMessage, { link, topology }: Network): string {
  const { bus, best, ranks } = message;
  if (!link) return "";
  const above = aboveOf(message, link.bandwidth, topology, Number.isFinite(best) ? best : bus);
  if (above) return words.above[above === "all" ? above : topology];
  return ranks > MAX_RANKS_OF_A_NODE ? words.severalNodes(link.name) : "";
}

/** Returns the head and the rows of the tooltip. */
export function messageCard(
  message: RatedMessage,
  network: Network,
): readonly [name: string, rows: readonly TooltipRow[]] {
  const { count, time, fastest, algorithm, bus, best, ranks } = message;
  const cells = messageCells(message, network);
  const note = noteOf(message, network);
  const rate = (time: number, value: number) => `${seconds(time)} · ${known(value, bytesPerSecond)}`;
  const rows: TooltipRow[] = [
    [words.meanCall, rate(time / count, bus)],
    ...(count > 1 && Number.isFinite(fastest) ? [[words.fastestCall, rate(fastest, best)] as const] : []),
    [words.algorithm, known(algorithm, bytesPerSecond)],
    ...(network.link ? [[words.ofLinkRow, cells.share] as const] : []),
    ...(message.group ? [[words.group, brief(message.group)] as const] : []),
    ...(Number.isFinite(message.waiting) ? [[words.waitingRow, cells.waiting] as const] : []),
    ...(note ? [[words.note, note] as const] : []),
  ];
  return [Number.isFinite(ranks) ? `${messageName(message)} · ${words.ranks(ranks)}` : messageName(message), rows];
}

/** Returns the formula of a message, at its fastest call if this is known, else at the mean call. */
export function messageFormula(message: RatedMessage, network: Network): string {
  const { factor, size, time, fastest, best, bus, count } = message;
  if (!Number.isFinite(bus)) return messageName(message);
  const [call, rate] = Number.isFinite(best) ? [fastest, best] : [time / count, bus];
  const share = network.link ? words.ofNamed(formatPercent(shareOf(message, rate, network)), network.link.name) : "";
  const formula = `${formatSignificant(factor)} × ${bytes(size)} ÷ ${seconds(call)} = ${bytesPerSecond(rate)}`;
  const mean = count > 1 && rate !== bus ? `; ${words.meanCall} ${bytesPerSecond(bus)}` : "";
  return `${messageName(message)}: ${formula}${share && `, ${share}`}${mean}`;
}

/** Says why the plane has no message or no roof; empty if it has both. `noChip`: what is said without a chip. */
export function networkNote(messages: readonly RatedMessage[], { link }: Pick<Network, "link">, noChip = ""): string {
  if (messages.length === 0) return words.noSizes;
  if (!link) return noChip || words.noLink;
  if (drawnMessages(messages).length > 0) return "";
  return messages.some(({ bus }) => Number.isNaN(bus)) ? words.noRates : words.nothingSent;
}

/** Returns what is said of the plane if no message is hovered. */
export function networkSentence(messages: readonly RatedMessage[], { link, topology }: Network, noChip = ""): string {
  const note = networkNote(messages, { link }, noChip);
  if (note || !link) return note;
  const { name, bandwidth, sheet, latency, sheetLatency } = link;
  const { half, sent } = roofOver(leading(drawnMessages(messages)), link, topology);
  const changed = [
    bandwidth === sheet ? "" : `${name} ${bytesPerSecond(sheet)} → ${bytesPerSecond(bandwidth)}`,
    Object.is(latency, sheetLatency)
      ? ""
      : words.latencyOf(`${Number.isNaN(sheetLatency) ? "" : `${seconds(sheetLatency)} → `}${seconds(latency)}`),
  ].filter(Boolean);
  const model = changed.length > 0 ? "" : `${words.model(sent === 1 ? "" : `${formatSignificant(sent)} × `, name)}; `;
  const corner = half === undefined ? "" : model + words.halfAt(formatQuantity(half, "B", 2));
  const told = corner || words.noLatency(name);
  return changed.length > 0 ? `${words.whatIf} ${changed.join(", ")}; ${told}` : told;
}
