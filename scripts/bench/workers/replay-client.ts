/** The worker that takes one replay over a WebSocket and says how fast it came. */
import { mainThreadSeconds } from '../process/resource-usage.ts';

interface ReplaySpec {
  /** `ws://...` with the endpoint. */
  url: string;
  /** API key. */
  key: string;
  /** The subscribe call, which asks for progress. */
  subscribe: string;
  /** Of the daemon. */
  pid: number;
}

export interface ReplayTimes {
  messages: number;
  /** From the call to the report that the replay has ended. */
  seconds: number;
  /** Processor time of the daemon's event loop meanwhile. */
  cpuSeconds: number;
  /** Messages whose transaction has no known sender. */
  unknownSenders: number;
}

const MAX_MS = 300_000;

async function replay({ url, key, subscribe, pid }: ReplaySpec): Promise<ReplayTimes> {
  const socket = new WebSocket(`${url}?api_key=${key}`);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const times: ReplayTimes = { messages: -1, seconds: 0, cpuSeconds: 0, unknownSenders: 0 }; // without the answer
  let startedAt = 0;
  let cpuBefore = 0;
  const timer = setTimeout(reject, MAX_MS, new Error('the replay did not end'));
  socket.onerror = () => reject(new Error('the WebSocket failed'));
  socket.onclose = () => reject(new Error('the server closed the WebSocket'));
  socket.onopen = () => {
    cpuBefore = mainThreadSeconds(pid);
    startedAt = performance.now();
    socket.send(subscribe);
  };
  socket.onmessage = ({ data }) => {
    const text = String(data);
    if (!text.includes('"result":{"progress":')) {
      times.messages++;
      if (text.includes('"txFrom":null')) times.unknownSenders++;
    } else if (text.includes('"live":true')) {
      times.seconds = (performance.now() - startedAt) / 1000;
      times.cpuSeconds = mainThreadSeconds(pid) - cpuBefore;
      resolve();
    }
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
