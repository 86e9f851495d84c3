/** `eth_call` with a fixed answer: a call that costs the node almost nothing. Pure. */

/** The answer to a call of `eth_call`, null for anything else. */
export function answerFixed(body: Buffer): string | null {
  if (!body.includes('"eth_call"')) return null;
  const id = /"id"\s*:\s*(\d+|"[^"]*")/.exec(body.toString('latin1'))?.[1];
  return id === undefined ? null : `{"jsonrpc":"2.0","id":${id},"result":"${RESULT}"}`;
}

/** Three words, like a pair's reserves. */
const RESULT = `0x${'0123456789abcdef'.repeat(12)}`;

/** The body of the `i`-th of many distinct calls, so that none can be merged. */
export function fixedCall(i: number): string {
  const to = `0x${i.toString(16).padStart(40, 'c')}`;
  return `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"${to}","data":"0x0902f1ac"},"latest"]}`;
}
