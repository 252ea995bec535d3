// The drawn graph of the fusion tab, and the gestures on it.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { clamp, holds } from "../../chart/scales.ts";
import { type Graph, groupName, type Ops, opName } from "../../fusion/graph.ts";
import { groupWith } from "../../fusion/legality.ts";
import { total } from "../../fusion/partition.ts";
import type { Workload } from "../../state/workload.ts";
import { keepFocusNear } from "../../ui/focus.ts";
import { type Drag, useGesture } from "../../ui/gesture.ts";
import { OWN_KEYS, used } from "../../ui/keys.ts";
import { placeIn } from "../../ui/pointer_position.ts";
import { fusionWords as words } from "../../words/words.ts";
import { type Box, type Edge, type Flow, MAX_LARGE_BOXES, PILL_PX, type Point, type Room } from "./flow.ts";
import {
  AROUND_PX,
  boxAt,
  END_PX,
  endPlace,
  endsOf,
  isOut,
  middleOf,
  namePx,
  type Outline,
  outlineOf,
  outlinesOf,
  pathOf,
  seen,
  shortened,
  sideTexts,
  textPx,
  thickness,
  titleOf,
} from "./flow_parts.ts";
import { type Proposal, type Side, spoken } from "./merging.ts";
import { OverviewMap } from "./overview_map.tsx";

/** Parts of the graph that are more than this many px outside the visible area are not drawn. */
const DRAWN_AROUND_PX = 240;
/** A drag shorter than this, in px, is a click. */
const CLICK_PX = 4;
/** Half the length of the bar on an edge whose ends may not merge, px. */
const BAR_PX = 6;

/** An edge, by the ops at its ends. */
export interface OpPair {
  readonly from: number;
  readonly to: number;
}

interface FlowViewProps {
  readonly flow: Flow;
  readonly workload: Workload;
  readonly cursor: number | undefined;
  readonly marked: number | undefined;
  /** The ops of the latest refused merge, and the number of refusals so far. */
  readonly refused: { readonly ops: readonly number[]; readonly count: number };
  /** The groups whose tiles do not fit on chip. */
  readonly crowded: ReadonlySet<number>;
  /** The group that is hovered on the chart. */
  readonly pointed: number | null;
  readonly label: string;
  /** Whether a lesson locks the partition. */
  readonly isLocked?: boolean;
  /** Whether a question hides the sizes of tensors. */
  readonly isQuiet: boolean;
  /** The size of the visible part. */
  readonly room: Signal<Room>;
  /** The edge that is hovered or focused, and what a click on it would do. */
  readonly meant: Signal<OpPair | undefined>;
  readonly proposal: Proposal | undefined;
  /** Returns the intensity of a box, such as "2.5 FLOP/B". */
  intensityOf(ops: Ops): string;
  /** Returns on which side of the ridge point a box is. */
  sideOf(ops: Ops): Side;
  /** Returns whether the groups of two ops may not merge. */
  isRefused(edge: OpPair): boolean;
  point(group: number | null): void;
  pick(op: number): void;
  merge(from: number, to: number): void;
  split(op: number): void;
  /** Merges or splits at an edge. */
  act(edge: OpPair): void;
  /** Folds or unfolds the kernel of an op. */
  fold(op: number): void;
  /** Returns the groups that the group of `op` may merge with. */
  partnersOf(op: number): ReadonlySet<number>;
  onKeyDown(event: KeyboardEvent): void;
  /** The keys that `onKeyDown` handles. */
  readonly shortcuts: string;
}

interface OpDrag extends Drag {
  readonly op: number;
  readonly from: Point;
  hasMoved(): boolean;
}

