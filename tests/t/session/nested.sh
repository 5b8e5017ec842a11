# nightly: hooks
# limit: 60
# A run inside a run: it joins, or it narrows; it never loosens, and nothing inside gets out of it.
. "$T_LIB"

# Nested in words: `nested OPTIONS... -- COMMAND` inside the fence.
nested() {
	fence "$T_STAGE/bin/pale" run -q "$@"
}

t_join() {
	fence pale run -- bash -c 'env; cat file; echo x >made'
	rc_is 0
	out_has hello
	err_has "joining session"
	out_lacks PALE_IMAGE=
	file_is made x
}

t_narrow_by_preset() {
	fsh 'echo 1 >before
		pale run --preset review -- bash -c "cat file; echo 2 >inside; rm before"
		echo "status $?"; echo 3 >after'
	rc_is 0
	out_has hello
	out_has "status 1"
	err_has "running inside session"
	err_has "policy preset review"
	denied write "$W/inside" "mode is read-only"
	missing inside
	file_is before 1
	file_is after 3
	recorded write deny "$W/inside" image=1
	recorded write allow "$W/after"
	recorded session/narrow "" "image=1 inside=0 mode=read-only" \
		"preset=review sha256=" '"target":"'"$W"'"' '"via":"helper"'
	verifies
}

t_narrow_by_own_policy() {
	cat >tight.ini <<-EOF2
		preset = agent
		[files]
		deny = closed
		[commands]
		deny = ls
		message = use find
	EOF2
	mkdir closed && echo in >closed/f
	fsh 'pale run -q -p tight.ini -- bash -c "cat closed/f; ls; cat file"; cat closed/f; ls >/dev/null && echo listed'
	rc_is 0
	denied read "$W/closed/f" "tight.ini:3 [files] deny = closed"
	denied exec ls "tight.ini:5 [commands] deny = ls"
	err_has "use find"
	out_has hello
	out_has listed
	[ "$(grep -cx in "$S/out")" = 1 ] || fail "the nested run read it, or the outer could not"
	recorded exec deny ls "tight.ini:5" image=1
	recorded session/narrow "" "policy=$W/tight.ini sha256="
}

t_other_workspace() {
	mkdir sub
	nested -w sub -- bash -c 'echo 1 >sub/in; echo 2 >out'
	file_is sub/in 1
	missing out
	denied write "$W/out" "outside the workspace"
	nested -w "$HOME/elsewhere" -- bash -c 'echo 1 >~/elsewhere/new; echo 2 >in'
	denied write "$HOME/elsewhere/new" "(outer session)"
	denied write "$W/in"
	missing ~/elsewhere/new
	nested -w / -- bash -c 'echo 1 >~/outside-file'
	denied write "$HOME/outside-file" "(outer session)"
	file_is ~/outside-file "$DECOY outside-file"
}

t_cannot_loosen() {
	OPTS=(--preset review)
	nested --preset agent -- bash -c 'echo 1 >made; cat ~/.ssh/id_rsa'
	denied write "$W/made" "(outer session)"
	no_decoy
	missing made
	cat >loose.ini <<-EOF2
		[session]
		mode = workspace-write
		[files]
		write = /
		read = ~/.ssh
		[commands]
		default = allow
		allow = git push
		[network]
		mode = open
		unix = /
	EOF2
	nested -p loose.ini -- bash -c 'cat ~/.ssh/id_rsa; echo 1 >~/outside-file
		echo 2 >made; git push origin main; pale pending; cat ~/.local/state/pale/sessions/*/ledger.jsonl'
	denied read "$HOME/.ssh/id_rsa"
	denied write "$HOME/outside-file" "(outer session)"
	denied exec "git push origin main"
	no_decoy
	file_is ~/outside-file "$DECOY outside-file"
	missing made
	out_lacks '"hash"'
	OPTS=()
	nested -p loose.ini -- bash -c 'cat ~/.ssh/id_rsa
		echo 1 >~/outside-file; cat ~/.local/state/pale/sessions/*/ledger.jsonl; echo x >>~/.config/pale/policy.ini'
	denied write "$HOME/outside-file" "(outer session)"
	no_decoy
	out_lacks '"hash"'
	file_is ~/outside-file "$DECOY outside-file"
}

