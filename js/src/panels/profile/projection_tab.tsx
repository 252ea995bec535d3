// The tab of the projection: the time of the program on the focus chip, and what it assumes.

import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { boundTimes, MIN_EXPLAINED_SHARE, type Projection, project, recast } from "../../roofline/projection.ts";
import { isRoof, type Roof, roofOf } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { nameOf, shortNameOf } from "../../text/kernel_names.ts";
import { shortNames } from "../../text/names.ts";
import { formatPercent, formatQuantity, formatSpeedUp } from "../../text/numbers.ts";
import { reasonOf } from "../../text/reasons.ts";
import { Select } from "../../ui/select.tsx";
import { Tick } from "../../ui/tick.tsx";
import type { Chip } from "../../wire/types.ts";
import { runWords as words } from "../../words/words.ts";
import { candidatesFor } from "./candidates.ts";

/** At most this many kernels get a tick box. */
const MAX_TICKS = 8;

export const hasProjection = ({ rows: { kernels } }: Store) => kernels.value.totalTime > 0;

export function ProjectionTab({ store }: { readonly store: Store }) {
  const chosen = useSignal("");
  /**
   * The chip that the kernels ran on. If the kernels name no chip, this is the chip that the user chose. Until the user
   * has chosen a chip, there is no projected time, because any chip would be a guess. Python also refuses to project
   * kernels that name no chip.
   */
  const source = useComputed(
    () => store.rows.kernels.value.chip ?? store.rates.chips.value.find(({ id }) => id === chosen.value),
  );
  const from = useComputed(() => source.value && roofOf(source.value, "auto", store.rates.memory.value, {}));
  const there = useComputed(() => {
    const roof = from.value;
    return roof && isRoof(roof) ? boundTimes(store.rows.kernels.value, roof) : undefined;
  });
  const wanted = useSignal("");
  /**
   * The roof of the focus chip. The roof has the precision `wanted` if the chip has a peak for this precision.
   * Otherwise, it has the precision of the chart.
   */
  const goal = useComputed(() => {
    const [roof, precision] = [store.rates.restedRoof.value, wanted.value];
    if (!roof?.peaks.has(precision)) return roof && { roof, isRecast: false };
    const other = roofOf(roof.chip, precision, store.rates.memory.value, store.rates.whatIf.value);
    return isRoof(other) ? { roof: other, isRecast: true } : { roof, isRecast: false };
  });
  const found = useComputed(() => {
    if (!goal.value || !there.value) return undefined;
    const [kernels, { roof, isRecast }] = [store.rows.kernels.value, goal.value];
    const here = boundTimes(isRecast ? recast(kernels) : kernels, roof);
    return project(kernels, there.value, here, new Set(store.rows.atRoof.value));
  });
  const [ran, old, to, result] = [source.value, from.value, goal.value?.roof, found.value];
  if (!to) return null;
  const seconds = (time: number) => formatQuantity(time, "s");
  const { before, now: time, factor } = formatSpeedUp(result?.before ?? Number.NaN, result?.time ?? Number.NaN);
  // On the chip that they ran on, kernels take the time that they took, which says nothing.
  const isSame = ran?.id === to.chip.id && before === time;
  const isKnown = ran && old && isRoof(old) && result;
  return (
    <div class="rw-outlook">
      {isKnown && (
        <p class="rw-projected" role="status" aria-live={store.view.isInDrag() ? "off" : "polite"}>
          {isSame
            ? words.sameChip
            : words.projected(
                words.timeOn(before, nameOn(old, to), old.precision),
                words.timeOn(time, nameOn(to, old), to.precision),
                factor,
              )}
        </p>
      )}
      {!ran && <p>{words.ranNowhere}</p>}
      {ran && old && !isRoof(old) && <p class="rw-muted">{reasonOf(ran, old)}</p>}
      {!store.rows.kernels.value.chip && (
        <Select
          row
          label={words.ranOn}
          value={ran?.id ?? ""}
          options={[
            ...(ran ? [] : [["", words.chooseRan] as const]),
            ...store.rates.chips.value.map(({ id, name }) => [id, name] as const),
          ]}
          choose={(id) => {
            chosen.value = id;
          }}
        />
      )}
      <Goal store={store} roof={to} ran={ran} />
      <Select
        row
        label={words.runIn}
        value={goal.value?.isRecast ? wanted.value : ""}
        options={[["", words.asTold], ...to.chip.peaks.keys()]}
        choose={(name) => {
          wanted.value = name;
        }}
      />
      {isKnown && (
        <>
          <p class="rw-muted">
            {!isSame && words.keeps} {result.notScaled > 0 && words.stays(seconds(result.notScaled))}{" "}
            {result.far > 0 && words.far(formatPercent(result.far / result.before), formatPercent(MIN_EXPLAINED_SHARE))}{" "}
            {result.above > 0 && words.above(formatPercent(result.above / result.before))}
          </p>
          <AtRoof store={store} result={result} />
        </>
      )}
    </div>
  );
}

/** The name of a roof's chip, short beside another chip. */
const nameOn = ({ chip }: Roof, other: Roof) => shortNames([chip, other.chip]).get(chip.id) ?? chip.name;

/** The list of tick boxes, for kernels that are selected or were ticked before. */
function AtRoof({ store, result }: { store: Store; result: Projection }) {
  const kernels = store.rows.kernels.value;
  const atRoof = store.rows.atRoof.value;
  const selected = store.rows.selected.value.filter((row) => (kernels.selfTime[row] as number) > 0);
  const rows = [...new Set([...atRoof, ...selected])];
  const all = selected.every((row) => atRoof.includes(row));
  const others = (row: number) => atRoof.filter((other) => other !== row);
  if (rows.length === 0) return <p class="rw-muted">{words.selectSome}</p>;
  return (
    <fieldset>
      <legend>{words.reaching}</legend>
      {selected.length > 1 && (
        <Tick
          checked={all}
          label={words.allSelected(selected.length)}
          onChange={() =>
            store.rows.setAtRoof(
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
          onChange={() => store.rows.setAtRoof(atRoof.includes(row) ? others(row) : [...atRoof, row])}
        />
      ))}
      {rows.length > MAX_TICKS && <p class="rw-muted">{words.more(rows.length - MAX_TICKS)}</p>}
    </fieldset>
  );
}

interface GoalProps {
  readonly store: Store;
  readonly roof: Roof;
  /** The chip that the kernels ran on. */
  readonly ran: Chip | undefined;
}

/** The chip that the times are for: one of the shown chips, or a chip of the catalogue, which is added. */
function Goal({ store, roof, ran }: GoalProps) {
  const catalogue = store.rates.catalogue.value;
  const lock = store.lesson.lockNote("chips");
  const own = store.rates.chips.value;
  const isOffered = own.length === 1 && store.view.openFiles.value !== "nothing";
  useEffect(() => {
    if (isOffered) void store.rates.loadCatalogue();
  }, [isOffered]);
  const added =
    isOffered && typeof catalogue !== "string"
      ? candidatesFor(ran ?? roof.chip, roof.precision, catalogue).filter(({ id }) => id !== roof.chip.id)
      : [];
  if (own.length + added.length < 2) return null;
  return (
    <Select
      row
      label={words.projectOnto}
      lock={lock}
      value={roof.chip.id}
      options={[...own, ...added].map(({ id, name }) => [id, name] as const)}
      choose={(id) =>
        own.some((chip) => chip.id === id) ? store.rates.focus(id) : store.rates.addChip(id, { focus: true })
      }
    />
  );
}
