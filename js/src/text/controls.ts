// Characters that are not shown, or that change what stands around them.

/**
 * Control characters except tab and line breaks, and embeddings, overrides and isolates. The effect of the latter ends at
 * the end of the paragraph, so it reaches the text that follows.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns the text with each of these characters replaced by the replacement character U+FFFD. Otherwise, a name from a
 * file would reverse the numbers after it, or look like another name.
 */
export const withoutControls = (text: string) => text.replace(CONTROLS, "\ufffd");
