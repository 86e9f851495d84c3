/** `atlas-node dev`: a local chain with demo traffic and the daemon beside it. */
import type { Command } from 'commander';
import { examples } from './options.ts';

export function addDev(program: Command): void {
  program
    .command('dev')
    .description('run a local chain (anvil) with demo traffic and a daemon, and print a demo key')
    .option('--port <port>', 'port to listen on (default: 8650, or a free one if that is taken)')
    .addHelpText('after', examples('dev', 'dev --port 9000', 'dev 2> dev.log'))
    .action(async ({ port }: { port?: string }) => {
      const { createLogger } = await import('../log/logger.ts');
      const { runDev } = await import('../dev/dev.ts');
      await runDev(createLogger({ level: 'info', format: 'auto' }), port);
    });
}
