// The network plane on the screen: the layers, with pointer, keys, drags of the roof and the tooltip.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { RateKey } from "../../state/rates.ts";
import { messageCard } from "../../text/network.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { useGesture } from "../../ui/gesture.ts";
import { isModified, used } from "../../ui/keys.ts";
import { placeIn } from "../../ui/pointer_position.ts";
import { networkWords as words } from "../../words/words.ts";
import type { ChartDrag } from "../gestures/chart_drag.ts";
import { isPart, startPartDrag } from "../gestures/roof_drag.tsx";
import { Clip } from "../layers/clip.tsx";
import { placesFor, sizeOfCard, Tooltip } from "../layers/tooltip.tsx";
import { circlePath, px, type Spot } from "../paths.ts";
import { RoofHint, useRoofHover } from "../roof_hint.tsx";
import type { PlaneProps } from "../stage.tsx";
import { nearestOf } from "../svg_plane/scene.ts";
import { SvgPlane, WALK_KEYS, walkTo } from "../svg_plane/view.tsx";
import { NetworkLayers, networkLabel } from "./layers.tsx";
import { type Dot, linkAt, type NetworkScene, networkScene, roofSpots } from "./scene.ts";

/** The pointer hovers over the nearest message within this distance, px; a press nearer than this is on the message. */
const [HOVER_PX, PRESS_PX] = [12, 3];
/** The places of the grips: on the flat as a share of the width, on the slope as a share of the size at the corner. */
const [FLAT_GRIP, SLOPE_GRIP] = [0.66, 1 / 300];
const NETWORK = "network";
const BANDWIDTH: RateKey = { quantity: "bandwidth", level: NETWORK };
const LATENCY: RateKey = { quantity: "latency", level: NETWORK };

export function NetworkChart({ store, size, theme, below, tools }: PlaneProps) {
  const gesture = useGesture<ChartDrag>();
  const held = useRef<NetworkScene>(undefined);
  const axes = gesture.drag?.axes ?? (store.view.isInDrag() ? held.current?.scales : undefined);
  const scene = networkScene(store, size, theme, axes?.width === size.width ? axes : undefined);
  const { scales, link, roof, hovered, walk } = scene;
  const hover = useRoofHover(size.width);
  useLayoutEffect(() => {
    held.current = scene;
  });
  const isFree = link !== undefined && !link.isFixed && !store.lesson.isLocked("bandwidth");
  const point = (dot: Dot | undefined) => {
    store.view.message.value = dot?.message.row;
  };

  function start(event: PointerEvent, x: number, y: number): boolean {
    const { part } = (event.target as SVGElement).dataset;
    if (!link || !roof || !isPart(part) || event.button !== 0) return false;
    const keys = { peak: [BANDWIDTH], bandwidth: [LATENCY], ridge: [BANDWIDTH, LATENCY] }[part];
    const corner = scales.x(roof.half ?? 1);
    const dx = part === "ridge" ? corner - x : 0;
    const from = { part, scales, roof, link, dx, dy: part === "bandwidth" ? 0 : scales.y(roof.flat) - y };
    return startPartDrag({ store, gesture, scales }, event, [x, y], {
      keys,
      now: keys.map((key) => (key === LATENCY ? link.latency : link.bandwidth)),
      at(x, y) {
        const [bandwidth, latency] = linkAt(from, x, y);
        return keys.map((key) => (key === LATENCY ? latency : bandwidth));
      },
      textOf: (key, rate) => formatQuantity(rate, key === LATENCY ? "s" : "B/s"),
    });
  }

  function onPointer(event: PointerEvent) {
    if (!event.isPrimary) return;
    const [x, y] = placeIn(event.currentTarget as HTMLElement, scales.width, event);
    if (gesture.drag) return gesture.move(x, y, event.shiftKey);
    const isPress = event.type === "pointerdown";
    if (isPress && !nearestOf(scene.dots, [x, y], PRESS_PX) && start(event, x, y)) return point(undefined);
    point(nearestOf(scene.dots, [x, y], HOVER_PX));
  }

  function onKeyDown(event: KeyboardEvent) {
    if (isModified(event) || !WALK_KEYS.includes(event.key as (typeof WALK_KEYS)[number])) return;
    if (event.key === "Escape" && gesture.drag) {
      gesture.cancel();
      return used(event);
    }
    if (event.key === "Escape" && !hovered) return;
    const to = walkTo(event.key, hovered ? walk.indexOf(hovered) : -1, walk.length - 1);
    point(to === undefined ? undefined : walk[to]);
    used(event);
  }

  return (
    <SvgPlane
      {...{ size, theme, tools, gesture, onPointer, onKeyDown }}
      label={networkLabel(link?.chip.name ?? "", walk.length)}
      keys={WALK_KEYS}
      leave={() => point(undefined)}
      layers={
        <>
          <NetworkLayers scene={scene} />
          {isFree && <Handles scene={scene} hover={hover} />}
        </>
      }
    >
      {hovered && !gesture.drag && !store.lesson.hidesHint("points") && <Card {...{ scene, below }} dot={hovered} />}
      <RoofHint hover={hover} drag={gesture.drag} size={size} hints={words.dragHint} />
    </SvgPlane>
  );
}

