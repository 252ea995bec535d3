// The arithmetic of the network plane: messages under the roof of a link. Mirrors roofwidget/analysis/network.py and
// roofwidget/analysis/messages.py: the tests compare both with the same golden file.

import { memoize } from "../ui/memoize.ts";
import type { Kernels, Message } from "../wire/columns.ts";
import type { Chip, WhatIf } from "../wire/types.ts";
import { NETWORK } from "./roofline.ts";

/** A link with what-ifs. Bandwidths are in bytes/s and one way. Latencies are in seconds, NaN if unknown. */
export interface ChipLink {
  readonly chip: Chip;
  readonly name: string;
  readonly bandwidth: number;
  readonly sheet: number;
  readonly latency: number;
  readonly sheetLatency: number;
  /** Whether what-ifs do not change the link. They change only the first link to other chips. */
  readonly isFixed: boolean;
}

export type Topology = "ring" | "switch" | "in-network";

const TURNS: Readonly<Record<string, number>> = {
  ...{ "all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1, gather: 1, scatter: 1 },
};

/** Returns the bus bandwidth over the algorithm bandwidth: what a rank sends through a switch per byte of a message. */
export function busFactor(kind: string, ranks: number): number {
  const turns = Object.hasOwn(TURNS, kind) ? (TURNS[kind] as number) : 0;
  return turns > 0 ? (turns * (ranks - 1)) / ranks : 1;
}

/** Returns the bytes that cross a rank's link in the busier direction, per byte of its message. */
export function sentFactor(kind: string, ranks: number, topology: string): number {
  if (ranks === 1) return 0;
  if (ranks > 1 && topology === "in-network" && (kind === "all-reduce" || kind === "reduce-scatter")) return 1;
  // On a ring the parts of an all-to-all cross links between other ranks too.
  return topology === "ring" && kind === "all-to-all" ? (ranks - 1) / 2 : busFactor(kind, ranks);
}

/** Returns the highest bus bandwidth over a link, bytes/s. NaN if nothing is sent. */
export const busRoof = ({ kind, ranks }: Pick<Message, "kind" | "ranks">, bandwidth: number, topology: string) =>
  (busFactor(kind, ranks) / sentFactor(kind, ranks, topology)) * bandwidth;

/** A message is above a roof only if it is faster by this factor. */
const MIN_ABOVE = 1.05;

/** Returns whether a rate is above the message's roofs of all topologies ("all"), above this one ("own"), or neither. */
export function aboveOf(
  message: RatedMessage,
  bandwidth: number,
  topology: string,
  rate = message.bus,
): "all" | "own" | "" {
  const isAbove = (other: string) => rate > MIN_ABOVE * busRoof(message, bandwidth, other);
  if (!isAbove(topology)) return "";
  return isAbove("switch") && isAbove("in-network") ? "all" : "own";
}

/** A message with its bus bandwidths, bytes/s. NaN if unknown. */
export interface RatedMessage extends Message {
  /** The number of the message. */
  readonly row: number;
  readonly factor: number;
  /** The algorithm bandwidth and the bus bandwidth at the mean time of a call. */
  readonly algorithm: number;
  readonly bus: number;
  /** The bus bandwidth of the fastest call. */
  readonly best: number;
}

const rated = memoize<readonly RatedMessage[]>();

/** Returns the messages of a table with their bus bandwidths. */
export const ratedMessages = ({ messages }: Pick<Kernels, "messages">) => rated(messages, [], () => messages.map(rate));

export function rate(message: Message, row: number): RatedMessage {
  const { kind, size, ranks, count, time, fastest } = message;
  const factor = busFactor(kind, ranks);
  const algorithm = (size * count) / time;
  return { ...message, row, factor, algorithm, bus: factor * algorithm, best: (factor * size) / fastest };
}

/** The roof over messages of one kind and number of ranks. */
export interface MessageRoof {
  readonly kind: string;
  /** The bus bandwidth over the algorithm bandwidth, and what is sent, per byte of a message. */
  readonly factor: number;
  readonly sent: number;
  /** The highest bus bandwidth, bytes/s. */
  readonly flat: number;
  /** Seconds, NaN if unknown. */
  readonly latency: number;
  /** The size of the message that reaches half of the flat, bytes: the corner. Undefined if it is unknown. */
  readonly half: number | undefined;
}

/** Returns the roof of a link over the messages of one kind and number of ranks; without a message, the link itself. */
export function roofOver(
  message: Pick<Message, "kind" | "ranks"> | undefined,
  { bandwidth, latency }: Pick<ChipLink, "bandwidth" | "latency">,
  topology: string,
): MessageRoof {
  const factor = message ? busFactor(message.kind, message.ranks) : 1;
  const sent = message ? sentFactor(message.kind, message.ranks, topology) : 1;
  const half = (latency * bandwidth) / sent;
  return {
    ...{ kind: message?.kind ?? "", factor, sent, flat: (factor / sent) * bandwidth, latency },
    half: Number.isFinite(half) ? half : undefined,
  };
}

/** Returns the bus bandwidth of messages whose time is the latency alone, bytes/s. */
export const latencyRate = ({ factor, latency }: Pick<MessageRoof, "factor" | "latency">, size: number) =>
  (factor * size) / latency;
/** Returns the bus bandwidth of the model time = latency + sent bytes / bandwidth, bytes/s. It is a bound. */
export const modelRate = ({ factor, flat, latency }: Pick<MessageRoof, "factor" | "flat" | "latency">, size: number) =>
  (factor * size) / (latency + (factor * size) / flat);

/** Returns the message whose kind and number of ranks have most time together: its factor gives the slope. */
export function leading(messages: readonly RatedMessage[]): RatedMessage | undefined {
  const sums = new Map<string, number>();
  const key = ({ kind, ranks }: Message) => `${kind} ${ranks}`;
  for (const one of messages) sums.set(key(one), (sums.get(key(one)) ?? 0) + (one.time || 0));
  const most = Math.max(...sums.values());
  return messages.find((one) => sums.get(key(one)) === most);
}

/** Returns the highest roof of messages through a switch that adds, bytes/s; undefined if it is not above the link. */
export function switchRoof(
  messages: readonly Message[],
  { bandwidth }: Pick<ChipLink, "bandwidth">,
): number | undefined {
  const roofs = messages.map((one) => busRoof(one, bandwidth, "in-network")).filter((roof) => roof > bandwidth);
  return roofs.length > 0 ? Math.max(...roofs) : undefined;
}

/** If there are more messages, those that take least time are not drawn. */
const MAX_DRAWN = 1000;
const drawn = memoize<readonly RatedMessage[]>();

/** Returns the messages that have a place in the plane, longest time first. Without ranks or time there is no rate. */
export const drawnMessages = (messages: readonly RatedMessage[]) =>
  drawn(messages, [], () =>
    messages
      .filter(({ size, bus }) => size > 0 && bus > 0 && Number.isFinite(bus))
      .sort((a, b) => b.time - a.time)
      .slice(0, MAX_DRAWN),
  );

/** Returns what all messages send over the link, bytes. */
export const sentBytes = (messages: readonly Message[], topology: string) =>
  messages.reduce(
    (sum, { kind, ranks, size, count }) => sum + (sentFactor(kind, ranks, topology) * size * count || 0),
    0,
  );

/** Returns the link called `name`, by default the first to other chips. Undefined if its bandwidth is unknown. */
export function linkIn(chip: Chip, whatIf: WhatIf, name = ""): ChipLink | undefined {
  // Links to other chips come first.
  const first = chip.link === null ? undefined : chip.links[0];
  const link = chip.links.find((one) => one.name === name) ?? chip.links[0];
  if (!link || link.bandwidth === null) return;
  const changes = link === first && Object.hasOwn(whatIf, chip.id) ? whatIf[chip.id] : undefined;
  const sheetLatency = link.latency ?? Number.NaN;
  return {
    chip,
    name: link.name,
    bandwidth: changes?.bandwidth?.[NETWORK] ?? link.bandwidth,
    sheet: link.bandwidth,
    latency: changes?.latency?.[NETWORK] ?? sheetLatency,
    sheetLatency,
    isFixed: link !== first,
  };
}

/** The number of messages that are named. */
export const MAX_NAMED = 5;

const ordered = memoize<readonly RatedMessage[]>();

/**
 * Returns the messages in the order of the table: by the time that they waited at most, or by their whole time if no
 * message is known to have waited.
 */
export function inOrder(messages: readonly RatedMessage[]): readonly RatedMessage[] {
  const key = waited(messages) > 0 ? "waiting" : "time";
  return ordered(messages, [], () =>
    [...messages].sort((a, b) => (b[key] || 0) - (a[key] || 0) || (b.time || 0) - (a.time || 0) || a.row - b.row),
  );
}

/** Returns how long all calls of the same message waited at most, seconds. */
export const waited = (messages: readonly Message[]) => messages.reduce((sum, { waiting }) => sum + (waiting || 0), 0);

/** Returns the kinds by their share of the time, longest time first. */
export function kindsOf(messages: readonly Message[]): readonly (readonly [kind: string, share: number])[] {
  const sums = new Map<string, number>();
  for (const { kind, time } of messages) sums.set(kind, (sums.get(kind) ?? 0) + (time || 0));
  const total = [...sums.values()].reduce((sum, time) => sum + time, 0);
  return [...sums].map(([kind, time]) => [kind, time / total] as const).sort((a, b) => b[1] - a[1]);
}
