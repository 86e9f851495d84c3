/** The socket that systemd listens on. Node cannot open sockets of this kind, so Python does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { waitFor } from '../wait.ts';

/** Prints one line per message, with tabs for line ends. Closes received descriptors, which ends the sender's wait. */
const RECEIVER = `
import array, os, socket, sys
address = sys.argv[1]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind('\\0' + address[1:] if address.startswith('@') else address)
print('listening', flush=True)
while True:
    message, sent_along, _, _ = listener.recvmsg(65536, 1024)
    for _, kind, data in sent_along:
        if kind == socket.SCM_RIGHTS:
            for descriptor in array.array('i', data): os.close(descriptor)
    print(message.decode().replace('\\n', '\\t'), flush=True)
`;

interface NotifySocket {
  /** The assignments of each message so far, without those by which a sender waits for its delivery. */
  messages(): string[][];
  /** Resolves when a message has all of these assignments, given as patterns. Searches from message `from` on. */
  hears(patterns: RegExp[], from?: number): Promise<void>;
}

/** `address` as in NOTIFY_SOCKET: a path, or `@` and a name. */
export async function listenAsSystemd(
  owner: { after(fn: () => Promise<void>): void },
  address: string,
): Promise<NotifySocket> {
  const receiver = spawn('python3', ['-c', RECEIVER, address], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(receiver, 'exit');
  owner.after(async () => {
    receiver.kill();
    await ended;
  });
  const lines: string[] = [];
  createInterface(receiver.stdout).on('line', (line) => lines.push(line));
  await waitFor(() => lines[0] === 'listening', { what: 'the notification socket' });
  const messages = () =>
    lines
      .slice(1)
      .filter((line) => !/^(BARRIER|ERRNO)=/.test(line))
      .map((line) => line.split('\t'));
  return {
    messages,
    async hears(patterns, from = 0) {
      const fits = (message: string[]) =>
        patterns.every((pattern) => message.some((assignment) => pattern.test(assignment)));
      await waitFor(() => messages().slice(from).some(fits), {
        what: `a notification with ${patterns.join(' and ')} among ${JSON.stringify(messages())}`,
      }).catch(() => {
        throw new Error(`no notification has ${patterns.join(' and ')}: ${JSON.stringify(messages())}`);
      });
    },
  };
}
