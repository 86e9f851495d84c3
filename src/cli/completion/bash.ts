/** Completion in bash 4 and newer. */
import { type CompletionCommand, type CompletionValue, pathText } from './command-tree.ts';

export function script(tree: CompletionCommand[]): string {
  return `# bash completion of atlas-node, made by "atlas-node completion bash"

_atlas_node() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} at= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${tree
        .slice(1)
        .map(({ path }) => `"${pathText(path)}"`)
        .join(' | ')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $prev" in
${tree.flatMap(valueCases).join('\n')}
  esac
  case $at in
${tree.map(commandCase).join('\n')}
  esac
}
complete -F _atlas_node atlas-node
`;
}

function valueCases({ path, options }: CompletionCommand): string[] {
  return options
    .filter(({ value }) => value.kind !== 'none')
    .map(({ names, value }) => {
      const patterns = names.map((name) => `"${pathText([...path, name])}"`);
      return `    ${patterns.join(' | ')}) ${completeValue(value)} return ;;`;
    });
}

function commandCase({ path, commands, options, argument }: CompletionCommand): string {
  const names = [...commands.map(({ name }) => name), ...(argument.kind === 'choice' ? argument.words : [])];
  const list = [...names, ...options.flatMap((option) => option.names)].join(' ');
  const files = argument.kind === 'file' ? `[[ $cur == -* ]] || { ${completeValue(argument)} }` : '';
  return `    "${pathText(path)}") COMPREPLY=($(compgen -W '${list}' -- "$cur")); ${files} ;;`;
}

/** The bash code that offers values of a kind. */
function completeValue(value: CompletionValue): string {
  switch (value.kind) {
    case 'file':
      return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur"));';
    case 'folder':
      return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur"));';
    case 'choice':
      return `COMPREPLY=($(compgen -W '${value.words.join(' ')}' -- "$cur"));`;
    default:
      return '';
  }
}
