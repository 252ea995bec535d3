// The tab of messages: how fast each is on the link, and how long ranks waited in it at most.

import { useComputed } from "@preact/signals";
import type { Theme } from "../../chart/theme.ts";
import { inOrder, MAX_NAMED, type RatedMessage, waited } from "../../roofline/network.ts";
import type { Store } from "../../state/store.ts";
import { messageCells, messageName } from "../../text/network.ts";
import { formatQuantity } from "../../text/numbers.ts";
import { OWN_KEYS } from "../../ui/keys.ts";
import { numerals, tableWords, tabWords, networkWords as words } from "../../words/words.ts";
import type { TabProps } from "../tab.ts";
import { KindDot } from "./network_bar.tsx";

/** The number of rows that are shown at most. */
const MAX_ROWS = 500;

export const hasMessages = (store: Store) => store.rows.messages.value.length > 0;

/** The number of messages beside the title of the tab. */
export const messagesNote = (store: Store) => numerals.whole(store.rows.messages.value.length);

interface RowProps {
  readonly store: Store;
  readonly theme: Theme;
  readonly narrow: boolean;
  readonly one: RatedMessage;
  /** The number of a message that is named in the chart. */
  readonly badge?: string;
}

/** A message. Subscribes to its own hover, so that hovering another row does not render it. */
function Row({ store, theme, narrow, one, badge }: RowProps) {
  const isOn = useComputed(() => store.view.message.value === one.row);
  const network = { link: store.rates.focusLink.value, topology: store.rates.topology.value };
  const { bus, share, waiting } = messageCells(one, network);
  const calls = numerals.whole(one.count);
  const hover = (is: boolean) => () => {
    store.view.message.value = is ? one.row : undefined;
  };
  return (
    <tr data-message={one.row} data-on={isOn.value} onPointerEnter={hover(true)} onPointerLeave={hover(false)}>
      <td>{badge && <b class="rw-badge">{badge}</b>}</td>
      <th scope="row">
        <KindDot store={store} kind={one.kind} theme={theme} /> {messageName(one)}
        {narrow && <span class="rw-muted">{`${calls} × · ${bus} · ${words.ofLink(share)}`}</span>}
      </th>
      {!narrow && <td>{calls}</td>}
      {!narrow && <td>{bus}</td>}
      {!narrow && <td>{share}</td>}
      <td>
        {narrow ? <b>{waiting}</b> : waiting}
        {narrow && <span class="rw-muted">{words.waiting}</span>}
      </td>
    </tr>
  );
}

export function MessagesTab({ store, theme, narrow }: TabProps) {
  const all = inOrder(store.rows.messages.value);
  const first = all.slice(0, MAX_NAMED);
  const isWaiting = waited(all) > 0;
  const sum = (some: readonly RatedMessage[]) =>
    some.reduce((total, one) => total + ((isWaiting ? one.waiting : one.time) || 0), 0);
  const heads = narrow ? [] : words.heads;
  const columns = narrow ? 3 : 6;
  const common = { store, theme, narrow };
  const others = all.slice(first.length, MAX_ROWS);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long table scrolls, by the arrow keys too
    <section class="rw-messages" aria-label={tabWords.names.messages} tabIndex={0} {...OWN_KEYS}>
      <table>
        {heads.length > 0 && (
          <thead class="rw-muted">
            <tr>
              <td />
              {heads.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          <tr class="rw-group">
            <td colSpan={columns}>
              <b>{isWaiting ? words.waitLongest : words.takeLongest}</b> ·{" "}
              {words.sum(first.length, formatQuantity(sum(first), "s"), formatQuantity(sum(all), "s"))}
            </td>
          </tr>
          {first.map((one, at) => (
            <Row key={one.row} {...common} one={one} badge={String(at + 1)} />
          ))}
          {others.length > 0 && (
            <tr class="rw-group">
              <td colSpan={columns}>
                {tableWords.others} · {numerals.whole(all.length - first.length)}
              </td>
            </tr>
          )}
          {others.map((one) => (
            <Row key={one.row} {...common} one={one} />
          ))}
        </tbody>
      </table>
    </section>
  );
}
