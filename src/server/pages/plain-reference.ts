/**
 * The reference of an API without named queries. The bundle has it ready (scripts/build/bundle.ts), because building it
 * would be a fifth of the time that a start takes.
 */
import { buildReference, type Reference } from './reference.ts';

let built: Reference | undefined;

export function plainReference(): Reference {
  built ??= buildReference([]);
  return built;
}
