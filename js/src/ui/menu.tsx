// A button that opens a menu: a list of commands, of which some are switched on or chosen.

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import { isModified, stepOf, used } from "./keys.ts";

export interface MenuItem {
  readonly name: string;
  readonly text: string;
  /** What the item does. Undefined if it can do nothing now. */
  readonly act: ((event: MouseEvent) => unknown) | undefined;
  /** Whether the item is on. Undefined for a command. */
  readonly isOn?: boolean;
  /** Says why the item can do nothing. */
  readonly reason?: string | undefined;
}

export interface MenuGroup {
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** Whether one of the items is chosen. Otherwise each item is switched on and off. */
  readonly isChoice?: boolean;
}

interface MenuProps {
  readonly label: string;
  readonly groups: readonly MenuGroup[];
  /** The maximum height, px. */
  readonly room: number;
  /** Closes the menu. If `isDone` is true, the focus returns to the button. */
  close(isDone: boolean): void;
}

/** The list of an open menu. */
export function Menu({ label, groups, room, close }: MenuProps) {
  const list = useRef<HTMLDivElement>(null);
  const itemsOf = () => [...(list.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
  useLayoutEffect(() => {
    const all = itemsOf();
    (
      all.find((one) => one.getAttribute("aria-checked") === "true" && one.matches("[role=menuitemradio]")) ?? all[0]
    )?.focus({
      preventScroll: true,
    });
  }, []);
  function onKeyDown(event: KeyboardEvent) {
    if (!stepOf(event)) event.stopPropagation();
    if (event.key === "Escape") return close(true);
    if (isModified(event)) return;
    const all = itemsOf();
    const now = all.indexOf(event.target as HTMLElement);
    const letter = event.key.length === 1 && event.key !== " " ? event.key.toLowerCase() : "";
    const later = [...all.slice(now + 1), ...all.slice(0, now + 1)];
    const next = letter
      ? later.find((one) => one.lastElementChild?.textContent?.toLowerCase().startsWith(letter))
      : all.at({ ArrowDown: (now + 1) % all.length, ArrowUp: now - 1, Home: 0, End: -1 }[event.key] ?? all.length);
    if (!next) return;
    next.focus();
    used(event);
  }
  return (
    <div
      ref={list}
      class="rw-popover rw-choices"
      style={{ maxHeight: `${room}px` }}
      role="menu"
      aria-label={label}
      onKeyDown={onKeyDown}
      onFocusIn={({ target }) => {
        // The Tab key can focus one item, and so a keyboard can scroll the menu.
        for (const one of itemsOf()) one.tabIndex = one === target ? 0 : -1;
      }}
      onFocusOut={({ relatedTarget }) => {
        if (!list.current?.parentElement?.contains(relatedTarget as Node | null)) close(false);
      }}
    >
      {groups.map((group) => (
        <fieldset key={group.label} aria-label={group.label}>
          {group.items.map((item) => (
            <Item key={item.name} {...item} isChoice={group.isChoice === true} close={close} />
          ))}
        </fieldset>
      ))}
    </div>
  );
}

function Item({
  name,
  text,
  act,
  isOn,
  reason,
  isChoice,
  close,
}: MenuItem & { readonly isChoice: boolean; close: MenuProps["close"] }) {
  return (
    <Button
      look="item"
      role={isOn === undefined ? "menuitem" : isChoice ? "menuitemradio" : "menuitemcheckbox"}
      aria-checked={isOn}
      aria-disabled={act === undefined}
      data-tool={name}
      title={reason}
      tabIndex={-1}
      onClick={
        act &&
        ((event) => {
          close(true);
          act(event);
        })
      }
    >
      <span class="rw-check" aria-hidden="true">
        {isOn ? "✓" : ""}
      </span>
      <span>{text}</span>
    </Button>
  );
}

type OpenerProps = Omit<JSX.IntrinsicElements["button"], "ref" | "label"> & {
  readonly look: string;
  readonly isOpen: boolean;
  /** The kind of what the button opens. */
  readonly opens?: "menu" | "dialog";
  readonly children?: ComponentChildren;
};

/** The button that opens a menu or a dialog. */
export const Opener = ({ isOpen, opens = "menu", children, ...rest }: OpenerProps) => (
  <Button
    aria-haspopup={opens}
    aria-expanded={isOpen}
    // Some browsers do not focus a clicked button. Without preventDefault, the menu would lose the focus and close, and
    // the click would open it again.
    onMouseDown={(event) => isOpen && event.preventDefault()}
    {...rest}
  >
    {children}
  </Button>
);
