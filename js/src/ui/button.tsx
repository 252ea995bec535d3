// A button whose keys are its own: hosts take those that they know from any other.

import type { JSX } from "preact";

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "ref"> & { readonly look?: string };

export const Button = ({ look = "button", ...rest }: ButtonProps) => (
  <button type="button" class={`roofwidget-${look}`} data-lm-suppress-shortcuts="true" {...rest} />
);
