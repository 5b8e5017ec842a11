# needs: bash dash
# Shells: what every script does.

c_pipelines() {
	printf '%s\n' c a b a | sort | uniq -c | sort -rn | awk '{ print $2, $1 }'
	seq 1000 | grep 7 | sed 's/7/seven/' | tail -3
	false | true
	echo "${PIPESTATUS[@]}"
	set -o pipefail
	false | true
	echo $?
	yes | head -1
	echo "${PIPESTATUS[@]}"
}
