/** `atlas-node status`: shows the status of a running daemon. */
import type { Command } from 'commander';
import { pause } from '../../lib/async.ts';
import { FatalError } from '../../lib/errors.ts';
import { paintFor } from '../format.ts';
import { addConfigOptions, addNotes } from '../options.ts';
import { hasReaderLeft } from '../output-errors.ts';
import { localTarget, StatusClient, type StatusReport, urlTarget } from './status-client.ts';
import { statusTable } from './status-table.ts';

/** Interval of --watch, milliseconds. */
const REFRESH_MS = 1_000;

/** The terminal's alternate screen, without a cursor. Leaving it restores the previous contents. */
const ENTER = '\x1b[?1049h\x1b[?25l';

const LEAVE = '\x1b[?25h\x1b[?1049l';

const HOME = '\x1b[H';

const CLEAR_TO_LINE_END = '\x1b[K';

const CLEAR_BELOW = '\x1b[J';

/** The output; a terminal has `columns` and `rows`. */
interface Screen {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  write(text: string): unknown;
}

/**
 * Shows the result of `render` once per second, until SIGINT or SIGTERM, or until its reader is gone. Redraws a
 * terminal in place and leaves the last text on it; elsewhere appends the texts. While the daemon gives no status,
 * because it is not up yet or restarting, shows the failure instead.
 */
export async function watch(render: () => Promise<string>, screen: Screen): Promise<void> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  try {
    await redraw(render, screen, stop.signal);
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
  }
}

async function redraw(render: () => Promise<string>, screen: Screen, signal: AbortSignal): Promise<void> {
  let last = await render().catch(errorText);
  if (screen.isTTY) screen.write(ENTER);
  try {
    while (!signal.aborted && !hasReaderLeft()) {
      screen.write(screen.isTTY ? frame(last, screen) : `${last}\n`);
      await pause(REFRESH_MS, signal);
      if (!signal.aborted) last = await render().catch(errorText);
    }
  } finally {
    if (screen.isTTY) screen.write(`${LEAVE}${last}\n`);
  }
}

function errorText(error: unknown): string {
  if (error instanceof FatalError) return error.message;
  throw error;
}

function errorJson(error: unknown): string {
  return JSON.stringify({ error: errorText(error) });
}

/** Draws the text over the previous one and cuts off the excess. */
function frame(text: string, { columns = 80, rows = 24 }: Screen): string {
  const lines = text.split('\n').slice(0, rows - 1);
  return `${HOME}${lines.map((line) => truncate(line, columns) + CLEAR_TO_LINE_END).join('\n')}\n${CLEAR_BELOW}`;
}

/** At most `columns` visible characters. Keeps colour codes, which take no space. */
function truncate(line: string, columns: number): string {
  let remaining = columns;
  return line.replace(/\p{Cc}\[\d+m|./gu, (part) => {
    if (part.length > 1) return part;
    return remaining-- > 0 ? part : '';
  });
}

const EXAMPLES = `
Examples:
  $ atlas-node status              the daemon of ./atlas.toml
  $ atlas-node status --watch      redraw it every second until Ctrl-C
  $ atlas-node status --url http://10.0.0.7:8650 --json
  $ atlas-node status --json | jq .lagBlocks`;

const NOTES = `If the configuration has an admin_token, the status includes the disk and its forecast. The token is \
sent to whatever listens at server.host and server.port. With --url, no token is sent.`;

interface Options {
  url?: string;
  json?: boolean;
  watch?: boolean;
}

export function addStatus(program: Command): void {
  const command = program
    .command('status')
    .description('show height, lag, rates, ETA, disk and capabilities of a running daemon')
    .option('--url <url>', 'address of the daemon (default: from the configuration)')
    .option('--watch', 'redraw every second until Ctrl-C; waits for a daemon that is not up yet')
    .option('--json', 'print JSON; with --watch, one line per refresh')
    .addHelpText('after', EXAMPLES);
  addNotes(command, NOTES);
  const load = addConfigOptions(command, []);
  command.action(async ({ url, json, watch: again }: Options) => {
    const target = url === undefined ? localTarget((await load()).config) : urlTarget(url);
    const client = new StatusClient(target);
    const render = async () => {
      if (json) return jsonText(await client.fetch(), again ? 0 : 2);
      return statusTable(await client.fetch(), Date.now(), paintFor(process.stdout));
    };
    if (again) await watch(json ? () => render().catch(errorJson) : render, process.stdout);
    else console.log(await render());
  });
}

/** The daemon's own answer, plus `disk` if known. */
function jsonText({ status, disk }: StatusReport, indent: number): string {
  return JSON.stringify(disk === null ? status : { ...status, disk }, null, indent);
}
