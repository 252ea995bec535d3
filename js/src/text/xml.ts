// Text for XML files.

/**
 * Characters that XML 1.0 forbids: control characters except tab and line breaks, lone surrogates, U+FFFE and U+FFFF. A
 * serializer writes these characters unchanged, and then no reader accepts the file.
 */
const FORBIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Returns the text with each character that XML 1.0 forbids replaced by the replacement character U+FFFD. */
export const withoutForbidden = (text: string) => text.replace(FORBIDDEN, "\ufffd");
