// The line of text that says what was just done.

import { signal } from "@preact/signals";

/** How long a text is shown, ms. */
const SHOWN_MS = 6000;

export interface Status {
  readonly text: string;
  readonly isFault: boolean;
}

const NOTHING: Status = { text: "", isFault: false };

export interface SayOptions {
  /** Whether the text is about something that failed. */
  readonly isFault?: boolean;
  /** Whether the text stays until another text replaces it. */
  readonly stays?: boolean;
}

export function createStatus() {
  const status = signal(NOTHING);
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    status,
    say(text: string, { isFault = false, stays = false }: SayOptions = {}) {
      clearTimeout(timer);
      status.value = { text, isFault };
      if (!text || stays) return;
      timer = setTimeout(() => {
        status.value = NOTHING;
      }, SHOWN_MS);
    },
  };
}