export function FlowView(props: FlowViewProps) {
  const { flow, workload, cursor, marked, refused, room, meant, proposal } = props;
  const { graph, values, partition } = workload;
  const { groupOf } = partition;
  const scroll = useSignal({ left: 0, top: 0 });
  const gesture = useGesture<OpDrag>();
  /** The current position of the dragged op. */
  const draggedTo = useSignal<Point>({ x: 0, y: 0 });
  /** Whether the pointer is over the visible part of the graph: what is scrolled out of sight takes no drop. */
  const isOver = useSignal(true);
  const latest = useRef(props);
  latest.current = props;
  const svg = useRef<SVGSVGElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const resized = new ResizeObserver(([entry]) => {
      const [width, height] = [entry?.contentRect.width ?? 0, entry?.contentRect.height ?? 0].map(Math.floor);
      if (width && height && (width !== room.value.width || height !== room.value.height)) {
        room.value = { width, height };
      }
    });
    if (frame.current) resized.observe(frame.current);
    return () => resized.disconnect();
  }, []);
  const boxOf = (op: number) => flow.boxOf[op] as number;
  const opOf = (box: number) => flow.boxes[box]?.ops[0] as number;
  const pairOf = ({ from, to }: Edge): OpPair => ({ from: opOf(from), to: opOf(to) });
  useLayoutEffect(() => {
    if (cursor !== undefined || flow.width > room.value.width) {
      show(frame.current, flow, cursor === undefined ? flow.layers[0]?.[0] : boxOf(cursor));
    }
  }, [cursor, flow]);
  // Rounded, so that a scroll draws the graph anew only now and then.
  const [left, top] = [scroll.value.left, scroll.value.top].map(
    (px) => Math.floor(px / DRAWN_AROUND_PX) * DRAWN_AROUND_PX,
  ) as [number, number];
  const shown = useMemo(() => {
    const right = left + room.value.width + 2 * DRAWN_AROUND_PX;
    const bottom = top + room.value.height + 2 * DRAWN_AROUND_PX;
    return seen(flow, { left: left - DRAWN_AROUND_PX, top: top - DRAWN_AROUND_PX, right, bottom });
  }, [flow, left, top, room.value]);
  const bytes = props.isQuiet ? undefined : values.bytes;
  const texts = useMemo(() => sideTexts(flow, shown, graph, bytes), [flow, shown, bytes]);
  const isInside = ({ from, to }: Edge) => groupOf[opOf(from)] === groupOf[opOf(to)];
  const barred = useMemo(
    () => shown.edges.filter((edge) => !isInside(edge) && props.isRefused(pairOf(edge))),
    [shown, partition, workload.forms, props.isLocked, props.isQuiet],
  );
  const outlines = useMemo(() => outlinesOf(flow, graph, partition), [flow, partition]);
  const { drag } = gesture;
  const at = drag && isOver.value ? boxAt(flow, draggedTo.value) : undefined;
  const target = at === undefined ? undefined : opOf(at);
  const dragged = drag?.hasMoved() ? drag.op : undefined;
  const mover = dragged ?? marked;
  const partners = useMemo(
    () => (mover === undefined ? undefined : props.partnersOf(mover)),
    [mover, partition, props.crowded],
  );
  const meantEdge = meant.value && edgeOf(flow, meant.value);
  /** The edges that the Tab key reaches: those below the cursor. */
  const tabbed = cursor === undefined ? flow.layers[0]?.[0] : boxOf(cursor);

  const placeOf = (event: PointerEvent): Point => {
    const [x, y] = svg.current ? placeIn(svg.current, flow.width, event) : [0, 0];
    return { x, y };
  };
  function press(event: PointerEvent) {
    if (event.button !== 0) return;
    const sign = (event.target as Element).closest<SVGElement>("[data-fold]");
    if (sign) return props.fold(Number(sign.dataset["fold"]));
    const from = placeOf(event);
    const box = boxAt(flow, from);
    if (box === undefined) return;
    const op = opOf(box);
    props.pick(op);
    if (props.isLocked) return;
    // While an op is dragged, the panel shows the op instead of the data of the op's kernel.
    props.point(null);
    meant.value = undefined;
    draggedTo.value = from;
    isOver.value = true;
    const hasMoved = () => Math.hypot(draggedTo.value.x - from.x, draggedTo.value.y - from.y) > CLICK_PX;
    const end = (up?: PointerEvent) => up && (hasMoved() ? drop(op, draggedTo.peek()) : unfold(op));
    gesture.start({ op, from, hasMoved, end, cancel: () => {} }, event);
  }
  function unfold(op: number) {
    const { flow, fold } = latest.current;
    if ((flow.boxes[flow.boxOf[op] as number]?.ops.length ?? 0) > 1) fold(op);
  }
  function move(event: PointerEvent) {
    if (!gesture.drag) return;
    draggedTo.value = placeOf(event);
    const box = frame.current?.getBoundingClientRect();
    isOver.value = box === undefined || holds(box, event.clientX, event.clientY);
  }
  function drop(op: number, place: Point) {
    const { flow, workload, merge, split } = latest.current;
    const box = isOver.peek() ? boxAt(flow, place) : undefined;
    const onto = box === undefined ? undefined : flow.boxes[box]?.ops[0];
    const group = groupWith(workload.partition, op);
    if (onto !== undefined && onto !== op) merge(op, onto);
    else if (onto === undefined && (!isOver.peek() || isOut(flow, group, place))) split(op);
  }
  const isMeant = ({ from, to }: OpPair) => meant.peek()?.from === from && meant.peek()?.to === to;
  return (
    <div class="rw-graph">
      {flow.width > room.value.width && <OverviewMap flow={flow} room={room.value} at={scroll.value} frame={frame} />}
      <div
        ref={frame}
        class="rw-flow"
        data-locked={props.isLocked || undefined}
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys walk along the ops
        tabIndex={0}
        {...OWN_KEYS}
        aria-label={props.label}
        aria-keyshortcuts={props.shortcuts}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || !gesture.drag) return props.onKeyDown(event);
          gesture.cancel();
          event.stopPropagation();
        }}
        onBlur={() => props.point(null)}
        onScroll={({ currentTarget: { scrollLeft, scrollTop } }) => {
          scroll.value = { left: scrollLeft, top: scrollTop };
        }}
      >
        <svg
          ref={svg}
          width={flow.width}
          height={flow.height}
          role="presentation"
          onPointerDown={press}
          onPointerMove={move}
          onPointerUp={gesture.end}
          onPointerCancel={gesture.cancel}
          onLostPointerCapture={gesture.cancel}
          onPointerLeave={() => props.point(null)}
        >
          <g>
            {outlines.map(({ group, ...outline }) => (
              <Contour
                key={group}
                outline={outline}
                height={flow.boxHeight}
                look={`${crowdedLook(props.crowded.has(group))}${props.pointed === group ? " rw-pointed" : ""}`}
              />
            ))}
            {meantEdge &&
              proposal?.groups.map((group) => (
                <Contour
                  key={group.join()}
                  outline={outlineOf(flow, graph, group)}
                  height={flow.boxHeight}
                  look="rw-proposed"
                />
              ))}
            {shown.edges.map((edge) => (
              <path
                key={`${edge.from} ${edge.to}`}
                d={pathOf(edge.points)}
                stroke-width={edge === meantEdge ? 8 : thickness(total(values.bytes, edge.tensors))}
                class={`rw-edge${edge === meantEdge ? " rw-meant" : isInside(edge) ? " rw-seam" : ""}`}
              />
            ))}
            {barred.map((edge) => {
              const { x, y } = middleOf(edge);
              return <path key={`${edge.from} ${edge.to}`} d={`M${x - BAR_PX} ${y}h${2 * BAR_PX}`} class="rw-barred" />;
            })}
            <Ends flow={flow} workload={workload} shown={shown.boxes} bytes={bytes} />
            {texts.map(({ key, text, x, y, anchor }) => (
              <text key={key} x={x} y={y} text-anchor={anchor} class="rw-end">
                {text}
              </text>
            ))}
          </g>
          {shown.edges.map((edge) => {
            const pair = pairOf(edge);
            const [from, to] = [opName(graph, pair.from), opName(graph, pair.to)];
            const title = titleOf(graph, edge.tensors, bytes);
            const { x, y } = middleOf(edge);
            return (
              // biome-ignore lint/a11y/useSemanticElements: an SVG has no buttons
              <g
                key={`${from} ${to} hit`}
                class="rw-hit"
                data-rw="edge"
                role="button"
                tabindex={edge.from === tabbed ? 0 : -1}
                {...OWN_KEYS}
                aria-label={`${words.edge(from, to, title)}${barred.includes(edge) ? words.barred : ""}`}
                data-from={from}
                data-to={to}
                onPointerEnter={({ pointerType }) => {
                  if (pointerType !== "touch" && !gesture.drag) meant.value = pair;
                }}
                onPointerLeave={({ currentTarget, pointerType }) => {
                  // The browser sends this event at the end of each touch.
                  if (pointerType !== "touch" && !currentTarget.matches(":focus-visible")) meant.value = undefined;
                }}
                onFocus={({ currentTarget }) => {
                  if (currentTarget.matches(":focus-visible")) meant.value = pair;
                }}
                onBlur={() => {
                  if (isMeant(pair)) meant.value = undefined;
                }}
                onClick={(event) => {
                  // The first tap of a finger shows what the second would do.
                  if ((event as unknown as PointerEvent).pointerType === "touch" && !isMeant(pair)) meant.value = pair;
                  else props.act(pair);
                }}
                onKeyDown={(event) => {
                  if (event.key !== "Enter" && event.key !== " ") return;
                  keepFocusNear(event.currentTarget, () => props.act(pair));
                  used(event);
                }}
              >
                <title>{title}</title>
                <path d={pathOf(edge.points)} />
                <rect x={x - 12} y={y - 12} width="24" height="24" />
              </g>
            );
          })}
          <g>
            {[...shown.boxes]
              .sort((a, b) => Number(opOf(a) === mover) - Number(opOf(b) === mover))
              .map((box) => {
                const op = opOf(box);
                const shakes = (flow.boxes[box] as Box).ops.some((one) => refused.ops.includes(one));
                const by = drag && dragged === op ? placeBy(drag.from, draggedTo.value) : { x: 0, y: 0 };
                const states = [
                  cursor !== undefined && boxOf(cursor) === box && "cursor",
                  marked === op && "marked",
                  target === op && drag && "target",
                  partners?.has(groupOf[op] as number) && "partner",
                  dragged === op && "dragged",
                ];
                return (
                  <g
                    key={shakes ? `${op} ${refused.count}` : op}
                    class={`rw-op ${states.map((state) => (state ? `rw-${state}` : "")).join(" ")}`}
                    data-rw="op"
                    data-op={graph.ops[op]?.name}
                    onPointerEnter={() => !gesture.drag && props.point(groupOf[op] as number)}
                  >
                    <g class={shakes ? "rw-shake" : ""}>
                      <OpBox
                        flow={flow}
                        box={flow.boxes[box] as Box}
                        by={by}
                        graph={graph}
                        intensity={props.intensityOf}
                        sideOf={props.sideOf}
                      />
                    </g>
                  </g>
                );
              })}
            {graph.ops.length > MAX_LARGE_BOXES &&
              outlines.map(({ group }) => (
                <FoldSign key={group} flow={flow} op={partition.groups[group]?.[0] as number} />
              ))}
          </g>
        </svg>
        {proposal && meantEdge && <Pill edge={meantEdge} proposal={proposal} width={flow.width} />}
      </div>
    </div>
  );
}

