// A button whose key events do not reach the host. JupyterLab would otherwise run its own shortcuts.

import type { ComponentChildren, JSX } from "preact";

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "ref"> & { readonly look?: string };

export const Button = ({ look = "button", ...rest }: ButtonProps) => (
  <button type="button" class={`roofwidget-${look}`} data-lm-suppress-shortcuts="true" {...rest} />
);

/** A sign after the word of a button, such as that of a menu. Screen readers skip it. */
export const Sign = ({ children }: { readonly children: ComponentChildren }) => (
  <span aria-hidden="true">{children}</span>
);
