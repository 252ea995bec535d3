// Numbers in German: a comma where English has a point, shown and typed; files and units are in no language.

import { describe, expect, it } from "vitest";
import { catalogue } from "../../src/words/de.ts";
import type { KernelSpec } from "../helpers.ts";

Object.assign(globalThis, { roofwidgetWords: catalogue });

const { formatFractions, parseFractions } = await import("../../src/panels/hardware/exposed.tsx");
const {
  formatBinary,
  formatIntensity,
  formatPercent,
  formatQuantity,
  formatRatio,
  formatTenths,
  formatTick,
  parseRate,
  spokenRate,
} = await import("../../src/text/numbers.ts");
const { parseSize } = await import("../../src/panels/workload/dims.ts");
const { toCsv } = await import("../../src/panels/table/csv.ts");
const { makeChip, makeKernels, makeRoof } = await import("../helpers.ts");
const { factsOf } = await import("../../src/roofline/verdict.ts");
const { verdictOf } = await import("../../src/text/verdict.ts");
const { reasonsOf } = await import("../../src/text/why.ts");
const { verdictText } = await import("../../src/text/answers.ts");
const { asThousands, readNumber } = await import("../../src/text/written.ts");
const { numberVerdict } = await import("../../src/roofline/answers.ts");
const { axisWords, filterWords, fusionWords, marksWords, networkWords, runWords, strings, words } = await import(
  "../../src/words/words.ts"
);

it("offers a comma or a point before exactly three digits as thousands", () => {
  expect(readNumber("516,096", "B", "")).toBe(516.096);
  expect(asThousands("516,096 B")).toBe("516 096 B");
  expect(readNumber("516.096", "B", "")).toBe(516.096);
  expect(asThousands("516.096 B")).toBe("516 096 B");
  expect(readNumber("516 096 B", "B", "")).toBe(516_096);
  for (const typed of ["516,09", "516,0961", "0,250", "516,096,000", "5.16", "0.250", "1/516,096"])
    expect(asThousands(typed), typed).toBeUndefined();
});

it("counts ranks, of one too", () => {
  expect([1, 8].map(networkWords.ranks)).toEqual(["1 Rang", "8 Ränge"]);
  expect([[1], [2, 4], [2, 4, 8]].map((ranks) => networkWords.counted(3, ranks, "Ring").split(" · ")[0])).toEqual([
    ...["3 Nachrichten von 1 Rang", "3 Nachrichten von 2 und 4 Rängen", "3 Nachrichten von 2, 4 und 8 Rängen"],
  ]);
});

