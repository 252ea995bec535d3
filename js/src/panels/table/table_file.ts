// The table as a file: the rows that pass the filters, in their order, with all that Python needs to read it again.

import { judgingRoof } from "../../chart/scene.ts";
import type { Store } from "../../state/store.ts";
import { columnsOf, exportedColumns, picked, usualColumns } from "./columns.ts";
import { BYTE_ORDER_MARK, toCsv } from "./csv.ts";
import { orderOf } from "./natural.ts";
import { sortingOf, valuesOf } from "./sorting.ts";

export function tableFile(store: Store): string {
  const kernels = store.rows.kernels.value;
  const roof = judgingRoof(store);
  const columns = columnsOf(kernels, roof);
  const keys = store.view.columns.value;
  const shown = keys ? picked(columns, keys) : usualColumns(columns, kernels, roof);
  const sorting = sortingOf(columns, store.view.sortBy.value);
  const rows = store.rows.longestFirst.value;
  const { n } = kernels;
  const order = sorting && orderOf(rows, valuesOf(sorting.column, n, rows), sorting.falling);
  return BYTE_ORDER_MARK + toCsv(exportedColumns(columns, shown, kernels, roof), order ?? rows);
}
