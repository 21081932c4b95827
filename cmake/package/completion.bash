# Completes options from the tool's own help text, commands of vitrine, and other words as file names.
_vitrine_options() {
  local tool=("$1") names
  if [[ ${1##*/} == vitrine ]]; then
    if [[ $COMP_CWORD == 1 && $2 != -* ]]; then
      names=$(vitrine --help 2>/dev/null | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p')
      mapfile -t COMPREPLY < <(compgen -W "$names" -- "$2")
      return
    fi
    [[ ${COMP_WORDS[1]-} == [a-z]* ]] && tool+=("${COMP_WORDS[1]}")
  fi
  if [[ $2 == -* ]]; then
    # The line of an option begins with its names: "  -o,--output FILE", "  --graph{text}".
    names=$("${tool[@]}" --help 2>/dev/null | sed -nE 's/^ {1,2}((-[a-z], *)?-[^ ]*).*/\1/p' | sed 's/{[^}]*}//g; s/, */\n/g')
    mapfile -t COMPREPLY < <(compgen -W "$names" -- "$2")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$2")
  fi
}
complete -o filenames -F _vitrine_options vitrine executor_runner pte_inspect pte_lower llm_runner vitrine_run
