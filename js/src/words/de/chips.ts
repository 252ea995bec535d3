// German texts for the chip picker, the chip card and folded panels.

import type { Like } from "../catalogue.ts";
import type * as en from "../en/chips.ts";

/** Translates Python's texts for the confidence in a source. */
const CONFIDENCES: Readonly<Record<string, string>> = {
  datasheet: "Datenblatt",
  derived: "abgeleitet",
  given: "wie angegeben",
  measured: "gemessen",
  secondary: "zweite Hand",
  "source code": "Quelltext",
  "vendor doc": "Hersteller-Doku",
};

/** Translates Python's labels of figures. */
const FIGURES = [
  [/^Peak /, "Spitze "],
  [/^(\S+(?: read| write)?) bandwidth\b/, "Bandbreite $1"],
  [/^(\S+) capacity\b/, "Kapazität $1"],
  [/, one way, per chip/, ", eine Richtung, je Chip"],
  [/, one way, per link/, ", eine Richtung, je Link"],
  [/, latency per hop$/, ", Latenz je Hop"],
  [/^Clock$/, "Takt"],
  [/^Units$/, "Einheiten"],
  [/^Power$/, "Leistungsaufnahme"],
  [/^Energy, /, "Energie, "],
  [/^Ceiling: /, "Zwischendecke: "],
] as const;

export const words: Like<typeof en.words> = {
  more: (count) => `+ ${count} weitere…`,
  picker: "Alle Chips",
  search: "Chips suchen",
  searchHint: "H200, AMD, 2023",
  counted: (shown, all) => `${shown} von ${all} gezeigt`,
  found: (count) => `${count} gefunden`,
  noneFound: (query) => `kein Chip passt zu „${query}“`,
  close: "Schließen",
  shownFirst: "Gezeigt",
  otherVendor: "Andere",
  allLevels: "alle Ebenen",
  view: "Ansicht",
  views: { roofline: "Roofline", time: "Zeit" },
  details: "Details",
  detailsOf: (chip) => `Details zu ${chip}`,
  vendor: "Hersteller",
  family: "Familie",
  year: "Jahr",
  status: "Stand",
  statuses: {
    "single-source": "aus einer Quelle; keine zweite gefunden",
    "cross-checked": "mit einer zweiten Quelle verglichen",
    given: "wie angegeben, nicht geprüft",
  },
  noSource: "keine Quelle angegeben",
  source: "Quelle",
  confidence: (word) => `(${CONFIDENCES[word] ?? word})`,
  othersSay: (value, ratio) => `anderswo ${value} (×${ratio}):`,
  measured: "gemessen",
  figure: (label) => FIGURES.reduce((text, [named, said]) => text.replace(named, said), label),
  notes: "Anmerkungen",
  ceilings: "Zwischendecken",
  on: (count) => `${count} ein`,
  communication: "Kommunikation",
  exposed: "Unverdeckte Kommunikation",
  exposedShort: "unverdeckt",
  exposedFractions: "Unverdeckte Anteile, eingetippt",
  noneExposed: "keine unverdeckt",
  fractionsHint: "20; 40; 60 %",
  nothingExposed: "Keine unverdeckte Kommunikation",
  flat: (percent, rate) => `${percent} unverdeckt → Plateau ${rate}`,
  noFraction: (typed) => `keine Zahl in „${typed}“; zum Beispiel „20; 40; 60 %“ schreiben`,
  notAFraction: (typed) => `„${typed}“ ist kein Anteil von 0 bis unter 100 %`,
  levels: "Ebenen",
  showAllLevels: "auch Ebenen zeigen, die keinen Kernel begrenzen",
  unknownLevels: "Bandbreite unbekannt, daher nicht gezeichnet:",
};
