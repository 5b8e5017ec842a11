# fish completion of pale
function __pale_candidates
	set -l words (commandline -opc)
	set -l cur (commandline -ct)
	for line in (pale completion candidates $words[2..-1] "$cur" 2>/dev/null)
		switch $line
			case ':files'
				__fish_complete_path "$cur"
			case ':dirs'
				__fish_complete_directories "$cur"
			case ':command *'
				set -l at (math (string replace ':command ' '' -- $line) + 1)
				if test $at -gt (count $words)
					complete -C "$cur"
				else
					complete -C (string join ' ' -- $words[$at..-1] "$cur")
				end
			case '*'
				echo $line
		end
	end
end
complete -c pale -f -a '(__pale_candidates)'
