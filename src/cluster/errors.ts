/** Why a daemon cannot share its keys. */
import { messageOf } from '../lib/errors.ts';
import { postgresReason } from '../postgres/errors.ts';

/** The daemon and PostgreSQL do not go together until an operator changes something. The message names both sides. */
export class ClusterMismatchError extends Error {
  override name = 'ClusterMismatchError';
}

/** May be shown to anybody; the log has the whole message. */
export function publicReason(error: unknown): string {
  if (error instanceof ClusterMismatchError) return error.message;
  return postgresReason(error, 'access.postgres') ?? `sharing keys failed: ${messageOf(error)}`;
}
