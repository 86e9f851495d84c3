/** Whether the terminal of this process is to get plain text: NO_COLOR asks for it (https://no-color.org), or it knows no colours. */
export function isColourless(): boolean {
  return Boolean(process.env.NO_COLOR) || process.env.TERM === 'dumb';
}
