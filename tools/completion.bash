# Completion of `hiaton` for bash. What can be written is asked of the command itself, so this never is behind it.
# Installed, it works in every new shell; from a checkout: source tools/completion.bash

# The words that a help text offers: commands, and options by their long names.
_hiaton_commands() { "$1" --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\+\) .*/\1/p'; }
_hiaton_options() { "$@" --help 2>/dev/null | grep -oE '^ +(-[a-z], *)?--[a-z0-9_-]+' | grep -oE -- '--[a-z0-9_-]+'; }

# The choices of an option: NAME:{a,b,c} in the help text.
_hiaton_choices() {
  local option="$1"
  shift
  "$@" --help 2>/dev/null | grep -E "^ +(-[a-z], *)?$option[ ,=]" | grep -oE '\{[^}]*\}' | head -n 1 |
    tr -d '{}' | tr ',' '\n'
}

_hiaton() {
  local program="${COMP_WORDS[0]}" command="${COMP_WORDS[1]-}" current="${COMP_WORDS[COMP_CWORD]}"
  local file="" word
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$(_hiaton_commands "$program") --help --version" -- "$current")
    return
  fi
  # The file given so far: its parameters are options too.
  for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
    [[ "$word" == *.hia && -f "$word" ]] && file="$word"
  done
  local asked=("$program" "$command" ${file:+"$file"})
  # bash cuts --executor=ref at the '='.
  local option="${COMP_WORDS[COMP_CWORD - 1]}"
  if [[ "$current" == "=" ]]; then
    current=""
  elif [[ "$option" == "=" ]]; then
    option="${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  local choices=""
  [[ "$option" == --* ]] && choices="$(_hiaton_choices "$option" "${asked[@]}")"
  if [[ -n "$choices" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
  elif [[ "$current" == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_hiaton_options "${asked[@]}")" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _hiaton hiaton
