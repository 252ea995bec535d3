// A widget with no chip and no kernel: an invitation to open a profile, to see an example, or to add a chip.

import { useRef } from "preact/hooks";
import type { Store } from "../state/store.ts";
import { Button } from "../ui/button.tsx";
import { OWN_KEYS } from "../ui/keys.ts";
import { emptyWords as words } from "../words/words.ts";

/** Whether there is nothing to draw, and no story that asks something. */
export const isEmpty = ({ rates: { chips }, rows: { kernels }, lesson: { story } }: Store) =>
  chips.value.length === 0 && kernels.value.n === 0 && story.value === null;

interface EmptyProps {
  readonly store: Store;
  /** The height, px. */
  readonly height: number;
}

export function Empty({ store, height }: EmptyProps) {
  const now = store.python.opening.value;
  const canOpen = store.view.openFiles.value !== "nothing";
  const isRefused = now.step === "refused";
  return (
    <div class="rw-empty" data-rw="empty" style={{ height: `${height}px` }}>
      <svg viewBox="0 0 1248 600" preserveAspectRatio="none" aria-hidden="true">
        <path d="M60,510L820,110H1190" vector-effect="non-scaling-stroke" />
      </svg>
      <div class="rw-invitation">
        <h2>{canOpen ? words.drop : words.pick}</h2>
        {canOpen && <p class="rw-muted">{words.files}</p>}
        {isRefused && (
          <p class="rw-fault" role="alert">
            {now.reason}
          </p>
        )}
        <div class="rw-row">
          {canOpen && <FileButton open={store.python.openFile} label={isRefused ? words.another : words.open} />}
          {canOpen && <Button onClick={store.python.openExample}>{words.example}</Button>}
          {!store.view.hiddenPanels.value.includes("chips") && (
            <Button
              {...(!canOpen && { look: "button rw-primary" })}
              onClick={({ currentTarget }) =>
                currentTarget.closest(".roofwidget")?.querySelector<HTMLElement>("[data-rw='add-chip']")?.click()
              }
            >
              {words.pick}
            </Button>
          )}
        </div>
        {canOpen && (
          <p class="rw-muted">
            {words.python} <code>{words.code}</code>
          </p>
        )}
      </div>
    </div>
  );
}

/** A button to choose files of this computer. */
export function FileButton({
  label,
  look = "button rw-primary",
  open,
}: {
  readonly label: string;
  readonly look?: string;
  open(files: readonly File[]): void;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        {...OWN_KEYS}
        hidden
        multiple
        aria-label={label}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          // So that the same files can be chosen again.
          currentTarget.value = "";
          open(files);
        }}
      />
      <Button look={look} onClick={() => input.current?.click()}>
        {label}
      </Button>
    </>
  );
}
