/** Colours on a terminal. */
import { isColourless } from '../lib/colourless.ts';

const CODES = { red: 31, green: 32, yellow: 33, dim: 2 } as const;
export type Colour = keyof typeof CODES;

/** Colours a text, or returns it unchanged where colours are not wanted. */
export type Paint = (colour: Colour, text: string) => string;

export const plain: Paint = (_, text) => text;

/** Colours for a stream if it is a terminal that supports them. */
export function paintFor(out: { isTTY?: boolean }): Paint {
  if (!out.isTTY || isColourless()) return plain;
  return (colour, text) => `\x1b[${CODES[colour]}m${text}\x1b[0m`;
}
