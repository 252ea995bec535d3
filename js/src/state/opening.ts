// Opening a profile in the page: Python reads the file and shows its kernels.

import { signal } from "@preact/signals";
import type { Requests } from "./requests.ts";

/** Files of this computer, or the path of a file on the computer where Python runs. */
export type Given = readonly File[] | string;

/** How far the opening of a file has come. */
export type Opening =
  | { readonly step: "idle" }
  /** There are kernels to compare with: the person chooses. */
  | { readonly step: "choosing"; readonly given: Given }
  | { readonly step: "sending"; readonly name: string; readonly size: number; readonly sent: number }
  | { readonly step: "reading"; readonly name: string }
  | { readonly step: "opened"; readonly name: string; readonly kernels: number }
  | { readonly step: "refused"; readonly name: string; readonly reason: string };

/** The size of a part of a file, bytes. Jupyter's server closes the connection at a message above 10 MiB. */
const PART_BYTES = 2 ** 20;

export const nameOf = (given: Given) => (typeof given === "string" ? given : given.map((file) => file.name).join(", "));

/** `canCompare`: whether the shown kernels have times to compare with. */
export function createOpening(requests: Requests, canCompare: () => boolean) {
  const opening = signal<Opening>({ step: "idle" });
  /** Counts the files. A cancelled file takes no further part in `opening`. */
  let current = 0;

  async function start(given: Given, compare: boolean) {
    current += 1;
    const own = current;
    const name = nameOf(given);
    try {
      if (typeof given === "string") {
        opening.value = { step: "reading", name };
        finish(await requests.ask({ ask: "show", path: given, compare }));
        return;
      }
      const size = given.reduce((sum, file) => sum + file.size, 0);
      let sent = 0;
      for (const [at, file] of given.entries()) {
        for (let offset = 0; offset < file.size || offset === 0; offset += PART_BYTES) {
          opening.value = { step: "sending", name, size, sent };
          const part = await file.slice(offset, offset + PART_BYTES).arrayBuffer();
          const asked = { ask: "part", name: file.name, size: file.size, offset, beside: at > 0 } as const;
          const { refused } = await requests.ask(asked, part);
          if (own !== current) return;
          if (refused !== undefined) return finish({ refused });
          sent += part.byteLength;
        }
      }
      opening.value = { step: "reading", name };
      finish(await requests.ask({ ask: "show", compare }));
    } catch (error) {
      finish({ refused: error instanceof Error ? error.message : String(error) });
    }
    function finish({ refused, shown = 0 }: { refused?: string; shown?: number }) {
      if (own !== current) return;
      opening.value =
        refused === undefined ? { step: "opened", name, kernels: shown } : { step: "refused", name, reason: refused };
    }
  }

  /** Asks Python to show something else. */
  function tell(ask: "example" | "swap" | "stop") {
    requests.ask({ ask }).then(
      ({ refused }) => {
        if (refused !== undefined) opening.value = { step: "refused", name: "", reason: refused };
      },
      () => {},
    );
  }

  return {
    state: { opening },
    actions: {
      openFile(given: Given) {
        if (given.length === 0) return;
        if (canCompare() && (typeof given === "string" || given.length === 1))
          opening.value = { step: "choosing", given };
        else void start(given, false);
      },
      proceed(compare: boolean) {
        const now = opening.value;
        if (now.step === "choosing") void start(now.given, compare);
      },
      openExample: () => tell("example"),
      swapRuns: () => tell("swap"),
      stopComparing: () => tell("stop"),
      dismissOpening() {
        if (opening.value.step === "sending") void requests.ask({ ask: "cancel" }).catch(() => {});
        current += 1;
        opening.value = { step: "idle" };
      },
    },
  };
}
