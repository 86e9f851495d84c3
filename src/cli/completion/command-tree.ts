/** The command tree that completion scripts are generated from: every command with its words and options. */
import type { Command, Option } from 'commander';
import { FLAGS } from '../../config/flags.ts';
import { configSchema } from '../../config/schema.ts';
import { choicesOf } from '../../config/tree.ts';

/** The possible values of an option or an argument. */
export type CompletionValue =
  | { kind: 'none' | 'file' | 'folder' | 'any' }
  | { kind: 'choice'; words: string[] };

export interface CompletionOption {
  /** `--port`, and `-V` beside `--version`. */
  names: string[];
  description: string;
  value: CompletionValue;
}

export interface CompletionCommand {
  /** The words of the command: none for the program itself, `keys create` for that command. */
  path: string[];
  /** Subcommands with their descriptions. */
  commands: { name: string; description: string }[];
  options: CompletionOption[];
  argument: CompletionValue;
}

const HELP: CompletionOption = {
  names: ['--help'],
  description: 'display help for command',
  value: { kind: 'none' },
};

/** The program and all commands below it, the program first. */
export function commandTree(command: Command, path: string[] = []): CompletionCommand[] {
  const [argument] = command.registeredArguments;
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((sub) => command.commands.includes(sub));
  const here: CompletionCommand = {
    path,
    commands: visible.map((sub) => ({ name: sub.name(), description: sub.description() })),
    options: [...command.options.map(completionOption), HELP],
    argument: argument === undefined ? { kind: 'none' } : valueFor(argument.name(), argument.argChoices),
  };
  return [here, ...visible.flatMap((sub) => commandTree(sub, [...path, sub.name()]))];
}

function completionOption(option: Option): CompletionOption {
  const { long, short, description, flags, argChoices } = option;
  const placeholder = /<([^>]+)>/.exec(flags)?.[1];
  const choices = argChoices ?? choicesOfOption(long);
  return {
    names: [long, short].filter((name) => name !== undefined),
    description,
    value: placeholder === undefined ? { kind: 'none' } : valueFor(placeholder, choices),
  };
}

/** The words that the configuration accepts for an option. */
function choicesOfOption(long: string | undefined): string[] {
  if (long === '--tier') return Object.keys(configSchema.parse({}).tiers);
  const setting = FLAGS.find(({ flag }) => flag === long)?.path;
  return setting === undefined ? [] : choicesOf(setting);
}

function valueFor(placeholder: string, choices: readonly string[] = []): CompletionValue {
  if (choices.length > 0) return { kind: 'choice', words: [...choices] };
  if (placeholder === 'file') return { kind: 'file' };
  return { kind: placeholder === 'dir' ? 'folder' : 'any' };
}

/** A path as written in the scripts: a space before each word. */
export function pathText(path: string[]): string {
  return path.map((word) => ` ${word}`).join('');
}
