// Builds the scene of the network plane from the state. All layers of the plane draw from the scene.

import {
  aboveOf,
  busRoof,
  type ChipLink,
  drawnMessages,
  inOrder,
  latencyRate,
  leading,
  MAX_NAMED,
  type MessageRoof,
  modelRate,
  type RatedMessage,
  roofOver,
  switchRoof,
  type Topology,
} from "../../roofline/network.ts";
import type { Store } from "../../state/store.ts";
import { messageName, networkNote } from "../../text/network.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { networkWords as words } from "../../words/words.ts";
import { noChips } from "../caption.ts";
import { textWidth } from "../labels/text_fitting.ts";
import type { Spot } from "../paths.ts";
import { type Box, clamp, isNarrow, joined, type Scales, type Size, scaleLog } from "../scales.ts";
import { isPatternedIn } from "../scene.ts";
import { plotIn, radiiByTime } from "../svg_plane/scene.ts";
import type { Theme } from "../theme.ts";

/** The kinds of messages: the place of each gives its pattern, and of the first its hue. */
const KINDS = [
  ...["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast"],
  ...["gather", "scatter", "reduce", "send", "receive"],
];
/** The hues of the first five kinds, and the hue of all other kinds. */
const [HUES, OTHER_HUE] = [[4, 3, 2, 5, 6], 7];
/** The height of a label, its distance from the plot's right edge, and the length of its leader, px. */
const [LABEL_PX, LABEL_EDGE_PX, LEADER_PX, BADGE_PX] = [20, 8, 22, 20];
/** A name is beside its dot if its leader would be longer than this, px. */
const MIN_LEADER_PX = 180;
/** Below this width of the chart the ceiling is not drawn, px. */
const MIN_CEILING_WIDTH_PX = 600;

/** Returns the number of a kind, which selects its pattern. */
export const kindCode = (kind: string) => Math.max(0, KINDS.indexOf(kind));
export const kindColour = (kind: string, { categories }: Theme) =>
  categories[HUES[KINDS.indexOf(kind)] ?? OTHER_HUE] as string;

/** A message in the plane, px. */
export interface Dot {
  readonly message: RatedMessage;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  /** The end of the whisker: the fastest call. Undefined if the wire is not known to be faster. */
  readonly top: number | undefined;
  readonly colour: string;
  /** Whether the message is faster than any roof of its kind. */
  readonly isAbove: boolean;
}

/** The name of a message in the column at the right, px. */
export interface DotLabel {
  readonly badge: string;
  readonly text: string;
  readonly dot: Dot;
  readonly x: number;
  readonly y: number;
  /** Whether the name is beside its dot, without a leader. */
  readonly isBeside: boolean;
}

export interface NetworkScene {
  readonly scales: Scales;
  readonly theme: Theme;
  readonly link: ChipLink | undefined;
  readonly dots: readonly Dot[];
  /** In the order of the size. */
  readonly walk: readonly Dot[];
  readonly labels: readonly DotLabel[];
  readonly topology: Topology;
  /** The roof of the hovered message, or of the kind with most time. Undefined without a link. */
  readonly roof: MessageRoof | undefined;
  /** The highest roof through a switch that adds, if it is drawn. */
  readonly ceiling: number | undefined;
  /** Whether the name of the link is below the flat, because the ceiling is near. */
  readonly isTight: boolean;
  readonly hovered: Dot | undefined;
  /** Why nothing is drawn; empty if a message and a roof are drawn. */
  readonly note: string;
  /** Whether each kind has a pattern. */
  readonly isPatterned: boolean;
  readonly isNarrow: boolean;
}

