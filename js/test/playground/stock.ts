// What the page of the playground holds, with small chips and graphs.

import type { Values } from "../../src/playground/local_model.ts";
import type { Stock } from "../../src/playground/play_state.ts";
import { wireKernels } from "../../src/playground/records.ts";
import type { WireChip, WireGraph } from "../../src/wire/types.ts";
import { chain } from "../chains.ts";
import { DEFAULTS, wireChip } from "../helpers.ts";

const CATALOGUE = ["one", "two"].map((id) => wireChip({ id, name: id.toUpperCase() }) as WireChip);

export const EMPTY: Values = { ...DEFAULTS, kernels: wireKernels({ names: [] }) };
export const GRAPH = chain("example") as WireGraph;
export const STOCK: Stock = {
  empty: EMPTY,
  graphs: { example: { title: "An example", graph: GRAPH } },
  chip: (id) => CATALOGUE.find((chip) => chip.id === id),
};
