// English texts for rulers and snapshots.

const kernels = (count: number) => (count === 1 ? "1 kernel" : `${count} kernels`);

export const rulerWords = {
  roofsAbove: (limits: readonly string[]) => `Roofs above it: ${limits.join("; ")}.`,
  rulers: "Rulers (R)",
} as const;

export const snapshotWords = {
  title: "Snapshots",
  freeze: "Freeze this curve (F)",
  hint: "F freezes the current curve; R shows and hides rulers.",
  /** The default name of a snapshot. */
  name: (place: number) => `snapshot ${place}`,
  nameOf: (name: string) => `Name of ${name}`,
  show: (name: string) => `Show ${name}`,
  remove: (name: string) => `Delete ${name}`,
  noName: "A snapshot needs a name.",
  kept: (name: string, chip: string, peak: string, count: number) =>
    `Frozen as ${name}: ${chip}, ${peak}, ${kernels(count)}.`,
  faster: (ratio: string) => `${ratio}×`,
  intensity: (ratio: string) => `AI ${ratio}×`,
  peak: (ratio: string) => `peak ${ratio}×`,
  bandwidth: (level: string, ratio: string) => `${level} ${ratio}×`,
} as const;