t_lifting_flags_are_refused() {
	local flag
	for flag in --danger --allow-sensitive-roots --allow-denylisted-commands --allow-unhooked; do
		nested $flag -- touch made
		rc_is 125 "$flag"
		err_has "$flag cannot be used inside session"
		nested --preset review $flag -- touch made
		rc_is 125 "$flag with a preset"
		missing made
	done
	nested --preset nonsense -- touch made
	rc_is 125
	nested -p none.ini -- touch made
	rc_is 125
	missing made
}

t_forged_variables() {
	cat >try.sh <<-'EOF2'
		try() { "$@" bash -c 'env | grep -c -x -e "PALE_IMAGE=image.1"; echo x >made'; }
		try env -u PALE_IMAGE
		try env PALE_IMAGE=image
		try env PALE_IMAGE=image.0
		try env PALE_IMAGE=image.2
		try env PALE_IMAGE=image.01
		try env PALE_IMAGE=../image
		try env PALE_IMAGE=
		try env PALE_IMAGE="$HOME/work/image"
		try env PALE_SESSION_DIR="$HOME/work"
		try env -u PALE_SESSION_DIR
		try env -i
		try env -i PALE_IMAGE=image PATH=$PATH
		(unset LD_PRELOAD PALE_IMAGE PALE_SESSION_DIR; try command)
		PALE_IMAGE=image PALE_SESSION_DIR=/ try command
		exec env PALE_IMAGE=image bash -c 'echo x >made'
	EOF2
	cat >two.ini <<-EOF2
		preset = agent
	EOF2
	# image.2 is a looser sibling of image.1
	fsh 'pale run -q --preset review -- true
		pale run -q -p two.ini -- true; exec pale run -q --preset review -- bash try.sh'
	rc_is 1
	[ "$(cat "$S/out")" = "$(for _ in $(seq 14); do echo 1; done)" ] || fail "some child lives under another image"
	missing made
	recorded session/narrow "" "image=2"
	[ "$(grep -c 'image=3' <<<"$(ledgers)")" = 0 ] || fail "the same run twice has two images"
}

t_python_forges_environments() {
	cat >forge.py <<-'EOF2'
		import os, subprocess, sys
		for image in (None, "image", "image.0", "image.9", "/etc/passwd", "image.1\n", "image.1 "):
		    env = {"PATH": os.environ["PATH"]}
		    if image is not None: env["PALE_IMAGE"] = image
		    for how in (dict(), dict(close_fds=False), dict(shell=True)):
		        cmd = "env; echo x >made" if how.get("shell") else ["bash", "-c", "env; echo x >made"]
		        r = subprocess.run(cmd, env=env, capture_output=True, **how)
		        assert r.returncode != 0 and b"PALE_IMAGE=image.1\n" in r.stdout, (image, how, r)
		        assert r.stdout.count(b"PALE_IMAGE") == 1, r
		print("fine")
	EOF2
	printf 'preset = review\n[commands]\nallow = python3\n' >readonly.ini
	nested -p readonly.ini -- python3 -B forge.py
	out_is fine
	missing made
}

t_operator_with_leftovers() {
	export PALE_IMAGE=image.7
	fsh 'env; cat file'
	rc_is 0
	out_has hello
	out_lacks PALE_IMAGE
}

t_two_levels() {
	printf 'preset = agent\n[files]\ndeny = one\n' >one.ini
	printf 'preset = agent\n[files]\ndeny = two\n' >two.ini
	echo 1 >one && echo 2 >two
	fsh 'pale run -q -p one.ini -- bash -c "cat one; cat two; pale run -q -p two.ini -- bash -c \"cat one
		cat two; cat file; PALE_IMAGE=image.1 cat two\"; cat two"; cat one'
	rc_is 0
	[ "$(grep -cx 1 "$S/out")" = 1 ] || fail "one was read inside"
	[ "$(grep -cx 2 "$S/out")" = 2 ] || fail "two was not read where it may be, or was where it may not"
	out_has hello
	denied read "$W/one" "one.ini:3 [files] deny = one)"
	denied read "$W/one" "one.ini:3 [files] deny = one (outer session)"
	denied read "$W/two" "two.ini:3 [files] deny = two)"
	recorded session/narrow "" "image=2 inside=1"
	recorded read deny "$W/one" "(outer session)" image=2
}

