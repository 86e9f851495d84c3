/**
 * The reference of an API without named queries. The bundle has it ready (scripts/build/bundle.ts), because building it
 * would be a fifth of the time that a start takes.
 */
import { type ApiReference, buildReference } from './reference.ts';

let built: ApiReference | undefined;

export function plainReference(): ApiReference {
  built ??= buildReference([]);
  return built;
}
