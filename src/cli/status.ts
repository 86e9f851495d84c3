/** `atlas-node status`: the status that a running daemon reports. */
import type { Command } from 'commander';
import { paintFor } from './colour.ts';
import { addConfigOptions, addNotes } from './options.ts';
import { localTarget, StatusClient, type StatusReport, urlTarget } from './status-client.ts';
import { statusTable } from './status-table.ts';
import { watch } from './watch.ts';

const EXAMPLES = `
Examples:
  $ atlas-node status              the daemon of ./atlas.toml
  $ atlas-node status --watch      shown anew every second, until Ctrl-C
  $ atlas-node status --url http://10.0.0.7:8650 --json
  $ atlas-node status --json | jq .lagBlocks`;

const NOTES = `Where the configuration has an admin_token the disk and its forecast are shown too: the token is sent to \
whatever listens at server.host and server.port. With --url no token is sent.`;

interface Options {
  url?: string;
  json?: boolean;
  watch?: boolean;
}

export function addStatus(program: Command): void {
  const command = program
    .command('status')
    .description('height, lag, rates, ETA, disk and capabilities of a running daemon')
    .option('--url <url>', 'address of the daemon (default: from the configuration)')
    .option('--watch', 'shown anew every second, until Ctrl-C')
    .option('--json', 'as JSON; with --watch one line each time')
    .addHelpText('after', EXAMPLES);
  addNotes(command, NOTES);
  const load = addConfigOptions(command, []);
  command.action(async ({ url, json, watch: again }: Options) => {
    const target = url === undefined ? localTarget((await load()).config) : urlTarget(url);
    const client = new StatusClient(target);
    const render = async () => {
      const report = await client.fetch();
      return json
        ? jsonText(report, again ? 0 : 2)
        : statusTable(report, Date.now(), paintFor(process.stdout));
    };
    if (again) await watch(render, process.stdout);
    else console.log(await render());
  });
}

/** The daemon's own answer, with `disk` added where that is known. */
function jsonText({ status, disk }: StatusReport, indent: number): string {
  return JSON.stringify(disk === null ? status : { ...status, disk }, null, indent);
}
