#compdef pale
_pale() {
	local line at
	local -a items
	for line in ${(f)"$(pale completion candidates "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
		case $line in
		(:files) _files ;;
		(:dirs) _files -/ ;;
		(:command*)
			at=${line#:command }
			shift $at words
			(( CURRENT -= at ))
			_normal ;;
		(*$'\t'*) items+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
		(*) items+=("${line//:/\\:}") ;;
		esac
	done
	(( $#items )) && _describe -t pale pale items
}
if [ "$funcstack[1]" = _pale ]; then
	_pale "$@"
else
	compdef _pale pale
fi
