// The drawn graph of the fusion panel, and the gestures on it.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { mix, type Theme } from "../../chart/theme.ts";
import type { Graph } from "../../fusion/graph.ts";
import type { Partition } from "../../fusion/legality.ts";
import { total } from "../../fusion/partition.ts";
import type { Workload } from "../../state/graph.ts";
import { type Drag, useGesture } from "../../ui/gesture.ts";
import { placeIn } from "../../ui/pointer_position.ts";
import { BOX_HEIGHT, type Edge, type Flow, MARGIN, type OpBox, type Point, ROW_HEIGHT } from "./flow.ts";
import { bandsOf, endsOf, isOut, opAt, pathOf, seen, shortened, thickness, titleOf } from "./flow_parts.ts";

/**
 * Height in px of the visible part of the graph. The last visible row is cut in half, to show that the graph continues
 * below.
 */
export const FLOW_HEIGHT = MARGIN + 8 * ROW_HEIGHT + BOX_HEIGHT / 2;
/** Parts of the graph that are more than this many px outside the visible area are not drawn. */
const DRAWN_AROUND_PX = FLOW_HEIGHT / 2;
/** A drag shorter than this, in px, is a click. */
const CLICK_PX = 4;

interface FlowViewProps {
  readonly flow: Flow;
  readonly workload: Workload;
  readonly theme: Theme;
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
  /** The available width in px. */
  readonly room: Signal<number>;
  point(group: number | null): void;
  pick(op: number): void;
  merge(from: number, to: number): void;
  split(op: number): void;
  cutAt(to: number): void;
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
  const { flow, workload, theme, cursor, marked, refused } = props;
  const { graph, values, partition } = workload;
  const { groupOf } = partition;
  const view = useSignal({ left: 0, top: 0 });
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
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (width > 0) props.room.value = width;
    });
    if (frame.current) resized.observe(frame.current);
    return () => resized.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (cursor !== undefined || flow.width > props.room.value) {
      show(frame.current, flow.boxes[cursor ?? flow.layers[0]?.[0] ?? -1]);
    }
  }, [cursor, flow]);
  const { left, top } = view.value;
  const { ops, edges } = useMemo(() => {
    const [right, bottom] = [left + flow.width, top + FLOW_HEIGHT + DRAWN_AROUND_PX];
    return seen(flow, { left: left - DRAWN_AROUND_PX, top: top - DRAWN_AROUND_PX, right, bottom });
  }, [flow, left, top]);
  const isInside = ({ from, to }: Edge) => groupOf[from] === groupOf[to];
  const bands = useMemo(() => bandsOf(flow, workload), [flow, partition]);
  const { drag } = gesture;
  const target = drag && isOver.value ? opAt(flow, draggedTo.value) : undefined;
  const dragged = drag?.hasMoved() ? drag.op : undefined;
  const mover = dragged ?? marked;
  const partners = useMemo(
    () => (mover === undefined ? undefined : props.partnersOf(mover)),
    [mover, partition, props.crowded],
  );

  const placeOf = (event: PointerEvent): Point => {
    const [x, y] = svg.current ? placeIn(svg.current, flow.width, event) : [0, 0];
    return { x, y };
  };
  function press(event: PointerEvent) {
    if (event.button !== 0) return;
    const from = placeOf(event);
    const op = opAt(flow, from);
    if (op === undefined) return;
    props.pick(op);
    if (props.isLocked) return;
    // While an op is dragged, the panel shows the op instead of the data of the op's kernel.
    props.point(null);
    draggedTo.value = from;
    isOver.value = true;
    const hasMoved = () => Math.hypot(draggedTo.value.x - from.x, draggedTo.value.y - from.y) > CLICK_PX;
    const end = (up?: PointerEvent) => up && hasMoved() && drop(op, draggedTo.peek());
    gesture.start({ op, from, hasMoved, end, cancel: () => {} }, event);
  }
  function move(event: PointerEvent) {
    if (!gesture.drag) return;
    draggedTo.value = placeOf(event);
    const box = frame.current?.getBoundingClientRect();
    isOver.value = box === undefined || isWithin(event, box);
  }
  function drop(op: number, place: Point) {
    const { flow, workload, merge, split } = latest.current;
    const { groups, groupOf } = workload.partition;
    const onto = isOver.peek() ? opAt(flow, place) : undefined;
    const group = groups[groupOf[op] as number] as readonly number[];
    if (onto !== undefined && onto !== op) merge(op, onto);
    else if (onto === undefined && (!isOver.peek() || isOut(flow, group, place))) split(op);
  }
  function click({ target }: MouseEvent) {
    const { from, to } = (target as SVGElement).dataset;
    const edge = edges.find((one) => graph.ops[one.from]?.name === from && graph.ops[one.to]?.name === to);
    if (!edge) return;
    if (isInside(edge)) props.cutAt(edge.to);
    else props.merge(edge.from, edge.to);
  }
  return (
    <div
      ref={frame}
      class="roofwidget-flow"
      data-locked={props.isLocked || undefined}
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys walk along the ops
      tabIndex={0}
      data-lm-suppress-shortcuts="true"
      aria-label={props.label}
      aria-keyshortcuts={props.shortcuts}
      style={{ maxHeight: `${FLOW_HEIGHT}px` }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !gesture.drag) return props.onKeyDown(event);
        gesture.cancel();
        event.stopPropagation();
      }}
      onBlur={() => props.point(null)}
      onScroll={({ currentTarget: { scrollLeft, scrollTop } }) => {
        const [left, top] = [scrollLeft, scrollTop].map((px) => Math.floor(px / DRAWN_AROUND_PX) * DRAWN_AROUND_PX) as [
          number,
          number,
        ];
        if (left !== view.value.left || top !== view.value.top) view.value = { left, top };
      }}
    >
      <svg
        ref={svg}
        width={flow.width}
        height={flow.height}
        aria-hidden="true"
        onPointerDown={press}
        onPointerMove={move}
        onPointerUp={gesture.end}
        onClick={click}
        onPointerCancel={gesture.cancel}
        onLostPointerCapture={gesture.cancel}
        onPointerLeave={() => props.point(null)}
      >
        <Bands {...{ bands, partition, theme, crowded: props.crowded, pointed: props.pointed }} />
        {edges.map((edge) => (
          <path
            key={`${edge.from} ${edge.to}`}
            d={pathOf(edge.points)}
            stroke-width={thickness(total(values.bytes, edge.tensors))}
            class={`roofwidget-edge${isInside(edge) ? " roofwidget-seam" : ""}`}
          />
        ))}
        {edges.map((edge) => (
          <path
            key={`${edge.from} ${edge.to} hit`}
            d={pathOf(edge.points)}
            class="roofwidget-hit"
            data-from={graph.ops[edge.from]?.name}
            data-to={graph.ops[edge.to]?.name}
          >
            <title>{titleOf(graph, edge.tensors, values.bytes)}</title>
          </path>
        ))}
        <Ends {...{ flow, workload, ops }} />
        {[...ops]
          .sort((a, b) => Number(a === mover) - Number(b === mover))
          .map((op) => {
            const shakes = refused.ops.includes(op);
            const { x, y, width } = flow.boxes[op] as OpBox;
            const by = drag && dragged === op ? [draggedTo.value.x - drag.from.x, draggedTo.value.y - drag.from.y] : [];
            const [dx = 0, dy = 0] = by;
            const states = [
              cursor === op && "cursor",
              marked === op && "marked",
              target === op && "target",
              partners?.has(groupOf[op] as number) && "partner",
              dragged === op && "dragged",
            ];
            return (
              <g
                key={shakes ? `${op} ${refused.count}` : op}
                class={`roofwidget-op ${states.map((state) => (state ? `roofwidget-${state}` : "")).join(" ")}`}
                data-op={graph.ops[op]?.name}
                transform={`translate(${x - width / 2 + dx} ${y - BOX_HEIGHT / 2 + dy})`}
                onPointerEnter={() => !gesture.drag && props.point(groupOf[op] as number)}
              >
                <g class={shakes ? "roofwidget-shake" : ""}>
                  <title>{graph.ops[op]?.name}</title>
                  <rect width={width} height={BOX_HEIGHT} rx="4" />
                  <text x={width / 2} y={BOX_HEIGHT / 2}>
                    {shortened(graph.ops[op]?.name ?? "", width)}
                  </text>
                </g>
              </g>
            );
          })}
      </svg>
    </div>
  );
}

