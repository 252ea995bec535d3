// Everything that the page shows of one model, as the page's own functions write it. The tests in tests/agreement compare
// it with what Python says of the same model.

import { compulsory, tally, unfused } from "../../src/fusion/partition.ts";
import { costOn } from "../../src/fusion/search.ts";
import { lackingPeak } from "../../src/panels/fusion/merging.ts";
import { cellText, columnsOf, exportedColumns, usualColumns } from "../../src/panels/table/columns.ts";
import { toCsv } from "../../src/panels/table/csv.ts";
import { derivation, figuresOf } from "../../src/panels/workload/dims.ts";
import { judge } from "../../src/roofline/bound.ts";
import { boundTimes, project } from "../../src/roofline/projection.ts";
import { isRoof, roofOf } from "../../src/roofline/roofline.ts";
import type { Model } from "../../src/state/model.ts";
import { createStore, type Store } from "../../src/state/store.ts";
import { gapText, sentenceOf, sentenceOfRoof, tooltipRows } from "../../src/text/describe.ts";
import { noteOf } from "../../src/text/moves.ts";
import { formatFactor, formatIntensity, formatPercent, formatQuantity } from "../../src/text/numbers.ts";
import { encodeSnapshots } from "../../src/wire/encode.ts";
import { filterWords } from "../../src/words/words.ts";

/** A model that holds what Python sent, and hears nothing from it. */
const modelOf = (state: Readonly<Record<string, unknown>>): Model => ({
  get: (name) => state[name],
  send: () => undefined,
  on: () => undefined,
  off: () => undefined,
});

export function shownOf(state: Readonly<Record<string, unknown>>): unknown {
  const abort = new AbortController();
  const store = createStore(modelOf(state), abort.signal);
  try {
    return { ...ofKernels(store), ...ofProfile(store), ...ofRoof(store), ...ofGraph(store) };
  } finally {
    abort.abort();
  }
}

function ofKernels(store: Store) {
  const kernels = store.rows.kernels.value;
  const rows = Int32Array.from({ length: kernels.n }, (_, row) => row);
  const roofs = store.rates.shownRoofs.value;
  const focus = store.rates.focusRoof.value;
  const roof = focus ?? roofs[0];
  const columns = columnsOf(kernels, roof);
  const usual = usualColumns(columns, kernels, roof);
  return {
    cells: Object.fromEntries(columns.map((column) => [column.key, [...rows].map((row) => cellText(column, row))])),
    usual: usual.map(({ key }) => key),
    csv: toCsv(exportedColumns(columns, usual, kernels, roof), rows),
    tooltips: Object.fromEntries(
      roofs.map((one) => [one.chip.id, [...rows].map((row) => tooltipRows(kernels, row, one, "roofline", roofs))]),
    ),
    sentences: Object.fromEntries(
      roofs.map((one) => [one.chip.id, [...rows].map((row) => sentenceOf(kernels, row, one))]),
    ),
    gaps: focus ? [...rows].map((row) => gapText(judge(kernels, focus)(row))) : [],
  };
}

function ofProfile(store: Store) {
  const { kernels: passing, all, share } = store.rows.totals.value;
  const kernels = store.rows.kernels.value;
  const { rows, gains, share: gained } = store.rows.ranking.value;
  const {
    rows: { moved },
  } = store;
  const focus = store.rates.focusRoof.value;
  const notes = (row: number) =>
    focus ? noteOf({ kernels, moves: store.rows.moves.value, moved: moved.value, focus }, row) : [];
  store.view.freeze();
  return {
    filtered: [...store.rows.passing.value],
    counted: [filterWords.counted(passing, all), formatPercent(share)],
    categories: store.rows.byCategory.value.map(({ name, kernels: count, share: part }) => [
      name,
      count,
      formatPercent(part),
    ]),
    bounds: store.rows.boundBy.value.values.length > 0 ? boundsOf(store) : [],
    ranking: rows.map((row, at) => [row, formatPercent((gains[at] as number) / kernels.totalTime), seconds(gains[at])]),
    gained: rows.length > 0 ? formatPercent(gained) : "",
    projected: projectedOf(store),
    snapshot: encodeSnapshots(store.view.snapshots.value).at(-1) ?? null,
    moved: [...(moved.value?.rows ?? [])].map((row, at) => [
      row,
      seconds(moved.value?.kernels.time[at]),
      seconds(moved.value?.kernels.selfTime[at]),
      [...(moved.value?.kernels.bytes ?? [])].map(([level, column]) => [
        level,
        formatQuantity(column[at] as number, "B"),
      ]),
      notes(row),
    ]),
  };
}

