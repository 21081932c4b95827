# Options from the tool's own help, else files.
_vitrine_options() {
  if [[ $2 == -* ]]; then
    # A line of an option begins with its names: "  -o,--output FILE", "  --graph{text}".
    local names
    names=$("$1" --help 2>/dev/null | sed -nE 's/^ {1,2}((-[a-z], *)?-[^ ]*).*/\1/p' | sed 's/{[^}]*}//g; s/, */\n/g')
    mapfile -t COMPREPLY < <(compgen -W "$names" -- "$2")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$2")
  fi
}
complete -o filenames -F _vitrine_options executor_runner pte_inspect pte_lower llm_runner vitrine_run
