// German texts for the axes, units and tools of the chart.

import type { Like } from "../catalogue.ts";
import type * as en from "../en/view.ts";

export const axisWords: Like<typeof en.axisWords> = {
  word: "Wort",
  cycle: "Takt",
  intensity: (unit, bytes) => `arithmetische Intensität (${unit}${ofBytes(bytes)})`,
  intensityShort: (unit, bytes) => `AI (${unit}${ofBytes(bytes)})`,
  balance: (unit, bytes) => `Balance (${unit}${bytes === 0 ? "" : `, Wörter${ofBytes(bytes)}`})`,
  zeroFlops: (unit) => `0 FLOP, ${unit}`,
  noFlops: "0 FLOP",
  menu: "Achsen",
  note: "Einheiten des Diagramms. Sätze, Kurzinfos und Tabellen bleiben bei FLOP/s und Bytes.",
  rate: "Rate",
  rates: { "FLOP/s": "pro Sekunde", "FLOP/cycle": "pro Takt" },
  clock: (chip, clock) => `Takte von ${chip}: ${clock}`,
  noClock: (chip) => `${chip}: Takt unbekannt, Raten sind pro Sekunde`,
  data: "Daten",
  bytes: (bytes) => (bytes === 0 ? "in Byte" : `in Wörtern zu ${bytes} Byte`),
  across: "Waagerecht",
  kinds: {
    intensity: (moved) => `Intensität, FLOP/${moved}`,
    balance: (moved) => `Balance, ${moved}/FLOP`,
  },
  ticks: "Striche",
  bases: { 10: "Zehnerpotenzen", 2: "Zweierpotenzen" },
  times: "Zeitachsen",
  scales: { log: "logarithmisch", linear: "linear, ab 0" },
};

const ofBytes = (bytes: number) => (bytes === 0 ? "" : ` zu ${bytes} B`);

export const toolWords: Like<typeof en.toolWords> = {
  bar: "Werkzeuge des Diagramms",
  zoomIn: "Vergrößern (+)",
  zoomOut: "Verkleinern (−)",
  fit: "Alles zeigen (0)",
  undo: "Rückgängig (Strg+Z)",
  redo: "Wiederherstellen (Strg+Umschalt+Z)",
  select: "Ziehen wählt Kernel aus",
  zoom: "Ziehen vergrößert ein Rechteck",
  pan: "Ziehen verschiebt das Diagramm (W A S D)",
  png: "Bild speichern (PNG)",
  svg: "Bild als Linien und Text speichern (SVG)",
  pictureName: "Roofline",
  presentation: "Vortragsgröße",
  screen: "Ganzer Bildschirm",
  more: "Achsen und weitere Werkzeuge",
  outside: (count) => `${count} Kernel außerhalb`,
  outsideShort: (count) => `${count} außerhalb`,
  shows: (x, y, outside) => `Ausschnitt: ${x.join(" bis ")}, ${y.join(" bis ")}.${outside && ` ${outside}.`}`,
  whole: "Alles ist zu sehen.",
};
