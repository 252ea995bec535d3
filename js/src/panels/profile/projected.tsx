// The projected time of the program on the focus chip, and the panel that shows this time next to the ranking.

import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { boundTimes, MIN_EXPLAINED_SHARE, type Projection, project, recast } from "../../roofline/projection.ts";
import { isRoof, type Roof, roofOf } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { nameOf, shortNameOf } from "../../text/kernel_names.ts";
import { ofChip } from "../../text/names.ts";
import { formatPercent, formatQuantity, formatSpeedUp } from "../../text/numbers.ts";
import { reasonOf } from "../../text/reasons.ts";
import { Button } from "../../ui/button.tsx";
import { Fold } from "../../ui/fold.tsx";
import { Select } from "../../ui/select.tsx";
import { Tick } from "../../ui/tick.tsx";
import type { Chip } from "../../wire/types.ts";
import { runWords as words } from "../../words/words.ts";
import { candidatesFor } from "./candidates.ts";
import { Ranking } from "./ranking.tsx";

/** At most this many kernels get a tick box. */
const MAX_TICKS = 8;

export function Projected({ store }: { store: Store }) {
  const chosen = useSignal("");
  /**
   * The chip that the kernels ran on. If the kernels name no chip, this is the chip that the user chose. Until the user
   * has chosen a chip, there is no projected time, because any chip would be a guess. Python also refuses to project
   * kernels that name no chip.
   */
  const source = useComputed(() => store.kernels.value.chip ?? store.chips.value.find(({ id }) => id === chosen.value));
  const from = useComputed(() => source.value && roofOf(source.value, "auto", store.memory.value, {}));
  const there = useComputed(() => {
    const roof = from.value;
    return roof && isRoof(roof) ? boundTimes(store.kernels.value, roof) : undefined;
  });
  const wanted = useSignal("");
  /**
   * The roof of the focus chip. The roof has the precision `wanted` if the chip has a peak for this precision.
   * Otherwise, it has the precision of the chart.
   */
  const goal = useComputed(() => {
    const [roof, precision] = [store.restedRoof.value, wanted.value];
    if (!roof?.peaks.has(precision)) return roof && { roof, isRecast: false };
    const other = roofOf(roof.chip, precision, store.memory.value, store.whatIf.value);
    return isRoof(other) ? { roof: other, isRecast: true } : { roof, isRecast: false };
  });
  const found = useComputed(() => {
    if (!goal.value || !there.value) return undefined;
    const [kernels, { roof, isRecast }] = [store.kernels.value, goal.value];
    const here = boundTimes(isRecast ? recast(kernels) : kernels, roof);
    return project(kernels, there.value, here, new Set(store.atRoof.value));
  });
  const [ran, old, to, result] = [source.value, from.value, goal.value?.roof, found.value];
  if (!to) return null;
  const seconds = (time: number) => formatQuantity(time, "s");
  const { before, now: time, factor } = formatSpeedUp(result?.before ?? Number.NaN, result?.time ?? Number.NaN);
  // On the chip that they ran on, kernels take the time that they took, which says nothing.
  const isSame = ran?.id === to.chip.id && before === time;
  return (
    <Fold
      name="projected"
      title={words.projected}
      note={!ran || before === time ? "" : `${ofChip(before, ran, to)} → ${time}`}
    >
      {() => (
        <>
          {!store.kernels.value.chip && (
            <Select
              row
              label={words.ranOn}
              value={ran?.id ?? ""}
              options={[
                ...(ran ? [] : [["", words.chooseRan] as const]),
                ...store.chips.value.map(({ id, name }) => [id, name] as const),
              ]}
              choose={(id) => {
                chosen.value = id;
              }}
            />
          )}
          <Select
            row
            label={words.runIn}
            value={goal.value?.isRecast ? wanted.value : ""}
            options={[["", words.asTold], ...to.chip.peaks.keys()]}
            choose={(name) => {
              wanted.value = name;
            }}
          />
          {!(ran && old) && <p class="roofwidget-muted">{words.ranNowhere}</p>}
          {ran &&
            old &&
            (isRoof(old) ? (
              result && (
                <>
                  <p>{words.ranFor(before, old.chip.name, old.precision)}</p>
                  <p class="roofwidget-projected" role="status" aria-live={store.isInDrag() ? "off" : "polite"}>
                    {isSame ? words.sameChip : words.goesFor(time, to.chip.name, to.precision, factor)}
                  </p>
                  <p class="roofwidget-muted">
                    {!isSame && words.keeps} {result.notScaled > 0 && words.stays(seconds(result.notScaled))}{" "}
                    {result.far > 0 &&
                      words.far(formatPercent(result.far / result.before), formatPercent(MIN_EXPLAINED_SHARE))}{" "}
                    {result.above > 0 && words.above(formatPercent(result.above / result.before))}
                  </p>
                  <AtRoof store={store} result={result} />
                </>
              )
            ) : (
              <p class="roofwidget-muted">{reasonOf(ran, old)}</p>
            ))}
        </>
      )}
    </Fold>
  );
}

