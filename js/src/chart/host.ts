// The theme of the host's page: light, dark, or the colours that the user forces.

import { DARK, forcedTheme, hexOf, LIGHT, type Theme } from "./theme.ts";

const QUERIES = {
  dark: "(prefers-color-scheme: dark)",
  forced: "(forced-colors: active)",
  more: "(prefers-contrast: more)",
};

/**
 * Calls `changed` when the theme may have changed. JupyterLab sets an attribute of the body, makers of sites one of the
 * body or of its parent. A plain page follows the system's setting.
 */
export function followTheme(
  { ownerDocument: { body, documentElement, defaultView } }: HTMLElement,
  abort: AbortSignal,
  changed: () => void,
) {
  const attributes = new MutationObserver(changed);
  for (const one of [documentElement, body]) attributes.observe(one, { attributes: true });
  for (const query of Object.values(QUERIES)) {
    defaultView?.matchMedia(query).addEventListener("change", changed, { signal: abort });
  }
  abort.addEventListener("abort", () => attributes.disconnect());
}

/**
 * Returns the theme of the page. If its colours equal the colours of `last`, returns `last`, so that nothing is redrawn.
 */
export function themeOf({ ownerDocument }: HTMLElement, last?: Theme): Theme {
  const matches = (query: string) => ownerDocument.defaultView?.matchMedia(query).matches;
  if (matches(QUERIES.forced)) {
    const theme = forcedTheme(systemColour(ownerDocument, "Canvas"), systemColour(ownerDocument, "CanvasText"));
    return last && JSON.stringify(last) === JSON.stringify(theme) ? last : theme;
  }
  const theme = (namedTheme(ownerDocument) ?? (matches(QUERIES.dark) ? "dark" : "light")) === "dark" ? DARK : LIGHT;
  if (!matches(QUERIES.more)) return theme;
  return last?.isPatterned && last.background === theme.background ? last : { ...theme, isPatterned: true };
}

/** Returns the theme that JupyterLab, or else a site of MyST, Sphinx or Quarto names; undefined if none is named. */
function namedTheme({ body, documentElement }: Document): string | undefined {
  const light = body.dataset["jpThemeLight"];
  if (light !== undefined) return light === "false" ? "dark" : "light";
  return [documentElement, body]
    .flatMap(({ dataset, classList }) => [dataset["theme"], ...classList])
    .map((name) => name?.replace("quarto-", ""))
    .find((name) => name === "dark" || name === "light");
}

/** Returns a named colour as "#rrggbb". For example, "red" becomes "#ff0000". */
function systemColour(document: Document, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = name;
  document.body.append(probe);
  const rgb = document.defaultView?.getComputedStyle(probe).color.match(/\d+/g) ?? [];
  probe.remove();
  return hexOf([0, 1, 2].map((at) => Number(rgb[at] ?? 0)));
}
