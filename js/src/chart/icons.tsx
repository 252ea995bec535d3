// The icons of the chart's tools, as line drawings in the colour of the text.

const PATHS = {
  in: "M8 3v10M3 8h10",
  out: "M3 8h10",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10M6 8h4M8 6v4",
  select: "M2.5 5.5v-3h3M10.5 2.5h3v3M2.5 10.5v3h3M8 8l5.5 2-2.3 1.2L10 13.5z",
  zoom: "M11 7a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM10 10l3.5 3.5M5.5 7h3M7 5.5v3",
  pan: "M8 2v12M2 8h12M6.2 3.8L8 2l1.8 1.8M6.2 12.2L8 14l1.8-1.8M3.8 6.2L2 8l1.8 1.8M12.2 6.2L14 8l-1.8 1.8",
  undo: "M5.5 3l-3 3 3 3M2.5 6H10a3.5 3.5 0 0 1 0 7H6",
  redo: "M10.5 3l3 3-3 3M13.5 6H6a3.5 3.5 0 0 0 0 7h4",
  screen: "M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5L9 7M2.5 13.5L7 9",
  presentation: "M2 2.5h12M3 2.5v7.5h10V2.5M8 10v1.5M5.5 14L8 11.5l2.5 2.5",
  freeze: "M8 2v12M2.8 5l10.4 6M2.8 11l10.4-6M6.5 3L8 4.5 9.5 3M6.5 13L8 11.5 9.5 13",
  rulers: "M8 2v12M8 4.5h3M8 8h4.5M8 11.5h3",
  png: "M8 2.5v7M5 7l3 3 3-3M2.5 10.5v3h11v-3",
  svg: "M2.5 13.5v-3h3v3zM10.5 5.5v-3h3v3zM5.5 12C9 12 7 4 10.5 4",
  axes: "M3 2v11h11M3 5h2M3 9h2M7 13v-2M11 13v-2",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  marks: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2Q8 8.8 8 10M8 13h.01",
};

export type IconName = keyof typeof PATHS;

export const Icon = ({ picture }: { readonly picture: IconName }) => (
  <svg
    width={16}
    height={16}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    stroke-width={1.4}
    aria-hidden="true"
  >
    <path d={PATHS[picture]} stroke-linecap="round" stroke-linejoin="round" />
  </svg>
);
