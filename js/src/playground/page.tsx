// The entry of the playground: a page on which a person types kernels, merges graphs and opens saved pages, without Python.

import { useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { type SavedState, withBuffers } from "../state/saved_model.ts";
import { inflatedText } from "../wire/packed.ts";
import type { WireChip } from "../wire/types.ts";
import { sourceWords } from "../words/words.ts";
import { Bar, DropZone } from "./bar.tsx";
import { KernelGrid } from "./kernel_grid.tsx";
import type { ExampleGraph } from "./play_state.ts";
import { createPlayground, type Playground } from "./playground.ts";

/** What docs/make_playground.py writes into the page. */
interface Embedded extends SavedState {
  readonly graphs: Readonly<Record<string, ExampleGraph>>;
}

/** A part of the page, in the colours of the system. */
function Part({ play, Content }: { play: Playground; Content: typeof Bar }) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = useSignal(dark.matches);
  useEffect(() => {
    const follow = () => {
      isDark.value = dark.matches;
    };
    dark.addEventListener("change", follow);
    return () => dark.removeEventListener("change", follow);
  }, []);
  return (
    <div class={isDark.value ? "rw-frame rw-dark" : "rw-frame"}>
      <Content play={play} />
    </div>
  );
}

// The line above the chart says "12 kernels from Python". Here no kernel is from Python.
Object.assign(sourceWords, { fromPython: sourceWords.count });

async function start(root: HTMLElement) {
  const catalogue = document.querySelector("[data-catalogue]")?.textContent ?? "";
  const packed = root.querySelector("script")?.textContent ?? "";
  const [embedded, chips] = (await Promise.all(
    [packed, catalogue].map(async (text) => JSON.parse(await inflatedText(text))),
  )) as [Embedded, readonly WireChip[]];
  const byId = new Map(chips.map((chip) => [chip.id, chip]));
  const part = (look: string) => Object.assign(document.createElement("div"), { className: look });
  const [bar, host, grid] = [part("roofwidget"), part(""), part("roofwidget")];
  // The widget has the height of an exported page, not that of a notebook's cell.
  host.dataset["roofwidget"] = "";
  root.replaceChildren(bar, host, grid);
  const stock = { empty: withBuffers(embedded), graphs: embedded.graphs, chip: (id: string) => byId.get(id) };
  const play = createPlayground(host, stock, catalogue);
  render(<Part play={play} Content={Bar} />, bar);
  render(
    <>
      <Part play={play} Content={KernelGrid} />
      <DropZone play={play} />
    </>,
    grid,
  );
  addEventListener("hashchange", () => void play.followAddress());
  await play.followAddress();
}

const root = document.querySelector<HTMLElement>("[data-playground]");
if (root) void start(root);
