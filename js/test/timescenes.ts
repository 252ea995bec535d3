// Scenes of the time view for tests: a few kernels on a slow chip, and their labels.

import { signal } from "@preact/signals";
import { chartHeight } from "../src/chart/scales.ts";
import { LIGHT } from "../src/chart/theme.ts";
import { timeLabels } from "../src/chart/time/labels.ts";
import { timePointsOf } from "../src/chart/time/points.ts";
import { judgeOf, type TimeScene, timeGaps, timeSceneOf } from "../src/chart/time/scene.ts";
import { colouringOf } from "../src/roofline/colouring.ts";
import { byFallingTime } from "../src/roofline/filters.ts";
import { moved } from "../src/roofline/kernel_moves.ts";
import { rankingOf } from "../src/roofline/ranking.ts";
import type { Roof } from "../src/roofline/roofline.ts";
import type { Store } from "../src/state/store.ts";
import type { Kernels } from "../src/wire/columns.ts";
import type { Moves, Zoom } from "../src/wire/types.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof } from "./helpers.ts";

/** 100 FLOP/s and 10 B/s. */
export const SLOW = makeChip({ id: "slow", name: "Slow", peaks: { fp32: 100 }, memories: { DRAM: 10 } });
export const TWICE = { name: "twice", flops: 1000, bytes: 200, count: 2 };
export const MATMUL = { name: "matmul", flops: 40_000, bytes: 100 };

export interface Options {
  readonly width?: number;
  readonly launchOverhead?: number;
  readonly peak?: number;
  readonly memory?: string;
  readonly chip?: typeof SLOW;
  readonly hovered?: number | null;
  readonly scale?: "log" | "linear";
  readonly zoom?: Zoom | null;
  readonly moves?: Moves;
  /** The previous scene, if a control is being dragged. */
  readonly last?: TimeScene;
}

export function sceneOf(specs: readonly KernelSpec[], options: Options = {}): TimeScene {
  const {
    width = 928,
    scale = "log",
    zoom = null,
    launchOverhead = 0,
    peak = 100,
    memory = "main",
    chip = SLOW,
    hovered = null,
    moves,
    last,
  } = options;
  const roof = makeRoof(chip, "auto", memory, { slow: { peak_flops: { fp32: peak } } }, { launchOverhead });
  const kernels = makeKernels(specs);
  const store = {
    rates: {
      chips: signal([chip]),
      shown: signal([chip.id]),
      shownRoofs: signal([roof]),
      focusRoof: signal(roof),
    },
    rows: {
      drawn: signal(kernels),
      colouring: signal(colouringOf(kernels, "category")),
      pointed: signal(hovered),
      selected: signal([]),
      points: signal({ measured: specs.filter(({ time }) => time).length }),
      ranking: signal(rankingOf(kernels, byFallingTime(kernels), roof)),
    },
    view: {
      patterns: signal(false),
      gaps: signal("first"),
      zoom: signal(zoom),
      terms: signal({}),
      isInDrag: () => last !== undefined,
      axes: {
        rateUnit: signal("FLOP/s"),
        word: signal(0),
        xAxis: signal("intensity"),
        tickBase: signal(10),
        timeScale: signal(scale),
      },
    },
    lesson: { hidesHint: () => false },
  } as unknown as Store;
  const points = timePointsOf(kernels, judgeOf(store));
  const size = { width, height: chartHeight(width) };
  const after = moves && afterOf(kernels, moves, roof);
  return timeSceneOf(store, points, [...byFallingTime(kernels)], size, LIGHT, last, after);
}

/** Moved kernels and their points. */
export function afterOf(kernels: Kernels, moves: Moves, roof: Roof) {
  const all = moved(kernels, moves, roof);
  return { ...all, points: timePointsOf(all.kernels, roof) };
}

export const labelsOf = (scene: TimeScene) => timeLabels(scene, timeGaps(scene));
export const textsOf = (scene: TimeScene) => new Map(labelsOf(scene).map(({ key, text }) => [key, text]));
