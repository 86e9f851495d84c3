/** Completion in fish, with descriptions. */
import {
  type CompletionCommand,
  type CompletionOption,
  type CompletionValue,
  pathText,
} from './command-tree.ts';

export function script(tree: CompletionCommand[]): string {
  return `# fish completion of atlas-node, made by "atlas-node completion fish"

function __atlas_node_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case ${tree
              .slice(1)
              .map(({ path }) => `'${pathText(path)}'`)
              .join(' ')}
                set at "$at $word"
        end
    end
    test "$at" = "$argv"
end

complete -c atlas-node -f
${tree.flatMap(commandLines).join('\n')}
`;
}

function commandLines({ path, commands, options, argument }: CompletionCommand): string[] {
  const at = `complete -c atlas-node -n "__atlas_node_at '${pathText(path)}'"`;
  const names = commands.map(({ name, description }) => `${at} -a ${name} -d ${quoted(description)}`);
  return [
    ...names,
    ...(argument.kind === 'choice' ? [`${at} -a '${argument.words.join(' ')}'`] : []),
    ...(argument.kind === 'file' ? [`${at} -F`] : []),
    ...options.map((option) => `${at}${optionWords(option)}`),
  ];
}

function optionWords({ names, description, value }: CompletionOption): string {
  const flags = names.map((name) =>
    name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`,
  );
  return `${flags.join('')}${valueWords(value)} -d ${quoted(description)}`;
}

function valueWords(value: CompletionValue): string {
  switch (value.kind) {
    case 'none':
      return '';
    case 'file':
      return ' -r -F';
    case 'folder':
      return ` -x -a '(__fish_complete_directories)'`;
    case 'choice':
      return ` -x -a '${value.words.join(' ')}'`;
    default:
      return ' -x';
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
