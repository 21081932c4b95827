# Options from the tool's own help, then files.
_vitrine_options() {
  if [[ $2 == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2>/dev/null | grep -oE -- '--[a-z_]+' | sort -u)" -- "$2")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$2")
  fi
}
complete -o filenames -F _vitrine_options executor_runner pte_inspect pte_lower llm_runner
