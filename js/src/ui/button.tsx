// A button whose key events do not reach the host.

import type { JSX } from "preact";
import { OWN_KEYS } from "./keys.ts";

type ButtonProps = JSX.IntrinsicElements["button"] & { readonly look?: string };

export const Button = ({ look = "button", ...rest }: ButtonProps) => (
  <button type="button" class={`rw-${look}`} {...OWN_KEYS} {...rest} />
);
