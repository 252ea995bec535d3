// English texts for the loader. The loader is sent separately from the rest of the front end.

export const loadWords = {
  language: "en",
  noCode:
    "The code of this roofwidget has not reached the page. Run the cell that makes the widget again. If that does not " +
    "help, set the environment variable ROOFWIDGET_INLINE=1 before the kernel starts.",
};
