// German texts for the loader.

import type { Like } from "../catalogue.ts";
import type * as en from "../en/loader.ts";

export const loadWords: Like<typeof en.loadWords> = {
  language: "de",
  noCode:
    "Der Code dieses Roofwidgets hat die Seite nicht erreicht. Die Zelle, die das Widget erzeugt, noch einmal " +
    "ausführen; hilft das nicht, vor dem Start des Kernels die Umgebungsvariable ROOFWIDGET_INLINE=1 setzen.",
};
