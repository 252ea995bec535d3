// Which earlier choices undo can restore after Python has replaced the chips.

import type { ReadonlySignal } from "@preact/signals";
import { ALL_LEVELS } from "../roofline/roofline.ts";
import type { Chip } from "../wire/types.ts";
import type { Restorable } from "./sync.ts";

/**
 * Returns, by trait, the function that removes from an old value what cannot be restored. If no chip has a choice, such
 * as a precision, Python refuses the choice. Therefore undo does not restore the choice.
 */
export function restorableChoices(chips: ReadonlySignal<readonly Chip[]>): Restorable {
  const some = (has: (chip: Chip) => boolean) => chips.value.some(has);
  const sameWord = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  return {
    shown(ids) {
      const left = ids.filter((id) => some((chip) => chip.id === id));
      return left.length > 0 || ids.length === 0 ? left : undefined;
    },
    focusChip: (id) => (some((chip) => chip.id === id) ? id : undefined),
    precision: (name) => (name === "auto" || some(({ peaks }) => peaks.has(name)) ? name : undefined),
    memory: (name) =>
      name === "main" || name === ALL_LEVELS || some(({ memories }) => memories.has(name)) ? name : undefined,
    ceilings: (names) =>
      names?.filter((name) =>
        some(({ ceilings, peaks }) => peaks.has(name) || ceilings.some(({ key }) => sameWord(key, name))),
      ) ?? null,
  };
}