t_too_deep() {
	cat >deep.sh <<-'EOF2'
		n=$1
		[ "$n" -lt 12 ] || exit 9
		printf 'preset = agent\n[files]\ndeny = no%s\n' "$n" >deep$n.ini
		exec pale run -q -p deep$n.ini -- bash deep.sh $((n + 1))
	EOF2
	fsh 'bash deep.sh 0'
	rc_is 125
	err_has "too many runs inside each other"
	exists deep6.ini
}

t_sixty_four() {
	cat >many.sh <<-'EOF2'
		for i in $(seq 66); do
			printf 'preset = review\n# %s\n[files]\ndeny = no%s\n' "$i" "$i" >n.ini
			pale run -q -p n.ini -- true || echo "failed $i"
		done
		pale run -q -p n.ini -- true
		printf 'preset = review\n[files]\ndeny = no3\n' >n.ini
	EOF2
	fsh 'bash many.sh'
	out_is "failed 65
failed 66"
	err_has "64 different nested runs"
	verifies
}

t_no_prompt_is_for_the_inner() {
	local id
	policy <<-EOF2
		[commands]
		ask = touch
	EOF2
	bg ask bash -c 'pale run -q -n -- touch a; pale run -q -n -- bash -c "touch b"; touch c'
	id=$(pending_id) || exit 1
	run pale approve "$id"
	until_true 10 test -e a || fail "what the session around asks is not asked"
	id=$(pending_id) || exit 1
	missing c
	run pale approve "$id"
	bg_wait ask
	rc_is 0
	exists a
	missing b
	exists c
	denied exec "touch b"
}

t_inner_question() {
	local id
	printf 'preset = agent\n[commands]\nask = touch\n' >ask.ini
	bg ask bash -c 'pale run -q -p ask.ini -- bash -c "touch a"; touch b'
	id=$(pending_id) || exit 1
	run pale pending
	out_has "(nested run 1) "
	run pale approve "$id"
	rc_is 0
	bg_wait ask
	rc_is 0
	exists a
	exists b
	# where the session around may not ask, the nested run may not either
	OPTS=(--preset ci)
	rm a b
	policy <<-EOF2
		[commands]
		allow = pale run ...
		allow = bash
		allow = touch
	EOF2
	fsh 'pale run -q -p ask.ini -- bash -c "touch a"'
	denied exec "touch a" "this session never asks"
	missing a
}

t_denied_command_of_the_operator() {
	printf 'preset = agent\n[commands]\ndeny = touch\n' >deny.ini
	nested -p deny.ini -- touch made
	rc_is 126
	denied exec "touch made" "deny.ini:3 [commands] deny = touch"
	missing made
	recorded exec deny "touch made" image=1
	nested --preset agent -- curl https://example.org/
	[ "$(grep -c 'denied connect\|denied resolve\|denied exec' "$S/err")" -ge 1 ] || fail "curl went out"
}

t_explain_inside() {
	printf 'preset = review\n[commands]\nallow = pale explain ...\n' >review.ini
	OPTS=(-p review.ini)
	fsh 'pale explain write made; pale explain --preset agent write made
		pale explain --mode workspace-write read ~/.ssh/id_rsa'
	rc_is 1
	[ "$(grep -c '^DENY' "$S/out")" = 3 ] || fail "not all three are denied"
	grep -A1 "^DENY *write $W/made" "$S/out" | grep -q 'mode is read-only (outer session)' ||
		fail "the outer mode is not named"
	OPTS=()
	policy <<-EOF2
		[files]
		deny = closed
	EOF2
	fsh 'pale explain --preset review --json read closed/x'
	rc_is 1
	out_has '"why": "policy.ini:2 [files] deny = closed'
	printf 'preset = review\n[commands]\nallow = pale explain ...\n' >review.ini
	fsh 'cd /; pale run -q -p "$HOME/work/review.ini" -w "$HOME/work" -- pale explain read "$HOME/work/closed/x"'
	rc_is 1
	out_has "policy.ini:2  [files] deny = closed"
}

