/** Completion in zsh, with descriptions. */
import {
  type CompletionCommand,
  type CompletionOption,
  type CompletionValue,
  pathText,
} from './command-tree.ts';

export function script(tree: CompletionCommand[]): string {
  return `#compdef atlas-node
# zsh completion of atlas-node, made by "atlas-node completion zsh"

_atlas_node() {
  local at= word
  local -a names options
  for word in \${words[2,CURRENT-1]}; do
    case "$at $word" in
      (${tree
        .slice(1)
        .map(({ path }) => `'${pathText(path)}'`)
        .join('|')}) at="$at $word" ;;
    esac
  done
  case "$at $words[CURRENT-1]" in
${tree.flatMap(valueCases).join('\n')}
  esac
  case $at in
${tree.map(commandCase).join('\n')}
  esac
  (( $#names )) && _describe -t commands command names
  [[ $PREFIX == -* ]] && _describe -o -t options option options
}

if [[ $funcstack[1] == _atlas-node ]]; then
  _atlas_node "$@"
else
  compdef _atlas_node atlas-node
fi
`;
}

function valueCases({ path, options }: CompletionCommand): string[] {
  return options
    .filter(({ value }) => value.kind !== 'none')
    .map(({ names, value }) => {
      const patterns = names.map((name) => `'${pathText([...path, name])}'`);
      return `    (${patterns.join('|')}) ${completeValue(value)}; return ;;`;
    });
}

function commandCase({ path, commands, options, argument }: CompletionCommand): string {
  const words = argument.kind === 'choice' ? argument.words : [];
  const names = [...commands.map(({ name, description }) => entry(name, description)), ...words];
  const files = argument.kind === 'file' ? '; [[ $PREFIX == -* ]] || _files' : '';
  const flags = options.flatMap(optionEntries);
  return `    ('${pathText(path)}') names=(${names.join(' ')}) options=(${flags.join(' ')})${files} ;;`;
}

function optionEntries({ names, description }: CompletionOption): string[] {
  return names.map((name) => entry(name, description));
}

/** `name:description` in quotes, as required by _describe. */
function entry(name: string, description: string): string {
  return `'${name}:${description.replaceAll("'", `'\\''`).replaceAll(':', '\\:')}'`;
}

function completeValue(value: CompletionValue): string {
  switch (value.kind) {
    case 'file':
      return '_files';
    case 'folder':
      return '_files -/';
    case 'choice':
      return `compadd -- ${value.words.join(' ')}`;
    default:
      return '_message value';
  }
}
