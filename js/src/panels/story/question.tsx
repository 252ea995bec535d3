// A question of a step, the learner's answer, and the verdict on the answer.

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import type { Store } from "../../state/store.ts";
import { verdictText } from "../../text/answers.ts";
import { formatAnswer, formatPercent } from "../../text/numbers.ts";
import { asThousands, readNumber } from "../../text/written.ts";
import { Button } from "../../ui/button.tsx";
import { lookUp, OWN_KEYS } from "../../ui/keys.ts";
import { useUid } from "../../ui/uid.ts";
import type { Attempt, Question } from "../../wire/types.ts";
import { storyWords as words } from "../../words/words.ts";
import { TextNodes } from "./text_nodes.tsx";

interface QuestionProps {
  readonly store: Store;
  readonly question: Question;
}

/** The number in the example of a text box, by unit. It gives no hint at the answer. */
const EXAMPLES: Readonly<Record<string, number>> = { "FLOP/s": 2e14, "B/s": 2e12, s: 2e-3, B: 2e9, FLOP: 2e12 };
/** The digits with which a typed number is repeated, so that thousands and decimals are told apart. */
const READ_DIGITS = 7;

export function QuestionPanel({ store, question }: QuestionProps) {
  const { attempts, isRevealed } = store.lesson;
  const fault = useSignal("");
  const id = useUid();
  const panel = useRef<HTMLFieldSetElement>(null);
  const check = useRef(() => {});
  /** Runs `act`. If it shows the answer, the focused control disappears, and the focus stays in the panel. */
  function keepFocus(act: () => void) {
    act();
    if (isRevealed.peek()) panel.current?.focus({ preventScroll: true });
  }
  /** Stores an answer, or says why there is none. */
  function give(answer: Attempt | undefined, otherwise: string) {
    fault.value = answer === undefined ? otherwise : "";
    if (answer !== undefined) keepFocus(() => store.lesson.giveAnswer(answer));
  }
  const verdict = store.lesson.verdict.value;
  const said = verdict ? verdictText(verdict) : attempts.value.length > 0 ? `${words.notYet}.` : "";
  const look = verdict?.said === "right" && !fault.value ? "rw-right" : verdict?.isRight ? "" : "rw-fault";
  return (
    <fieldset ref={panel} class="rw-question" aria-labelledby={id} tabIndex={-1} {...OWN_KEYS}>
      <div
        class="rw-asked"
        {...OWN_KEYS}
        tabIndex={isRevealed.value || !/choice|number/.test(question.kind) ? 0 : undefined}
      >
        <div id={id} class="rw-prompt">
          <TextNodes nodes={question.prompt} />
        </div>
        {!isRevealed.value && <Answer {...{ store, question, give, check }} fault={fault.value} />}
        <p class={`rw-said ${look}`} role="status">
          {fault.value || said || null}
        </p>
        {isRevealed.value && <Explanation store={store} question={question} isFound={verdict?.isRight === true} />}
      </div>
      {!isRevealed.value && (
        <p class="rw-row rw-checking">
          <Button look="button rw-primary" onClick={() => check.current()}>
            {words.check}
          </Button>
          {attempts.value.length > 0 && (
            <>
              <Button onClick={() => keepFocus(store.lesson.reveal)}>{words.show}</Button>
              <span class="rw-muted">{words.attempts(store.lesson.tries.value)}</span>
            </>
          )}
        </p>
      )}
    </fieldset>
  );
}

export function textOf(answer: Attempt, unit: string): string {
  if (typeof answer === "number") return formatAnswer(answer, unit);
  return typeof answer === "string" ? answer : answer.map((group) => group.join(" + ")).join(" | ");
}

function Explanation({ store, question, isFound }: QuestionProps & { readonly isFound: boolean }) {
  const { kind, answer, unit, explanation, source, graded } = question;
  const last = store.lesson.attempts.value.at(-1);
  return (
    <div class="rw-explanation">
      {!isFound && <p>{words.answerIs(textOf(answer, unit))}</p>}
      {kind === "choice" && graded !== false && <Options store={store} question={question} />}
      {last !== undefined && (kind === "number" || kind === "drag" || graded === false) && (
        <p class="rw-muted">{words.yours(textOf(last, unit))}</p>
      )}
      <TextNodes nodes={explanation} />
      {source && <p class="rw-muted">{words.source(source)}</p>}
    </div>
  );
}