t_explain_of_the_outer_denial() {
	local id
	policy <<-EOF2
		[files]
		deny = closed
	EOF2
	echo 1 >closed
	echo "preset = agent" >own.ini
	nested -p own.ini -- cat closed
	rc_is 1
	denied read "$W/closed" "policy.ini:2 [files] deny = closed (outer session)"
	id=$(sed -n 's/.*; see: pale explain \([0-9a-f]*\).*/\1/p' "$S/err")
	run pale explain "$id"
	rc_is 1
	out_has "why    policy.ini:2 [files] deny = closed (outer session)"
	out_has "this was in a nested run"
	out_has "DENY   read $W/closed"
}

# A rule about /proc/self is about each process for itself, not about the pale that read the rule.
t_proc_of_the_launcher() {
	fsh 'pale explain write /proc/$PPID/mem; pale run -q --preset agent -- true; exec 3>/proc/$PPID/timerslack_ns'
	denied write /proc/
	out_has "DENY   write /proc/"
}

# What programs may send to the helper by hand: nothing of it gives an image that is looser.
t_hostile_bundles() {
	printf '[session]\napprovals = never\n' | policy
	cp "$T_BASE/t/helper/bundles.py" .
	cat >hostile.py <<-'EOF2'
		from bundles import encode
		import array, fcntl, json, os, socket, struct, subprocess
		path = os.environ["PALE_SESSION_DIR"] + "/agent.sock"
		SEALS = 2 | 4 | 8  # SHRINK, GROW, WRITE
		def ask(bundle=None, image=0, seals=SEALS, fds=None, frame=None):
		    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		    s.settimeout(20)
		    s.connect(path)
		    if bundle is not None:
		        fd = os.memfd_create("b", os.MFD_ALLOW_SEALING)
		        os.write(fd, bundle)
		        if seals: fcntl.fcntl(fd, 1033, seals)
		        fds = [fd]
		    frame = frame if frame is not None else struct.pack("<IHHI", 0x454C4150, 8, 3, image)
		    s.sendmsg([frame], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds or []))] if fds else [])
		    try:
		        data, anc, _, _ = s.recvmsg(4096, 1024)
		    except ConnectionResetError:
		        data, anc = b"", []
		    got = [f for c in anc for f in array.array("i", c[2])]
		    for f in got: os.close(f)
		    if not data: return None
		    magic, version, kind, image, n = struct.unpack_from("<IHHII", data)
		    assert kind == 4, data
		    return (None if image == 0xFFFFFFFF else image, data[16:16 + n - 1].decode(), len(got))
		def refused(r, text=""):
		    assert r is None or (r[0] is None and text in r[1] and r[2] == 0), r
		mine = {"home": os.environ["HOME"], "workspace": os.environ["HOME"], "cwd": "/", "agent": "", "session": "x",
		        "preset": "agent", "danger": True, "allow_sensitive": True, "allow_denylisted": True, "allow_unhooked": True,
		        "no_prompt": False}
		for text in (b"", b"{", b"\x00" * 100, b"[]", b"{}", b"null", b"[" * 100000, b"\xff" * 5000,
		             encode(mine)[:-1], encode(mine) + b"\0", os.urandom(4096)):
		    r = ask(text) if text else ask(b"")
		    refused(r)
		refused(ask(b"{}" + b" " * (1 << 20)), "sealed memory of at most 1 MiB")
		refused(ask(b"{}", seals=0), "sealed")
		refused(ask(b"{}", seals=2), "sealed")
		refused(ask(fds=[0]), "sealed")
		refused(ask(fds=[os.pipe()[0]]), "sealed")
		refused(ask(fds=[os.open("file", os.O_RDONLY)]), "sealed")
		refused(ask(image=1), "no such image")
		refused(ask(b"{}", image=64), "no such image")
		assert ask(image=65) is None
		assert ask(image=0xFFFFFFFF) is None
		assert ask(fds=[0, 1]) is None
		head = struct.pack("<IHH", 0x454C4150, 8, 3)
		for frame in (b"", b"x", head, head + b"\0" * 5, head[:4] + b"\1\0\3\0" + b"\0" * 4, head[:6] + b"\4\0" + b"\0" * 9,
		              head[:6] + b"\5\0", b"\0" * 60000):
		    if frame: assert ask(frame=frame) is None, frame
		assert ask() == (0, "", 2)
		for bundle in (mine, dict(mine, preset="review"), dict(mine, mode="danger"), dict(mine, home=None), {}):
		    r = ask(encode(bundle))
		    if r and r[0]:
		        env = dict(os.environ, PALE_IMAGE="image.%d" % r[0])
		        try:
		            p = subprocess.run(["bash", "-c",
		                "echo $PALE_IMAGE; cat ~/.ssh/id_rsa; echo x >>~/outside-file; curl -s http://127.0.0.1:9/"],
		                               env=env, capture_output=True, text=True)
		        except PermissionError:  # whoever narrows himself lives under it, and what he starts
		            assert bundle["preset"] == "review", bundle
		            continue
		        assert "decoy" not in p.stdout and p.stdout.startswith("image."), p
		print("fine")
	EOF2
	fence python3 -B hostile.py
	out_is fine
	file_is ~/outside-file "$DECOY outside-file"
	verifies
}

