// Text for XML files.

/**
 * Characters that XML 1.0 forbids: control characters but tab and line breaks, lone surrogates, U+FFFE and U+FFFF. A
 * serializer writes them as they are, and no reader accepts the file.
 */
const FORBIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Returns a text in which a replacement character stands for each character that XML 1.0 forbids. */
export const withoutForbidden = (text: string) => text.replace(FORBIDDEN, "\ufffd");
