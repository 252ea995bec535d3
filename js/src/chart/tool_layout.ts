// Which tools are in the toolbar, which tools show a word, and which tools are in the menu.

import { textWidth } from "./labels/text_fitting.ts";

interface Fitted {
  /** The word beside the icon. Tools without a word always show only their icon. */
  readonly word?: string | undefined;
  /** The place of the tool in the order of importance. The tools with the largest numbers are in the menu first. */
  readonly rank: number;
}

/** The width of a button with an icon, px. */
export const BUTTON_PX = 24;
/** The space around a word, px. */
const WORD_PADDING_PX = 10;

const wordWidth = ({ word }: Fitted) => (word === undefined ? 0 : Math.ceil(textWidth(word)) + WORD_PADDING_PX);

/**
 * Fits the tools into `room` px. Tools up to the last with a word are essential: if there is no room for everything, the
 * others are in the menu, and then the least important essential tools lose their words. The menu's button then also
 * has a place. Returns the tools in their given order.
 */
export function fitTools<T extends Fitted>(
  tools: readonly T[],
  room: number,
): { readonly shown: readonly (T & { readonly hasWord: boolean })[]; readonly rest: readonly T[] } {
  const byRank = [...tools].sort((a, b) => a.rank - b.rank);
  const worded = byRank.filter(({ word }) => word !== undefined);
  const essential = worded.length === 0 ? 0 : byRank.indexOf(worded.at(-1) as T) + 1;
  const withWord = new Set<T>();
  let wordless = room - (essential + 1) * BUTTON_PX;
  for (const tool of worded) {
    wordless -= wordWidth(tool);
    if (wordless < 0) break;
    withWord.add(tool);
  }
  const widthOf = (tool: T) => BUTTON_PX + (withWord.has(tool) ? wordWidth(tool) : 0);
  const all = tools.reduce((sum, tool) => sum + widthOf(tool), 0);
  const fits = new Set<T>();
  let left = all <= room ? room : room - BUTTON_PX;
  for (const tool of byRank) {
    left -= widthOf(tool);
    if (left < 0) break;
    fits.add(tool);
  }
  return {
    shown: tools.filter((tool) => fits.has(tool)).map((tool) => ({ ...tool, hasWord: withWord.has(tool) })),
    rest: tools.filter((tool) => !fits.has(tool)),
  };
}
