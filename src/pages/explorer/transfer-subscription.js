/** Transfers of a wallet as they happen, over the WebSocket. */
import { socketUrlOf } from '../ui/base-url.js';

/** Waiting before the next try, milliseconds: doubled from the first to the last. */
const MIN_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 30_000;

/**
 * @typedef {object} LiveListeners
 * @property {(transfer: LiveTransfer) => void} onTransfer
 * @property {(state: 'connecting' | 'live' | 'lost' | 'unavailable', reason: string) => void} onState
 */

/** @typedef {import('./api-types.js').Transfer & { removed?: boolean }} LiveTransfer */

/** Of a server that refuses the socket the browser tells no more than that it did. */
const REFUSED =
  'The server did not accept the WebSocket. It may not offer streams, or this key has as many connections open as it may.';

/**
 * Watches a wallet until the signal ends it. After a break it connects again; what happened meanwhile is not told.
 * @param {string} key
 * @param {string} address
 * @param {number} fromBlock the first block whose transfers are not known yet, for the first connection
 * @param {AbortSignal} signal
 * @param {LiveListeners} listeners
 */
export function subscribeToTransfers(key, address, fromBlock, signal, { onTransfer, onState }) {
  /** @type {WebSocket | null} */
  let socket = null;
  let backoffMs = MIN_BACKOFF_MS;
  let subscribed = false;

  const connect = () => {
    if (signal.aborted) return;
    onState('connecting', '');
    let refusal = '';
    const opened = new WebSocket(socketUrlOf(`ws?api_key=${encodeURIComponent(key)}`));
    socket = opened;
    opened.addEventListener('open', () => {
      const filter = { address, direction: 'both', ...(subscribed ? {} : { fromBlock }) };
      opened.send(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'eth_subscribe',
          params: ['wallet_transfers', filter],
        }),
      );
    });
    opened.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data));
      if (message.error !== undefined) {
        refusal = String(message.error.message);
        opened.close();
      } else if (message.id === 1) {
        subscribed = true;
        backoffMs = MIN_BACKOFF_MS;
        onState('live', '');
      } else if (message.method === 'eth_subscription') {
        onTransfer(message.params.result);
      }
    });
    opened.addEventListener('close', ({ code, reason }) => {
      if (signal.aborted) return;
      if (refusal !== '')
        return onState('unavailable', `The server refused to watch this wallet: ${refusal}.`);
      if (!subscribed) return onState('unavailable', REFUSED);
      onState(
        'lost',
        `The connection broke (${reason || code}). Trying again in ${Math.round(backoffMs / 1000)} s.`,
      );
      setTimeout(connect, backoffMs);
      backoffMs = Math.min(MAX_BACKOFF_MS, backoffMs * 2);
    });
  };
  signal.addEventListener('abort', () => socket?.close());
  connect();
}
