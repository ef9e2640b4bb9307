# Completion of ratchet in bash. The words are read from the program's own help, so that none is
# missing here.
_ratchet() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local i words=() verbs=()
  # The verbs before the cursor: `ratchet kbs add`.
  for ((i = 1; i < COMP_CWORD && ${#verbs[@]} < 2; ++i)); do
    [[ ${COMP_WORDS[i]} != [a-z]* || ${COMP_WORDS[i - 1]} == --* ]] || verbs+=("${COMP_WORDS[i]}")
  done
  case "${verbs[*]} $previous" in
    *--root | *--state-dir | *--data-dir | *--output) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    *--python | *--token-file | *--labs) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    "setup setup") words=(claude codex cursor vscode) ;;
  esac
  [[ ${verbs[0]:-} == kbs ]] || verbs=("${verbs[@]:0:1}")
  # Options begin with two dashes; verbs are what the list of subcommands names.
  local option='(^|[ ,])(--[a-z][a-z-]*)' verb='^  ([a-z]+) ' line within=
  while IFS= read -r line; do
    [[ $line != [Ss]ubcommands:* && $line != SUBCOMMANDS:* ]] || within=1
    if [[ $line =~ $option ]]; then words+=("${BASH_REMATCH[2]}"); fi
    if [[ $within && $line =~ $verb ]]; then words+=("${BASH_REMATCH[1]}"); fi
  done < <("${COMP_WORDS[0]}" "${verbs[@]}" --help 2>/dev/null)
  mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$current")
  # Files for what takes neither an option nor a verb.
  [[ ${#COMPREPLY[@]} -gt 0 || $current == -* ]] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
}
complete -F _ratchet ratchet
