// The label engine of the roofline plane and the time view. It places labels by the rules in rules.ts, clear of other
// labels and of marks.

import { type Box, clamp } from "../scales.ts";
import type { Scene } from "../scene.ts";
import {
  addBoxes,
  areClear,
  type BoxIndex,
  coveredPx,
  indexBoxes,
  isInside,
  overlap,
  squareAround,
  startOf,
} from "./box_index.ts";
import type { Mark, Position } from "./candidates.ts";
import {
  type Across,
  BADGE_ALONE,
  COST_OF_A_PX_ON_LINES,
  type LabelKind,
  type LabelRule,
  LEADER_FROM_PX,
  OBSTACLES,
  type Obstacle,
  ruleOf,
} from "./rules.ts";
import { FONT_PX, textWidth } from "./text_fitting.ts";

/** A name at the start of a label, with a weight and a colour of its own. */
export interface LabelName {
  readonly text: string;
  readonly bold: boolean;
  readonly colour: string;
}

export interface Label {
  readonly kind: LabelKind;
  /** If several labels have the same key, only the first label that finds room is written. */
  readonly key: string;
  readonly text: string;
  /** Shorter texts for narrow places, the longest first. */
  readonly shorter?: readonly string[];
  readonly bold?: boolean;
  /** The names in the text. The rest of the text is then not bold. */
  readonly names?: readonly LabelName[];
  /**
   * The text of the badge before the text, such as "1". If the text finds no room, the badge alone is drawn, even over
   * points and lines.
   */
  readonly badge?: string | undefined;
  /**
   * Does not depend on the theme: `TEXT`, `MUTED`, `ALERT`, or the id of a chip. `labelColour` returns the drawn
   * colour.
   */
  readonly colour: string;
  readonly positions: readonly Position[];
  /** The mark that the label names. A leader from the label ends at this mark. */
  readonly mark?: Mark;
  /**
   * The label must be clearly nearer to the boxes in `own` than to the boxes in `others`. Otherwise the label would
   * seem to name a mark in `others`.
   */
  readonly near?: { readonly own: readonly Box[]; readonly others: readonly Box[] };
  /**
   * The key of another label. If the other label is not placed, this label is not placed either, because it would seem
   * to belong to another mark. False if this label needs no other label.
   */
  readonly needs?: string | false;
}

export interface PlacedLabel
  extends Position,
    Pick<Label, "kind" | "key" | "text" | "bold" | "names" | "badge" | "colour" | "mark"> {
  /** The index of the chosen candidate. */
  readonly choice: number;
  /** Whether the label is under the label of the hovered kernel. */
  readonly isCovered?: boolean;
}

/** The theme's colours of labels. No chip has one of these ids. */
export const TEXT = "";
export const MUTED = " ";
export const ALERT = "!";

export const labelColour = ({ colour }: Pick<Label, "colour">, { colours, theme }: Pick<Scene, "colours" | "theme">) =>
  colours.get(colour) ?? (colour === MUTED ? theme.muted : colour === ALERT ? theme.alert : theme.text);

/** The font size of a badge, the side of its box, and the gap between a badge and the text after it, px. */
export const [BADGE_FONT_PX, BADGE_PX, BADGE_GAP_PX] = [11, 14, 4];
/** The width of a badge, px. */
export const badgeWidth = (badge: string) => Math.max(BADGE_PX, Math.ceil(textWidth(badge, true, BADGE_FONT_PX)) + 4);

/**
 * Returns the width of a label: of its badge and its text, px. The width of a kernel's label is that of bold text, so
 * that a hover does not change the width.
 */
function labelWidth({ kind, text, bold = false, badge }: Pick<Label, "kind" | "text" | "bold" | "badge">) {
  const width = textWidth(text, bold || kind === "kernel");
  return badge ? badgeWidth(badge) + (text ? BADGE_GAP_PX + width : 0) : width;
}

/** The index of the chosen candidate for each label key. */
export type Choices = ReadonlyMap<string, number>;

