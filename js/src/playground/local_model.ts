// A model that plays Python's part in a page without Python: it answers each message, and sets values as Python does.
// roofwidget/state/messages.py describes the messages.

import { applied, type Changes } from "../state/changes.ts";
import { STAMP } from "../state/messages.ts";
import type { Model } from "../state/model.ts";
import { TRAIT_NAMES, TRAITS, wireName } from "../state/traits.ts";
import type { WireChip } from "../wire/types.ts";

/** The values of a model's traits, by their names on the wire. */
export type Values = Readonly<Record<string, unknown>>;

export interface LocalModel {
  readonly model: Model;
  /** Sets values as Python code does. */
  receive(values: Values): void;
  /** Sets values as Python does for another page: they make no undo entry. */
  receiveQuietly(values: Values): void;
  /** Returns the values of all traits. */
  values(): Values;
}

interface PageMessage {
  readonly kind?: unknown;
  readonly page: string;
  readonly number: number;
  readonly values?: Values;
  readonly changes?: Readonly<Record<string, Changes>>;
}

/** The traits that a person may change, in the order in which values take effect. */
const ORDER = TRAIT_NAMES.map(wireName);
const CHANGEABLE = new Set(TRAIT_NAMES.filter((name) => TRAITS[name].owner !== "python").map(wireName));
/** What belongs to the rows of the kernels, and so to no others. */
const OF_ROWS: Values = { selected: [], at_roof: [], moves: {}, typed_work: {} };
/** What belongs to a graph. */
const OF_GRAPH: Values = { dims: {}, convention: "", dtype: null };

/**
 * Makes a model with the given values. `catalogueChip` returns a chip that a person has added; `changed` is called after
 * each change.
 */
export function localModel(
  given: Values,
  catalogueChip: (id: string) => WireChip | undefined,
  changed: () => void = () => {},
): LocalModel {
  const listeners = new Map<string, Set<(content?: unknown) => void>>();
  let state: Values = { ...given, [STAMP]: [0, "", 0] };
  let clock = 0;

  function tell(event: string, content?: unknown) {
    for (const callback of [...(listeners.get(event) ?? [])]) callback(content);
  }
  function update(values: Values, page: string, number: number) {
    clock += 1;
    const all = { ...values, ...followingFrom(values) };
    state = { ...state, ...all, [STAMP]: [clock, page, number] };
    for (const name of ORDER) if (name in all) tell(`change:${name}`);
    tell(`change:${STAMP}`);
    changed();
  }
  /** Returns what else Python changes with these values. Values that are given win. */
  function followingFrom(values: Values): Values {
    const kernels = "kernels" in values ? OF_ROWS : {};
    const graph = "graphs" in values ? OF_GRAPH : {};
    return { ...kernels, ...graph, ...values, ...("added_chips" in values ? { chips: withAdded(values) } : {}) };
  }
  function withAdded(values: Values): readonly WireChip[] {
    const own = ((values["chips"] ?? state["chips"]) as readonly WireChip[]).filter(({ added }) => !added);
    const ids = (values["added_chips"] as readonly string[]).filter((id) => !own.some((chip) => chip.id === id));
    return [
      ...own,
      ...ids.flatMap((id) => {
        const chip = catalogueChip(id);
        return chip ? { ...chip, added: true } : [];
      }),
    ];
  }

  function send(content: unknown) {
    const { kind, page, number, values = {}, changes = {} } = content as PageMessage;
    if (kind === "roofwidget-request") {
      const reply = { kind: "roofwidget-reply", page, number, refused: "there is no Python here" };
      // The page listens for the reply after it has sent the request.
      queueMicrotask(() => tell("msg:custom", reply));
    }
    if (kind !== "roofwidget") return;
    const merged = Object.entries(changes).map(([name, own]) => [name, applied(state[name] as Changes, own)]);
    const wanted = { ...values, ...Object.fromEntries(merged) };
    update(Object.fromEntries(Object.entries(wanted).filter(([name]) => CHANGEABLE.has(name))), page, number);
  }

  return {
    model: {
      get: (name) => state[name],
      send,
      on(event, callback) {
        listeners.set(event, (listeners.get(event) ?? new Set()).add(callback));
      },
      off: (event, callback) => void listeners.get(event)?.delete(callback),
    },
    receive: (values) => update(values, "", 0),
    receiveQuietly: (values) => update(values, "playground", 0),
    values: () => Object.fromEntries(ORDER.filter((name) => name in state).map((name) => [name, state[name]])),
  };
}
