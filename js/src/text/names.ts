// Short names of chips.

import type { Roof } from "../roofline/roofline.ts";
import { memoize } from "../ui/memoize.ts";
import type { Chip } from "../wire/types.ts";
import { strings } from "../words/words.ts";

const named = memoize<ReadonlyMap<string, string>>();

/**
 * Returns a map from chip id to the short name of the chip. The short name has no vendor, no last part in brackets, and
 * no size of the memory at its end, unless the id of the chip names this size. If two chips would then have the same
 * name, these parts are kept.
 */
export const shortNames = (chips: readonly Chip[]): ReadonlyMap<string, string> =>
  named(chips, [], () => findNames(chips));

function findNames(chips: readonly Chip[]): ReadonlyMap<string, string> {
  const plain = chips.map(({ name, vendor }) =>
    vendor && name.startsWith(`${vendor} `) ? name.slice(vendor.length + 1) : name,
  );
  const bare = plain.map((name, index) => bareName(name, chips[index]?.id ?? ""));
  const names = bare.map((name, index) => (bare.indexOf(name) === bare.lastIndexOf(name) ? name : plain[index]));
  return new Map(chips.map((chip, index) => [chip.id, names[index] ?? chip.name]));
}

/** Returns a name without its last part in brackets, and without a memory size such as "80GB" that the id lacks. */
function bareName(name: string, id: string): string {
  const bare = name.replace(/\s*\([^)]*\)$/, "") || name;
  return bare.replace(/ (\d+GB)$/, (end, size: string) => (id.endsWith(size.toLowerCase()) ? end : ""));
}

/**
 * Returns the text of a chip's figure. If the chip is not the roof's chip, the text also has the chip's name, such as
 * "70 % on H100".
 */
export const ofChip = (figure: string, { id, name }: Chip, { chip }: Roof): string =>
  id === chip.id ? figure : strings.on(figure, briefNames([name, chip.name])[0] as string);

// Memoized because the names of the chips do not change while a roof is dragged.
const briefs = memoize<ReadonlyMap<string, string>>();

/** Returns a map from chip id to name. The names are the shortest names that distinguish the shown chips. */
export const briefNamesOf = (roofs: readonly Roof[], names: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  briefs(names, [roofs.length, ...roofs.map(({ chip }) => chip)], () => {
    const brief = briefNames(roofs.map(({ chip }) => names.get(chip.id) ?? chip.name));
    return new Map(roofs.map(({ chip }, index) => [chip.id, brief[index] ?? chip.name]));
  });

/**
 * Matches a word of letters, such as "Ti" in "RTX 2080 Ti". After a number, this word belongs to the model. Does not
 * match the form factors "SXM" and "PCIe", because a form factor does not make another model.
 */
const MODEL = /^(?!(?:SXM|PCIe)$)\p{L}+$/u;

/**
 * Returns a short form of each name. For example, the names "NVIDIA H100 SXM" and "AMD MI300X" become "H100" and
 * "MI300X". If two names would get the same short form, these names are not shortened.
 */
export function briefNames(names: readonly string[]): string[] {
  const all = names.map((name) => name.split(" "));
  const heads = all.map((words) => headOf(words, all));
  const brief = heads.map((head) => {
    const first = head.findIndex((word) => /\d/.test(word));
    // If the first word with a digit also starts with a digit, keep the word before it. So "AMD EPYC 9654" becomes
    // "EPYC 9654", but "AMD Instinct MI300X" becomes "MI300X".
    const from = /^\d/.test(head[first] ?? "") ? first - 1 : first;
    const tail = head.slice(Math.max(0, from)).join(" ");
    const alone = heads.filter((other) => other.join(" ").endsWith(tail)).length === 1;
    return (alone ? tail : head.join(" ")).replace(/[\s,;:·-]+$/, "");
  });
  return brief.map((name, index) => (brief.indexOf(name) === brief.lastIndexOf(name) ? name : (names[index] ?? name)));
}

/**
 * Returns the shortest beginning of a name that contains a digit and that no other name has. A beginning consists of
 * complete words. If the next words belong to the model, such as "Ti" in "RTX 2080 Ti", the result includes them. If a
 * bracket is open, the result includes the words up to the end of the bracket. If the name has no such beginning,
 * returns all words.
 */
function headOf(words: readonly string[], all: readonly (readonly string[])[]): readonly string[] {
  const heads = words.map((_, count) => words.slice(0, count + 1));
  const startsWith = (other: readonly string[], head: readonly string[]) => head.every((word, k) => other[k] === word);
  const alone = (head: readonly string[]) => all.filter((other) => startsWith(other, head)).length === 1;
  const found = heads.findIndex((head) => /\d/.test(head.join("")) && alone(head));
  if (found < 0) return words;
  // Include the following words that belong to the model, such as "Ti" in "RTX 2080 Ti", and the words up to the end of
  // an open bracket.
  const isOpen = (head = "") => head.lastIndexOf("(") > head.lastIndexOf(")");
  const goesOn = (word: string, at: number) => MODEL.test(word) || isOpen(heads[at - 1]?.join(" "));
  const end = words.findIndex((word, at) => at > found && !goesOn(word, at));
  return words.slice(0, end < 0 ? undefined : end);
}
