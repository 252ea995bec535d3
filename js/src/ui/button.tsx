// A button that keeps its keys: JupyterLab would take its own shortcuts from a plain button.

import type { JSX } from "preact";

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "ref"> & { readonly look?: string };

export const Button = ({ look = "button", ...rest }: ButtonProps) => (
  <button type="button" class={`roofwidget-${look}`} data-lm-suppress-shortcuts="true" {...rest} />
);
