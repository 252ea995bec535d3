// The bar above the widget: what is shown, and how it is opened, linked and saved.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { focusFreeCell } from "./kernel_grid.tsx";
import type { Playground } from "./playground.ts";
import { playgroundWords as words } from "./words.ts";

/** The value of the list for a graph of a file. */
const OTHER = "other";

export function Bar({ play }: { readonly play: Playground }) {
  const { graphs } = play.stock;
  const shown = play.graphKey.value ?? OTHER;
  function typeKernels() {
    play.typeOwn();
    // The table is drawn with the next frame.
    requestAnimationFrame(() => focusFreeCell(document));
  }
  return (
    <section class="rw-play" aria-label={words.bar}>
      <div class="rw-play-row">
        <label>
          <span class="rw-muted">{words.shows}</span>{" "}
          <select value={shown} onChange={({ currentTarget }) => play.showGraph(currentTarget.value)}>
            <option value="">{words.ownKernels}</option>
            {Object.entries(graphs).map(([key, { title }]) => (
              <option key={key} value={key}>
                {title}
              </option>
            ))}
            {shown === OTHER && (
              <option value={OTHER} disabled>
                {words.graphOfFile}
              </option>
            )}
          </select>
        </label>
        <label>
          <span class="rw-muted">{words.title}</span>{" "}
          <input
            type="text"
            class="rw-box"
            maxLength={200}
            placeholder={words.titleHint}
            value={play.title.value}
            onChange={({ currentTarget }) => play.setTitle(currentTarget.value)}
          />
        </label>
        <span class="rw-play-row">
          <Button onClick={typeKernels}>{words.type}</Button>
          <OpenButton play={play} />
          <Button onClick={() => void play.copyLink()}>{words.copy}</Button>
          <Button onClick={play.save}>{words.save}</Button>
          <Button onClick={play.startAgain}>{words.startAgain}</Button>
        </span>
      </div>
      <Said play={play} />
    </section>
  );
}

function OpenButton({ play }: { readonly play: Playground }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept=".html,.htm,.json"
        aria-label={words.open}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          // So that the same file can be chosen again.
          currentTarget.value = "";
          void play.open(files);
        }}
      />
      <Button title={words.openHint} onClick={() => input.current?.click()}>
        {words.open}
      </Button>
    </>
  );
}

/** What was just done, or what is wrong. */
function Said({ play }: { readonly play: Playground }) {
  const { text, isFault } = play.status.value;
  return (
    <div class="rw-play-said">
      <p class={isFault ? "rw-fault" : undefined} role={isFault ? "alert" : "status"}>
        {text}
      </p>
      {text !== "" && play.canBringBack.value && <Button onClick={play.bringBack}>{words.undoOpening}</Button>}
      {text !== "" && (
        <Button look="tool" aria-label={words.close} title={words.close} onClick={play.close}>
          ×
        </Button>
      )}
    </div>
  );
}

/** Opens what is dropped anywhere on the page. */
export function DropZone({ play }: { readonly play: Playground }) {
  const isOver = useSignal(false);
  useEffect(() => {
    const closing = new AbortController();
    const { signal } = closing;
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    addEventListener("dragenter", (event) => (isOver.value = hasFiles(event)), { signal });
    addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault(), { signal });
    // The pointer has left the window.
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) isOver.value = false;
    };
    addEventListener("dragleave", leave, { signal });
    addEventListener(
      "drop",
      (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        isOver.value = false;
        void play.open([...(event.dataTransfer?.files ?? [])]);
      },
      { signal },
    );
    return () => closing.abort();
  }, []);
  return isOver.value ? <div class="rw-play-drop">{words.drop}</div> : null;
}