/** Boxes that labels avoid. The rule of a label says how strictly the label avoids each kind of box. */
type Surroundings = Readonly<Partial<Record<Obstacle, readonly Box[]>>> & {
  readonly bounds: Box;
  /**
   * Labels never cover these boxes: `ridges` are ridge points, `strip` is the strip for kernels without FLOPs, `texts`
   * are texts that are already on the chart.
   */
  readonly ridges?: readonly Box[];
  readonly strip?: readonly Box[];
  readonly texts?: readonly Box[];
};

/** The kinds of labels that appear while the pointer is on a kernel. Labels that are there already do not move. */
const APPEARING: ReadonlySet<LabelKind> = new Set(["kernel", "gap", "latency"]);
/** A kernel's name with a leader needs no leader if it is as near to its mark as this, px. */
const NEAR_PX = 8;
/** The cost of a kernel's name that is nearer to another mark, but has a leader to its own mark. */
const ASTRAY_COST = 500;
/** Minimum gap between two labels on one line, px. */
const TEXT_GAP_PX = 6;
/** A leader is a chain of boxes. This many boxes at the end near the mark may lie over other points. */
const LEADER_END_BOXES = 3;
/** A label must be nearer to its own mark than to every other mark. It must be nearer by at least this, px. */
export const CLEARLY_PX = 3;

/**
 * Places labels. During a drag (`before` is given) each label keeps its previous position, even if the label now covers
 * a mark.
 */
