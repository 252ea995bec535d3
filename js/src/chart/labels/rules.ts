// The rules of labels, one rule for each kind: how important the label is, where it may be, and what each choice costs.
//
// The engine places labels in order of importance. A candidate is a position from the list of the label's rule,
// together with the full text or a shorter text. Each label takes its cheapest candidate. A label never covers another
// label, a ridge point or the strip for kernels without FLOPs, and it never leaves the chart. The rule says what else
// the label may cover, and at which cost.

import {
  alongCeiling,
  alongDiagonal,
  alongRoof,
  alongSlope,
  aroundMiddle,
  aroundMovedKernel,
  besideArrow,
  besideGap,
  besideIsochrone,
  besideKernel,
  besideLaunches,
  besideRidge,
  besideRidgeLine,
  besideRuler,
  besideRulerFoot,
  inCorner,
  inMiddle,
  nameOnSlope,
  type Position,
} from "./candidates.ts";

/** A candidate with this cost is never chosen. */
const NEVER = Number.POSITIVE_INFINITY;

/**
 * The cost of each px of a line that a text covers. For comparison, each position in a list costs 1 more than the
 * position before it.
 */
export const COST_OF_A_PX_ON_LINES = 10;

/** A mark farther than this from its label gets a leader, px. */
export const LEADER_FROM_PX = 20;

/** The kinds of obstacles in a plane. */
export const OBSTACLES = ["points", "arrows", "lines", "isochrones"] as const;
export type Obstacle = (typeof OBSTACLES)[number];

/** The cost of covering an obstacle, by its kind. */
export type Across = Readonly<Record<Obstacle, number>>;

const NOTHING: Across = { lines: NEVER, arrows: NEVER, points: NEVER, isochrones: 0 };
const LINES: Across = { ...NOTHING, lines: 100_000 };
const ANYTHING: Across = { lines: 100_000, arrows: 1_000_000, points: 1_000_000, isochrones: 0 };

export interface LabelRule {
  readonly importance: number;
  /** Returns the candidate positions of a mark, best first. */
  readonly positions: (...mark: never[]) => readonly Position[];
  /** The costs of what the label may cover if no clear position is left. */
  readonly across: Across;
  /** `shorter`: the cost of each shorter text. `far`: the cost of a position far from the mark. */
  readonly shorter: number;
  readonly far: number;
  /**
   * Whether the label waits. The shorter texts and far positions of a waiting label are tried after all other labels
   * are placed.
   */
  readonly waits?: boolean;
  /** Whether a leader connects the label to its mark if the mark is far. */
  readonly hasLeader?: boolean;
  /**
   * Whether a label that was hidden before a drag stays hidden during the drag. If the label could appear during the
   * drag, it would flicker.
   */
  readonly staysAway?: boolean;
}

/** What the badge of a kernel may cover if the kernel's name has no room. */
export const BADGE_ALONE: Across = { lines: 1_000, arrows: 100, points: 10_000, isochrones: 0 };

/** The cost of a name of a roof that is not at the right edge: more than that of all its shorter texts. */
const FAR_FROM_EDGE = 40_000;
const KERNEL = { far: 1_000, hasLeader: true };
const GAP = { shorter: 1_000, far: 5_000, hasLeader: true };

function rule<Positions extends LabelRule["positions"]>(
  importance: number,
  positions: Positions,
  across: Across,
  more: Partial<LabelRule> = {},
): LabelRule & { readonly positions: Positions } {
  return { importance, shorter: 10_000, far: 0, ...more, positions, across };
}

/** The rule of each kind of label: importance, candidate positions, what the label may cover, and special rules. */
export const RULES = {
  // Both planes.
  note: rule(82, aroundMovedKernel, ANYTHING, { hasLeader: true }),
  kernel: rule(54, besideKernel, NOTHING, { ...KERNEL, staysAway: true }),

  // The roofline plane.
  level: rule(92, alongSlope, ANYTHING),
  levelRidge: rule(90, besideRidge, NOTHING, { staysAway: true }),
  ceiling: rule(88, alongCeiling, ANYTHING),
  // The name of a level's ceiling is between the slopes of two levels. If the name covered a slope, the reader could
  // not see which line has this name.
  levelCeiling: rule(88, alongCeiling, NOTHING, { staysAway: true }),
  roof: rule(86, alongRoof, ANYTHING, { far: FAR_FROM_EDGE }),
  ridge: rule(84, besideRidge, LINES, { staysAway: true }),
  trail: rule(76, besideArrow, ANYTHING),
  run: rule(74, besideArrow, NOTHING),
  change: rule(72, besideArrow, NOTHING),
  snapshot: rule(70, alongRoof, LINES),
  latency: rule(52, alongSlope, NOTHING),
  gap: rule(50, besideGap, NOTHING, GAP),
  region: rule(93, besideRidgeLine, NOTHING, { staysAway: true }),
  slope: rule(85, nameOnSlope, NOTHING),

  // The time view.
  empty: rule(62, inMiddle, ANYTHING),
  overhead: rule(60, besideLaunches, ANYTHING),
  diagonal: rule(58, alongDiagonal, ANYTHING),
  timeGap: rule(50, aroundMiddle, NOTHING, { staysAway: true }),
  timeRegion: rule(40, inCorner, { ...LINES, isochrones: 100_000 }),
  isochrone: rule(30, besideIsochrone, { ...NOTHING, isochrones: NEVER }),

  // Rulers.
  limit: rule(20, besideRuler, LINES, { hasLeader: true }),
  // In a narrow chart the tooltip shows the same numbers as these labels, so these labels cover nothing.
  narrowLimit: rule(20, besideRuler, NOTHING, { hasLeader: true }),
  foot: rule(10, besideRulerFoot, LINES),
};

export type LabelKind = keyof typeof RULES;

/**
 * The rules of bold labels. A label is bold if it belongs to the focus roof or to a marked kernel. A kind that is
 * missing here has the same rule for bold labels and for other labels.
 */
const BOLD_RULES: Partial<Record<LabelKind, LabelRule>> = {
  roof: rule(100, alongRoof, ANYTHING, { far: FAR_FROM_EDGE }),
  ridge: rule(96, besideRidge, ANYTHING, { hasLeader: true }),
  gap: rule(80, besideGap, ANYTHING, GAP),
  change: rule(72, besideArrow, LINES),
  kernel: rule(66, besideKernel, NOTHING, KERNEL),
  timeGap: rule(64, aroundMiddle, NOTHING),
};

export const ruleOf = ({ kind, bold }: { readonly kind: LabelKind; readonly bold?: boolean }): LabelRule =>
  (bold && BOLD_RULES[kind]) || RULES[kind];
