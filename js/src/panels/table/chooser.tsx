// Which columns the table shows: a box to tick for each, ours and the file's own.

import type { Store } from "../../state/store.ts";
import { Button } from "../../ui/button.tsx";
import type { Disclosed } from "../../ui/disclosure.ts";
import { tableWords as words } from "../../words/words.ts";
import type { Column } from "./columns.ts";
import { toggled } from "./shown.ts";

interface ChooserProps {
  readonly opened: Disclosed;
  readonly store: Store;
  readonly columns: readonly Column[];
  readonly shown: readonly Column[];
}

export function Chooser({ opened, store, columns, shown }: ChooserProps) {
  const keys = shown.map(({ key }) => key);
  const group = (title: string, some: readonly Column[]) =>
    some.length > 0 && (
      <fieldset>
        <h4>{title}</h4>
        <div class="roofwidget-options">
          {some.map(({ key, title: head, meaning }) => (
            <label key={key} class="roofwidget-option" title={meaning}>
              <input
                type="checkbox"
                data-lm-suppress-shortcuts="true"
                checked={keys.includes(key)}
                onChange={() => store.setColumns(toggled(columns, keys, key))}
              />
              {head}
            </label>
          ))}
        </div>
      </fieldset>
    );
  const button = (text: string, choose: () => void) => <Button onClick={choose}>{text}</Button>;
  return (
    <fieldset class="roofwidget-chooser" aria-label={words.columns} {...opened}>
      {group(
        words.ours,
        columns.filter(({ ofFile }) => !ofFile),
      )}
      {group(
        words.ofFile,
        columns.filter(({ ofFile }) => ofFile),
      )}
      <div class="roofwidget-presets">
        {button(words.usualColumns, () => store.setColumns(null))}
        {button(words.allColumns, () => store.setColumns(columns.map(({ key }) => key)))}
      </div>
    </fieldset>
  );
}
