// Releases the memory of a closed model.

import { type HostModel, layoutOf, type Model } from "./model.ts";
import { TRAIT_NAMES, wireName } from "./traits.ts";

/**
 * Removes the values of the model, such as kernels, when it is closed. JupyterLab keeps the comms of closed models until
 * the kernel ends, and each comm has callbacks that belong to its model. A layout keeps the views that it was made for, and
 * they keep their model: Python closes a layout only when it is told to.
 */
export function freeWhenClosed(model: Model) {
  const free = (closed: unknown) => {
    model.off("destroy", free);
    forgetModel(closed as HostModel | undefined);
    for (const name of ["_esm", "_css", ...TRAIT_NAMES.map(wireName)])
      model.set?.(name, undefined, { unset: true, silent: true });
  };
  model.on("destroy", free);
  layoutOf(model)?.on?.("destroy", forgetModel);
}

/** Replaces the comm's callbacks, which keep the model alive. */
function forgetModel(closed: HostModel | undefined) {
  closed?.comm?.on_msg?.(ignore);
  closed?.comm?.on_close?.(ignore);
}
function ignore() {}
