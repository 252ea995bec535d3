// The list of snapshots, with names that the user can edit, and with buttons to show, hide and delete a snapshot.

import { operationIn } from "../../roofline/operations.ts";
import { MAX_SNAPSHOT_NAME } from "../../state/snapshots.ts";
import type { Store } from "../../state/store.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { focusNeighbour } from "../../ui/focus.ts";
import { OWN_KEYS } from "../../ui/keys.ts";
import { Fault, useTypedValue } from "../../ui/number_box.tsx";
import type { Snapshot } from "../../wire/types.ts";
import { snapshotWords as words } from "../../words/words.ts";

export const hasSnapshots = ({ view: { snapshots } }: Store): boolean => snapshots.value.length > 0;

export function SnapshotsTab({ store }: { readonly store: Store }) {
  return (
    <section class="rw-frozen" aria-label={words.title}>
      <ul>
        {store.view.snapshots.value.map((snapshot, place) => (
          <Entry key={place} store={store} snapshot={snapshot} place={place} />
        ))}
      </ul>
      <Button onClick={() => store.view.freeze()}>{words.freeze}</Button>
      <p class="rw-muted">{words.hint}</p>
    </section>
  );
}

/** Announces a new snapshot to screen readers, whichever tab is open. */
export const LatestSnapshot = ({ store }: { readonly store: Store }) => (
  <p class="rw-spoken" role="status">
    {lastOf(store)}
  </p>
);

function Entry({ store, snapshot, place }: { store: Store; snapshot: Snapshot; place: number }) {
  const { name, hidden, bandwidth } = snapshot;
  const entry = useTypedValue<{ readonly name: string }>(
    (typed) => (typed.trim() ? { name: typed.trim() } : words.noName),
    (typed) => {
      entry.clear();
      if (typed.name !== name) store.view.renameSnapshot(place, typed.name);
    },
  );
  return (
    <li>
      <span class="rw-row">
        <input
          type="checkbox"
          {...OWN_KEYS}
          aria-label={words.show(name)}
          checked={!hidden}
          onChange={() => store.view.hideSnapshot(place, !hidden)}
        />
        <input
          type="text"
          class="rw-box"
          {...OWN_KEYS}
          aria-label={words.nameOf(name)}
          {...entry.invalid()}
          maxLength={MAX_SNAPSHOT_NAME}
          value={entry.draft.value ?? name}
          {...entry.typing}
        />
        <Button
          look="reset"
          aria-label={words.remove(name)}
          title={words.remove(name)}
          onClick={({ currentTarget }) => {
            // After a deletion, the next snapshot takes the place of the deleted snapshot in the list and gets the
            // focus.
            if (place === store.view.snapshots.value.length - 1)
              focusNeighbour(currentTarget, ".rw-frozen .rw-reset", "[role='tab'][aria-selected='true']");
            store.view.deleteSnapshot(place);
          }}
        >
          ×
        </Button>
      </span>
      <small class="rw-muted">
        {[chipName(store, snapshot.chip), peakText(snapshot), formatQuantity(bandwidth, "B/s", 4)].join(" · ")}
      </small>
      <Fault entry={entry} />
    </li>
  );
}

const peakText = ({ peak, precision }: Snapshot) => formatQuantity(peak, `${operationIn(precision)}/s`, 4);

const chipName = ({ rates: { chips } }: Store, id: string) => chips.value.find((chip) => chip.id === id)?.name ?? id;

/** Returns the announcement of the latest snapshot, for screen readers. */
function lastOf(store: Store): string {
  const last = store.view.snapshots.value.at(-1);
  if (!last) return "";
  return words.kept(last.name, chipName(store, last.chip), peakText(last), last.kernels.length);
}
