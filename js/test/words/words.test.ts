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
  ...["strings.chips", "strings.auto", "strings.least", "strings.tooltip.ai", "strings.time.zeroFlops"],
  ...[
    "axisWords.intensityShort",
    "axisWords.rate",
    "axisWords.noFlops",
    "axisWords.zeroFlops",
    "words.searchHint",
    "words.details",
  ],
  ...["filterWords.searchHint", "fusionWords.title", "fusionWords.flops", "fusionWords.bytes", "runWords.kernel"],
  ...["snapshotWords.intensity", "tableWords.aiAt", "tableWords.csv"],
  ...["tableWords.heads.name", "tableWords.heads.flops", "tableWords.flopsOf", "tableWords.saved"],
  ...["workloadWords.phase", "workloadWords.bytes", "workloadWords.flops"],
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