interface HandlesProps {
  readonly scene: NetworkScene;
  readonly hover: ReturnType<typeof useRoofHover>;
}

/** The parts of the roof that can be dragged: wide and invisible; for fingers with grips. */
function Handles({ scene, hover }: HandlesProps) {
  const { scales, theme, roof } = scene;
  const { plot, x, y } = scales;
  const spots = roofSpots(scene);
  if (!roof) return null;
  const path = (from: Spot, to: Spot) => `M${px(from[0])},${px(from[1])}L${px(to[0])},${px(to[1])}`;
  const [one, two, three] = spots as readonly [Spot, Spot, Spot?];
  const [flat, slope] = three ? [path(two, three), path(one, two)] : [path(one, two), ""];
  const left = plot.left + FLAT_GRIP * (plot.right - plot.left);
  const away = (roof.half ?? 0) * SLOPE_GRIP;
  const grips: [x: number, y: number, slant: number][] = [[left, y(roof.flat), 0]];
  if (away > x.domain[0]) grips.push([x(away), y(roof.flat * SLOPE_GRIP), 1]);
  return (
    <>
      <path
        class="rw-grips"
        data-rw="grips"
        fill={theme.text}
        d={grips
          .flatMap(([cx, cy, slant]) =>
            [-7, 0, 7].map((by) => circlePath([cx + by * (slant ? 0.7 : 1), cy - by * 0.7 * slant], 2)),
          )
          .join("")}
      />
      <Clip box={{ ...plot, top: 0 }}>
        {/* The sliders do the same for the keyboard. */}
        <g
          class="rw-handles"
          onPointerOver={(event) => hover.hover(event, true)}
          onPointerOut={(event) => hover.hover(event, false)}
        >
          <path data-part="peak" d={flat} />
          {slope && <path data-part="bandwidth" d={slope} />}
          {three && <circle data-part="ridge" cx={two[0]} cy={two[1]} r={12} />}
        </g>
      </Clip>
    </>
  );
}

function Card({ scene, dot, below }: { readonly scene: NetworkScene; readonly dot: Dot; readonly below: number }) {
  const [name, rows] = messageCard(dot.message, scene);
  const { width, height } = sizeOfCard(name, rows, scene.scales);
  const { scales, labels, isNarrow } = scene;
  const top = Math.max(dot.y + dot.radius, ...labels.flatMap(({ y, isBeside }) => (isBeside ? [] : [y]))) + 14;
  // Below the names and clear of the slope, if there is room.
  const left = Math.max(dot.x - width / 2, Math.min(dot.x + 16, scales.width - width - 4));
  const under = { left: Math.min(left, scales.width - width - 4), top, right: 0, bottom: top + height };
  const isUnder = !isNarrow && under.bottom < scales.plot.bottom - 4;
  const boxes = isUnder ? [{ ...under, right: under.left + width }] : placesFor(dot, { width, height }, scales, below);
  return <Tooltip name={name} rows={rows} boxes={boxes} />;
}
