// Opening a profile: the panel with the file and its path, what is dropped, and how far the opening has come.

import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { type Given, nameOf, type Opening as State } from "../state/opening.ts";
import type { Store } from "../state/store.ts";
import { formatQuantity } from "../text/numbers.ts";
import { Button } from "../ui/button.tsx";
import { OWN_KEYS } from "../ui/keys.ts";
import { words as panelWords, openWords as words } from "../words/words.ts";
import { FileButton } from "./empty.tsx";

/** After this time without progress the panel says that Python is busy or gone, ms. */
const PATIENCE_MS = 5000;

/** What is asked and said while a file is opened. */
export function OpeningSteps({ store }: { readonly store: Store }) {
  const now = store.python.opening.value;
  const isDone = now.step === "opened";
  useEffect(() => {
    if (isDone) store.view.say(words.opened(now.name, now.kernels));
  }, [now]);
  if (now.step === "idle" || isDone) return null;
  return (
    <fieldset class="rw-popover rw-opening" aria-label={words.title}>
      <Step store={store} now={now} dismiss={store.python.dismissOpening} />
    </fieldset>
  );
}

function Step({ store, now, dismiss }: { store: Store; now: State; dismiss(): void }) {
  if (now.step === "choosing") {
    return (
      <Row text={words.both(nameOf(now.given))} alert={false}>
        <Button onClick={() => store.python.proceed(true)}>{words.compare}</Button>
        <Button onClick={() => store.python.proceed(false)}>{words.replace}</Button>
        <Button onClick={dismiss}>{words.cancel}</Button>
      </Row>
    );
  }
  if (now.step === "sending" || now.step === "reading") return <Progress key={now.step} now={now} dismiss={dismiss} />;
  if (now.step !== "refused") return null;
  return (
    <Row text={now.reason} alert>
      <Button onClick={dismiss}>{words.close}</Button>
    </Row>
  );
}

function Row({ text, alert, children }: { text: string; alert: boolean; children: ComponentChildren }) {
  return (
    <div class="rw-row">
      <p class={alert ? "rw-fault" : undefined} role={alert ? "alert" : "status"}>
        {text}
      </p>
      <span class="rw-buttons">{children}</span>
    </div>
  );
}

function Progress({ now, dismiss }: { now: State & { step: "sending" | "reading" }; dismiss(): void }) {
  const isLate = useSignal(false);
  useEffect(() => {
    isLate.value = false;
    const timer = setTimeout(() => {
      isLate.value = now.step === "sending";
    }, PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [now]);
  const isSending = now.step === "sending";
  const bytes = (count: number) => formatQuantity(count, "B");
  const text = isSending ? words.sending(now.name, bytes(now.sent), bytes(now.size)) : words.reading(now.name);
  return (
    <Row text={isLate.value ? `${text}. ${panelWords.waiting}` : text} alert={false}>
      <progress aria-label={words.title} value={isSending ? now.sent : undefined} max={isSending ? now.size || 1 : 1} />
      {isSending && <Button onClick={dismiss}>{words.cancel}</Button>}
    </Row>
  );
}

/** The choice of a file, or of its path. */
export function Choose({ store, close }: { readonly store: Store; close(): void }) {
  const path = useSignal("");
  const hasPath = store.view.openFiles.value === "folder";
  function open(given: Given) {
    close();
    store.python.openFile(given);
  }
  function openPath() {
    if (path.value.trim()) open(path.value.trim());
  }
  return (
    <>
      <FileButton label={words.choose} open={open} />
      {hasPath && (
        <span class="rw-path">
          <input
            type="text"
            class="rw-box"
            {...OWN_KEYS}
            aria-label={words.path}
            title={words.path}
            placeholder={words.pathHint}
            value={path.value}
            onInput={(event) => {
              path.value = event.currentTarget.value;
            }}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              openPath();
              event.stopPropagation();
            }}
          />
          <Button aria-disabled={path.value.trim() === ""} onClick={openPath}>
            {words.openPath}
          </Button>
        </span>
      )}
      <p class="rw-muted">{words.hint}</p>
    </>
  );
}

/** Whether a drag carries files. */
const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;

/** Opens a file that is dropped on the children. */
export function DropTarget({ store, children, ...rest }: { store: Store } & JSX.IntrinsicElements["div"]) {
  const isOver = useSignal(false);
  const canOpen = () => store.view.openFiles.value !== "nothing";
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the menu "Open" does the same for the keyboard
    <div
      {...rest}
      onDragEnter={(event) => {
        if (canOpen() && hasFiles(event)) isOver.value = true;
      }}
    >
      {children}
      {isOver.value && (
        // biome-ignore lint/a11y/noStaticElementInteractions: see above
        <div
          class="rw-drop"
          onDragOver={(event) => event.preventDefault()}
          onDragLeave={() => {
            isOver.value = false;
          }}
          onDrop={(event) => {
            event.preventDefault();
            isOver.value = false;
            store.python.openFile([...(event.dataTransfer?.files ?? [])]);
          }}
        >
          {words.drop}
        </div>
      )}
    </div>
  );
}
