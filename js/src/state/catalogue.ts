// The chips that a person can add: those of the catalogue, which Python sends when they are needed.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { decodeChips } from "../wire/decode.ts";
import { inflatedText } from "../wire/packed.ts";
import type { Chip } from "../wire/types.ts";
import type { Model } from "./model.ts";
import type { Requests } from "./requests.ts";
import type { Signals } from "./traits.ts";

/** "none": the catalogue was not asked for. "waiting": Python has not answered yet. */
export type Catalogue = "none" | "waiting" | readonly Chip[];

export function createCatalogue(
  model: Model,
  requests: Requests,
  { chips, addedChips }: Pick<Signals, "chips" | "addedChips">,
) {
  const catalogue = signal<Catalogue>("none");
  async function load() {
    if (catalogue.value !== "none") return;
    catalogue.value = "waiting";
    const own = model.get("catalogue") as string | undefined;
    try {
      const packed = own ?? (await requests.ask({ ask: "catalogue" })).catalogue;
      catalogue.value = packed === undefined ? "none" : decodeChips(JSON.parse(await inflatedText(packed)));
    } catch {
      catalogue.value = "none";
    }
  }
  const all: ReadonlySignal<readonly Chip[]> = computed(() => {
    const ids = addedChips.value;
    const sent = chips.value.filter(({ id, added }) => !added || ids.includes(id));
    const missing = ids.filter((id) => !sent.some((chip) => chip.id === id));
    if (missing.length === 0) return sent.length === chips.value.length ? chips.value : sent;
    // Python has not sent the figures of these chips yet, or there is no Python.
    const known = typeof catalogue.value === "string" ? [] : catalogue.value;
    return [...sent, ...missing.flatMap((id) => known.find((chip) => chip.id === id) ?? [])];
  });
  return { all, catalogue: catalogue as ReadonlySignal<Catalogue>, load };
}