/** Builds the scene. `held`: the axes while the roof is dragged. */
export function networkScene(store: Store, size: Size, theme: Theme, held?: Scales): NetworkScene {
  const messages = drawnMessages(store.rows.messages.value);
  const link = store.rates.focusLink.value;
  const topology = store.rates.topology.value;
  const narrow = isNarrow(size);
  const row = store.view.message.value;
  const lead = leading(messages);
  const roofOf = (message: RatedMessage | undefined) => link && roofOver(message, link, topology);
  // Axes and names have their places by the kind with most time, so that hovering does not move them.
  const base = roofOf(lead);
  const ceiling =
    link && topology === "switch" && size.width >= MIN_CEILING_WIDTH_PX ? switchRoof(messages, link) : undefined;
  const first = inOrder(messages).slice(0, MAX_NAMED);
  const texts = first.map((one) => (narrow ? "" : messageName(one)));
  const column = messages.length > 0 ? Math.max(...texts.map((text) => textWidth(text))) + BADGE_PX + LABEL_EDGE_PX : 0;
  const scales =
    held ?? scalesOf(size, messages, base, { highest: highestOf(messages, link, topology, ceiling), column });
  const { plot, x, y } = scales;
  const radii = radiiByTime(
    messages.map(({ time }) => time),
    plot,
  );
  const dots = messages.map((message, at): Dot => {
    const { size: bytes, bus, best, count, waiting } = message;
    const isWhiskered = count > 1 && Number.isFinite(waiting) && Number.isFinite(best) && best > bus;
    return {
      message,
      x: x(bytes),
      y: y(bus),
      radius: radii[at] as number,
      top: isWhiskered ? y(best) : undefined,
      colour: kindColour(message.kind, theme),
      isAbove: link !== undefined && aboveOf(message, link.bandwidth, topology) === "all",
    };
  });
  const rank = new Map(first.map((message, at) => [message, at]));
  const left = plot.right - column;
  const named = dots.filter(({ message }) => rank.has(message)).sort((a, b) => a.y - b.y);
  const textOf = ({ message }: Dot) => texts[rank.get(message) as number] as string;
  const beside = new Set(named.filter((dot) => left - dot.x > MIN_LEADER_PX && hasRoom(dot, textOf(dot), dots)));
  const inColumn = named.filter((dot) => !beside.has(dot));
  const isTight = ceiling !== undefined && base !== undefined && y(base.flat) - y(ceiling) < LABEL_PX + 4;
  const ys = spread(
    inColumn.map((dot) => dot.y),
    {
      ...plot,
      top: Math.max(plot.top + 10, base ? Math.min(y(base.flat), plot.bottom - 140) + (isTight ? 38 : 22) : 0),
    },
  );
  return {
    ...{ scales, theme, link, topology, dots, ceiling, isTight, isNarrow: narrow },
    roof: roofOf(messages.find((one) => one.row === row) ?? lead),
    walk: [...dots].sort((a, b) => a.x - b.x || a.y - b.y),
    note: noteOf(store, link),
    isPatterned: isPatternedIn(store, theme),
    hovered: dots.find((dot) => dot.message.row === row),
    labels: named.map((dot) => {
      const place = beside.has(dot)
        ? { x: dot.x + dot.radius + 6, y: dot.y, isBeside: true }
        : { x: left, y: ys[inColumn.indexOf(dot)] as number, isBeside: false };
      return { badge: String((rank.get(dot.message) as number) + 1), text: textOf(dot), dot, ...place };
    }),
  };
}

function noteOf({ rows, rates }: Store, link: ChipLink | undefined): string {
  const messages = rows.messages.value;
  // A question hides the messages.
  if (messages.length === 0 && rows.kernels.value.messages.length > 0) return "";
  return networkNote(messages, { link }, noChips({ rows, rates }));
}

/** Whether there is room for a name at the right of its dot. */
function hasRoom(dot: Dot, text: string, dots: readonly Dot[]): boolean {
  const right = dot.x + dot.radius + BADGE_PX + textWidth(text) + 12;
  const isNear = ({ y, top = y }: Dot) => dot.y > top - LABEL_PX && dot.y < y + LABEL_PX;
  return !dots.some((other) => other !== dot && other.x > dot.x - 1 && other.x - other.radius < right && isNear(other));
}

/** Returns the highest of the roofs that are or can be drawn, bytes/s; 0 without a link. */
const highestOf = (
  messages: readonly RatedMessage[],
  link: ChipLink | undefined,
  topology: Topology,
  ceiling: number | undefined,
) => (link ? Math.max(ceiling ?? 0, ...messages.map((one) => busRoof(one, link.bandwidth, topology))) : 0);

/** Returns heights that are at least one label apart, in the order of `ys` and as near to them as the box allows. */
function spread(ys: readonly number[], { top, bottom }: Pick<Box, "top" | "bottom">): number[] {
  const end = bottom - LABEL_PX / 2;
  let last = top - LABEL_PX;
  const down = ys.map((y) => {
    last = Math.max(y, last + LABEL_PX);
    return last;
  });
  let next = end + LABEL_PX;
  return down
    .reverse()
    .map((y) => {
      next = Math.min(y, next - LABEL_PX);
      return next;
    })
    .reverse();
}

interface Around {
  readonly highest: number;
  readonly column: number;
}