describe("numbers to text", () => {
  it("have a decimal comma and the units and prefixes of English", () => {
    expect(formatQuantity(1.234e12, "FLOP/s")).toBe("1,23 TFLOP/s");
    expect(formatQuantity(0, "B")).toBe("0 B");
    expect(formatIntensity(295.25, 4)).toBe("295,2 FLOP/B");
    expect(formatPercent(0.0123)).toBe("1,2 %");
    expect(formatPercent(0.34)).toBe("34 %");
    expect(formatRatio(2.74)).toBe("2,7");
    expect(formatTenths(4)).toBe("4,0");
    expect([0.01, 1, 1e4, 1e-5].map(formatTick)).toEqual(["0,01", "1", "10k", "1e-5"]);
    expect(formatQuantity(Number.NaN, "s")).toBe("unbekannt");
  });
  it("of integers are operations, in text and in speech", () => {
    expect(formatQuantity(1.5e15, "OP/s")).toBe("1,5 POP/s");
    expect(spokenRate(1.5e15, "OP/s")).toBe("1,5 Peta-Operationen pro Sekunde");
    expect(strings.noPeakForKernel("H100", "int4", strings.work.OP)).toBe(
      "H100 hat keine Spitzenleistung für die Operationen in int4",
    );
  });
  it("part thousands of counts by a point", () => {
    expect(filterWords.counted(37, 12_345)).toBe("37 von 12.345 Kerneln");
  });
  it("of a projection name both chips and their precisions", () => {
    const there = runWords.timeOn("6 s", "MI300X", "fp8");
    expect(runWords.projected(runWords.timeOn("15 s", "H100", "bf16"), there, "2,5")).toBe(
      "15 s auf H100 in bf16 → 6 s auf MI300X in fp8 (2,5×)",
    );
  });
  it("that are several are parted by what is no decimal comma", () => {
    expect(strings.least(["2,5 PFLOP/s", "1,2 PFLOP/s"])).toBe("min(2,5 PFLOP/s; 1,2 PFLOP/s)");
    expect(formatFractions([0.015, 0.2])).toBe("1,5; 20 %");
  });
  it("have prefixes of 1024 at powers of two", () => {
    expect([1.5 * 2 ** 40, 2 ** 14, 8192].map(formatBinary)).toEqual(["1,5Ti", "16Ki", "8192"]);
  });
  it("have their labels on a chip's card, also where a level's name has several words", () => {
    const labels = ["L2 capacity", "HBM usable capacity", "Infinity Cache capacity", "Unified memory bandwidth"];
    expect(labels.map((label) => words.figure(label))).toEqual([
      "Kapazität L2",
      "nutzbare Kapazität HBM",
      "Kapazität Infinity Cache",
      "Bandbreite Unified memory",
    ]);
    const more = ["L1 capacity for one block", "Host memory LPDDR5X capacity", "Host memory LPDDR5X bandwidth"];
    expect(more.map((label) => words.figure(label))).toEqual([
      "Kapazität L1 für einen Block",
      "Kapazität Host-Speicher LPDDR5X",
      "Bandbreite Host-Speicher LPDDR5X",
    ]);
  });
  it("keep the point in files", () => {
    expect(toCsv([{ key: "time", at: () => 1.5 }], new Int32Array(1))).toBe("time\r\n1.5\r\n");
  });
});

describe("what a person types", () => {
  it.each(["2,5 PFLOP/s", "2.5 PFLOP/s", "2,5P", "2500 TFLOP/s", "2,5e15", "×2,5", "x 2.5"])(
    "may have a comma or a point: %s",
    (typed) => expect(parseRate(typed, "FLOP/s", 1e15)).toBe(2.5e15),
  );
  it("is quoted as it was typed, with a German example", () => {
    expect(parseRate("2,5", "B/s", 1)).toBe("„2,5“ hat keine Einheit; zum Beispiel „3,35 TB/s“ schreiben");
    expect(parseRate("viel, sehr", "B/s", 1)).toBe("keine Zahl in „viel, sehr“; zum Beispiel „3,35 TB/s“ schreiben");
    expect(parseRate("1.000,5 TB/s", "B/s", 1)).toMatch(/ist keine Einheit von B\/s/);
  });
  it("parts shares by semicolons, spaces, or commas with a space behind", () => {
    expect(parseFractions("12,5; 20 %")).toEqual([0.125, 0.2]);
    expect(parseFractions("20, 40, 60 %")).toEqual([0.2, 0.4, 0.6]);
    expect(parseFractions("0,2 0,4")).toEqual([0.2, 0.4]);
    expect(parseFractions("20,40,60 %")).toBe("keine Zahl in „20,40,60“; zum Beispiel „20; 40; 60 %“ schreiben");
  });
  it("may part thousands of a size by a point, which is none of its decimals", () => {
    const dim = { name: "batch", low: 1, high: 8192, default: 32 } as Parameters<typeof parseSize>[1];
    expect(parseSize("4.096", dim, 1)).toBe(4096);
    expect(parseSize("1,5k", dim, 1)).toBe(1500);
    expect(parseSize("1.5k", dim, 1)).toBe(1500);
    expect(parseSize("×1,5", dim, 32)).toBe(48);
    expect(parseSize("1.2345", dim, 1)).toMatch(/^„1\.2345“ ist keine ganze Zahl/);
    expect(parseSize("1,5", dim, 1)).toBe("„1,5“ ist keine ganze Zahl; zum Beispiel „32“ schreiben");
  });
});

