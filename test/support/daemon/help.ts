/** The output of `--help`, without a process per command. */
import type { Command } from 'commander';
import { buildProgram } from '../../../src/cli/program.ts';

const PROGRAM = await buildProgram();

/**
 * The help of every command that help shows, by its path, such as `keys create`, and of the program by ''. In the width
 * of a pipe.
 */
export function helpTexts(): Map<string, string> {
  const texts = new Map<string, string>();
  const visit = (command: Command, path: string): void => {
    let text = '';
    command.configureOutput({
      getOutHelpWidth: () => 80,
      writeOut: (part) => {
        text += part;
      },
    });
    command.outputHelp();
    texts.set(path, text);
    const shown = command.createHelp().visibleCommands(command);
    for (const child of command.commands)
      if (shown.includes(child)) visit(child, `${path} ${child.name()}`.trim());
  };
  visit(PROGRAM, '');
  return texts;
}
