/** The worker that takes one replay over a WebSocket and says how fast it came. */

interface ReplaySpec {
  /** `ws://...` with the endpoint. */
  url: string;
  /** API key. */
  key: string;
  /** The subscribe call. */
  subscribe: string;
}

export interface ReplayTimes {
  messages: number;
  /** From the call to the last message. */
  seconds: number;
  /** Messages whose transaction has no known sender. */
  unknownSenders: number;
}

/** A replay without messages for this long is over, milliseconds: longer than a pause for the node. */
const QUIET_MS = 1_500;

async function replay({ url, key, subscribe }: ReplaySpec): Promise<ReplayTimes> {
  const socket = new WebSocket(`${url}?api_key=${key}`);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const times: ReplayTimes = { messages: -1, seconds: 0, unknownSenders: 0 }; // without the answer
  let startedAt = 0;
  let timer = setTimeout(reject, 30_000, new Error('the replay did not start'));
  socket.onerror = () => reject(new Error('the WebSocket failed'));
  socket.onclose = () => reject(new Error('the server closed the WebSocket'));
  socket.onopen = () => {
    startedAt = performance.now();
    socket.send(subscribe);
  };
  socket.onmessage = ({ data }) => {
    times.messages++;
    times.seconds = (performance.now() - startedAt) / 1000;
    if (String(data).includes('"txFrom":null')) times.unknownSenders++;
    clearTimeout(timer);
    timer = setTimeout(resolve, QUIET_MS);
  };
  await promise.finally(() => {
    clearTimeout(timer);
    socket.onclose = null;
    socket.close();
  });
  return times;
}

export function replayClientActions() {
  return { replay };
}
