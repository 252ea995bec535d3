// The animation of a merge: the points of the merged kernels move together into one point.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Merge } from "../state/trails.ts";

/** The duration of the movement of merged points, ms. */
const GLIDE_MS = 200;

/**
 * Returns the progress of the movement of merged points, from 0 to 1. If the user prefers reduced motion, the progress
 * is always 1.
 */
export function useGlide(merges: readonly Merge[] | undefined): number {
  const share = useSignal(1);
  const before = useRef(merges);
  const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const leaves = merges !== undefined && merges.length > 0 && merges !== before.current && !isStill();
  useEffect(() => {
    before.current = merges;
    if (!leaves) return;
    // Without this, a first frame that comes after the end of the movement would not change the share, so that nothing
    // would draw the points at their new place.
    share.value = 0;
    const start = performance.now();
    let frame = requestAnimationFrame(function step(now) {
      const passed = Math.min(1, Math.max(0, now - start) / GLIDE_MS);
      share.value = 1 - (1 - passed) ** 3;
      if (passed < 1) frame = requestAnimationFrame(step);
    });
    return () => {
      cancelAnimationFrame(frame);
      share.value = 1;
    };
  }, [merges]);
  const passed = share.value;
  return leaves ? 0 : passed;
}
