/** Why a daemon cannot share its keys. */
import { messageOf } from '../lib/errors.ts';
import { postgresReason } from '../postgres/connection.ts';

/** The daemon and PostgreSQL are incompatible until an operator changes something. The message names both sides. */
export class ClusterMismatchError extends Error {
  override name = 'ClusterMismatchError';
}

/** Safe to show to anybody. The log has the whole message. */
export function publicReason(error: unknown): string {
  if (error instanceof ClusterMismatchError) return error.message;
  return postgresReason(error, 'access.postgres') ?? `sharing keys failed: ${messageOf(error)}`;
}
