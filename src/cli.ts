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
  const { run } = await import('./cli/run.ts');
  process.exitCode = await run(args);
}