export function placeLabels(labels: readonly Label[], surroundings: Surroundings, before?: Choices): PlacedLabel[] {
  const { bounds } = surroundings;
  const obstacles = OBSTACLES.map((obstacle) => [obstacle, indexBoxes(surroundings[obstacle])] as const);
  const points = obstacles[0]?.[1] as BoxIndex;
  const { texts, ridges = [], strip = [] } = surroundings;
  const [written, uncovered] = [indexBoxes(texts), indexBoxes([...ridges, ...strip])];
  const placed: PlacedLabel[] = [];
  const keys = new Set<string>();

  /** Whether a position is clear of everything that no label may cover. The cheapest tests are first. */
  function isFree(boxes: readonly Box[], position: Position, label: Label, isByOwnMark: boolean): boolean {
    const { mark, near } = label;
    return (
      boxes.every((box) => isInside(box, bounds)) &&
      areClear(boxes, written, TEXT_GAP_PX) &&
      areClear(boxes, uncovered) &&
      (isByOwnMark || !near || (label.kind === "kernel" && position.isFar) || !isAstray(boxes, near)) &&
      !(mark && placed.some((other) => leadersCross(mark, position, other))) &&
      areClear(leaderBoxes(boxes, label, position), written)
    );
  }
  /** Returns the cost of covering marks. Stops at `limit`: if the cost reaches `limit`, returns infinity. */
  function costAcross(boxes: readonly Box[], across: Across, limit: number): number {
    let cost = 0;
    for (const [obstacle, index] of obstacles) {
      if (across[obstacle] === 0 || areClear(boxes, index)) continue;
      cost += across[obstacle];
      if (obstacle === "lines" && cost < limit) cost += COST_OF_A_PX_ON_LINES * coveredPx(boxes, index);
      if (cost >= limit) return Number.POSITIVE_INFINITY;
    }
    return cost;
  }
  function place(label: Label, rule: LabelRule, isLastTurn: boolean) {
    const { kind, key, bold, names, badge, colour, mark, positions } = label;
    const texts = [label.text, ...(label.shorter ?? [])];
    const widths = texts.map((text) => labelWidth({ kind, text, ...(bold && { bold }), badge }));
    // A badge alone is always drawn.
    const acrossOf = (at: number) => (badge && !texts[stepOf(at)] ? BADGE_ALONE : rule.across);
    const stepOf = (at: number) => Math.floor(at / positions.length);
    const positionOf = (at: number) => positions[at % positions.length] as Position;
    const boxesOfCandidate = (at: number) => boxesAt(widths[stepOf(at)] as number, positionOf(at));
    // Labels are placed in two turns. In the first turn, a label whose rule has `waits` uses only its full text and
    // only positions next to its mark.
    const isEarly = rule.waits === true && !isLastTurn;
    let [choice, least] = [-1, Number.POSITIVE_INFINITY];
    const kept = before?.get(key) ?? -1;
    const isKept = kept >= 0 && kept < texts.length * positions.length;
    if (isKept && isFree(boxesOfCandidate(kept), positionOf(kept), label, isEarly)) [choice, least] = [kept, 0];
    const count = isEarly ? positions.length : texts.length * positions.length;
    for (let at = 0; at < count && least > 0; at++) {
      const position = positionOf(at);
      if (isEarly && position.isFar) continue;
      const order = position.isForBadge && acrossOf(at) === BADGE_ALONE ? -1 : at % positions.length;
      let cost = order + rule.shorter * stepOf(at) + (position.isFar ? rule.far : 0);
      if (cost >= least) continue;
      const boxes = boxesOfCandidate(at);
      cost += costAcross(boxes, acrossOf(at), least - cost);
      if (cost >= least || !isFree(boxes, position, label, isEarly)) continue;
      if (!areClear(leaderBoxes(boxes, label, position).slice(0, -LEADER_END_BOXES), points))
        cost += acrossOf(at).points;
      // A leader shows which mark the name belongs to. Even so, a place away from other marks is better.
      if (position.isFar && label.near && isAstray(boxes, label.near)) cost += ASTRAY_COST;
      if (cost < least) [choice, least] = [at, cost];
    }
    if (choice < 0) return;
    const [boxes, position] = [boxesOfCandidate(choice), positionOf(choice)];
    addBoxes(written, [...boxes, ...leaderBoxes(boxes, label, position)]);
    keys.add(key);
    const text = texts[stepOf(choice)] as string;
    const own = position.mark ?? mark;
    const more = { ...(bold && { bold }), ...(names && { names }), ...(own && { mark: own }), ...(badge && { badge }) };
    placed.push({ kind, key, text, colour, ...position, ...more, choice });
  }
  /** Places the label of a hovered kernel at its first position in the chart. Labels of kernels below it are faded. */
  function placeOver(label: Label) {
    const { kind, key, text, bold, badge, colour, mark, positions } = label;
    const width = labelWidth(label);
    const choice = positions.findIndex((position) => boxesAt(width, position).every((box) => isInside(box, bounds)));
    const position = positions[choice];
    if (!position) return;
    const own = boxesAt(width, position);
    for (const [at, other] of placed.entries()) {
      if (own.some((box) => boxesOf(other).some((theirs) => overlap(box, theirs))))
        placed[at] = { ...other, isCovered: true };
    }
    keys.add(key);
    const more = { ...(bold && { bold }), ...(mark && { mark }), ...(badge && { badge }) };
    placed.push({ kind, key, text, colour, ...position, ...more, choice });
  }

  // A label of the previous frame keeps its place, even if a more important label appears.
  const isNew = ({ key, kind }: Label) => Number(APPEARING.has(kind) && before !== undefined && !before.has(key));
  const inOrder = [...labels].sort((a, b) => isNew(a) - isNew(b) || ruleOf(b).importance - ruleOf(a).importance);
  for (const isLastTurn of [false, true]) {
    for (const label of inOrder) {
      const rule = ruleOf(label);
      const { key, needs } = label;
      const isDone = keys.has(key) || (isLastTurn && !rule.waits && !needs);
      const hasToStayAway = rule.staysAway && before && !before.has(key);
      if (!isDone && !hasToStayAway && (!needs || keys.has(needs))) place(label, rule, isLastTurn);
    }
  }
  for (const label of inOrder)
    if (isNew(label) && label.kind === "kernel" && label.bold && !keys.has(label.key)) placeOver(label);
  return placed;
}

/** The box of a text that is not rotated. */
export function boxAt(width: number, { x, y, anchor, extra: [right, down] = [0, 0] }: Position): Box {
  const left = startOf(x, anchor, width);
  return { left, right: left + width + right, top: y - FONT_PX * 0.86, bottom: y + FONT_PX * 0.26 + down };
}

/** The boxes of a longer text have gaps. Such a text fits on no chart, and its boxes are computed for each position. */
const MAX_CHAIN_PX = 3000;