/** The list of tick boxes, for kernels that are selected or were ticked before. */
function AtRoof({ store, result }: { store: Store; result: Projection }) {
  const kernels = store.kernels.value;
  const atRoof = store.atRoof.value;
  const selected = store.selected.value.filter((row) => (kernels.selfTime[row] as number) > 0);
  const rows = [...new Set([...atRoof, ...selected])];
  const all = selected.every((row) => atRoof.includes(row));
  const others = (row: number) => atRoof.filter((other) => other !== row);
  if (rows.length === 0) return <p class="roofwidget-muted">{words.selectSome}</p>;
  return (
    <fieldset>
      <legend>{words.reaching}</legend>
      {selected.length > 1 && (
        <Tick
          checked={all}
          label={words.allSelected(selected.length)}
          onChange={() =>
            store.setAtRoof(
              all ? atRoof.filter((row) => !selected.includes(row)) : [...new Set([...atRoof, ...selected])],
            )
          }
        />
      )}
      {rows.slice(0, MAX_TICKS).map((row) => (
        <Tick
          key={row}
          checked={atRoof.includes(row)}
          label={shortNameOf(kernels, row)}
          title={nameOf(kernels, row)}
          value={formatQuantity(result.byKernel[row] as number, "s")}
          onChange={() => store.setAtRoof(atRoof.includes(row) ? others(row) : [...atRoof, row])}
        />
      ))}
      {rows.length > MAX_TICKS && <p class="roofwidget-muted">{words.more(rows.length - MAX_TICKS)}</p>}
    </fieldset>
  );
}

/**
 * Offers chips to project the kernels onto, while the focus chip is the chip that they ran on: the other chips that are
 * shown, or chips of the catalogue if there is no other chip.
 */
function Offer({ store, roof }: { store: Store; roof: Roof }) {
  const catalogue = store.catalogue.value;
  const { chip } = store.kernels.value;
  const shown = store.chips.value.filter(({ id }) => id !== chip?.id && store.shown.value.includes(id));
  const lock = store.lockNote("chips");
  const wasOpened = store.opening.value.step === "opened";
  useEffect(() => {
    if (wasOpened) void store.loadCatalogue();
  }, [wasOpened]);
  if (chip?.id === roof.chip.id && shown.length > 0)
    return <Buttons lock={lock} chips={shown} choose={(id) => store.focus(id)} />;
  if (store.chips.value.length > 1 || store.openFiles.value === "nothing") return null;
  if (typeof catalogue === "string")
    return <Button onClick={() => void store.loadCatalogue()}>{words.projectOnto}</Button>;
  const candidates = candidatesFor(roof.chip, roof.precision, catalogue);
  if (candidates.length === 0) return null;
  return <Buttons lock={lock} chips={candidates} choose={(id) => store.addChip(id, { focus: true })} />;
}

interface ButtonsProps {
  readonly chips: readonly Pick<Chip, "id" | "name">[];
  /** What says that the chips are locked. */
  readonly lock: string | undefined;
  choose(id: string): void;
}

function Buttons({ chips, lock, choose }: ButtonsProps) {
  return (
    <p class="roofwidget-offer">
      {words.projectOnto}{" "}
      {chips.map(({ id, name }) => (
        <Button key={id} title={lock} aria-disabled={lock !== undefined} onClick={() => choose(id)}>
          {name}
        </Button>
      ))}
    </p>
  );
}

export function Outlook({ store }: { store: Store }) {
  const roof = store.focusRoof.value;
  if (!roof || !(store.kernels.value.totalTime > 0)) return null;
  return (
    <div class="roofwidget-outlook">
      <Ranking store={store} />
      <Projected store={store} />
      <Offer store={store} roof={roof} />
    </div>
  );
}