const isWithin = ({ clientX: x, clientY: y }: PointerEvent, { left, right, top, bottom }: DOMRect) =>
  x >= left && x <= right && y >= top && y <= bottom;

/** Scrolls until a box is visible. Horizontally, the box is centred. */
function show(frame: HTMLElement | null, box: OpBox | undefined) {
  if (!frame || !box) return;
  const { clientWidth, clientHeight, scrollLeft, scrollTop } = frame;
  if (Math.abs(box.x - scrollLeft - clientWidth / 2) > (clientWidth - box.width) / 2) {
    frame.scrollLeft = box.x - clientWidth / 2;
  }
  frame.scrollTop = Math.min(box.y - BOX_HEIGHT, Math.max(scrollTop, box.y + BOX_HEIGHT - clientHeight));
}

/** How far the band extends beyond the boxes of its group, px. */
const BAND_PX = 10;
/** Dash length of the outline of a group that does not fit on chip, px. */
const DASH_PX = 5;
/** The share of the hue in the background of a hovered group. */
const POINTED_WASH = 0.25;

interface BandsProps {
  readonly bands: ReturnType<typeof bandsOf>;
  readonly partition: Partition;
  readonly theme: Theme;
  /** The groups whose tiles do not fit on chip. */
  readonly crowded: ReadonlySet<number>;
  /** The group that is hovered on the chart. */
  readonly pointed: number | null;
}

