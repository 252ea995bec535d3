// German texts for rulers and snapshots.

import type { Like } from "../catalogue.ts";
import type * as en from "../en/rulers.ts";

const kernels = (count: number) => (count === 1 ? "1 Kernel" : `${count} Kernel`);

export const rulerWords: Like<typeof en.rulerWords> = {
  roofsAbove: (limits) => `Rooflines darüber: ${limits.join("; ")}.`,
  rulers: "Lineale (R)",
};

export const snapshotWords: Like<typeof en.snapshotWords> = {
  title: "Momentaufnahmen",
  freeze: "Diese Kurve festhalten (F)",
  hint: "F hält die jetzige Kurve fest; R zeigt und verbirgt Lineale.",
  name: (place) => `Aufnahme ${place}`,
  nameOf: (name) => `Name von ${name}`,
  show: (name) => `${name} zeigen`,
  remove: (name) => `${name} löschen`,
  noName: "Eine Momentaufnahme braucht einen Namen.",
  kept: (name, chip, peak, count) => `Festgehalten als ${name}: ${chip}, ${peak}, ${kernels(count)}.`,
  faster: (ratio) => `${ratio}×`,
  intensity: (ratio) => `AI ${ratio}×`,
  peak: (ratio) => `Spitze ${ratio}×`,
  bandwidth: (level, ratio) => `${level} ${ratio}×`,
};
