/** Why a connection to the node failed, as text. */

/** What OpenSSL says of an answer that is not TLS. */
const NOT_TLS = /wrong version number|packet length too long|record layer failure|http request/i;

/** Of several addresses that all refuse, the message is empty. */
export function socketErrorText({ message, code, name }: NodeJS.ErrnoException): string {
  if (code === 'EPROTO' && NOT_TLS.test(message)) {
    return 'the node does not speak TLS there: use http:// or ws:// in its address';
  }
  return message || code || name;
}