const placeBy = (from: Point, to: Point): Point => ({ x: to.x - from.x, y: to.y - from.y });

const crowdedLook = (isCrowded: boolean) => (isCrowded ? "rw-crowded" : "rw-band");

/** Returns the edge between the boxes of two ops; undefined if the ops are folded into one box. */
const edgeOf = ({ edges, boxOf }: Flow, { from, to }: OpPair): Edge | undefined =>
  edges.find((edge) => edge.from === boxOf[from] && edge.to === boxOf[to]);

/** Scrolls until a box is visible. Horizontally, the box is centred. */
function show(frame: HTMLElement | null, { boxes, boxHeight }: Flow, at: number | undefined) {
  const box = boxes[at ?? -1];
  if (!frame || !box) return;
  const { clientWidth, clientHeight, scrollLeft, scrollTop } = frame;
  if (Math.abs(box.x - scrollLeft - clientWidth / 2) > (clientWidth - box.width) / 2) {
    frame.scrollLeft = box.x - clientWidth / 2;
  }
  frame.scrollTop = Math.min(box.y - boxHeight, Math.max(scrollTop, box.y + boxHeight - clientHeight));
}

/** The outline of a kernel. A band is a wide stroke in ink under a narrower stroke in the colour of the background. */
function Contour({ outline, height, look }: { outline: Outline | undefined; height: number; look: string }) {
  if (!outline) return null;
  if (!outline.isBand) return <path d={outline.d} class={look} />;
  const width = height + 2 * AROUND_PX;
  return (
    <g class={`rw-wide ${look}`}>
      <path d={outline.d} stroke-width={width + 3} />
      <path d={outline.d} stroke-width={width} />
    </g>
  );
}

