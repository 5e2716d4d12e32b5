// `stackwarden completion`: the script by which a shell asks `complete.ts` for the words that fit.
import type { CommandCall } from '../contract/command.ts';

/** The scripts never evaluate what was typed: words are plain text, and are quoted where the shell would split them. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_stackwarden() {
  local typed=() word found
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    word=\${word//\\\\/}
    word=\${word//[\\"\\']/}
    typed+=("$word")
  done
  COMPREPLY=()
  while IFS= read -r found; do
    [[ \${COMP_WORDS[COMP_CWORD]} == [\\"\\']* ]] || printf -v found '%q' "$found"
    COMPREPLY+=("$found")
  done < <(stackwarden __complete -- "\${typed[@]}" 2>/dev/null)
}
complete -F _stackwarden stackwarden`,
  zsh: `#compdef stackwarden
_stackwarden() {
  local -a typed found
  typed=("\${(@Q)words[2,CURRENT]}")
  found=("\${(@f)$(stackwarden __complete -- "\${typed[@]}" 2>/dev/null)}")
  [[ -n $found[1] ]] && compadd -- "\${found[@]}"
}
compdef _stackwarden stackwarden`,
  fish: `function __stackwarden
  set -l typed (commandline -opc)
  set -e typed[1]
  stackwarden __complete -- $typed (commandline -ct) 2>/dev/null
end
complete -c stackwarden -f -a '(__stackwarden)'`,
};

export async function completion({ args: [shell = ''], output }: CommandCall): Promise<number> {
  output.line(SCRIPTS[shell] ?? '');
  return 0;
}
