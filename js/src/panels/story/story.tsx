// The panel of a story: the text of the step, its question, and the way to the other steps.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Store } from "../../state/store.ts";
import { Button } from "../../ui/button.tsx";
import { keepFocusNear } from "../../ui/focus.ts";
import { lookUp, OWN_KEYS } from "../../ui/keys.ts";
import { storyWords as words } from "../../words/words.ts";
import { saveAnswers } from "./answers_file.ts";
import { QuestionPanel, textOf } from "./question.tsx";
import { TextNodes } from "./text_nodes.tsx";

/** A button that takes all answers back at its second press. They cannot be brought back. */
function Forget({ store }: { store: Store }) {
  const isSure = useSignal(false);
  return (
    <Button
      title={words.forgetHint}
      onBlur={() => {
        isSure.value = false;
      }}
      onClick={({ currentTarget }) => {
        if (isSure.value) keepFocusNear(currentTarget, store.lesson.forgetAnswers);
        else isSure.value = true;
      }}
    >
      {isSure.value ? words.forgetNow : words.forget}
    </Button>
  );
}

interface StoryProps {
  readonly store: Store;
  /** The height of the panel of every step, px. Undefined if each step takes the height of its texts. */
  readonly height: number | undefined;
}

export function StoryPanel({ store, height }: StoryProps) {
  const { current, question, steps } = store.lesson;
  const step = store.lesson.step.value;
  const title = store.view.title.value;
  const panel = useRef<HTMLElement>(null);
  // A learner who reads with a screen reader hears the new step. The panel takes the focus together with its new text,
  // so that no key which follows is lost between the two. At the start it takes no focus.
  const before = useRef(step);
  useLayoutEffect(() => {
    const root = panel.current?.getRootNode() as Document | ShadowRoot | undefined;
    const hasFocus = panel.current?.contains(root?.activeElement ?? null);
    if (before.current !== step && hasFocus) panel.current?.focus();
    before.current = step;
  }, [step]);
  // An explanation that is longer than the panel makes it longer below the buttons, so that no button moves.
  const isRevealed = store.lesson.isRevealed.value;
  useLayoutEffect(() => {
    const style = panel.current?.style;
    style?.setProperty("--rw-more", "0px");
    const asked = isRevealed && height !== undefined && panel.current?.querySelector(".rw-asked");
    if (asked) style?.setProperty("--rw-more", `${asked.scrollHeight - asked.clientHeight}px`);
  }, [step, isRevealed, height]);
  if (!current.value) return null;
  const [isFirst, isLast] = [step === 0, step >= steps.value - 1];
  const recalled = textOf(lookUp(store.lesson.answers.value, current.value.recalls ?? "")?.[0] ?? "", "");
  const hasAnswers = Object.keys(store.lesson.answers.value).length > 0;
  return (
    <section
      ref={panel}
      class={`rw-story${height === undefined ? "" : " rw-staged"}`}
      style={{ height: height && `calc(${height}px + var(--rw-more, 0px))` }}
      aria-label={`${words.title}: ${title && `${title} · `}${words.step(step + 1, steps.value)}`}
      tabIndex={-1}
      {...OWN_KEYS}
    >
      {current.value.caption.length > 0 && (
        <div class="rw-caption">
          <TextNodes nodes={current.value.caption} />
          {recalled && <p class="rw-muted">{words.yours(recalled)}</p>}
        </div>
      )}
      {question.value && (
        <QuestionPanel key={`${step} ${question.value.key}`} store={store} question={question.value} />
      )}
      <div class="rw-row rw-steps">
        <Button aria-disabled={isFirst} onClick={() => isFirst || store.lesson.showStep(step - 1)}>
          {words.back}
        </Button>
        <span class="rw-muted">{words.step(step + 1, steps.value)}</span>
        <Button
          look={isLast ? "button" : "button rw-primary"}
          aria-disabled={isLast}
          onClick={() => isLast || store.lesson.showStep(step + 1)}
        >
          {words.next}
        </Button>
        <Button title={words.restartHint} onClick={() => store.lesson.showStep(step)}>
          {words.restart}
        </Button>
        {hasAnswers && (
          <Button onClick={({ currentTarget }) => saveAnswers(store, currentTarget.ownerDocument)}>{words.save}</Button>
        )}
        {hasAnswers && store.lesson.isStorageRefused?.value === false && <Forget store={store} />}
      </div>
      {hasAnswers && store.lesson.isStorageRefused?.value && (
        <p class="rw-fault" role="alert">
          {words.notKept}
        </p>
      )}
    </section>
  );
}
