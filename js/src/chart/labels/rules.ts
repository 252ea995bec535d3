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
  aroundRidge,
  atFoot,
  besideGap,
  besideIsochrone,
  besideKernel,
  besideLaunches,
  besideRidge,
  besideRuler,
  besideRulerFoot,
  besideUprightArrow,
  inCorner,
  inMiddle,
  type Position,
} from "./candidates.ts";

/** A candidate that costs this much is none. */
const NEVER = Number.POSITIVE_INFINITY;

/** Each further position in the list of a kind costs 1. Every clear candidate costs less than one across a line. */
export const [COST_OF_NEXT_POSITION, COST_OF_A_PX_ON_LINES] = [1, 10];

/** A mark farther from its label than this has a leader to it, px. */
export const LEADER_FROM_PX = 20;

/** What is drawn on a plane. */
export type Obstacle = "lines" | "arrows" | "points" | "isochrones";

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

const PLAIN = { shorter: 10_000, far: 0 };
const KERNEL = { shorter: 10_000, far: 1_000, waits: true, hasLeader: true };
const GAP = { shorter: 1_000, far: 5_000, hasLeader: true };

export const RULES = {
  // Both planes.
  note: { importance: 82, positions: aroundMovedKernel, across: ANYTHING, ...PLAIN, hasLeader: true },
  markedKernel: { importance: 66, positions: besideKernel, across: NOTHING, ...KERNEL },
  kernel: { importance: 54, positions: besideKernel, across: NOTHING, ...KERNEL, staysAway: true },

  // The roofline plane.
  focusRoof: { importance: 100, positions: alongRoof, across: ANYTHING, ...PLAIN },
  focusRidge: { importance: 96, positions: aroundRidge, across: ANYTHING, ...PLAIN, hasLeader: true },
  level: { importance: 92, positions: alongSlope, across: ANYTHING, ...PLAIN },
  levelRidge: { importance: 90, positions: besideRidge, across: NOTHING, ...PLAIN, staysAway: true },
  ceiling: { importance: 88, positions: alongCeiling, across: ANYTHING, ...PLAIN, staysAway: true },
  // Between the slopes of levels a name across a line would hide which line it names.
  ceilingAmongLevels: { importance: 88, positions: alongCeiling, across: NOTHING, ...PLAIN, staysAway: true },
  roof: { importance: 86, positions: alongRoof, across: ANYTHING, ...PLAIN },
  ridge: { importance: 84, positions: besideRidge, across: NOTHING, ...PLAIN, staysAway: true },
  markedGap: { importance: 80, positions: besideGap, across: ANYTHING, ...GAP },
  merge: { importance: 76, positions: aroundMiddle, across: ANYTHING, ...PLAIN },
  earlierRun: { importance: 74, positions: aroundMiddle, across: NOTHING, ...PLAIN },
  markedChange: { importance: 72, positions: aroundMiddle, across: LINES, ...PLAIN },
  change: { importance: 72, positions: aroundMiddle, across: NOTHING, ...PLAIN },
  roofChange: { importance: 72, positions: besideUprightArrow, across: LINES, ...PLAIN },
  snapshot: { importance: 70, positions: alongRoof, across: LINES, ...PLAIN },
  gap: { importance: 50, positions: besideGap, across: LINES, ...GAP },
  region: { importance: 40, positions: atFoot, across: NOTHING, ...PLAIN },

  // The time view.
  noTimes: { importance: 62, positions: inMiddle, across: ANYTHING, ...PLAIN },
  launches: { importance: 60, positions: besideLaunches, across: ANYTHING, ...PLAIN },
  diagonal: { importance: 58, positions: alongDiagonal, across: ANYTHING, ...PLAIN },
  markedTimeGap: { importance: 64, positions: aroundMiddle, across: NOTHING, ...PLAIN },
  timeGap: { importance: 50, positions: aroundMiddle, across: NOTHING, ...PLAIN, staysAway: true },
  timeRegion: { importance: 40, positions: inCorner, across: { ...LINES, isochrones: 100_000 }, ...PLAIN },
  isochrone: { importance: 30, positions: besideIsochrone, across: { ...NOTHING, isochrones: NEVER }, ...PLAIN },

  // Rulers.
  limit: { importance: 20, positions: besideRuler, across: LINES, ...PLAIN, hasLeader: true },
  // In a narrow chart the tooltip has the same numbers.
  narrowLimit: { importance: 20, positions: besideRuler, across: NOTHING, ...PLAIN, hasLeader: true },
  rulerFoot: { importance: 10, positions: besideRulerFoot, across: LINES, ...PLAIN },
} satisfies Record<string, LabelRule>;

export type LabelKind = keyof typeof RULES;
