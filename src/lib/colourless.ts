/** Whether to write plain text: NO_COLOR is set (https://no-color.org), or the terminal has no colours. */
export function isColourless(): boolean {
  return Boolean(process.env.NO_COLOR) || process.env.TERM === 'dumb';
}