/** The bands behind groups of several ops. A band has a dashed outline if the group's tiles do not fit on chip. */
export function Bands({ bands, partition: { groups }, theme, crowded, pointed }: BandsProps) {
  const hueOf = (group: number) => theme.categories[(groups[group]?.[0] ?? 0) % theme.categories.length] as string;
  const stroke = (group: number, d: string, colour: string, width: number, dash?: number) => (
    <path
      key={`${group} ${width}`}
      d={d}
      stroke={colour}
      stroke-width={BOX_HEIGHT + BAND_PX + width}
      stroke-dasharray={dash}
      class={dash ? "roofwidget-crowded" : "roofwidget-band"}
    />
  );
  return (
    <>
      {bands.map(({ group, d }) =>
        crowded.has(group) ? stroke(group, d, theme.alert, 4) : stroke(group, d, hueOf(group), 2),
      )}
      {bands.map(({ group, d }) => crowded.has(group) && stroke(group, d, theme.background, 5, DASH_PX))}
      {bands.map(({ group, d }) => {
        const inner = pointed === group ? mix(theme.background, hueOf(group), POINTED_WASH) : theme.background;
        return stroke(group, d, inner, 0);
      })}
    </>
  );
}

/** Maximum width of a tensor's name, px. */
const MAX_NAME_PX = 72;

interface EndsProps {
  readonly flow: Flow;
  readonly workload: Workload;
  readonly ops: readonly number[];
}

export function Ends({ flow, workload: { graph, values }, ops }: EndsProps) {
  return ops.flatMap((op) =>
    endsOf(graph, op).map(({ side, tensors, shared }) => {
      const { x, y, width } = flow.boxes[op] as OpBox;
      const [left, top] = [x - (shared ? width / 3 : 0), y + (side * BOX_HEIGHT) / 2];
      return (
        <g key={`${op} ${side}`}>
          <title>{titleOf(graph, tensors, values.bytes)}</title>
          <path
            d={`M${left} ${top}v${side * (MARGIN - 2)}`}
            stroke-width={thickness(total(values.bytes, tensors))}
            class="roofwidget-edge"
          />
          <text x={left - 8} y={top + (side * MARGIN) / 2} class="roofwidget-end">
            {nameOf(graph, op, tensors)}
          </text>
        </g>
      );
    }),
  );
}

/**
 * Returns the first tensor name that does not begin with the op's name. If two more names do not begin with the op's
 * name, "+2" follows: "weight +2".
 */
function nameOf(graph: Graph, op: number, tensors: readonly number[]): string {
  const own = graph.ops[op]?.name ?? "";
  const names = tensors.map((tensor) => graph.tensors[tensor]?.name ?? "").filter((name) => !name.startsWith(own));
  const more = names.length > 1 ? ` +${names.length - 1}` : "";
  return names.length > 0 ? `${shortened(names[0] as string, MAX_NAME_PX)}${more}` : "";
}
