// Builds the scene of the roofline plane from the state.

import { flatsOf, type SubRoof } from "../roofline/ceilings.ts";
import type { Points } from "../roofline/points.ts";
import type { Store } from "../state/store.ts";
import { shortNames } from "../text/names.ts";
import { memoize } from "../ui/memoize.ts";
import { stripTicksWidth } from "./layers/axes.tsx";
import { project, type Scales, type Size, scalesOf, stableScales } from "./scales.ts";
import {
  fittedPoints,
  isPatternedIn,
  namedIn,
  roofColours,
  type Scene,
  selectionOf,
  shownFocus,
  unitsIn,
} from "./scene.ts";
import type { Theme } from "./theme.ts";
import { zoomed } from "./zoom.ts";

const linesOf = memoize<readonly SubRoof[]>();
const NOTHING: readonly never[] = [];

/**
 * Builds the scene, with room for the `parts` of merged kernels. If the new scales equal the scales of the `last`
 * scene, keeps the last scales. Layers with these scales are then not redrawn. While a roof is dragged, the axes do not
 * change.
 */
export function sceneOf(
  store: Store,
  all: Points,
  heaviest: readonly number[],
  size: Size,
  theme: Theme,
  { scene: last, axes }: { readonly scene: Scene | undefined; readonly axes: Scales | undefined },
  parts?: Points,
  isRoofHovered = false,
): Scene {
  const roofs = store.rates.shownRoofs.value;
  const focus = shownFocus(store);
  const names = shortNames(store.rates.chips.value);
  const drawn = store.rates.subRoofs.value;
  const kernels = store.rows.drawn.value;
  const subRoofs = focus
    ? linesOf(drawn, [kernels, focus], () => [...drawn, ...flatsOf(kernels, focus, drawn)])
    : NOTHING;
  const units = unitsIn(store, focus);
  // During a drag the axes never shrink. If the axes shrank, the roof would move away from the pointer.
  const before = last?.scales.width === size.width && store.view.isInDrag() ? last.scales : undefined;
  const ghosts = store.view.snapshots.value.filter(({ hidden }) => !hidden);
  const isChipFrame = store.view.axes.frame.value === "chip";
  const whole = scalesOf(
    ...[size, roofs, all, focus, stripTicksWidth(units, focus), parts, before?.whole ?? before, ghosts, isChipFrame],
  );
  const next = zoomed(whole, store.view.zoom.value);
  const scales = axes ?? stableScales(last?.scales, next);
  const points = fittedPoints(all, scales);
  return {
    kernels,
    points,
    at: project(points, scales),
    roofs,
    focus,
    levels: focus && focus.levels.length > 1 ? store.rates.shownLevels.value : NOTHING,
    subRoofs,
    colours: roofColours(store, theme),
    names,
    scales,
    units,
    theme,
    colouring: store.rows.colouring.value,
    isRoofHovered,
    isPatterned: isPatternedIn(store, theme),
    gaps: store.lesson.hidesHint("points") ? "none" : store.view.gaps.value,
    allJoins: store.view.allJoins.value,
    isTold: store.lesson.current.value !== undefined,
    ...namedIn(store, points, heaviest, last),
    ...selectionOf(store),
  };
}
