// Encodes values for Python. Only values that have another form on the wire are encoded here.

import type { Snapshot, WireSnapshot } from "./types.ts";

export const encodeSnapshots = (snapshots: readonly Snapshot[]): WireSnapshot[] =>
  snapshots.map(({ kernels, ...rest }) => ({
    ...rest,
    kernels: kernels.map(([name, ai, rate]) => [name, Number.isFinite(ai) ? ai : null, rate]),
  }));
