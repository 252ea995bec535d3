// Characters that set the direction of text.

/** Embeddings, overrides and isolates. Their effect ends at the end of the paragraph, so it reaches the text that follows. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns the text with each of these characters replaced by the replacement character U+FFFD. Otherwise, a name from a
 * file would reverse the numbers after it.
 */
export const withoutDirections = (text: string) => text.replace(DIRECTIONS, "\ufffd");
