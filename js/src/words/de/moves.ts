// German texts for the what-ifs of kernels.

import type { Like } from "../catalogue.ts";
import type * as en from "../en/moves.ts";

export const moveWords: Like<typeof en.moveWords> = {
  less: (ratio) => `${ratio}× weniger Datenverkehr`,
  more: (ratio) => `${ratio}× mehr Datenverkehr`,
  faster: (change, ratio) => `${change} (${ratio}× schneller)`,
  slower: (change, ratio) => `${change} (${ratio}× langsamer)`,
  still: (time) => `weiterhin ${time}`,
  unknownTime: "Zeit unbekannt",
  attainable: (change) => `erreichbar ${change}`,
  atRoof: "erreicht seine Roofline",
  all: (change) => `alle Kernel ${change}`,
  whatIf: (parts) => `was wäre, wenn: ${parts}`,
  told: "was wäre, wenn",
  pickedUp: (kernel, can, byKeys) => {
    const ways = [
      ...(can.bytes ? ["links und rechts ändern die Bytes"] : []),
      ...(can.time ? [can.bytes ? "auf und ab die Zeit" : "auf und ab ändern die Zeit"] : []),
    ];
    return `${kernel} lässt sich verschieben: ${ways.join(", ")}${byKeys ? ", um 5 %; Enter beendet, Escape nimmt zurück" : ""}`;
  },
  reset: (kernel) => `Annahme zu ${kernel} zurücknehmen`,
  moved: (count) => (count === 1 ? "1 Kernel ist verschoben" : `${count} Kernel sind verschoben`),
  back: "Zurücknehmen",
  resetAll: (count) => (count === 1 ? "Den verschobenen Kernel zurücknehmen" : "Alle verschobenen Kernel zurücknehmen"),
};