/** Whether the learner has chosen an option. An answer has its text or its id. */
function isChosen({ store, question: { option_ids: ids } }: QuestionProps, at: number, option: string): boolean {
  return store.lesson.attempts.value.some((given) => given === option || given === ids?.[at]);
}

/** All options after the answer, each with its reason. */
function Options(props: QuestionProps) {
  const { answer, options } = props.question;
  return (
    <ul class="rw-reasons">
      {options.map(([option, said], at) => {
        const isRight = option === answer;
        const chosen = isChosen(props, at, option);
        const notes = [isRight ? words.isRight : "", chosen ? words.isYours : ""].filter(Boolean);
        return (
          <li key={option} data-right={isRight} data-chosen={chosen}>
            {isRight ? <strong>{option}</strong> : option}
            {notes.length > 0 && <span class="rw-muted">{` (${notes.join(", ")})`}</span>}
            {said && `: ${said}`}
          </li>
        );
      })}
    </ul>
  );
}

interface AnswerProps extends QuestionProps {
  readonly fault: string;
  /** What the button that checks the answer does. */
  readonly check: RefObject<() => void>;
  /** Stores an answer. If the answer is undefined, shows the message `otherwise` instead. */
  give(answer: Attempt | undefined, otherwise: string): void;
}

function Answer(props: AnswerProps) {
  const { kind, on, tolerance } = props.question;
  if (kind === "choice") return <Choice {...props} />;
  if (kind === "number") return <Typed {...props} />;
  if (kind === "merge") return <OnChart {...props} hint={words.merge} />;
  const isMarker = on === "intensity" || on === "rate";
  const within = formatPercent(2 ** (tolerance ?? 0) - 1);
  return <OnChart {...props} hint={isMarker ? words.dragMarker(within) : words.dragRoof(within)} />;
}

function Choice(props: AnswerProps) {
  const { store, question, give, check } = props;
  const group = useUid();
  const chosen = useSignal<string | undefined>(undefined);
  const last = store.lesson.attempts.value.at(-1);
  check.current = () => give(chosen.value, words.choose);
  return (
    <div class="rw-answers">
      {question.options.map(([option], at) => (
        <label key={option} class="rw-option">
          <input
            type="radio"
            name={group}
            {...OWN_KEYS}
            checked={
              chosen.value === undefined
                ? last === option || last === question.option_ids?.[at]
                : option === chosen.value
            }
            onChange={() => {
              chosen.value = option;
            }}
          />
          {/* Until the right option is found, all chosen ones are wrong. */}
          {isChosen(props, at, option) ? <s>{option}</s> : option}
        </label>
      ))}
    </div>
  );
}

function Typed({ store, question: { unit }, fault, give, check }: AnswerProps) {
  const last = store.lesson.attempts.value.at(-1);
  const typed = useSignal(typeof last === "number" ? formatAnswer(last, unit) : "");
  const id = useUid();
  const example = formatAnswer(lookUp(EXAMPLES, unit) ?? 12, unit);
  const read = readNumber(typed.value, unit, example);
  const isRead = typeof read === "number";
  const thousands = asThousands(typed.value);
  check.current = () => give(isRead ? read : undefined, isRead ? "" : read);
  return (
    <div class="rw-row">
      <input
        type="text"
        class="rw-box"
        {...OWN_KEYS}
        aria-label={words.answer}
        aria-describedby={id}
        aria-invalid={fault !== ""}
        placeholder={words.example(example)}
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          check.current();
          event.stopPropagation();
        }}
      />
      <span id={id} class="rw-muted">
        {isRead && words.readAs(formatAnswer(read, unit, READ_DIGITS))}
        {thousands && `. ${words.thousands}`}
      </span>
      {thousands && (
        <Button
          onClick={() => {
            typed.value = thousands;
          }}
        >
          {thousands}
        </Button>
      )}
    </div>
  );
}

/** The controls of an answer that the learner gives on the chart or in the fusion panel. */
function OnChart({ store, question: { on, unit }, give, hint, check }: AnswerProps & { readonly hint: string }) {
  const isMarker = on === "intensity" || on === "rate";
  const now = isMarker ? store.lesson.prediction.value : undefined;
  check.current = () => give(isMarker ? now : store.lesson.answerNow(), hint);
  return (
    <div class="rw-row">
      <span class="rw-muted">{hint}</span>
      {now !== undefined && <span>{formatAnswer(now, unit)}</span>}
    </div>
  );
}
