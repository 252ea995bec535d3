// The verdict above the chart: the headline, and the line that explains it.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Store } from "../state/store.ts";
import { Button } from "../ui/button.tsx";
import { tableWords as words } from "../words/words.ts";
import { takesRules } from "./unknown_tab.tsx";

/** Screen readers speak a changed verdict when it has not changed for this time, ms. */
const SPEAK_DELAY_MS = 500;

interface VerdictProps {
  readonly store: Store;
  /** The id of the headline, by which the widget is named. */
  readonly id: string;
  /** Whether to show the headline alone. */
  readonly brief: boolean;
}

export function VerdictHeading({ store, id, brief }: VerdictProps) {
  const verdict = store.rows.headline.value;
  const text = verdict ? `${verdict.headline} ${verdict.detail}`.trim() : "";
  const spoken = useSignal("");
  const last = useRef(text);
  useEffect(() => {
    if (text === last.current) return;
    const timer = setTimeout(() => {
      last.current = text;
      spoken.value = text;
    }, SPEAK_DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <>
      {verdict && (
        <div class="rw-verdict" data-rw="verdict" data-rule={verdict.rule} data-alert={verdict.isAlert}>
          <h2 id={id}>{verdict.headline}</h2>
          {verdict.detail && !brief && (
            <p class="rw-detail" data-longest={verdict.longest}>
              <span>
                {verdict.detail}
                {verdict.rule === "unjudged" && takesRules(store) && (
                  <>
                    {" "}
                    <Button look="link" onClick={() => store.view.openTab("unknown")}>
                      {words.typeWork(2)}
                    </Button>
                  </>
                )}
              </span>
            </p>
          )}
        </div>
      )}
      <p class="rw-spoken" role="status">
        {spoken.value || null}
      </p>
    </>
  );
}