/**
 * Returns the boxes that a text covers. A text that is not rotated has one box. A rotated text has a chain of small
 * boxes.
 */
export function boxesAt(width: number, position: Position): Box[] {
  const { x, y, anchor, angle } = position;
  if (!angle) return [boxAt(width, position)];
  const turn = (angle * Math.PI) / 180;
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  const start = startOf(0, anchor, width);
  // Half the side of a small box, px. For text rotated by about 30°, such a box is as high as the letters.
  const half = FONT_PX * 0.36;
  const count = Math.max(2, Math.ceil(Math.min(width, MAX_CHAIN_PX) / (1.6 * half)));
  return Array.from({ length: count }, (_, at) => {
    // The boxes are centred on the middle of the letters. The middle of the letters is above the baseline.
    const along = start + half + ((width - 2 * half) * at) / (count - 1);
    const up = FONT_PX * 0.24;
    return squareAround(x + along * cos + up * sin, y + along * sin - up * cos, half);
  });
}

/** The box of a placed label that is not rotated. For a rotated label use `boxesOf`, which returns several boxes. */
export const boxOf = (label: PlacedLabel) => boxAt(labelWidth(label), label);
export const boxesOf = (label: PlacedLabel) => boxesAt(labelWidth(label), label);

/** The boxes of a label and of its leader. */
export function coveredBy(label: PlacedLabel): Box[] {
  const boxes = boxesOf(label);
  return [...boxes, ...leaderBoxes(boxes, label, label)];
}

/** The leader of a label, as an SVG path. */
export function leaderOf(label: PlacedLabel): string {
  const [x, y, toX, toY] = leaderFrom(boxOf(label), label, label);
  return x === undefined ? "" : `M${x},${y}L${toX},${toY}`;
}

type LeaderOwner = Pick<Label, "kind" | "bold" | "mark">;

/**
 * Returns a leader from a label's box to the rim of its mark, as [x, y, toX, toY]. Returns an empty array if the label
 * needs no leader.
 */
function leaderFrom(box: Box, label: LeaderOwner, { isFar, mark = label.mark }: Position): number[] {
  if (!mark || !ruleOf(label).hasLeader) return [];
  const x = clamp(mark.x, box.left, box.right);
  const y = clamp(mark.y, box.top, box.bottom);
  const length = Math.hypot(mark.x - x, mark.y - y);
  if (length - mark.radius <= (isFar && label.kind === "kernel" ? NEAR_PX : LEADER_FROM_PX)) return [];
  const rim = mark.radius / length;
  return [x, y, mark.x + (x - mark.x) * rim, mark.y + (y - mark.y) * rim];
}

/** A leader as a chain of zero-size boxes. */
function leaderBoxes([box]: readonly Box[], label: LeaderOwner, position: Position): Box[] {
  const [x = 0, y = 0, toX = 0, toY = 0] = leaderFrom(box as Box, label, position);
  const count = Math.floor(Math.hypot(toX - x, toY - y) / 4);
  return Array.from({ length: count }, (_, at) =>
    squareAround(x + ((toX - x) * at) / count, y + ((toY - y) * at) / count, 0),
  );
}

/** Whether the leaders of two labels at the same x would cross. */
const leadersCross = (mark: Mark, { x, y }: Position, other: PlacedLabel) =>
  !!other.mark && x === other.x && y < other.y !== mark.y < other.mark.y;

/** Whether a text could seem to name a mark in `others` instead of its own mark. */
function isAstray(boxes: readonly Box[], { own, others }: NonNullable<Label["near"]>): boolean {
  return boxes.some((box) => {
    const reach = Math.sqrt(Math.min(...own.map((each) => squaredDistance(box, each)))) + CLEARLY_PX;
    return others.some((other) => squaredDistance(box, other) < reach * reach);
  });
}

function squaredDistance(a: Box, b: Box): number {
  const across = Math.max(0, a.left - b.right, b.left - a.right);
  const down = Math.max(0, a.top - b.bottom, b.top - a.bottom);
  return across * across + down * down;
}
