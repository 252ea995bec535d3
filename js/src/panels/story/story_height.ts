// The height of the panel of a story beside a chart. All steps have the same, so that no button moves between steps. It is
// estimated from the lengths of all texts: text that is drawn and hidden would tell answers. What does not fit scrolls.

import type { Question, StoryStep, TextNode } from "../../wire/types.ts";
import { plainText } from "./text_nodes.tsx";

/** The mean width of a letter, the height of a line, and the space after a paragraph, px. */
const [LETTER_PX, LINE_PX, PARAGRAPH_PX] = [7.2, 21, 4];
/** The widest line of a text, px. */
const MAX_LINE_PX = 620;
/** The space around the texts, and the height of a row of buttons, px. */
const [AROUND_PX, ROW_PX] = [26, 40];
/** The height of an option, the width of its button and of the space beside it, and the height of the box for a number, px. */
const [OPTION_PX, BUTTON_PX, BOX_PX] = [26, 44, 36];
/** The panel takes at most this share of the window. */
const MAX_SHARE = 0.28;

const heightOf = (text: string, width: number) =>
  text
    .split("\n")
    .reduce((sum, line) => sum + Math.ceil((line.length * LETTER_PX) / width) * LINE_PX + PARAGRAPH_PX, 0);

/** The height of options, which stand beside each other where they have room. */
function optionsHeight({ options }: Question, width: number): number {
  const widest = Math.max(...options.map(([option]) => option.length * LETTER_PX + BUTTON_PX));
  return Math.ceil(options.length / Math.max(1, Math.floor(width / widest))) * OPTION_PX;
}

function questionHeight(question: Question, width: number): number {
  const { prompt, kind, explanation } = question;
  const textHeight = (nodes: readonly TextNode[]) => heightOf(plainText(nodes), width);
  const asked = kind === "choice" ? optionsHeight(question, width) : BOX_PX;
  return textHeight(prompt) + LINE_PX + Math.max(asked + ROW_PX, textHeight(explanation) + LINE_PX);
}

/** Returns the height for all steps, px. `width` is that of the panel, and `visible` the height of the window. */
export function storyHeight(steps: readonly StoryStep[], width: number, visible: number): number {
  const half = Math.min(MAX_LINE_PX, width / 2 - AROUND_PX);
  const heights = steps.map(({ caption, question }) => {
    const captionWidth = question ? half : Math.min(MAX_LINE_PX, width - AROUND_PX);
    return Math.max(heightOf(plainText(caption), captionWidth) + ROW_PX, question ? questionHeight(question, half) : 0);
  });
  return Math.round(AROUND_PX + Math.min(Math.max(...heights), visible * MAX_SHARE - AROUND_PX));
}
