# Checks that each tool has a manual page and completion with all options that its source defines.
. "$(dirname "$0")/common.sh"
pages=$prefix/share/man/man1
completions=$prefix/share/bash-completion/completions
# `vitrine` has commands instead of options.
completed=$(PATH=$prefix/bin:$PATH bash -c '. "$1"; COMP_WORDS=(vitrine prof); COMP_CWORD=1
  _vitrine_options vitrine prof vitrine; echo "${COMPREPLY[*]}"' bash "$completions/vitrine")
[[ $completed == profile ]] || fail "vitrine prof completes to \"$completed\""
completed=$(PATH=$prefix/bin:$PATH bash -c '. "$1"; COMP_WORDS=(vitrine lower --quan); COMP_CWORD=2
  _vitrine_options vitrine --quan lower; echo "${COMPREPLY[*]}"' bash "$completions/vitrine")
[[ $completed == --quantize ]] || fail "vitrine lower --quan completes to \"$completed\""
[[ -s $pages/vitrine.1 ]] || fail "$pages/vitrine.1 is missing"

tools=(executor_runner pte_inspect pte_lower llm_runner vitrine_run)

# Prints the names of the options in the source of a tool, including the options that tools share.
options_of() {
  local files=("$SOURCE/tools/$1/options.cc")
  case $1 in executor_runner | pte_inspect) files+=("$SOURCE/tools/common/report_options.cc") ;; esac
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
  [[ $(wc -l <<< "$options") -ge 5 ]] || fail "$tool: found too few options in its source: $options"
  text=$(sed 's/\\-/-/g' "$page")
  for option in $options --help; do
    [[ $text =~ $'\n\\fB'([^$'\n']*,)?"$option"[^a-z_-] ]] || fail "$page does not describe $option"
    completed=$(PATH=$prefix/bin:$PATH bash -c '
      . "$1"; complete -p "$2" > /dev/null; _vitrine_options "$2" "$3" "$2"; printf "%s\n" "${COMPREPLY[@]}"' \
      bash "$completions/$tool" "$tool" "$option") || fail "$tool: the completion failed"
    [[ $'\n'$completed$'\n' == *$'\n'"$option"$'\n'* ]] || fail "$tool: $option completes to \"$completed\""
  done
  # A part of a name completes to the options that begin with it.
  completed=$(PATH=$prefix/bin:$PATH bash -c '. "$1"; _vitrine_options "$2" --he "$2"; echo "${COMPREPLY[*]}"' \
    bash "$completions/$tool" "$tool")
  [[ $completed == --help ]] || fail "$tool: --he completes to \"$completed\""
done
