// Draws the instruction roofline: axes, walls, roofs, points and names. The screen and the saved pictures draw the same.

import { SIDES } from "../../roofline/points.ts";
import { peakText } from "../../text/instructions.ts";
import { formatTick } from "../../text/numbers.ts";
import { strings, instructionWords as words } from "../../words/words.ts";
import { Clip } from "../layers/clip.tsx";
import { pathThrough, px, type Spot } from "../paths.ts";
import { FADED_OPACITY, OPACITY, shapePath } from "../points/shapes.ts";
import { PlaneAxes, Ring, SlopeText, Text } from "../svg_plane/layers.tsx";
import type { InstructionScene, KernelMarks, RoofLine } from "./scene.ts";

/** The shapes of the points at each level: `LEVEL_SIGNS` has them as letters. */
const SHAPES: Readonly<Record<string, number>> = { L1: SIDES.memory, L2: SIDES.compute, HBM: SIDES.outside };
const shapeAt = (level: string) => SHAPES[level] ?? SIDES.memory;
/** The radius of the mark of accesses, and of the sign of a roof, px. */
const [ACCESS_PX, SIGN_PX] = [5, 5];

/** The corners of the highest roof, for the area under it, px. */
function highestOf({ roofs, counts, scales: { plot, y } }: InstructionScene): readonly Spot[] {
  const [highest] = [...roofs].sort((a, b) => a.start[1] - b.start[1]);
  const flat = counts && counts.peak > 0 ? y(counts.peak) : plot.top;
  if (!highest) return [];
  return [highest.start, highest.corner, [plot.right, flat]];
}

function Walls({ scene: { walls, scales, theme } }: { readonly scene: InstructionScene }) {
  const { top, bottom } = scales.plot;
  return (
    <path
      d={walls.map(({ x }) => `M${px(x)},${top}V${bottom}`).join("")}
      stroke={theme.muted}
      stroke-dasharray="6 3"
      fill="none"
      data-rw="walls"
    />
  );
}

/** The texts of the walls, which run along them. */
function WallTexts({ scene: { walls, theme } }: { readonly scene: InstructionScene }) {
  return (
    <>
      {walls.flatMap(({ x, y, texts }) =>
        texts.map((text, at) => (
          <Text
            key={text}
            theme={theme}
            colour={theme.muted}
            x={0}
            y={at === 0 ? -4 : 14}
            transform={`translate(${px(x)} ${px(y)}) rotate(-90)`}
          >
            {text}
          </Text>
        )),
      )}
    </>
  );
}

function Roofs({ scene }: { readonly scene: InstructionScene }) {
  const { roofs, counts, scales, theme } = scene;
  const { plot, y } = scales;
  const hasPeak = counts !== null && counts.peak > 0;
  const first = Math.min(...roofs.map(({ corner }) => corner[0]));
  const flat = hasPeak ? `M${px(Number.isFinite(first) ? first : plot.left)},${px(y(counts.peak))}H${plot.right}` : "";
  return (
    <>
      {roofs.map(({ level, start, corner }) => (
        <path
          key={level}
          d={pathThrough([start, corner])}
          stroke={theme.text}
          stroke-width={2}
          data-rw="instruction-roof"
        />
      ))}
      <path d={flat} stroke={theme.text} stroke-width={2.5} stroke-dasharray={counts?.isEstimate ? "5 4" : undefined} />
    </>
  );
}

function RoofTexts({ scene }: { readonly scene: InstructionScene }) {
  const { roofs, counts, scales, theme } = scene;
  const slope = ({ level, start, corner, share, text }: RoofLine) => (
    <SlopeText
      key={level}
      bold={level}
      {...{ scales, theme, start, corner, share, text }}
      sign={(place) => shapePath(place, SIGN_PX, shapeAt(level))}
    />
  );
  return (
    <>
      {roofs.map((roof) => slope(roof))}
      {counts && counts.peak > 0 && (
        <Text theme={theme} x={scales.plot.right - 4} y={scales.y(counts.peak) - 8} text-anchor="end" bold={words.peak}>
          {peakText(counts)}
        </Text>
      )}
    </>
  );
}

