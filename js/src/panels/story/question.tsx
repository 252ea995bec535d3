// A question of a step, the learner's answer, and the verdict on the answer.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Store } from "../../state/store.ts";
import { verdictText } from "../../text/answers.ts";
import { formatAnswer, parseAnswer } from "../../text/numbers.ts";
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

export function QuestionPanel({ store, question }: QuestionProps) {
  const { attempts, isRevealed } = store.lesson;
  const fault = useSignal("");
  const id = useUid();
  const panel = useRef<HTMLFieldSetElement>(null);
  const last = attempts.value.at(-1);
  /** Runs `act`. If it shows the answer, the focused control disappears, and the focus stays in the panel. */
  function keepFocus(act: () => void) {
    act();
    if (isRevealed.peek()) panel.current?.focus({ preventScroll: true });
  }
  function give(answer: Attempt | undefined, otherwise: string) {
    fault.value = answer === undefined ? otherwise : "";
    if (answer !== undefined) keepFocus(() => store.lesson.giveAnswer(answer));
  }
  const verdict = last === undefined ? undefined : store.lesson.judge(last);
  const said = last === undefined ? "" : verdictText(question, last, verdict);
  const look = verdict?.isRight && !fault.value ? "rw-right" : "rw-fault";
  return (
    <fieldset ref={panel} class="rw-question" aria-labelledby={id} tabIndex={-1} {...OWN_KEYS}>
      <div id={id} class="rw-prompt">
        <TextNodes nodes={question.prompt} />
      </div>
      {!isRevealed.value && <Answer store={store} question={question} fault={fault.value} give={give} />}
      <p class={`rw-said ${look}`} role="status">
        {fault.value || said || null}
      </p>
      {isRevealed.value ? (
        <Explanation question={question} isFound={verdict?.isRight === true} />
      ) : (
        attempts.value.length > 0 && (
          <p class="rw-row">
            <Button onClick={() => keepFocus(store.lesson.reveal)}>{words.show}</Button>
            <span class="rw-muted">{words.attempts(attempts.value.length)}</span>
          </p>
        )
      )}
    </fieldset>
  );
}

function Explanation({ question, isFound }: { question: Question; isFound: boolean }) {
  const { answer, unit, explanation, source } = question;
  const text =
    typeof answer === "number"
      ? formatAnswer(answer, unit)
      : typeof answer === "string"
        ? answer
        : answer.map((group) => group.join(" + ")).join(" | ");
  return (
    <div class="rw-explanation">
      {!isFound && <p>{words.answerIs(text)}</p>}
      <TextNodes nodes={explanation} />
      {source && <p class="rw-muted">{words.source(source)}</p>}
    </div>
  );
}

interface AnswerProps extends QuestionProps {
  readonly fault: string;
  /** Stores an answer. If the answer is undefined, shows the message `otherwise` instead. */
  give(answer: Attempt | undefined, otherwise: string): void;
}

function Answer(props: AnswerProps) {
  const { kind, on } = props.question;
  if (kind === "choice") return <Choice {...props} />;
  if (kind === "number") return <Typed {...props} />;
  if (kind === "merge") return <OnChart {...props} hint={words.merge} />;
  const isMarker = on === "intensity" || on === "rate";
  return <OnChart {...props} hint={isMarker ? words.dragMarker : words.dragRoof} />;
}

function Choice({ store, question, give }: AnswerProps) {
  const group = useUid();
  const chosen = useSignal<string | undefined>(undefined);
  const last = store.lesson.attempts.value.at(-1);
  const now = chosen.value ?? last;
  return (
    <div class="rw-answers">
      {question.options.map(([option]) => (
        <label key={option} class="rw-option">
          <input
            type="radio"
            name={group}
            {...OWN_KEYS}
            checked={option === now}
            onChange={() => {
              chosen.value = option;
            }}
          />
          {option}
        </label>
      ))}
      <Button look="button rw-primary" onClick={() => give(chosen.value, words.choose)}>
        {words.check}
      </Button>
    </div>
  );
}

function Typed({ store, question: { unit }, fault, give }: AnswerProps) {
  const last = store.lesson.attempts.value.at(-1);
  const typed = useSignal(typeof last === "number" ? formatAnswer(last, unit) : "");
  const example = formatAnswer(lookUp(EXAMPLES, unit) ?? 12, unit);
  const check = () => give(parseAnswer(typed.value, unit), words.noNumber(typed.value.trim(), example));
  return (
    <div class="rw-row">
      <input
        type="text"
        class="rw-box"
        {...OWN_KEYS}
        aria-label={words.answer}
        aria-invalid={fault !== ""}
        placeholder={words.example(example)}
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          check();
          event.stopPropagation();
        }}
      />
      <Button look="button rw-primary" onClick={check}>
        {words.check}
      </Button>
    </div>
  );
}

/** The controls of an answer that the learner gives on the chart or in the fusion panel. */
function OnChart({ store, question: { on, unit }, give, hint }: AnswerProps & { readonly hint: string }) {
  const isMarker = on === "intensity" || on === "rate";
  const now = isMarker ? store.lesson.prediction.value : undefined;
  return (
    <div class="rw-row">
      <span class="rw-muted">{hint}</span>
      {now !== undefined && <span>{formatAnswer(now, unit)}</span>}
      <Button look="button rw-primary" onClick={() => give(isMarker ? now : store.lesson.answerNow(), hint)}>
        {words.check}
      </Button>
    </div>
  );
}
