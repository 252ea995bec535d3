// German texts for the ranking, the projected time, and the comparison of two runs.

import type { Like } from "../catalogue.ts";
import type * as en from "../en/runs.ts";

export const runWords: Like<typeof en.runWords> = {
  fixFirst: (count) => `Diese ${count} zuerst`,
  back: (percent, isBrief) => `${percent} ${isBrief ? "" : "der Laufzeit "}zu gewinnen`,
  gains: (chip) => `Was jeder Kernel spart, wenn er seine Roofline auf ${chip} erreicht, von der Zeit aller Kernel:`,
  selectThem: (count) => `Diese ${count} auswählen`,

  projected: "Hochgerechnete Zeit",
  ranFor: (time, chip, precision) => `${time} auf ${chip} (${precision})`,
  goesFor: (time, chip, precision, ratio) =>
    `${time} auf ${chip} (${precision}): ${ratio === "1" ? "genauso" : `${ratio}× so`} schnell`,
  keeps: "Jeder Kernel behält seinen Anteil an der Roofline.",
  stays: (time) => `${time} von Kerneln mit unbekannter Grenze bleiben wie gemessen.`,
  far: (percent, limit) =>
    `Kernel unter ${limit} ihrer Roofline (${percent} der Zeit) werden auf einem anderen Chip kaum schneller.`,
  ranOn: "Gelaufen auf",
  runIn: "Alle FLOPs in",
  asTold: "wie gemessen",
  reaching: "Wenn diese ihre Roofline erreichen:",
  selectSome: "Kernel auswählen, die ihre Roofline erreichen sollen.",
  allSelected: (count) => `alle ${count} ausgewählten`,
  more: (count) => `und ${count} weitere`,

  compared: "Zwei Läufe",
  verdicts: {
    faster: "schneller",
    slower: "langsamer",
    equal: "gleich",
    "other work": "andere Arbeit",
    unknown: "unbekannt",
  },
  verdictTitle: "gleich: die Bereiche der Zeiten überlappen; andere Arbeit: die FLOPs sind verschieden",
  kernel: "Kernel",
  before: "Vorher",
  now: "Jetzt",
  change: "Änderung",
  verdict: "Urteil",
  showMore: (count) => `${count} weitere`,
  onlyBefore: (count) => `${count} Kernel nur vorher:`,
  onlyNow: (count) => `${count} Kernel nur jetzt:`,
};
