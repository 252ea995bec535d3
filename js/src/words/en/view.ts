// English texts for the axes, units and tools of the chart.

export const axisWords = {
  word: "word",
  cycle: "cycle",
  intensity: (unit: string, bytes: number) => `arithmetic intensity (${unit}${ofBytes(bytes)})`,
  intensityShort: (unit: string, bytes: number) => `AI (${unit}${ofBytes(bytes)})`,
  balance: (unit: string, bytes: number) => `balance (${unit}${bytes === 0 ? "" : `, words${ofBytes(bytes)}`})`,
  zeroFlops: (unit: string) => `0 FLOP, ${unit}`,
  noFlops: "0 FLOP",
  menu: "Axes",
  /** Explains why the sentence may use other units than the axes. */
  note: "Units of the chart. Sentences, tooltips and tables stay in FLOP/s and bytes.",
  rate: "Rate",
  rates: { "FLOP/s": "per second", "FLOP/cycle": "per clock cycle" },
  /** The chip whose cycles are counted. */
  clock: (chip: string, clock: string) => `Cycles of ${chip}: ${clock}`,
  noClock: (chip: string) => `${chip}: clock unknown, rates are per second`,
  data: "Data",
  bytes: (bytes: number) => (bytes === 0 ? "in bytes" : `in words of ${bytes} bytes`),
  across: "Across",
  kinds: {
    intensity: (moved: string) => `intensity, FLOP/${moved}`,
    balance: (moved: string) => `balance, ${moved}/FLOP`,
  },
  ticks: "Ticks",
  bases: { 10: "powers of ten", 2: "powers of two" },
  times: "Time axes",
  scales: { log: "logarithmic", linear: "linear, from 0" },
};

const ofBytes = (bytes: number) => (bytes === 0 ? "" : ` of ${bytes} B`);

export const toolWords = {
  bar: "Chart tools",
  zoomIn: "Zoom in (+)",
  zoomOut: "Zoom out (−)",
  fit: "Show everything (0)",
  undo: "Undo (Ctrl+Z)",
  redo: "Redo (Ctrl+Shift+Z)",
  select: "Drag selects kernels",
  zoom: "Drag zooms into a rectangle",
  pan: "Drag moves the chart (W A S D)",
  png: "Save the picture (PNG)",
  svg: "Save the picture as lines and text (SVG)",
  pictureName: "roofline",
  presentation: "Presentation size",
  screen: "Full screen",
  more: "Axes and more tools",
  outside: (count: string, one: boolean) => `${count} ${one ? "kernel" : "kernels"} outside`,
  outsideShort: (count: string) => `${count} outside`,
  shows: (x: readonly [string, string], y: readonly [string, string], outside: string) =>
    `Zoomed: ${x.join(" to ")}, ${y.join(" to ")}.${outside && ` ${outside}.`}`,
  whole: "Everything is shown.",
};