describe("the words of a lecturer", () => {
  const [knee, balance] = [{ ridge: "knee" }, { ridge: "machine balance" }] as const;
  it("name the intensity in both forms", () => {
    expect(axisWords.intensity("FLOP/B", 0, {})).toBe("arithmetische Intensität (FLOP/B)");
    expect(axisWords.intensity("FLOP/B", 0, { intensity: "operational" })).toBe("operationale Intensität (FLOP/B)");
    expect(axisWords.intensityShort("FLOP/B", 0, { intensity: "operational" })).toBe("OI (FLOP/B)");
  });
  it("name the ridge point wherever it is named, with its article", () => {
    expect([{}, knee, balance].map((terms) => strings.ridgeAt("100", terms))).toEqual([
      "Ridge 100",
      "Knickpunkt 100",
      "Maschinenbalance 100",
    ]);
    expect([{}, knee, balance].map((terms) => marksWords.drag.ridge(terms))).toEqual([
      "die Kante: beides",
      "der Knickpunkt: beides",
      "die Maschinenbalance: beides",
    ]);
    expect(marksWords.ceilings(knee)).toMatch(/^Striche über den Knickpunkt hinaus/);
    expect(words.ridgeAt("bf16", balance)).toBe("Maschinenbalance, bf16");
  });
});

describe("the headline", () => {
  const roof = makeRoof(makeChip({ name: "Beispiel" }));
  const said = (specs: readonly KernelSpec[], isWhatIf = false) => {
    const { headline, detail } = verdictOf(factsOf({ kernels: makeKernels(specs), roof, isWhatIf }));
    return [headline, detail];
  };
  const copy = { name: "copy", flops: 0, bytes: 1e12, category: "copy" };
  it("says in German what the English one says", () => {
    const idle = { name: "idle", category: "idle", flops: null, bytes: null, time: 7.5 };
    expect(said([{ ...copy, time: 2.5, count: 2 }, idle], true)).toEqual([
      "Der Chip ist 75 % der Zeit untätig.",
      "Mit Ihrem Was-wäre-wenn: Kernel laufen 2,5 s von 10 s, in 2 Starts zu 1,25 s. Der erste Kernel könnte bis zu 1,5 s sparen; an allen Rooflines blieben 1 s.",
    ]);
    expect(
      said([
        { ...copy, time: 8 },
        { ...copy, name: "norm", category: "normalisation", time: 2 },
      ]),
    ).toEqual([
      "Kopien brauchen 80 % der Zeit.",
      "Der langsamste davon bewegt Bytes mit 12 % der HBM-Bandbreite. Die ersten 2 Kernel könnten bis zu 8 s von 10 s sparen.",
    ]);
  });
});

describe("why ops are no kernel", () => {
  const holds = fusionWords.holds({ level: "L1", bytes: 232_448, units: 132 }, "H100", "232 kB");
  it("names the ops, in an order that German has", () => {
    const { reasons } = fusionWords;
    expect(Object.entries(reasons).map(([reason, sentence]) => [reason, sentence("a", "b", "c")])).toEqual([
      ["beside", "a speist b nicht und nutzt dessen Ergebnis nicht"],
      ["unrelated", "a und b sind Matrixprodukte ohne gemeinsamen Eingang und gemeinsames Ergebnis"],
      ["levels", "a, b und c sind drei Produkte nacheinander: ein Kernel hat höchstens zwei"],
      ["both made", "beide Operanden von a sind Produkte desselben Kernels: ein Block hat Zeilen nur von einem"],
      ["window", "a liest ein Fenster des Ergebnisses von b: Nachbarblöcke würden dasselbe berechnen"],
      ["window rows", "a liest Nachbarn jedes Elements, daher kann b seine Zeilen nicht ganz haben"],
      ["other axes", "a reduziert andere Achsen als die von b"],
      ["unused axes", "a hat Achsen, die b nicht verwendet"],
      ["no rows", "a hat die Zeilen von b nicht"],
      ["block rows", "a reduziert entlang der Zeilen, die über Blöcke verteilt sind"],
      ["across blocks", "a summiert Zeilen auf, die über Blöcke verteilt sind"],
      ["whole rows", "a braucht ganze Zeilen von b: den Chip anzeigen, der sie fasst"],
      ["chain", "a und b sind zwei Produkte nacheinander: einen Chip anzeigen, der sie fasst"],
    ]);
    expect(fusionWords.joined("s")).toBe("jeder Block von s braucht Elemente, die andere Blöcke berechnen");
    expect(fusionWords.prologueAxis({ name: "norm", axes: [0, 2] }, "mm")).toBe(
      "norm reduziert Achsen 0, 2, die mm nicht aufsummiert: jeder Block bräuchte alle Zeilen",
    );
  });
  it("says how much tiles and rows need, and what the chip holds", () => {
    const there = "der Anteil einer Einheit am L1 von H100 fasst 232 kB";
    expect(fusionWords.capacity(fusionWords.tiles("a + b"), "256 kB", holds)).toBe(
      `die Kacheln von a + b brauchen 256 kB zugleich; ${there}`,
    );
    expect(fusionWords.capacity(fusionWords.tilesOf(64), "256 kB", holds)).toBe(
      `Kacheln aus 64 × 64 Elementen brauchen 256 kB zugleich; ${there}`,
    );
    expect(fusionWords.rows([[64, ["y"], "262 kB"]], holds)).toBe(`64 Zeilen von y brauchen 262 kB zugleich; ${there}`);
    expect(
      fusionWords.rows(
        [
          [1, ["o", "q", "r"], "1 MB"],
          [1, ["p"], "541 kB"],
        ],
        holds,
      ),
    ).toBe(`1 Zeile von o, q und r braucht 1 MB, 1 Zeile von p 541 kB; ${there}`);
    expect(fusionWords.shuffle("turn", "16,4 kB", holds)).toBe(
      `turn verschiebt Elemente auf unbekannte Weise: die Tensoren (16,4 kB) passen nicht ganz auf den Chip; ${there}`,
    );
    expect(fusionWords.holdsUnknown).toBe("den Chip anzeigen, der so viel fasst");
  });
});

