/** Texts of others in messages. */

/**
 * The text on one line, without characters that steer a terminal: what a node says is shown by the log, the status and
 * the commands.
 */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}