function scalesOf(
  { width, height }: Size,
  messages: readonly RatedMessage[],
  roof: MessageRoof | undefined,
  { highest, column }: Around,
): Scales {
  const plot = plotIn({ width, height });
  const sizes = messages.map(({ size }) => size);
  const [least, most] = sizes.length > 0 ? [Math.min(...sizes), Math.max(...sizes)] : [1e3, 1e8];
  const low = least / 2;
  // The column of names is right of the largest message.
  const across = plot.right - plot.left;
  const free = Math.max(across / 2, across - column - LEADER_PX - 16);
  const high = Math.max(4 * Math.max(most, 8 * (roof?.half ?? 0)), low * (most / low) ** (across / free));
  const x = scaleLog([low, high], [plot.left, plot.right]);
  const rates = messages.map(({ bus }) => bus);
  const slope = roof?.half === undefined ? [] : [latencyRate(roof, low)];
  const tops = messages.map(({ bus, best, waiting }) => (Number.isFinite(waiting + best) ? best : bus));
  const all = [...rates, ...slope, ...(roof ? [roof.flat] : [])];
  const [floor, top] = all.length > 0 ? [Math.min(...all), Math.max(...all, ...tops, highest)] : [1e6, 1e12];
  const y = scaleLog([Math.min(floor / 2, top / 30), 2.4 * top], [plot.bottom, plot.top]);
  return { width, height, plot, strip: undefined, x, y };
}

/** The corners of the roof, px. */
export function roofSpots({ scales, roof }: NetworkScene): readonly Spot[] {
  if (!roof) return [];
  const { plot, x, y } = scales;
  const { half } = roof;
  const [low] = x.domain;
  const flat = y(roof.flat);
  if (half === undefined || half <= low)
    return [
      [plot.left, flat],
      [plot.right, flat],
    ];
  return [
    [plot.left, y(latencyRate(roof, low))],
    [x(half), flat],
    [Math.max(plot.right, x(half)), flat],
  ];
}

/** The points of the dotted line of the model, px. */
export function modelSpots({ scales: { x, y }, roof }: NetworkScene): readonly Spot[] {
  const half = roof?.half;
  if (!roof || half === undefined) return [];
  const [low, high] = [Math.max(x.domain[0], half / 1e3), Math.min(x.domain[1], half * 1e3)];
  return Array.from({ length: 41 }, (_, at) => {
    const size = low * (high / low) ** (at / 40);
    return [x(size), y(modelRate(roof, size))] as const;
  });
}

/** Returns the number at the corner of the roof. */
export const halfText = ({ roof, isNarrow }: NetworkScene) =>
  roof?.half === undefined ? "" : isNarrow ? brief(roof.half) : words.halfAt(brief(roof.half));
const brief = (size: number) => formatQuantity(size, "B", 2);

export const latencyText = ({ link }: NetworkScene) => (link ? words.latencyOf(formatQuantity(link.latency, "s")) : "");
export const ceilingText = ({ ceiling }: NetworkScene) =>
  ceiling === undefined ? "" : words.ifAdds(formatQuantity(ceiling, "B/s", 4));
/** Returns the text of the flat. If it is not the link's bandwidth, the text names the kind that it is for. */
export function flatText({ link, roof, isNarrow }: NetworkScene): string {
  if (!link || !roof) return "";
  const rate = formatQuantity(roof.flat, "B/s", 4);
  return roof.factor === roof.sent || isNarrow ? rate : words.flatFor(rate, roof.kind);
}

/** The rates of a link whose roof is dragged. */
export interface NetworkDragStart {
  readonly part: "peak" | "bandwidth" | "ridge";
  readonly scales: Scales;
  readonly roof: MessageRoof;
  readonly link: ChipLink;
  /** The distances from the pointer to the roof at the start, px. */
  readonly dx: number;
  readonly dy: number;
}

/** The roof keeps this factor from the ends of the axes. */
const AXIS_MARGIN = 1.05;

/** Returns bandwidth and latency of a roof that is dragged to (`px`, `py`). The flat is the part "peak". */
export function linkAt(
  { part, scales: { x, y }, roof: { factor, sent, flat }, link, dx, dy }: NetworkDragStart,
  px: number,
  py: number,
): readonly [bandwidth: number, latency: number] {
  const [least, most] = joined(y.domain);
  const rate = clamp(y.invert(py + dy), least * AXIS_MARGIN, most / AXIS_MARGIN);
  const bandwidth = (rate * sent) / factor;
  if (part === "peak") return [bandwidth, link.latency];
  const [low, high] = [x.domain[0] * AXIS_MARGIN, x.domain[1] / AXIS_MARGIN];
  if (part === "ridge") return [bandwidth, (factor * clamp(x.invert(px + dx), low, high)) / rate];
  // The line through the pointer: its corner stays on the axis.
  const latency = (factor * x.invert(px + dx)) / y.invert(py);
  const corner = clamp((latency * flat) / factor, low, high);
  return [link.bandwidth, (corner * factor) / flat];
}
