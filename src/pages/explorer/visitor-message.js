/** What went wrong, in words for whoever asks with a key. */
import { ApiError, errorMessage } from '../ui/api-error.js';

/**
 * What to tell the visitor: what happened and what can be done.
 * @param {unknown} error
 * @returns {string}
 */
export function visitorMessage(error) {
  if (!(error instanceof ApiError)) return errorMessage(error);
  switch (error.code) {
    case 'unreachable':
    case 'internal':
      return errorMessage(error);
    case 'unauthorized':
      return 'This key is invalid or has been revoked.';
    case 'rate_limited':
      return `This key is over its rate limit. Try again in ${error.retryAfter} s.`;
    case 'quota_exceeded':
      return `The requests of this key for this month are used up. ${resetText(error.retryAfter)}`;
    case 'tier_limit':
      return `The tier of this key does not allow this: ${error.message}.`;
    case 'not_ready':
      return 'No block is indexed yet: the server has just started, or its node does not respond. This view retries automatically.';
    case 'not_found':
      return 'This server does not offer this view.';
    case 'upstream':
      return 'The node behind this server did not answer.';
    default:
      return error.status >= 500
        ? `The server could not answer: ${error.message}.`
        : `The server refused the request: ${error.message}.`;
  }
}

/** @param {number} seconds */
function resetText(seconds) {
  const days = Math.ceil(seconds / 86_400);
  return days > 1 ? `The quota resets in ${days} days.` : 'The quota resets within a day.';
}