/** The space between a text and the sides of its box, px. */
const PADDING_PX = 12;
/** The width of the sign for the side of the ridge point, px. */
const SIDE_PX = 18;
interface OpBoxProps {
  readonly flow: Flow;
  readonly box: Box;
  readonly by: Point;
  readonly graph: Graph;
  intensity(ops: Ops): string;
  sideOf(ops: Ops): Side;
}

function OpBox({ flow: { boxHeight }, box: { x, y, width, ops }, by, graph, intensity, sideOf }: OpBoxProps) {
  const name = spoken(graph, ops);
  const ai = intensity(ops);
  const side = ai === "" ? "" : sideOf(ops);
  const signPx = side ? SIDE_PX + 6 : 0;
  const [left, top] = [x - width / 2 + by.x, y - boxHeight / 2 + by.y];
  // If the name needs the whole width, the intensity is below it, or left out of a low box.
  const beside = width - 2 * PADDING_PX - textPx(ai) - signPx - 16;
  const isBeside = namePx(name) <= beside;
  const isBelow = !isBeside && boxHeight >= 40;
  return (
    <g transform={`translate(${left} ${top})`}>
      <title>
        {[groupName(graph, ops), [ai, words.sides[side]].filter(Boolean).join(", ")].filter(Boolean).join(": ")}
      </title>
      <rect width={width} height={boxHeight} rx="6" />
      <text x={PADDING_PX} y={boxHeight / 2 - (isBelow ? 8 : 0)}>
        {shortened(name, isBeside ? beside : width - 2 * PADDING_PX)}
      </text>
      {(isBeside || isBelow) && (
        <text
          x={isBelow ? PADDING_PX : width - PADDING_PX - signPx}
          y={boxHeight / 2 + (isBelow ? 9 : 0)}
          text-anchor={isBelow ? "start" : "end"}
          class="rw-op-ai"
        >
          {ai}
        </text>
      )}
      {side && (isBeside || isBelow) && (
        <SideSign side={side} x={width - PADDING_PX - SIDE_PX} y={boxHeight / 2 + (isBelow ? 9 : 0)} />
      )}
    </g>
  );
}

