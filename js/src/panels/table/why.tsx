// Why the selected kernel is below its roof: what the counters of its profile say, and what to try.

import type { Store } from "../../state/store.ts";
import { reasonsOf } from "../../text/why.ts";
import { OWN_KEYS } from "../../ui/keys.ts";
import { tableWords as words } from "../../words/words.ts";

export function Why({ store }: { readonly store: Store }) {
  const [row, ...others] = store.rows.selected.value;
  if (row === undefined || others.length > 0 || store.rows.isHidden(row)) return null;
  const reasons = reasonsOf(store.rows.kernels.value, row);
  if (reasons.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys scroll it
    <section class="rw-why" data-rw="why" aria-label={words.why} tabIndex={0} {...OWN_KEYS}>
      <h4>{words.why}</h4>
      <ul>
        {reasons.map(({ language, sentence, suggestion, counters, source }) => (
          <li key={sentence} lang={language}>
            <b>{sentence}</b> {suggestion}
            <p class="rw-muted" lang="en">
              {[counters, source].filter(Boolean).join(" · ")}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
