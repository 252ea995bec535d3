// German texts for the fusion panel.

import type { Like } from "../catalogue.ts";
import type * as en from "../en/fusion.ts";

/** Translates the texts that say how a partition was found. */
const HOW: Readonly<Record<string, string>> = { optimal: "optimal", greedy: "Greedy-Suche" };
const told = (how: string) => HOW[how] ?? how;

export const fusionWords: Like<typeof en.fusionWords> = {
  title: "Fusion",
  graph: (name, ops) =>
    `${name || "Graph"} mit ${ops} Operationen. Pfeiltasten gehen von Operation zu Operation, M merkt eine vor, Enter verschmilzt mit der vorgemerkten oder der nächsten dahinter, S löst eine heraus, X schneidet ihren Kernel über ihr durch, Strg+Z und Strg+Y machen rückgängig und stellen wieder her.`,
  hint: "Verschmelzen: eine Kante anklicken oder eine Operation auf eine andere ziehen; trennen: eine Kante im Kernel anklicken oder eine Operation hinausziehen. Tasten: Pfeile, Enter verschmilzt, S löst heraus, X schneidet, M merkt vor.",
  ends: (first, last, count) => `${first} + … + ${last} (${count} Operationen)`,
  same: (group) => `${group} ist schon ein Kernel`,
  notConnected: (one, other) => `${one} und ${other} haben keinen Tensor gemeinsam`,
  barrier: (op) => `${op} ist undurchsichtig: ein ganzer Algorithmus, der seinen Kernel nicht teilen kann`,
  kinds: {
    epilogue: (product, op, kind = "") =>
      `${product} ist ein Matrixprodukt: nur elementweise Operationen dahinter passen in seinen Kernel; ${op} ist ${kind === "injective" ? "injektiv: Elemente wechseln die Kachel" : `von der Art ${kind}`}`,
    fed: (one, product) =>
      `${product} liest die Ausgabe von ${one}: was vor einem Matrixprodukt läuft, passt nicht in seinen Kernel`,
    operands: (one, other) =>
      `${one} und ${other} haben keinen gemeinsamen Eingang: nur dann teilen zwei Matrixprodukte einen Kernel`,
    apart: (product, op) =>
      `${op} verwendet das Ergebnis von ${product} nicht: nur solche Operationen passen in seinen Kernel`,
    rows: (one, other) => `${one} und ${other} reduzieren Tensoren verschiedener Form`,
    moved: (one, op) => `${op} verschiebt Elemente und kann ${one} daher nicht Zeile für Zeile folgen`,
  },
  notConvex: (inner, first, last) => `${inner} muss nach ${first} und vor ${last} laufen`,
  cycle: (group, between) => `${group} in einem Kernel liefe sowohl vor als auch nach ${between}`,
  capacity: (group, need, { level, units }, chip, there) =>
    `die Kacheln von ${group} brauchen ${need} zugleich; ${units > 1 ? `der Anteil einer Einheit am ${level}` : `der ${level}`} von ${chip} fasst ${there}`,
  crowded: (sentence, more) =>
    `${sentence}${more > 0 ? `, und ${more} ${more === 1 ? "weiterer Kernel passt" : "weitere Kernel passen"} nicht` : ""}: die Zahlen nehmen an, dass sie passen`,
  merged: (group) => `${group}: ein Kernel`,
  apartNow: (op) => `${op} ist jetzt ein eigener Kernel`,
  alone: (op) => `${op} ist schon ein eigener Kernel`,
  last: (op) => `keine Operation liest die Ausgabe von ${op}: eine der beiden mit M vormerken`,
  marked: (op) => `${op} ist vorgemerkt: Enter auf einer anderen verschmilzt beide`,
  topmost: (op) => `${op} ist die erste Operation ihres Kernels`,
  at: (op, kind, parts) =>
    [
      ...[op, kind, `${parts.enters} hinein, ${parts.leaves} hinaus`],
      ...(parts.from ? [`von ${parts.from}`] : []),
      ...(parts.to ? [`nach ${parts.to}`] : []),
      ...(parts.others ? [`in einem Kernel mit ${parts.others}`] : []),
    ].join(" · "),
  members: "Kernel und ihre Operationen",
  more: (kernels) => `und ${kernels} weitere`,
  presets: "Vorgaben",
  none: "keine",
  pairs: "Paare",
  xla: "wie XLA",
  best: (chip) => (chip ? `beste für ${chip}` : "beste"),
  undo: "Rückgängig",
  redo: "Wiederherstellen",
  kernels: "Kernel",
  flops: "FLOPs",
  bytes: "Bytes",
  intensity: "Intensität",
  time: "Roofline-Zeit",
  speedUp: "Gegen unfusioniert",
  compulsory: "Bytes mindestens",
  least: (bytes, ratio) => `${bytes} · jetzt ${ratio}×`,
  toBest: "Beste",
  times: (ratio) => (ratio === "1" ? "gleich schnell" : `${ratio}×`),
  trail: (ratio) => `diese Fusion ${ratio}× · gleiche FLOPs`,
  faster: (ratio, how) => `${ratio}× schneller (${told(how)})`,
  isBest: (how) => (how === "optimal" ? "diese Partition (optimal)" : "keine bessere gefunden (Greedy-Suche)"),
  isNone: "diese Partition passt nicht auf den Chip",
  found: (chip, kernels, how) => `beste für ${chip}: ${kernels} (${told(how)})`,
  working: "wird berechnet…",
  counted: (kernels) => `${kernels} Kernel`,
};
