# Each tool has a manual page and completion, and these have the options that its source defines.
. "$(dirname "$0")/common.sh"
pages=$prefix/share/man/man1
completions=$prefix/share/bash-completion/completions
tools=(executor_runner pte_inspect pte_lower llm_runner vitrine_run)

# The names that the tool's source gives to its options, and to those that it shares with others.
options_of() {
  local files=("$SOURCE/tools/$1/options.cc")
  case $1 in executor_runner | pte_inspect) files+=("$SOURCE/host/report_options.cc") ;; esac
  tr '\n' ' ' < <(cat "${files[@]}") | grep -oE '(add_[a-z]+\( *(app, )?|\{)"-[!,a-z{}_-]+"' |
    sed 's/.*"\(.*\)"/\1/; s/{[a-z]*}//g' | tr ',' '\n' | tr -d '!' | sort -u
}

for tool in "${tools[@]}"; do
  page=$pages/$tool.1
  [[ -s $page ]] || fail "$page is missing"
  if command -v groff > /dev/null; then
    warnings=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
    [[ -z $warnings ]] || fail "$warnings"
  fi
  [[ $(grep -cE '^\.SH (NAME|SYNOPSIS|"OPTIONS")$' "$page") == 3 ]] || fail "$page lacks a section"

  options=$(options_of "$tool")
  [[ $(wc -l <<< "$options") -ge 5 ]] || fail "$tool: options of its source: $options"
  text=$(sed 's/\\-/-/g' "$page")
  for option in $options --help; do
    [[ $text =~ $'\n\\fB'([^$'\n']*,)?"$option"[^a-z_-] ]] || fail "$page has no $option"
    completed=$(PATH=$prefix/bin:$PATH bash -c '
      . "$1"; complete -p "$2" > /dev/null; _vitrine_options "$2" "$3" "$2"; printf "%s\n" "${COMPREPLY[@]}"' \
      bash "$completions/$tool" "$tool" "$option") || fail "$tool: completion fails"
    [[ $'\n'$completed$'\n' == *$'\n'"$option"$'\n'* ]] || fail "$tool: $option completes to \"$completed\""
  done
  # Of a part of a name, those options that begin so.
  completed=$(PATH=$prefix/bin:$PATH bash -c '. "$1"; _vitrine_options "$2" --he "$2"; echo "${COMPREPLY[*]}"' \
    bash "$completions/$tool" "$tool")
  [[ $completed == --help ]] || fail "$tool: --he completes to \"$completed\""
done
