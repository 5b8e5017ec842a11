# levels: full strict
# needs: tmpfs
# What git obeys, on a disk that is full.
. "$T_LIB"

# What is judged once it is closed is told then, too: nothing is there that the writer did not write.
t_late() {
	[ -n "${T_FULL:-}" ] || skip "no small file system here"
	W=$T_SCRATCH/full/work
	mkdir "$W" && cd "$W" || exit 99
	git init -q . && rm .git/config
	cat >late.py <<-'PY'
		with open("filler", "wb", buffering=0) as f:
		    try:
		        while True:
		            f.write(b"x" * 4096)
		    except OSError as e:
		        print(e.strerror)
		with open(".git/config", "w") as f:
		    f.write("[user]\n\tname = x\n")
	PY
	fence python3 -B late.py
	out_is "No space left on device"
	denied write "$W/.git/config" "it cannot be put in its place: No space left on device"
	missing .git/config
	missing .git/config.pale
	rm filler
	fence bash -c 'printf "[user]\n\tname = x\n" >.git/config'
	rc_is 0
	not_denied
	[ "$(git config user.name)" = x ] || fail "not written"
}

scenario "$@"
