/** `atlas-node dev`: a local chain with demo traffic and the daemon beside it. */
import type { Command } from 'commander';
import { examples } from './options.ts';

export function addDev(program: Command): void {
  program
    .command('dev')
    .description(
      'run a local chain (anvil) with demo contracts and traffic, the daemon beside it, and print a demo key',
    )
    .addHelpText('after', examples('dev', 'dev 2> dev.log'))
    .action(async () => {
      const { createLogger } = await import('../log/logger.ts');
      const { runDev } = await import('../dev/dev.ts');
      await runDev(createLogger({ level: 'info', format: 'auto' }));
    });
}
