// The catalogues: one shape in every language, and nothing left untranslated.

import { describe, expect, it } from "vitest";
import { catalogue as german, loadWords as germanLoader } from "../../src/words/de.ts";
import { catalogue as englishCatalogue, loadWords as englishLoader } from "../../src/words/en.ts";

const english = { ...englishCatalogue, loader: englishLoader };
const translated = { ...german, loader: germanLoader };

type Leaf = readonly [path: string, word: unknown];

function leaves(words: object, path = ""): Leaf[] {
  return Object.entries(words).flatMap(([key, word]): Leaf[] => {
    const at = path ? `${path}.${key}` : key;
    return typeof word === "object" && !(word instanceof RegExp) ? leaves(word, at) : [[at, word]];
  });
}

/** Letters of a text, or of the literals of a function: its parts and what joins them are not words. */
function lettersOf(word: unknown): string {
  const text = typeof word === "function" ? word.toString().replace(/^[\s\S]*?=>/, "") : String(word);
  return text
    .replace(/\$\{[^{}`]*\}/g, "")
    .replace(/[^\p{L}]+/gu, " ")
    .trim();
}

/** What a German engineer writes as an English one does. */
const SAME = new Set([
  ...["strings.work.FLOP", "strings.auto", "strings.least", "strings.tooltip.ai", "strings.time.zeroFlops"],
  ...["axisWords.intensityShort", "axisWords.rate", "axisWords.zeroFlops", "words.searchHint", "words.details"],
  ...[
    "sourceWords.python",
    "tabWords.names.fusion",
    "tabWords.names.workload",
    "tabWords.names.chip",
    "emptyWords.code",
  ],
  ...["filterWords.searchHint", "filterWords.title", "filterWords.menu", "tableWords.tabHeads.ai", "fusionWords.title"],
  ...["fusionWords.flops", "fusionWords.bytes", "runWords.kernel"],
  ...["words.addChip", "words.picker", "words.views.roofline", "toolWords.keyList.12.0", "saveWords.format"],
  ...["openWords.pathHint", "snapshotWords.intensity", "tableWords.aiAt", "tableWords.csv"],
  ...["tableWords.heads.name", "tableWords.heads.flops", "tableWords.flopsOf", "tableWords.saved"],
  ...["workloadWords.phase", "workloadWords.bytes", "workloadWords.flops"],
  ...["workWords.amounts.FLOP", "workWords.amounts.B", "unknownWords.operation"],
  ...["networkWords.link", "networkWords.algorithm"],
]);

describe("the German catalogue", () => {
  it("has the words of the English one, each a text or a function of the same parts", () => {
    const kinds = (words: object) => leaves(words).map(([path, word]) => `${path}: ${typeof word}`);
    expect(kinds(translated).sort()).toEqual(kinds(english).sort());
  });
  it("has no word left in English but those that are the same in German", () => {
    const before = new Map(leaves(english));
    const same = leaves(translated).flatMap(([path, word]) => {
      const letters = lettersOf(word);
      return /\p{L}{2}/u.test(letters) && letters === lettersOf(before.get(path)) ? [path] : [];
    });
    expect(same.filter((path) => !SAME.has(path) && !path.startsWith("numerals."))).toEqual([]);
  });
  it("quotes as German does, and English as English does", () => {
    for (const [path, word] of leaves(translated)) expect(String(word), path).not.toMatch(/”|“\$|“[\p{L}]/u);
    for (const [path, word] of leaves(english)) expect(String(word), path).not.toContain("„");
  });
});

describe("a count of one", () => {
  it("has the singular in every text", () => {
    for (const { strings, filterWords, fusionWords, runWords, sourceWords, tableWords } of [englishCatalogue, german]) {
      const texts = [
        ...[strings.chart("v5p", 1), strings.time.chart("v5p", 1), strings.notDrawn(1, ["norm"])],
        ...[filterWords.counted(1, 1), filterWords.only(1), sourceWords.remarks(1), filterWords.totals(1)],
        ...[fusionWords.graph("g", 1), fusionWords.counted(1), tableWords.areAbove(1), tableWords.grid(1)],
        ...[tableWords.withoutWork(1, "2 %"), tableWords.notRanked(1, "2 %"), tableWords.whatIfs(1)],
        ...[tableWords.selectedRows(1), tableWords.allRows(1), tableWords.copied(1)],
        ...[tableWords.couldSave(1, "2 s"), tableWords.selectFirst(1), runWords.allSelected(1)],
      ];
      for (const text of texts) {
        expect(text).not.toMatch(
          /\b1 (?:more )?(?:kernels|rows|ops|categories|totals|remarks)\b|\bthese 1\b|\ball 1\b/i,
        );
        expect(text).not.toMatch(
          /\b1 (?:weitere )?(?:Kerneln|Zeilen|Operationen|Kategorien|Summen|Anmerkungen)\b|\bDiese 1\b|\balle 1\b/i,
        );
      }
    }
    expect(englishCatalogue.strings.chart("v7x (bf16)", 1)).toMatch(/^Roofline of v7x \(bf16\) with 1 kernel\. /);
    expect(german.strings.chart("v7x (bf16)", 2)).toMatch(/^Roofline von v7x \(bf16\) mit 2 Kerneln\. /);
  });
});
