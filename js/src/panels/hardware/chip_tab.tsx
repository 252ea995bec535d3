// The tab of the focus chip: its peaks and bandwidths with what-ifs, its ceilings and levels with switches, exposed
// communication, and all figures with their sources.

import { operationIn } from "../../roofline/operations.ts";
import { isRoof, type Roof } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { formatIntensity, formatQuantity } from "../../text/numbers.ts";
import { reasonOf } from "../../text/reasons.ts";
import { Button, lockedBy } from "../../ui/button.tsx";
import { focusNeighbour } from "../../ui/focus.ts";
import { Tick } from "../../ui/tick.tsx";
import type { Chip } from "../../wire/types.ts";
import { moveWords, strings, words } from "../../words/words.ts";
import { Card } from "../chips/card.tsx";
import { Clock } from "./clock.tsx";
import { Exposed } from "./exposed.tsx";
import { Peaks } from "./peaks.tsx";

/** Returns the focus chip. */
export const chipOf = ({ rates: { chips, focusChip } }: Store): Chip | undefined =>
  chips.value.find(({ id }) => id === focusChip.value);

export const hasChip = (store: Store): boolean => chipOf(store) !== undefined;

export function ChipTab({ store }: { readonly store: Store }) {
  const chip = chipOf(store);
  const roof = store.rates.roofs.value.get(store.rates.focusChip.value);
  if (!chip || !roof) return null;
  return (
    <section class="rw-hardware" aria-label={chip.name}>
      <h3>{chip.name}</h3>
      {isRoof(roof) ? (
        <>
          <Peaks store={store} />
          <Clock store={store} roof={roof} />
          <Rates roof={roof} store={store} />
          <MovedKernels store={store} />
          <Ceilings store={store} />
          <h4>{words.communication}</h4>
          <Exposed store={store} />
          {store.rates.memory.value === "all" && <Levels store={store} />}
        </>
      ) : (
        <p class="rw-muted">{strings.noSliders(reasonOf(chip, roof))}</p>
      )}
      <h4>{words.details}</h4>
      <Card chip={chip} />
    </section>
  );
}

/** The peak of each precision, and the bandwidth and the ridge point of each memory level. */
function Rates({ roof, store }: { readonly roof: Roof; readonly store: Store }) {
  const hasRidges = !store.lesson.hidesHint("ridge");
  const levels = [...roof.bandwidths].flatMap(([name, bandwidth]) => (bandwidth === null ? [] : [{ name, bandwidth }]));
  return (
    <>
      <dl class="rw-device">
        {[...roof.peaks].map(([precision, peak]) => (
          <div key={precision} class="rw-figure">
            <dt>
              {precision === roof.precision ? <strong>{strings.peak(precision)}</strong> : strings.peak(precision)}
            </dt>
            <dd>{formatQuantity(peak, `${operationIn(precision)}/s`, 4)}</dd>
          </div>
        ))}
      </dl>
      <table class="rw-device">
        <thead>
          <tr>
            <th scope="col" class="rw-start rw-muted">
              {words.level}
            </th>
            <th scope="col" class="rw-muted">
              {words.bandwidth}
            </th>
            {hasRidges && (
              <th scope="col" class="rw-muted">
                {words.ridgeAt(roof.precision, store.view.terms.value)}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {levels.map(({ name, bandwidth }) => (
            <tr key={name} data-level={name}>
              <th scope="row" class="rw-start">
                {name}
              </th>
              <td>{formatQuantity(bandwidth, "B/s", 4)}</td>
              {hasRidges && <td>{formatIntensity(roof.peak / bandwidth, 4, `${operationIn(roof.precision)}/B`)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

export function MovedKernels({ store }: { store: Store }) {
  const count = store.rows.moved.value?.rows.length ?? 0;
  const lock = store.lesson.lockNote("moves");
  if (count === 0) return null;
  return (
    <p class="rw-row rw-moved">
      {moveWords.moved(count)}
      <Button
        aria-label={moveWords.resetAll(count)}
        {...lockedBy(lock)}
        onClick={({ currentTarget }) => {
          if (lock) return;
          focusNeighbour(currentTarget);
          store.rows.resetMoves();
        }}
      >
        {moveWords.back}
      </Button>
    </p>
  );
}

function Ceilings({ store }: { readonly store: Store }) {
  const ceilings = store.rates.possibleCeilings.value;
  if (ceilings.length === 0) return null;
  return (
    <>
      <h4>{words.ceilings}</h4>
      {ceilings.map(({ key, name, rate, unit, measured, on }) => (
        <Tick
          key={key}
          checked={on}
          onChange={() => store.rates.toggleCeiling(key)}
          label={name}
          note={measured && !name.startsWith(words.measured) ? words.measured : ""}
          value={formatQuantity(rate, unit, 4)}
        />
      ))}
    </>
  );
}

function Levels({ store }: { readonly store: Store }) {
  const unknown = store.rates.unknownLevels.value;
  return (
    <>
      <h4>{words.levels}</h4>
      <Tick
        checked={store.rates.allLevels.value}
        onChange={() => store.rates.setAllLevels(!store.rates.allLevels.value)}
        label={words.showAllLevels}
      />
      {unknown.length > 0 && (
        <p class="rw-muted">
          {words.unknownLevels} {unknown.join(", ")}
        </p>
      )}
    </>
  );
}
