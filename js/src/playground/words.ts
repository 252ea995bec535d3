// What the playground says. It is a page of the documentation, which is English.

const rows = (count: number) => (count === 1 ? "1 row" : `${count} rows`);

export const playgroundWords = {
  // The bar above the widget.
  bar: "Playground",
  shows: "Show",
  ownKernels: "my own kernels",
  graphOfFile: "the graph of a file",
  title: "Title",
  titleHint: "Title of the chart",
  type: "Type kernels",
  open: "Open…",
  openHint: "A page that roofwidget saved (.html), or a session (.json). You can drop it anywhere here.",
  copy: "Copy link",
  copied: (letters: number) => `The link is copied. It has ${letters} letters and holds all that you see.`,
  notCopied: "The browser refuses the clipboard. Copy the address of this page instead: it is the link.",
  tooLong: "Too long for a link: save a session instead.",
  tooLongGraph: "Too long for a link: send the file that you opened instead.",
  save: "Save session",
  saved: (name: string) => `Saved ${name}. Open it here, or in Python: roofwidget.RooflineModel.load("${name}").`,
  graphNotSaved: "A session without the graph would be incomplete. Send the link instead.",
  startAgain: "Start again",
  startedAgain: "Everything is removed.",
  undoOpening: "Bring it back",
  broughtBack: "It is as it was.",
  close: "Close this message",
  drop: "Drop the page or session to open it",

  // Opening.
  takes:
    "The playground takes a page that roofwidget saved (.html) or a session (.json). Profiles need Python: roofwidget.read reads them.",
  oneFile: "Open one file at a time.",
  tooLarge: (name: string, most: string) => `${name} is larger than ${most}. Open it in Python.`,
  noWidget: (name: string) => `${name} has no widget of roofwidget. `,
  damaged: (name: string, reason: string) => `${name} is damaged: ${reason}.`,
  newerSession: (name: string) => `${name} is a session of a newer version.`,
  opened: (name: string, notTaken: readonly string[]) =>
    notTaken.length === 0 ? `Opened ${name}.` : `Opened ${name}. Not taken: ${notTaken.join(", ")}.`,
  linkOpened: (notTaken: readonly string[]) =>
    notTaken.length === 0
      ? "This is what the link holds."
      : `This is what the link holds. Not taken: ${notTaken.join(", ")}.`,
  newerLink: "This link was made with a newer version. Open it on the page that it was copied from.",
  damagedLink: "This link is damaged: a part of it is missing. Ask for it again.",

  // The table of kernels.
  table: "Your kernels",
  form: "Columns",
  forms: { work: "FLOPs, bytes and time", ratios: "intensity and rate" },
  columns: {
    name: "name",
    flops: "FLOPs",
    bytes: "bytes",
    time: "time",
    intensity: "intensity",
    rate: "rate",
  },
  quantities: {
    flops: "a number of FLOPs",
    bytes: "a number of bytes",
    time: "a time",
    intensity: "an intensity in FLOP/B",
    rate: "a rate in FLOP/s",
  },
  /** The heads of the columns, with the units of bare numbers. */
  heads: {
    flops: "FLOPs",
    bytes: "bytes",
    time: "time (s)",
    intensity: "intensity (FLOP/B)",
    rate: "rate (FLOP/s)",
  },
  cell: (row: number, column: string) => `Row ${row}, ${column}`,
  unnamed: (row: number) => `kernel ${row}`,
  add: "Add a row",
  remove: (name: string) => `Delete the row of ${name}`,
  removed: (name: string) => `Deleted the row of ${name}.`,
  undo: "Undo",
  redo: "Redo",
  undoHint: "Undo the last change of the table",
  redoHint: "Redo the change of the table",
  paste: "Paste a table…",
  pasteLabel: "A table with tabs or commas between its cells",
  pasteHint: (columns: string) => `Columns: ${columns}. A header may name the columns of either form.`,
  pasteAdd: "Add these rows",
  pasteCancel: "Cancel",
  pasted: (count: number) => `Added ${rows(count)}.`,
  hint: "One launch or many: FLOPs, bytes and time are totals. Leave unknown cells empty. You can paste cells of a spreadsheet.",
  noChip: "No chip yet. Add one with “+ Chip” above to see the roofs.",
  ofGraph: (name: string) => `The chart shows the kernels of the graph “${name}”.`,
  ofFile: (count: number) =>
    `The chart shows ${count === 1 ? "1 kernel" : `${count} kernels`} of a file, with more columns than this table has.`,
  typeOwn: "Type my own kernels",

  // Faults of cells.
  fault: (row: number, column: string, text: string) => `Row ${row}, ${column}: ${text}.`,
  notANumber: (typed: string, quantity: string, example: string) =>
    `“${typed}” is not ${quantity}; write for example “${example}”`,
  negative: (typed: string, example: string) => `“${typed}” is below zero; write for example “${example}”`,
  nothingPasted: "There is no row to add.",
  tooManyRows: (count: number, most: number) =>
    `The table has ${count} rows, and the playground takes ${most}. roofwidget.read reads larger tables in Python.`,
  cellCount: (row: number, count: number, columns: string) =>
    `Row ${row} has ${count === 1 ? "1 cell" : `${count} cells`}. The columns are ${columns}. Leave unknown cells empty, or name the columns in a header.`,
  leftOut: (count: number) => `${rows(count)} with a fault ${count === 1 ? "is" : "are"} not on the chart.`,
};
