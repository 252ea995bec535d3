// Short names of chips.

import type { Roof } from "../roofline/roofline.ts";
import { memoize } from "../ui/memoize.ts";
import type { Chip } from "../wire/types.ts";
import { strings } from "../words/words.ts";

const named = memoize<ReadonlyMap<string, string>>();

/**
 * Returns a map from chip id to the chip's name without the vendor. A last part in brackets is dropped too, unless two
 * chips would then have the same name.
 */
export const shortNames = (chips: readonly Chip[]): ReadonlyMap<string, string> =>
  named(chips, [], () => findNames(chips));

function findNames(chips: readonly Chip[]): ReadonlyMap<string, string> {
  const plain = chips.map(({ name, vendor }) =>
    vendor && name.startsWith(`${vendor} `) ? name.slice(vendor.length + 1) : name,
  );
  const bare = plain.map((name) => name.replace(/\s*\([^)]*\)$/, "") || name);
  const names = bare.map((name, index) => (bare.indexOf(name) === bare.lastIndexOf(name) ? name : plain[index]));
  return new Map(chips.map((chip, index) => [chip.id, names[index] ?? chip.name]));
}

/** Returns the text of a chip's figure. Includes the chip's name if the chip is not the roof's chip. */
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
 * Matches a word that belongs to the model if the word follows a number, such as "Ti" in "RTX 2080 Ti". Does not match
 * form factors such as "SXM", because a form factor does not make another model.
 */
const MODEL = /^(?!(?:SXM|PCIe)$)\p{L}+$/u;

/**
 * Returns for each name the fewest words that distinguish it from the other names. Leading words that all names share
 * are dropped.
 */
export function briefNames(names: readonly string[]): string[] {
  const all = names.map((name) => name.split(" "));
  const heads = all.map((words) => headOf(words, all));
  const brief = heads.map((head) => {
    const first = head.findIndex((word) => /\d/.test(word));
    // If the first word with a digit starts with the digit, the word before it is kept too: "EPYC 9654", but "MI300X".
    const from = /^\d/.test(head[first] ?? "") ? first - 1 : first;
    const tail = head.slice(Math.max(0, from)).join(" ");
    const alone = heads.filter((other) => other.join(" ").endsWith(tail)).length === 1;
    return (alone ? tail : head.join(" ")).replace(/[\s,;:·-]+$/, "");
  });
  return brief.map((name, index) => (brief.indexOf(name) === brief.lastIndexOf(name) ? name : (names[index] ?? name)));
}

/**
 * Returns the shortest beginning of a name, in words, that contains a number and that no other name has. Adds the
 * following words if they belong to the model, such as "Ti" in "RTX 2080 Ti", or if they close a bracket. If there is
 * no such beginning, returns all words.
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
