// The parts of the panel that lower a roof: ceilings, exposed communication, and memory levels. All these parts are
// folded at first.

import type { Store } from "../../state/store.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { Fold } from "../../ui/fold.tsx";
import { words } from "../../words/words.ts";
import { Exposed, formatFractions } from "./exposed.tsx";

export function Limits({ store }: { store: Store }) {
  const ceilings = store.possibleCeilings.value;
  const drawn = ceilings.filter(({ on }) => on).length;
  const exposed = store.exposedRoofs.value;
  return (
    <div class="roofwidget-limits">
      {ceilings.length > 0 && (
        <Fold title={words.ceilings} note={drawn > 0 ? words.on(drawn) : ""}>
          {ceilings.map(({ key, name, rate, unit, measured, on }) => (
            <Tick
              key={key}
              checked={on}
              onChange={() => store.toggleCeiling(key)}
              label={name}
              note={measured && !name.startsWith(words.measured) ? words.measured : ""}
              value={formatQuantity(rate, unit, 4)}
            />
          ))}
        </Fold>
      )}
      <Fold title={words.communication} note={formatFractions(exposed)}>
        <Exposed store={store} />
      </Fold>
      {store.memory.value === "all" && <Levels store={store} />}
    </div>
  );
}

function Levels({ store }: { store: Store }) {
  const unknown = store.unknownLevels.value;
  return (
    <Fold title={words.levels} note="">
      <Tick
        checked={store.allLevels.value}
        onChange={() => store.setAllLevels(!store.allLevels.value)}
        label={words.showAllLevels}
      />
      {unknown.length > 0 && (
        <p class="roofwidget-muted">
          {words.unknownLevels} {unknown.join(", ")}
        </p>
      )}
    </Fold>
  );
}

interface TickProps {
  readonly checked: boolean;
  onChange(): void;
  readonly label: string;
  readonly note?: string;
  readonly value?: string;
  readonly title?: string | undefined;
  readonly disabled?: boolean;
}

export function Tick({ checked, onChange, label, note = "", value = "", title, disabled = false }: TickProps) {
  return (
    <label class="roofwidget-option" title={title}>
      <input type="checkbox" data-lm-suppress-shortcuts="true" {...{ checked, disabled, onChange }} />
      <span>
        {label}
        {note && <small class="roofwidget-muted"> {note}</small>}
      </span>
      {value && <span class="roofwidget-value">{value}</span>}
    </label>
  );
}
