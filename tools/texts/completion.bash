# bash completion of pale
_pale() {
	local line cur=${COMP_WORDS[COMP_CWORD]} at found=()
	[ "$cur" != = ] || cur=
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files) compopt -o filenames 2>/dev/null
			mapfile -t found < <(compgen -f -- "$cur") ;;
		:dirs) compopt -o filenames 2>/dev/null
			mapfile -t found < <(compgen -d -- "$cur") ;;
		:command*)
			at=${line#:command }
			if declare -F _command_offset >/dev/null; then
				_command_offset "$at"
				return
			elif [ "$at" = "$COMP_CWORD" ]; then
				mapfile -t found < <(compgen -c -- "$cur")
			else
				compopt -o filenames 2>/dev/null
				mapfile -t found < <(compgen -f -- "$cur")
			fi ;;
		*) found=("${line%%$'\t'*}") ;;
		esac
		COMPREPLY+=("${found[@]}")
	done < <(pale completion candidates "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _pale pale
