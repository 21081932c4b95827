# Completes options and their values from the tool's help text, commands of vitrine, and file names.
_vitrine_options() {
  local tool=("$1") word=$2 before=${3-} names
  if [[ ${1##*/} == vitrine ]]; then
    if [[ $COMP_CWORD == 1 && $word != -* ]]; then
      names=$(vitrine --help 2>/dev/null | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p')
      mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
      return
    fi
    [[ ${COMP_WORDS[1]-} == [a-z]* ]] && tool+=("${COMP_WORDS[1]}")
  fi
  # Bash splits "--format=html" into three words.
  [[ $word == = ]] && word=
  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
  if [[ $word == -* ]]; then
    # The line of an option begins with its names: "  -o,--output FILE".
    names=$("${tool[@]}" --help 2>/dev/null | sed -nE 's/^ {1,2}((-[a-z], *)?-[^ ]*).*/\1/p' | sed 's/, */\n/g')
    mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
    return
  fi
  names=
  if [[ $before =~ ^--?[a-z_-]+$ ]]; then
    # The values follow the names: "  --group_by none|op|module".
    names=$("${tool[@]}" --help 2>/dev/null | sed -nE "s/^ {1,2}([^ ]*, *)?$before(, *[^ ]*)* ([^ |]+\\|[^ ]+).*/\\3/p" | tr '|' '\n')
  fi
  if [[ -n $names ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _vitrine_options vitrine executor_runner pte_inspect pte_lower llm_runner vitrine_run
