// The rules of labels, one row for each kind: which labels matter more, where they may stand, and what that costs.
//
// The engine places labels in falling order of importance. Each takes the candidate that costs least: a position of
// its kind, with the full text or a shorter one. No label ever overlaps another label or a ridge point, or leaves the
// chart; what else it may lie across is said here.

import {
  alongCeiling,
  alongDiagonal,
  alongRoof,
  alongSlope,
  aroundMiddle,
  aroundMovedKernel,
  atFoot,
  besideArrow,
  besideGap,
  besideIsochrone,
  besideKernel,
  besideLaunches,
  besideRidge,
  besideRuler,
  besideRulerFoot,
  inCorner,
  inMiddle,
  type Position,
} from "./candidates.ts";

/** A candidate that costs this much is none. */
const NEVER = Number.POSITIVE_INFINITY;

/** What a px of a line costs that a text covers. For comparison: each position costs 1 more than the one before it. */
export const COST_OF_A_PX_ON_LINES = 10;

/** A mark farther from its label than this has a leader to it, px. */
export const LEADER_FROM_PX = 20;

/** What is drawn on a plane. */
export const OBSTACLES = ["points", "arrows", "lines", "isochrones"] as const;
export type Obstacle = (typeof OBSTACLES)[number];

/** What it costs to lie across each kind of obstacle. */
type Across = Readonly<Record<Obstacle, number>>;

const NOTHING: Across = { lines: NEVER, arrows: NEVER, points: NEVER, isochrones: 0 };
const LINES: Across = { ...NOTHING, lines: 100_000 };
const ANYTHING: Across = { lines: 100_000, arrows: 1_000_000, points: 1_000_000, isochrones: 0 };

export interface LabelRule {
  readonly importance: number;
  /** The candidate positions, the best first. */
  readonly positions: (...mark: never[]) => readonly Position[];
  /** What it may lie across where no clear position is left. */
  readonly across: Across;
  /** What each shorter text costs, and a position away from its mark. */
  readonly shorter: number;
  readonly far: number;
  /** Whether its shorter texts and its far positions wait until every other label has had its turn. */
  readonly waits?: boolean;
  /** Whether a line leads to its mark where that is far. */
  readonly hasLeader?: boolean;
  /** Whether it stays away during a drag if it had no place before: else names would flicker. */
  readonly staysAway?: boolean;
}

const KERNEL = { far: 1_000, waits: true, hasLeader: true };
const GAP = { shorter: 1_000, far: 5_000, hasLeader: true };

function rule<Positions extends LabelRule["positions"]>(
  importance: number,
  positions: Positions,
  across: Across,
  more: Partial<LabelRule> = {},
): LabelRule & { readonly positions: Positions } {
  return { importance, shorter: 10_000, far: 0, ...more, positions, across };
}

/** Each kind: importance, candidate positions, what it may lie across, and what is special. */
export const RULES = {
  // Both planes.
  note: rule(82, aroundMovedKernel, ANYTHING, { hasLeader: true }),
  kernel: rule(54, besideKernel, NOTHING, { ...KERNEL, staysAway: true }),

  // The roofline plane.
  level: rule(92, alongSlope, ANYTHING),
  levelRidge: rule(90, besideRidge, NOTHING, { staysAway: true }),
  ceiling: rule(88, alongCeiling, ANYTHING, { staysAway: true }),
  // Between the slopes of levels a name across a line would hide which line it names.
  levelCeiling: rule(88, alongCeiling, NOTHING, { staysAway: true }),
  roof: rule(86, alongRoof, ANYTHING),
  ridge: rule(84, besideRidge, NOTHING, { staysAway: true }),
  trail: rule(76, besideArrow, ANYTHING),
  run: rule(74, besideArrow, NOTHING),
  change: rule(72, besideArrow, NOTHING),
  snapshot: rule(70, alongRoof, LINES),
  gap: rule(50, besideGap, LINES, GAP),
  region: rule(40, atFoot, NOTHING),

  // The time view.
  empty: rule(62, inMiddle, ANYTHING),
  overhead: rule(60, besideLaunches, ANYTHING),
  diagonal: rule(58, alongDiagonal, ANYTHING),
  timeGap: rule(50, aroundMiddle, NOTHING, { staysAway: true }),
  timeRegion: rule(40, inCorner, { ...LINES, isochrones: 100_000 }),
  isochrone: rule(30, besideIsochrone, { ...NOTHING, isochrones: NEVER }),

  // Rulers.
  limit: rule(20, besideRuler, LINES, { hasLeader: true }),
  // In a narrow chart the tooltip has the same numbers.
  narrowLimit: rule(20, besideRuler, NOTHING, { hasLeader: true }),
  foot: rule(10, besideRulerFoot, LINES),
};

export type LabelKind = keyof typeof RULES;

/** Labels in bold, of the focus roof and of marked kernels: where their rules differ. */
const BOLD_RULES: Partial<Record<LabelKind, LabelRule>> = {
  roof: rule(100, alongRoof, ANYTHING),
  ridge: rule(96, besideRidge, ANYTHING, { hasLeader: true }),
  gap: rule(80, besideGap, ANYTHING, GAP),
  change: rule(72, besideArrow, LINES),
  kernel: rule(66, besideKernel, NOTHING, KERNEL),
  timeGap: rule(64, aroundMiddle, NOTHING),
};

export const ruleOf = ({ kind, bold }: { readonly kind: LabelKind; readonly bold?: boolean }): LabelRule =>
  (bold && BOLD_RULES[kind]) || RULES[kind];