/** The projected time on the focus chip, if the kernels name the chip that they ran on. */
function projectedOf(store: Store) {
  const kernels = store.rows.kernels.value;
  const focus = store.rates.focusRoof.value;
  const ran = kernels.chip && roofOf(kernels.chip, "auto", store.rates.memory.value, {});
  if (!focus || !ran || !isRoof(ran)) return [];
  const found = project(
    kernels,
    boundTimes(kernels, ran),
    boundTimes(kernels, focus),
    new Set(store.rows.atRoof.value),
  );
  return [
    ...[found.before, found.time, found.notScaled].map(seconds),
    ...[found.far / found.before, found.above / found.before].map(formatPercent),
    formatFactor(found.before / found.time),
    [...found.byKernel].map(seconds),
  ];
}

const seconds = (time: number | undefined) => formatQuantity(time ?? Number.NaN, "s");

function boundsOf({ rows: { boundBy, kernels } }: Store) {
  const { values, codes } = boundBy.value;
  return Array.from({ length: kernels.value.n }, (_, row) => values[codes[row] as number]);
}

function ofRoof(store: Store) {
  const focus = store.rates.focusRoof.value;
  return {
    focus: focus?.chip.id ?? null,
    roofs: Object.fromEntries(store.rates.shownRoofs.value.map((roof) => [roof.chip.id, sentenceOfRoof(roof)])),
    precision: store.rates.commonPrecision.value ?? null,
    rates: focus && [formatQuantity(focus.peak, "FLOP/s", 4), formatQuantity(focus.bandwidth, "B/s", 4)],
    ceilings: store.rates.possibleCeilings.value.map(({ key, rate, unit, on }) => [
      key,
      formatQuantity(rate, unit, 4),
      on,
    ]),
    levels: store.rates.shownLevels.value.map(({ name }) => name),
    unknown: store.rates.unknownLevels.value,
  };
}

function ofGraph(store: Store) {
  const workload = store.workload.graph.value;
  if (!workload) return {};
  const { graph, values, partition, env } = workload;
  const roof = store.rates.focusRoof.value;
  const own = store.rates.precision.value === "auto";
  const lacks = roof && own && lackingPeak(graph, values, roof) !== undefined;
  const now = tally(graph, values, partition, roof && !lacks ? costOn(graph, values, roof, own) : undefined);
  const before = tally(graph, values, unfused(graph), undefined);
  const least = compulsory(graph, values);
  return {
    tally: [now.kernels, formatQuantity(now.flops, "FLOP"), formatQuantity(now.bytes, "B"), ratio(now)],
    unfused: [before.kernels, formatQuantity(before.flops, "FLOP"), formatQuantity(before.bytes, "B"), ratio(before)],
    fused: Number.isNaN(now.seconds) ? "" : seconds(now.seconds),
    compulsory: [formatQuantity(least, "B"), formatFactor(now.bytes / least)],
    ops: graph.ops.map((_, op) => {
      const { counts, terms } = derivation(graph, env, op);
      return [...figuresOf(graph, values, op), [...counts, ...terms].map((line) => [line.formula, line.amount])];
    }),
  };
}

const ratio = ({ flops, bytes }: { readonly flops: number; readonly bytes: number }) => formatIntensity(flops / bytes);