# A program that puts itself into layer after layer leaves none for a run that needs one.
t_layers_end() {
	cat >layers.py <<-'EOF2'
		import ctypes, os
		libc = ctypes.CDLL(None)
		for i in range(15):
		    fd = libc.syscall(444, ctypes.byref(ctypes.c_uint64(1 << 11)), 8, 0)
		    assert fd >= 0 and libc.syscall(446, fd, 0) == 0
		os.execvp("pale", ["pale", "run", "-q", "-n", "--", "echo", "reached"])
	EOF2
	OPTS=(--level full)
	fence python3 -B layers.py
	rc_is 125
	out_lacks reached
	err_has "16 layers of Landlock"
}

# To the session around a nested run's processes are the session's own; the nested run reaches none beside its own.
t_who_reaches_whom() {
	[ "$T_LEVEL" != hooks ] && [ "$(uname -m)" = x86_64 ] || return 0
	cat >reach.py <<-'EOF2'
		import ctypes, os, sys
		libc, pid = ctypes.CDLL(None, use_errno=True), int(sys.argv[1])
		def call(*args):
		    return libc.syscall(*[ctypes.c_long(a) for a in args]) >= 0
		word, address = ctypes.create_string_buffer(8), next(
		    int(l.split("-")[0], 16) for l in open("/proc/self/maps") if "r" in l.split()[1])
		def memory():
		    at = int(open("/proc/%d/maps" % pid).readline().split("-")[0], 16)
		    ours, theirs = (ctypes.c_long * 2)(ctypes.addressof(word), 8), (ctypes.c_long * 2)(at, 8)
		    return call(310, pid, ctypes.addressof(ours), 1, ctypes.addressof(theirs), 1, 0)
		def tried(f):
		    try: return f()
		    except OSError: return False
		fd = os.pidfd_open(pid)
		print("signal", call(62, pid, 0), "variables", tried(lambda: bool(open("/proc/%d/environ" % pid).read())),
		      "memory", tried(memory), "descriptor", call(438, fd, 0, 0), "trace", call(101, 0x4206, pid, 0, 0))
	EOF2
	fsh 'sleep 60 & around=$!
		pale run -q -n -- sleep 61 & inside=$!
		sleep 0.5; python3 reach.py $inside
		pale run -q -n -- bash -c "python3 reach.py $around; sleep 62 & python3 reach.py \$!; kill \$!"
		kill $around $inside'
	out_is "signal True variables True memory True descriptor True trace True
signal False variables False memory False descriptor False trace False
signal True variables True memory True descriptor True trace True"
}

scenario "$@"