describe("answers to questions", () => {
  it("have a decimal comma, also before three digits, and several commas part thousands", () => {
    const read = (text: string, unit: string) => readNumber(text, unit, "12 FLOP/B");
    expect([read("0,25", ""), read("516,096", "B"), read("1,234,567", "B"), read("2,5·10^3", "")]).toEqual([
      0.25, 516.096, 1_234_567, 2500,
    ]);
    expect(read("3 TB/s", "FLOP/B")).toBe("„3 TB/s“ ist eine Bandbreite (B/s); gefragt ist eine Intensität (FLOP/B)");
    expect(read("viel", "FLOP/B")).toBe("„viel“ ist keine Zahl; zum Beispiel „12 FLOP/B“");
  });
  it("are told the direction, then the band, and of merges the bytes", () => {
    const said = (given: number, attempt: number) => {
      const key = { answer: 100, tolerance: 0.07, wrongAnswers: [], method: "" };
      return verdictText(numberVerdict(key, given, attempt));
    };
    expect([said(150, 1), said(150, 2), said(1, 2), said(100, 1)]).toEqual([
      "Noch nicht: zu groß.",
      "Noch nicht: zu groß, höchstens um den Faktor 2.",
      "Noch nicht: zu klein, um mehr als das 10-Fache: auf die Präfixe achten.",
      "Richtig.",
    ]);
    const merge = { kernels: 2, now: 32768, least: 16384, isTime: false };
    expect(verdictText({ isRight: false, said: "bytes", text: "", merge })).toBe(
      "Noch nicht: 2 Kernel bewegen 32,77 kB. Erreichbar sind 16,38 kB.",
    );
  });
});

it("says why a kernel is slow in German where Python sent it, and else in English", () => {
  const english = {
    sentence: "{stall 1 (%)} stalls.",
    suggestion: "Wait.",
    source: "A guide",
    columns: [],
    counters: [],
  };
  const translations = { de: { sentence: "{waves per SM} Wellen.", suggestion: "Warten." } };
  const extra = { "stall 1 (%)": [61.4], "waves per SM": [1.0075] };
  const kernels = makeKernels([{ flops: 1e9, bytes: 1e7, time: 1 }], { extra });
  const reasons = new Map([[0, [{ ...english, translations }, english]]]);
  const found = reasonsOf({ ...kernels, reasons }, 0).map(({ language, sentence }) => [language, sentence]);
  expect(found).toEqual([
    ["de", "1,01 Wellen."],
    ["en", "61,4 % stalls."],
  ]);
});
