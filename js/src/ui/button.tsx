// A button whose key events do not reach the host. JupyterLab would otherwise run its own shortcuts.

import type { JSX } from "preact";

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "ref"> & { readonly look?: string };

export const Button = ({ look = "button", ...rest }: ButtonProps) => (
  <button type="button" class={`rw-${look}`} data-lm-suppress-shortcuts="true" {...rest} />
);
