// Everything that the page shows of one model: the numbers, which the tests in tests/agreement compare with what Python
// says of the same model, and the texts, which the tests in tests/browser find in a real page.

import { tally } from "../../src/fusion/forms.ts";
import { compulsory, unfused } from "../../src/fusion/partition.ts";
import { costOn } from "../../src/fusion/search.ts";
import { lackingPeak } from "../../src/panels/fusion/merging.ts";
import { cellText, columnsOf, exportedColumns } from "../../src/panels/table/columns.ts";
import { toCsv } from "../../src/panels/table/csv.ts";
import { derivation } from "../../src/panels/workload/dims.ts";
import { intensityAt, isUnlinked, judge } from "../../src/roofline/bound.ts";
import { operationOf } from "../../src/roofline/operations.ts";
import { boundTimes, project } from "../../src/roofline/projection.ts";
import { bytesElsewhere, isRoof, ridgePoint, roofElsewhere, roofOf } from "../../src/roofline/roofline.ts";
import type { Model } from "../../src/state/model.ts";
import { createStore, type Store } from "../../src/state/store.ts";
import { sentenceOf, sentenceOfRoof, tooltipRows } from "../../src/text/describe.ts";
import { formatPercent } from "../../src/text/numbers.ts";
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
    return { ...ofKernels(store), ...ofProfile(store), ...ofRoof(store), ...ofGraph(store), texts: textsOf(store) };
  } finally {
    abort.abort();
  }
}

function ofKernels(store: Store) {
  const kernels = store.rows.kernels.value;
  const rows = Int32Array.from({ length: kernels.n }, (_, row) => row);
  const roofs = store.rates.shownRoofs.value;
  const roof = store.rates.focusRoof.value ?? roofs[0];
  const columns = columnsOf(kernels, roof);
  const judged = roofs.map((one) => {
    const ofRow = (row: number) => {
      const { slowest, ...bound } = judge(kernels, one)(row);
      return {
        ...bound,
        isUnlinked: isUnlinked(kernels, row),
        bytesElsewhere: bytesElsewhere(kernels, row, one).join(", "),
        unit: operationOf(kernels, row, one.precision),
        ...Object.fromEntries(one.levels.map(({ name }) => [`ai:${name}`, intensityAt(kernels, row, one.chip, name)])),
      };
    };
    return [one.chip.id, [...rows].map(ofRow)];
  });
  return { judged: Object.fromEntries(judged), csv: toCsv(exportedColumns(columns, columns, kernels, roof), rows) };
}

/** The texts of a page: of each cell, each kernel and each roof. */
function textsOf(store: Store) {
  const kernels = store.rows.kernels.value;
  const rows = Array.from({ length: kernels.n }, (_, row) => row);
  const roofs = store.rates.shownRoofs.value;
  const columns = columnsOf(kernels, store.rates.focusRoof.value ?? roofs[0]);
  const { kernels: passing, all, share } = store.rows.totals.value;
  return {
    cells: Object.fromEntries(columns.map((column) => [column.key, rows.map((row) => cellText(column, row))])),
    roofs: Object.fromEntries(roofs.map((roof) => [roof.chip.id, sentenceOfRoof(roof)])),
    tooltips: Object.fromEntries(
      roofs.map((roof) => [roof.chip.id, rows.map((row) => tooltipRows(kernels, row, roof, "roofline", roofs))]),
    ),
    sentences: Object.fromEntries(
      roofs.map((roof) => [roof.chip.id, rows.map((row) => sentenceOf(kernels, row, roof))]),
    ),
    counted: [filterWords.counted(passing, all), formatPercent(share)],
  };
}

function ofProfile(store: Store) {
  const { kernels: passing, all, share } = store.rows.totals.value;
  const kernels = store.rows.kernels.value;
  const { rows, gains } = store.rows.ranking.value;
  const moved = store.rows.moved.value;
  store.view.freeze();
  return {
    filtered: [...store.rows.passing.value],
    counted: [passing, all, share],
    categories: store.rows.byCategory.value.map(({ name, kernels: count, share: part }) => [name, count, part]),
    bounds: store.rows.boundBy.value.values.length > 0 ? boundsOf(store) : [],
    ranking: rows.map((row, at) => [row, (gains[at] as number) / kernels.totalTime]),
    projected: projectedOf(store),
    snapshot: encodeSnapshots(store.view.snapshots.value).at(-1) ?? null,
    moved: [...(moved?.rows ?? [])].map((row, at) => [
      row,
      moved?.kernels.time[at],
      moved?.kernels.selfTime[at],
      [...(moved?.kernels.bytes ?? [])].map(([level, column]) => [level, column[at]]),
    ]),
  };
}

/** The projected times on the focus chip, if the kernels name the chip that they ran on. */
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
  return [found.before, found.time, found.notScaled, found.far, found.above, [...found.byKernel]];
}

function boundsOf({ rows: { boundBy, kernels } }: Store) {
  const { values, codes } = boundBy.value;
  return Array.from({ length: kernels.value.n }, (_, row) => values[codes[row] as number]);
}

function ofRoof(store: Store) {
  const focus = store.rates.focusRoof.value;
  return {
    focus: focus?.chip.id ?? null,
    roofs: Object.fromEntries(
      store.rates.shownRoofs.value.map((roof) => [
        roof.chip.id,
        {
          precision: roof.precision,
          level: roof.level,
          levels: Object.fromEntries(roof.levels.map(({ name, bandwidth }) => [name, bandwidth])),
          peak: roof.peak,
          sheetPeak: roof.sheetPeak,
          bandwidth: roof.bandwidth,
          sheetBandwidth: roof.sheetBandwidth,
          ridge: ridgePoint(roof),
          exposed: roof.conditions.exposedComm,
          ranOn: roofElsewhere(store.rows.kernels.value, roof)?.chip.id ?? null,
        },
      ]),
    ),
    ceilings: store.rates.possibleCeilings.value.map(({ key, rate, unit, on }) => [key, rate, unit, on]),
    levels: store.rates.shownLevels.value.map(({ name }) => name),
    unknown: store.rates.unknownLevels.value,
  };
}

function ofGraph(store: Store) {
  const workload = store.workload.graph.value;
  if (!workload) return {};
  const { graph, values, partition, env, forms } = workload;
  const roof = store.rates.focusRoof.value;
  const own = store.rates.precision.value === "auto";
  const lacks = roof && own && lackingPeak(graph, values, roof) !== undefined;
  const now = tally(forms, partition, roof && !lacks ? costOn(graph, values, roof, own) : undefined);
  const before = tally(forms, unfused(graph));
  const least = compulsory(graph, values);
  return {
    tally: [now.kernels, now.flops, now.bytes],
    unfused: [before.kernels, before.flops, before.bytes],
    fused: now.seconds,
    compulsory: [least, now.bytes / least],
    ops: graph.ops.map((_, op) => {
      const { counts, terms } = derivation(graph, env, op);
      return [...counts, ...terms].map((line) => [line.formula, line.amount]);
    }),
  };
}