/** The points of a kernel. Each has a path of its own: where two shapes of one path overlap, there could be a hole. */
const Points = ({ marks }: Pick<KernelMarks, "marks">) => (
  <>
    {marks.map(({ level, x, y, radius }) => (
      <path key={level} d={shapePath([x, y], radius, shapeAt(level))} />
    ))}
  </>
);

/** Signs beside the points that are beyond the axes. */
function Beyond({ scene: { drawn, theme } }: { readonly scene: InstructionScene }) {
  const signs = drawn.flatMap(({ marks }) =>
    marks.flatMap(({ x, y, beyond }) =>
      beyond === 0 ? [] : [`M${px(x + 9 * beyond)},${px(y - 4)}l${4 * beyond},4l${-4 * beyond},4`],
    ),
  );
  return <path d={signs.join("")} fill="none" stroke={theme.muted} stroke-width={1.5} data-rw="beyond" />;
}

/** A hovered or selected kernel: its levels are joined, and its accesses have marks to be compared with the walls. */
function Marked({ scene }: { readonly scene: InstructionScene }) {
  const { marked, theme } = scene;
  return (
    <>
      {marked.map(({ row, marks, colour, accesses }) => (
        <g key={row} data-rw="marked">
          <path
            d={pathThrough(marks.map(({ x, y }): Spot => [x, y]))}
            stroke={colour}
            stroke-width={1.75}
            fill="none"
            data-rw="levels"
          />
          <g fill={colour} stroke={theme.background}>
            <Points marks={marks} />
          </g>
          {marks.map(({ level, x, y, radius }) => (
            <Ring key={level} {...{ x, y, radius, theme }} />
          ))}
          {accesses.map(({ text, x, y }) => (
            <g key={text} data-rw="accesses">
              <circle cx={x} cy={y} r={ACCESS_PX} fill={theme.background} stroke={colour} stroke-width={2} />
              <Text theme={theme} x={x + 10} y={y + 4}>
                {text}
              </Text>
            </g>
          ))}
        </g>
      ))}
    </>
  );
}

/** All layers of the plane. */
export function InstructionLayers({ scene }: { readonly scene: InstructionScene }) {
  const { scales, theme, counts, drawn, names, roofs } = scene;
  const { plot } = scales;
  const area = highestOf(scene);
  const note = !counts ? words.noCounts : roofs.length === 0 && !(counts.peak > 0) ? words.noRoofs : "";
  return (
    <>
      {area.length > 0 && (
        <Clip box={plot}>
          <path d={`${pathThrough(area)}V${plot.bottom}H${plot.left}Z`} fill={theme.wash} />
        </Clip>
      )}
      <PlaneAxes
        scales={scales}
        theme={theme}
        format={[formatTick, formatTick]}
        titles={[words.axisX, words.axisY[counts?.unit ?? "warp"]]}
      />
      <Clip box={plot}>
        <Walls scene={scene} />
        <Roofs scene={scene} />
      </Clip>
      <WallTexts scene={scene} />
      <RoofTexts scene={scene} />
      {names.map(({ row, text, x, y, anchor }) => (
        <Text key={row} theme={theme} x={x} y={y + 4} text-anchor={anchor}>
          {text}
        </Text>
      ))}
      <Clip box={plot}>
        {drawn.map((one) => (
          <g
            key={one.row}
            fill={one.colour}
            fill-opacity={one.isFaded ? FADED_OPACITY : OPACITY}
            stroke={theme.background}
            data-kernel={one.row}
          >
            <Points marks={one.marks} />
          </g>
        ))}
        <Beyond scene={scene} />
        <Marked scene={scene} />
      </Clip>
      {note && (
        <Text theme={theme} x={(plot.left + plot.right) / 2} y={(plot.top + plot.bottom) / 2} text-anchor="middle">
          {note}
        </Text>
      )}
    </>
  );
}

export const instructionLabel = (chip: string, count: number) => words.chart(chip || strings.unknown, count);
