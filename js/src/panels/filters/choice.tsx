// One of several words, or all: what a filter lets pass. More than one at a time comes from elsewhere.

import { type Option, Select } from "../../ui/select.tsx";
import { filterWords as words } from "../../words/words.ts";

interface ChoiceProps {
  readonly label: string;
  readonly chosen: readonly string[] | null;
  /** Each with how it is said. */
  readonly offered: readonly Option[];
  choose(chosen: readonly string[] | null): void;
}

/** Values of options that are none of the words: any text may be a word. */
const [ALL, OTHERS] = ["all", "others"];

export function Choice({ label, chosen, offered, choose }: ChoiceProps) {
  if (offered.length < 2 && chosen === null) return null;
  const at = chosen?.length === 1 ? offered.findIndex(([word]) => word === chosen[0]) : -1;
  const options = offered.map(([, text], index): Option => [String(index), text]);
  // None of those offered, or more than one.
  const others: Option[] = chosen && at < 0 ? [[OTHERS, chosen.join(", ") || words.chosen(0)]] : [];
  return (
    <Select
      label={label}
      value={chosen === null ? ALL : at < 0 ? OTHERS : String(at)}
      options={[[ALL, words.all], ...options, ...others]}
      choose={(value) => {
        const word = offered[Number(value)]?.[0];
        if (value === ALL) choose(null);
        else if (word !== undefined) choose([word]);
      }}
    />
  );
}
