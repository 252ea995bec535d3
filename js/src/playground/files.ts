// Opening files: pages that roofwidget saved, and sessions. The HTML of a page is only searched, never shown or run.

import { withBuffers } from "../state/saved_model.ts";
import { formatQuantity } from "../text/numbers.ts";
import { inflatedWithin } from "../wire/link.ts";
import { bytesOf } from "../wire/packed.ts";
import { checkedState } from "./checks.ts";
import type { Values } from "./local_model.ts";
import { NewerError, type Stock, sessionState } from "./play_state.ts";
import { isObject } from "./records.ts";
import { playgroundWords as words } from "./words.ts";

/** The largest file, and the largest state of a page, bytes. */
export const MAX_FILE_BYTES = 40e6;
const MAX_STATE_BYTES = 100e6;
/** The attribute of the element with a widget's state; `MARK` in roofwidget/readers/page.py. */
const MARK = "data-roofwidget";
/** Where a tag with the mark must begin and end, letters before and after the mark. */
const MAX_TAG_LETTERS = 200;
const TAG_BEFORE = /<[a-z]+(?:\s[^<>]*)?\s$/i;
const SCRIPT_AFTER = /^(?:=""|\s[^<>]*)?>\s*<script\b[^<>]*>/i;

/** The part of a File that is read. */
export interface GivenFile {
  readonly name: string;
  readonly size: number;
  text(): Promise<string>;
}

/** Returns the values that a file shows and the parts of it that are not taken; or a sentence that says why not. */
export async function openedFile(
  file: GivenFile,
  stock: Stock,
): Promise<{ readonly values: Values; readonly notTaken: readonly string[] } | string> {
  if (file.size > MAX_FILE_BYTES) return words.tooLarge(file.name, formatQuantity(MAX_FILE_BYTES, "B"));
  const text = await file.text();
  const start = text.trimStart();
  try {
    if (start.startsWith("<")) return await openedPage(file.name, text, stock);
    if (start.startsWith("{")) return openedSession(text, stock);
  } catch (error) {
    if (error instanceof NewerError) return words.newerSession(file.name);
    return words.damaged(file.name, error instanceof Error ? error.message : String(error));
  }
  return words.takes;
}

/** Returns the text of the script with the state of the first widget. Takes a time that grows with the text alone. */
function packedState(text: string): string | undefined {
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + 1)) {
    const after = at + MARK.length;
    const script = SCRIPT_AFTER.exec(text.slice(after, after + MAX_TAG_LETTERS));
    if (!script || !TAG_BEFORE.test(text.slice(Math.max(0, at - MAX_TAG_LETTERS), at))) continue;
    const start = after + script[0].length;
    return text.slice(start, text.indexOf("<", start));
  }
  return undefined;
}

async function openedPage(name: string, text: string, { empty }: Stock) {
  const packed = packedState(text);
  if (packed === undefined) return words.noWidget(name) + words.takes;
  const bytes = bytesOf(packed.trim());
  const saved: unknown = JSON.parse(await inflatedWithin(bytes, "gzip", MAX_STATE_BYTES));
  if (!isObject(saved) || !isObject(saved["state"]) || !Array.isArray(saved["buffers"]))
    throw new Error("it has no state");
  const state = withBuffers({ state: saved["state"], buffers: saved["buffers"] });
  return { values: { ...empty, ...checkedState(state) }, notTaken: [] };
}

function openedSession(text: string, stock: Stock) {
  const session: unknown = JSON.parse(text);
  return isObject(session) && "format" in session ? sessionState(session, stock) : words.takes;
}
