// The bands behind the groups of the fusion panel's graph.

import { mix, type Theme } from "../../chart/theme.ts";
import type { Partition } from "../../fusion/legality.ts";
import { BOX } from "./flow.ts";
import type { bandsOf } from "./flow_parts.ts";

/** px, of the band behind a group. */
const BAND = 10;
/** px, of the stretches of an outline and of the gaps between them, where a group does not fit on chip. */
const DASH = 5;
/** How much of its hue a group has that is pointed at. */
const WASH = 0.25;

interface BandsProps {
  readonly bands: ReturnType<typeof bandsOf>;
  readonly partition: Partition;
  readonly theme: Theme;
  /** Those groups whose tiles do not fit on chip. */
  readonly crowded: ReadonlySet<number>;
  /** The group that the chart points at. */
  readonly pointed: number | null;
}

/** What lies behind the groups of several ops, outlined: in dashes where the tiles do not fit on chip. */
export function Bands({ bands, partition: { groups }, theme, crowded, pointed }: BandsProps) {
  const hueOf = (group: number) => theme.categories[(groups[group]?.[0] ?? 0) % theme.categories.length] as string;
  const stroke = (group: number, d: string, colour: string, width: number, dash?: number) => (
    <path
      key={`${group} ${width}`}
      d={d}
      stroke={colour}
      stroke-width={BOX + BAND + width}
      stroke-dasharray={dash}
      class={dash ? "roofwidget-crowded" : "roofwidget-band"}
    />
  );
  return (
    <>
      {bands.map(({ group, d }) =>
        crowded.has(group) ? stroke(group, d, theme.alert, 4) : stroke(group, d, hueOf(group), 2),
      )}
      {bands.map(({ group, d }) => crowded.has(group) && stroke(group, d, theme.background, 5, DASH))}
      {bands.map(({ group, d }) => {
        const inner = pointed === group ? mix(theme.background, hueOf(group), WASH) : theme.background;
        return stroke(group, d, inner, 0);
      })}
    </>
  );
}
