// The marker that a learner drags to the place where a hidden kernel is expected, and the way from there to its true
// place.

import { useRef } from "preact/hooks";
import { attainable } from "../roofline/roofline.ts";
import type { Store } from "../state/store.ts";
import { formatAnswer } from "../text/numbers.ts";
import { useGesture } from "../ui/gesture.ts";
import { isModified, KEYS_OF_MARKER, lookUp, OWN_KEYS, used } from "../ui/keys.ts";
import { textAt } from "../wire/columns.ts";
import type { Question } from "../wire/types.ts";
import { storyWords as words } from "../words/words.ts";
import { clamp } from "./scales.ts";
import type { Scene } from "./scene.ts";

/** A step of a key moves the marker by this factor, with Page Up and Page Down by the same factor to the tenth. */
const KEY_FACTOR = 1.02;

/** The room that the number beside the marker takes at most, px. */
const PLACE_PX = 140;

interface PredictionProps {
  readonly store: Store;
  readonly scene: Scene;
}

/** Returns the axis on which the question of the step has a marker. */
function axisOf(question: Question | undefined): "x" | "y" | undefined {
  if (question?.kind !== "drag") return undefined;
  return question.on === "intensity" ? "x" : question.on === "rate" ? "y" : undefined;
}

export function Prediction({ store, scene }: PredictionProps) {
  const question = store.lesson.question.value;
  const axis = axisOf(question);
  if (!question || !axis || store.view.plane.value !== "roofline") return null;
  if (store.lesson.isRevealed.value) return <Glide store={store} scene={scene} question={question} axis={axis} />;
  return <Marker key={question.key} store={store} scene={scene} question={question} axis={axis} />;
}

type MarkerProps = PredictionProps & { readonly question: Question; readonly axis: "x" | "y" };

/** Returns the place of a predicted value, px. */
function placeOf({ store, scene: { scales, focus }, question, axis }: MarkerProps, value: number) {
  if (axis === "x") {
    const rate = focus ? attainable(value, focus) : scales.y.invert((scales.plot.top + scales.plot.bottom) / 2);
    return { x: scales.x(value), y: scales.y(rate) };
  }
  const known = question.kernel === null ? undefined : intensityOf(store, question.kernel);
  return { x: known ? scales.x(known) : (scales.plot.left + scales.plot.right) / 2, y: scales.y(value) };
}

function rowOf({ rows: { kernels } }: Store, name: string): number {
  const { name: names, n } = kernels.value;
  for (let row = 0; row < n; row++) if (textAt(names, row) === name) return row;
  return -1;
}

function intensityOf(store: Store, name: string): number | undefined {
  const [table, row] = [store.rows.kernels.value, rowOf(store, name)];
  const moved = [...table.bytes.values()][0]?.[row] ?? 0;
  const flops = [...table.flops.values()].reduce((total, column) => total + (column[row] || 0), 0);
  const ratio = flops / moved;
  return ratio > 0 && Number.isFinite(ratio) ? ratio : undefined;
}

/** Returns the place of the kernel's point, px. Undefined if the kernel has no point. */
function pointOf(store: Store, { points, at }: Scene, name: string | null) {
  const index = name === null ? -1 : (points.home[rowOf(store, name)] ?? -1);
  const [x, y] = [at.x[index], at.y[index]];
  return x === undefined || y === undefined ? undefined : { x, y };
}

function Marker(props: MarkerProps) {
  const { store, scene, question, axis } = props;
  const { scales } = scene;
  const scale = scales[axis];
  const [low, high] = scale.domain as readonly [number, number];
  const gesture = useGesture();
  const value = clamp(store.lesson.prediction.value ?? Math.sqrt(low * high), low, high);
  const { x, y } = placeOf(props, value);
  const put = (next: number) => {
    store.lesson.prediction.value = clamp(next, low, high);
  };
  function start(event: PointerEvent & { currentTarget: HTMLElement }) {
    if (event.button !== 0) return;
    const before = store.lesson.prediction.peek();
    const from = { pointer: axis === "x" ? event.clientX : event.clientY, place: axis === "x" ? x : y };
    const zoom = event.currentTarget.getBoundingClientRect().width / event.currentTarget.offsetWidth || 1;
    const move = (to: number) => put(scale.invert(from.place + (to - from.pointer) / zoom));
    put(value);
    gesture.start(
      {
        move: (clientX, clientY) => move(axis === "x" ? clientX : clientY),
        end() {},
        cancel() {
          store.lesson.prediction.value = before;
        },
      },
      event,
    );
    event.stopPropagation();
    event.currentTarget.focus();
    event.preventDefault();
  }
  function onKeyDown(event: KeyboardEvent) {
    const steps = isModified(event) ? undefined : lookUp(KEYS_OF_MARKER, event.key);
    if (event.key === "Escape" && gesture.drag) gesture.cancel();
    else if (steps !== undefined) put(value * KEY_FACTOR ** steps);
    else return;
    used(event);
  }
  const text = formatAnswer(value, question.unit);
  const line =
    axis === "x" ? { left: `${x}px`, top: `${scales.plot.top}px` } : { top: `${y}px`, left: `${scales.plot.left}px` };
  const length =
    axis === "x"
      ? { height: `${scales.plot.bottom - scales.plot.top}px` }
      : { width: `${scales.plot.right - scales.plot.left}px` };
  return (
    <>
      <div class="rw-guide" data-axis={axis} style={{ ...line, ...length }} />
      <div
        class="rw-marker"
        data-axis={axis}
        role="slider"
        tabIndex={0}
        {...OWN_KEYS}
        aria-label={axis === "x" ? words.marker.intensity : words.marker.rate}
        aria-valuenow={value}
        aria-valuemin={low}
        aria-valuemax={high}
        aria-valuetext={text}
        style={{ left: `${x}px`, top: `${y}px` }}
        onPointerDown={start}
        onPointerMove={(event) => gesture.drag && gesture.move(event.clientX, event.clientY)}
        onPointerUp={(event) => gesture.end(event)}
        onPointerCancel={() => gesture.cancel()}
        onClick={(event) => event.stopPropagation()}
        onKeyDown={onKeyDown}
      >
        <span class="rw-place" data-side={x > scales.plot.right - PLACE_PX ? "start" : "end"}>
          {text}
        </span>
      </div>
    </>
  );
}

/** The mark that glides from the learner's last answer to the true place. */
function Glide(props: MarkerProps) {
  const { store, question } = props;
  const given = store.lesson.attempts.value.at(-1);
  const isNew = useRef(true);
  if (typeof given !== "number" || typeof question.answer !== "number") return null;
  const from = placeOf(props, given);
  const to = pointOf(store, props.scene, question.kernel) ?? placeOf(props, question.answer);
  const way = { "--rw-dx": `${from.x - to.x}px`, "--rw-dy": `${from.y - to.y}px` };
  const isMoving = isNew.current;
  isNew.current = false;
  return (
    <>
      <div class="rw-guess" style={{ left: `${from.x}px`, top: `${from.y}px` }} aria-hidden="true" />
      <div
        class="rw-truth"
        data-moves={isMoving || undefined}
        style={{ left: `${to.x}px`, top: `${to.y}px`, ...way }}
        aria-hidden="true"
      />
    </>
  );
}
