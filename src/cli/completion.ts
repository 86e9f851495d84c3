/** `atlas-node completion`: a script for the shell, generated from the actual commands. */
import { Argument, type Command } from 'commander';

const EXAMPLES = `
Examples:
  $ source <(atlas-node completion bash)        this shell only
  $ atlas-node completion bash > /etc/bash_completion.d/atlas-node
  $ atlas-node completion zsh  > "\${fpath[1]}/_atlas-node"
  $ atlas-node completion fish > ~/.config/fish/completions/atlas-node.fish`;

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a shell script that completes commands and options')
    .addArgument(new Argument('<shell>', 'target shell').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action(async (shell: (typeof SHELLS)[number]) => {
      const [{ script }, { commandTree }] = await Promise.all([
        scriptMakers[shell](),
        import('./completion/command-tree.ts'),
      ]);
      process.stdout.write(script(commandTree(program)));
    });
}

const scriptMakers = {
  bash: () => import('./completion/bash.ts'),
  zsh: () => import('./completion/zsh.ts'),
  fish: () => import('./completion/fish.ts'),
};
