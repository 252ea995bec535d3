// The tab of unknown work: the kernels without FLOPs or bytes by time, and a rule for each that a person completes.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { isWorthRules, openKeys, type Unknown, unknownWorks } from "../roofline/unknown_work.ts";
import { MIN_ABOVE } from "../roofline/verdict.ts";
import type { Reply, RuleEffect } from "../state/requests.ts";
import type { Store } from "../state/store.ts";
import { formatPercent, formatQuantity } from "../text/numbers.ts";
import { Button, Sign } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { saveFile } from "../ui/download.ts";
import { OWN_KEYS } from "../ui/keys.ts";
import { memoize } from "../ui/memoize.ts";
import { useUid } from "../ui/uid.ts";
import { numerals, strings, tableWords, unknownWords as words } from "../words/words.ts";
import { FileButton } from "./empty.tsx";
import type { TabProps } from "./tab.ts";

/** A rule is sent to Python when no key has followed for this time, ms. */
const REST_MS = 250;
const MAX_ROWS = 50;
const FILE = "work.toml";

const seconds = (time: number) => formatQuantity(time, "s");

const works = memoize<readonly Unknown[]>();

/** Returns the names of unknown work. The kernels of a graph have none. */
const worksOf = ({ rows, workload }: Store) =>
  workload.graph.value
    ? []
    : works(rows.given.value, [rows.rules.value], () => unknownWorks(rows.given.value, rows.rules.value));

export const hasUnknown = (store: Store) => isWorthRules(worksOf(store));

/** Whether a person can write rules in the tab, which Python reads. */
export const takesRules = (store: Store) => store.python.canAsk && hasUnknown(store);

/** The number of names beside the title of the tab. */
export const unknownNote = (store: Store) => numerals.whole(worksOf(store).length);

export function UnknownTab({ store, narrow }: TabProps) {
  const unknown = worksOf(store);
  // The name of the open row; "" if none is open, undefined before any choice.
  const chosen = useSignal<string | undefined>(undefined);
  const first = unknown[0];
  if (!first) return null;
  const open = chosen.value ?? first.name;
  const shown = unknown.slice(0, MAX_ROWS);
  const rest = unknown.slice(MAX_ROWS);
  const sum = (some: readonly Unknown[], of: "time" | "share") => some.reduce((total, one) => total + one[of], 0);
  const timed = (some: readonly Unknown[]) =>
    words.ofTime(seconds(sum(some, "time")), formatPercent(sum(some, "share")));
  const without = unknown.filter(({ name }) => !Object.hasOwn(store.rows.rules.value, name));
  const columns = narrow ? 3 : 4;
  return (
    <div class="rw-unknown">
      <table>
        <thead class="rw-muted">
          <tr>
            <th scope="col">{words.operation}</th>
            <th scope="col">{tableWords.heads.time}</th>
            <th scope="col">{tableWords.heads.share}</th>
            {!narrow && <th scope="col">{words.calls}</th>}
          </tr>
        </thead>
        <tbody>
          <tr>
            <td class="rw-without" colSpan={columns}>
              <b>{words.withoutWork}</b> · {timed(without)}
            </td>
          </tr>
          {shown.map((one) => (
            <Row
              key={one.name}
              {...{ store, one, narrow, columns }}
              isOpen={one.name === open}
              toggle={() => {
                chosen.value = one.name === open ? "" : one.name;
              }}
            />
          ))}
        </tbody>
      </table>
      {rest.length > 0 && <p class="rw-muted">{`+ ${numerals.whole(rest.length)} · ${timed(rest)}`}</p>}
      <Footer store={store} />
    </div>
  );
}

interface RowProps {
  readonly store: Store;
  readonly one: Unknown;
  readonly narrow: boolean;
  readonly columns: number;
  readonly isOpen: boolean;
  toggle(): void;
}

function Row({ store, one, narrow, columns, isOpen, toggle }: RowProps) {
  const hasRule = Object.hasOwn(store.rows.rules.value, one.name);
  return (
    <>
      <tr>
        <th scope="row">
          <Button look="operation" title={one.name} aria-expanded={isOpen} onClick={toggle}>
            <Sign>{isOpen ? "▾ " : "▸ "}</Sign>
            {one.name}
            {hasRule && <span class="rw-muted"> · {words.hasRule}</span>}
          </Button>
        </th>
        <td>{seconds(one.time)}</td>
        <td>{formatPercent(one.share)}</td>
        {!narrow && <td>{numerals.whole(one.calls)}</td>}
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={columns}>
            <Rule store={store} one={one} />
          </td>
        </tr>
      )}
    </>
  );
}

