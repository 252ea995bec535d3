// Encodes values for Python. Most values have the same form in the page and on the wire. Only the other values are
// encoded here.

import type { Snapshot, WireSnapshot } from "./types.ts";

export const encodeSnapshots = (snapshots: readonly Snapshot[]): WireSnapshot[] =>
  snapshots.map(({ kernels, ...rest }) => ({
    ...rest,
    kernels: kernels.map(([name, ai, rate]) => [name, Number.isFinite(ai) ? ai : null, rate]),
  }));
