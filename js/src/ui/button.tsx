// A button whose key events do not reach the host.

import type { ComponentChildren, JSX } from "preact";
import { OWN_KEYS } from "./keys.ts";

type ButtonProps = JSX.IntrinsicElements["button"] & { readonly look?: string };

export const Button = ({ look = "button", ...rest }: ButtonProps) => (
  <button type="button" class={`rw-${look}`} {...OWN_KEYS} {...rest} />
);

/** The properties of a control that a lesson may lock: the reason is then its title. */
export const lockedBy = (lock: string | undefined, title?: string) => ({
  title: lock ?? title,
  "aria-disabled": lock !== undefined,
});

/** A sign after the word of a button, such as that of a menu. Screen readers skip it. */
export const Sign = ({ children }: { readonly children: ComponentChildren }) => (
  <span aria-hidden="true">{children}</span>
);