function Rule({ store, one: { name, sizes, missing, proposed } }: { readonly store: Store; readonly one: Unknown }) {
  const { rules } = store.rows;
  const id = useUid();
  const { canAsk } = store.python;
  const lock = store.lesson.lockNote("moves");
  const inForce = rules.value[name];
  const draft = useSignal<string | undefined>(undefined);
  /** The last rule that Python has answered, and its answer. */
  const answer = useSignal<readonly [text: string, reply: Reply] | undefined>(undefined);
  /** The rule in force that this field has set: another one, such as after undo, replaces what is typed. */
  const own = useRef(inForce);
  const box = useRef<HTMLTextAreaElement>(null);
  if (own.current !== inForce) {
    own.current = inForce;
    draft.value = undefined;
  }
  const text = draft.value ?? inForce ?? proposed;
  const open = openKeys(text).join(", ");
  const { effect, refused: fault }: Reply = answer.value?.[0] === text ? answer.value[1] : {};
  function use(next: string | undefined) {
    const { [name]: _, ...others } = rules.value;
    own.current = next;
    store.rows.setRules(next === undefined ? others : { ...others, [name]: next }, {
      mergeKey: next && `rule ${name}`,
    });
  }
  useEffect(() => {
    if (!canAsk || open) return;
    let isOutdated = false;
    const timer = setTimeout(async () => {
      const reply = await store.python.ask({ ask: "rule", name, text });
      if (isOutdated) return;
      answer.value = [text, reply];
      if (reply.effect && draft.peek() === text && text !== inForce && lock === undefined) use(text);
    }, REST_MS);
    return () => {
      isOutdated = true;
      clearTimeout(timer);
    };
  }, [text, name]);
  async function save() {
    if (inForce === undefined) use(text);
    const lines = Object.values({ ...rules.value, [name]: text }).join("\n");
    const reply = await store.python.ask({ ask: "save rules", text: lines });
    const { saved, refused } = reply;
    if (refused) answer.value = [text, reply];
    else if (saved) store.view.say(words.saved(saved));
    else saveFile(box.current?.ownerDocument as Document, FILE, new Blob([`${lines}\n`], { type: "text/plain" }));
  }
  async function copy() {
    if (await copyText(box.current?.ownerDocument as Document, text)) store.view.say(words.copied);
  }
  function discard() {
    if (lock !== undefined) return;
    draft.value = undefined;
    if (inForce !== undefined) use(undefined);
  }
  const reason = fault ?? (open ? words.fill(open) : undefined);
  const isReady = lock === undefined && effect !== undefined;
  const isTyped = draft.value !== undefined || inForce !== undefined;
  return (
    <div class="rw-rule">
      <p>
        <span class="rw-muted">{words.sizes}</span> {sizes || "–"} · <span class="rw-muted">{words.missing}</span>{" "}
        <b>{missing || "–"}</b>
      </p>
      <label for={id}>
        {words.rule} <b>{FILE}</b>
        {!isTyped && <span class="rw-muted"> · {words.proposed}</span>}
      </label>
      <textarea
        ref={box}
        id={id}
        {...OWN_KEYS}
        rows={Math.min(6, Math.max(2, Math.ceil(text.length / 44)))}
        readOnly={!canAsk || lock !== undefined}
        value={text}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-says`}
        onInput={({ currentTarget }) => {
          draft.value = currentTarget.value;
        }}
        onKeyDown={(event) => event.key !== "Escape" && event.stopPropagation()}
      />
      <div id={`${id}-says`} role="status">
        {!canAsk ? (
          <p class="rw-muted">{words.needsPython}</p>
        ) : fault !== undefined ? (
          <Alert text={fault} />
        ) : open ? (
          <p class="rw-muted">{words.fill(open)}</p>
        ) : (
          effect && <Effect effect={effect} />
        )}
      </div>
      <div>
        {canAsk && (
          <Button
            look="button rw-primary"
            title={lock ?? reason}
            aria-disabled={!isReady}
            onClick={() => isReady && void save()}
          >
            {words.save}
          </Button>
        )}
        <Button onClick={() => void copy()}>{words.copy}</Button>
        {canAsk && (
          <Button
            title={lock}
            aria-disabled={isTyped ? lock !== undefined : !isReady}
            onClick={isTyped ? discard : () => isReady && use(text)}
          >
            {isTyped ? words.discard : words.apply}
          </Button>
        )}
      </div>
    </div>
  );
}

const Alert = ({ text }: { readonly text: string }) => <p class="rw-fault">{`▲ ${text}`}</p>;

/** What a rule says: counted work, its rate, and the share of kernel time that is known with it. */
function Effect({ effect }: { readonly effect: RuleEffect }) {
  const { flops, bytes, calls, time, known, peak, roof, chip, precision, read, typed } = effect;
  const atLeast = effect.at_least ? words.atLeast : "";
  const amount = (total: number | null, unit: "FLOP" | "B") =>
    total !== null && <p>{atLeast + words.amount(formatQuantity(total / calls, unit), formatQuantity(total, unit))}</p>;
  const rate = formatQuantity(((flops ?? bytes) as number) / time, flops === null ? "B/s" : "FLOP/s");
  return (
    <>
      <p>
        <span class="rw-muted">{words.says}</span> · {read}
      </p>
      {amount(flops, "FLOP")}
      {amount(bytes, "B")}
      <p>
        {[
          time > 0 && rate,
          peak !== null && strings.ofPeak(formatPercent(peak)),
          roof !== null && strings.ofRoof(formatPercent(roof)),
          chip && `${chip} ${precision}`,
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      {roof !== null && roof > MIN_ABOVE && <Alert text={tableWords.aboveRoof} />}
      <p>
        {words.known} {formatPercent(known[0])}
        {" → "}
        <b>{formatPercent(known[1])}</b>
      </p>
      {typed.length > 0 && <p class="rw-muted">{words.check(typed.join(", "))}</p>}
    </>
  );
}

/** How a file of rules is opened. */
function Footer({ store }: { readonly store: Store }) {
  const { rules, setRules } = store.rows;
  if (!store.python.canAsk || store.lesson.lockNote("moves") !== undefined) return null;
  async function read(file: File) {
    const { rules: found, refused = "" } = await store.python.ask({ ask: "rules", text: await file.text() });
    if (found) setRules({ ...rules.value, ...found });
    else store.view.say(refused, { isFault: true });
  }
  return (
    <p class="rw-footer">
      {words.atOnce} <FileButton look="link" label={words.openFile} open={([file]) => file && void read(file)} />
    </p>
  );
}
