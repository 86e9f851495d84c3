/** The program: a command line, or the process that runs queries, which starts without the modules of the commands. */
import './server/max-header-size.ts';
import { PROCESS_COMMAND } from './sql/process/protocol.ts';

// Not awaited: the single binary contains this file as a CommonJS script.
void start(process.argv.slice(2));

async function start(args: string[]): Promise<void> {
  if (args[0] === PROCESS_COMMAND && process.connected) {
    const { serveQueries } = await import('./sql/process/sql-process.ts');
    return serveQueries();
  }
  if (asksQuery(args)) await import('./cli/sql/queries.ts'); // first: they load while the command does
  const { run } = await import('./cli/run.ts');
  process.exitCode = await run(args);
}

/** Whether a command line is one of `atlas-node sql` that runs queries, as far as its words tell. */
function asksQuery([command, ...rest]: string[]): boolean {
  return command === 'sql' && !rest.some((word) => /^(\.[a-z]|--help$|-h$)/.test(word));
}
