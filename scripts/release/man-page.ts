/** The manual page, generated from the help of the commands. */
import type { Command, Help } from 'commander';

/** Width of the notes. The builder's terminal must not matter. */
const COLUMNS = 76;

/** The page in roff for section 1. `date` is the day of the release, `YYYY-MM-DD`. */
export function manPage(program: Command, version: string, date: string): string {
  return [
    `.TH ATLAS-NODE 1 ${date} "atlas-node ${version}" "User Commands"`,
    '.SH NAME',
    toRoff(`${program.name()} - ${lowerFirst(program.description()).replace(/\.$/, '')}`),
    '.SH SYNOPSIS',
    `.B ${program.name()}`,
    '.I command',
    '[\\fIoptions\\fR]',
    '.SH DESCRIPTION',
    ...afterHelp(program),
    '.SH COMMANDS',
    ...program.commands.flatMap((command) => commandSection(command, program.name())),
    '.SH FILES',
    ...entry('/etc/atlas-node/atlas.toml', 'Settings of the service, each explained at its place.'),
    ...entry('/etc/atlas-node/environment', 'Secrets of the service, such as ATLAS_ADMIN_TOKEN.'),
    ...entry('/var/lib/atlas-node', 'The index, the keys and the webhooks of the service.'),
    '',
  ].join('\n');
}

/** A command and its subcommands. A pure command group has no section of its own. */
function commandSection(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  const below = command.commands.flatMap((sub) => commandSection(sub, name));
  if (below.length > 0) return below;
  const help = command.createHelp();
  return [
    `.SS "${toRoff(name)}"`,
    toRoff(help.commandDescription(command)),
    ...argumentsOf(command, help),
    ...help.visibleOptions(command).flatMap((option) => {
      return entry(help.optionTerm(option), help.optionDescription(option));
    }),
    ...afterHelp(command),
  ];
}

function argumentsOf(command: Command, help: Help): string[] {
  return help
    .visibleArguments(command)
    .flatMap((argument) => entry(`<${help.argumentTerm(argument)}>`, help.argumentDescription(argument)));
}

/** What a command adds to its help: notes and examples, with their layout. */
function afterHelp(command: Command): string[] {
  const written: string[] = [];
  command.configureOutput({ writeOut: (text) => written.push(text), getOutHelpWidth: () => COLUMNS });
  command.outputHelp();
  const lines = written.join('').slice(command.helpInformation().length).trim().split('\n');
  return lines[0] === '' ? [] : ['.PP', '.nf', ...lines.map(toRoff), '.fi'];
}

function entry(term: string, text: string): string[] {
  return ['.TP', `.B ${toRoff(term)}`, toRoff(text)];
}

/** Roff treats any backslash, and a dot or an apostrophe at the start of a line, as a command. */
function toRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