/** A small roofline with a dot on its slope or on its flat. */
function SideSign({ side, x, y }: { side: Side; x: number; y: number }) {
  return (
    <g class="rw-side" transform={`translate(${x} ${y - 5})`}>
      <path d={`M0 10L8 1H${SIDE_PX}`} />
      {side === "memory" ? <circle cx="4" cy="5.5" r="2.5" /> : <circle cx="13" cy="1" r="2.5" />}
    </g>
  );
}

/** The sign at the first box of an unfolded kernel that folds it again. */
function FoldSign({ flow, op }: { flow: Flow; op: number }) {
  const { x, y, width } = flow.boxes[flow.boxOf[op] as number] as Box;
  return (
    <g
      class="rw-fold-sign"
      data-fold={op}
      transform={`translate(${x + width / 2 + AROUND_PX} ${y - flow.boxHeight / 2 - AROUND_PX})`}
    >
      <title>{words.fold}</title>
      <circle r="7" />
      <path d="M-4 0h8" />
    </g>
  );
}

interface EndsProps {
  readonly flow: Flow;
  readonly workload: Workload;
  readonly shown: readonly number[];
  readonly bytes: Float64Array | undefined;
}

/** The lines of inputs and outputs of the graph. */
const Ends = ({ flow, workload: { graph, values }, shown, bytes }: EndsProps) =>
  shown.flatMap((at) =>
    endsOf(graph, (flow.boxes[at] as Box).ops).map(({ side, tensors, shared }) => {
      const { x, y } = endPlace(flow, at, side, shared);
      return (
        <path
          key={`${at} ${side}`}
          d={`M${x} ${y}v${side * END_PX}`}
          stroke-width={thickness(total(values.bytes, tensors))}
          class="rw-edge"
        >
          <title>{titleOf(graph, tensors, bytes)}</title>
        </path>
      );
    }),
  );

/** What a click on the edge would do, right of the edge, or left of it at the right end of the graph. */
function Pill({ edge, proposal: { text, again, next }, width }: { edge: Edge; proposal: Proposal; width: number }) {
  const { x, y } = middleOf(edge);
  const left = clamp(x + 14, 0, width - PILL_PX + 14);
  const style = { left: `${left}px`, top: `${y}px`, maxWidth: `${width - left - 4}px` };
  return (
    <div class="rw-pill-note" data-rw="edge-note" data-refused={next ? undefined : "true"} role="status" style={style}>
      {text}
      {again && <small>{again}</small>}
    </div>
  );
}
