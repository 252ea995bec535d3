// German texts for the filter bar.

import type { Like } from "../catalogue.ts";
import type * as en from "../en/filters.ts";
import { whole } from "./numbers.ts";

export const filterWords: Like<typeof en.filterWords> = {
  title: "Filter",
  counted: (shown, all) => `${whole(shown)} von ${whole(all)} Kerneln`,
  ofTime: (percent) => `${percent} der Zeit`,
  totals: (count) => (count === 1 ? "1 Summe" : `${whole(count)} Summen`),
  almostAll: "über 99 %",
  search: "Namen suchen",
  searchHint: "gemm  fused*norm",
  category: "Kategorie",
  boundBy: "Begrenzt durch",
  precision: "Genauigkeit",
  all: "alle",
  chosen: (count) => `${count} gewählt`,
  notTold: "ohne Angabe",
  timeShare: "Zeit",
  longest: (percent) => `die längsten Kernel, zusammen ${percent} der Zeit`,
  top: "Erste",
  infeed: "Infeed und Outfeed",
  scope: "Punkte",
  scopes: { kernels: "Kernel", program: "Programm und Schritte" },
  clear: "Filter aufheben",
  byCategory: "Eigene Zeit nach Kategorie. Klick: nur diese. Umschalt oder Strg und Klick: auch diese.",
  part: (name, percent, kernels) => `${name} · ${percent} der Zeit · ${whole(kernels)} Kernel`,
  rest: (categories) => `${categories} weitere Kategorien`,
  remarks: (count) => (count === 1 ? "1 Anmerkung zu dieser Datei" : `${count} Anmerkungen zu dieser Datei`),
};
