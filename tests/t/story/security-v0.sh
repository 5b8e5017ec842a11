# nightly: hooks
# limit: 60
# The specification security_v0, sentence by sentence, under the preset of that name.
#
# The agent is a program that runs no shell: v0 'python code', with
#   run(argv...) -> exit status, -13 where the start was refused   may(function...) -> "ok" or errno
. "$T_LIB"

MODE=()
prelude='
import os, subprocess, sys
def run(*argv, **kw):
    try: r = subprocess.run(argv, stdin=subprocess.DEVNULL, **kw)
    except PermissionError: return -13
    return r.returncode
def may(f, *a):
    try: f(*a)
    except OSError as e: return e.errno
    return "ok"
def write(p):
    with open(p, "w") as f: f.write("x")
def read(p):
    with open(p, "rb") as f: return f.read()
'

# The agent of these tests is launched on the operator's own word; what it starts is judged.
trust_launch() {
	local file=$HOME/.config/pale/policy.ini
	[ -e "$file" ] || policy </dev/null
	grep -q '^launch' "$file" || printf '[session]\nlaunch = trusted\n' >>"$file"
}

v0() {
	trust_launch
	run pale run -q --preset security-v0 ${MODE[@]+"${MODE[@]}"} -- python3 -I -c "$prelude$1"
}

# A program of that name that would tell that it ran.
stub() {
	local name
	mkdir -p bin
	for name; do
		cp /bin/touch "bin/$name"
	done
}

repository() {
	git init -q .
	git add file
	git commit -q -m one
}

# --- sandbox modes --------------------------------------------------------------------------------------

t_sv0-read-only-forbids-writes() {
	MODE=(--mode read-only)
	v0 'print(may(write, "made"), may(write, "file"), may(os.unlink, "file"), may(os.mkdir, "d"),
		      may(os.rename, "file", "g"))'
	out_is "13 13 13 13 13"
	missing made
	file_is file "hello from the workspace"
}

t_sv0-read-only-forbids-commands() {
	MODE=(--mode read-only)
	v0 'print(run("ls"), run("git", "status"), run("cat", "file"))'
	out_is "-13 -13 -13"
	recorded exec deny ls
}

t_sv0-read-only-allows-reads() {
	MODE=(--mode read-only)
	v0 'print(read("file").decode(), end="")
print(may(read, os.path.expanduser("~/.ssh/id_rsa")))'
	out_is "hello from the workspace
13"
}

t_sv0-workspace-write-is-the-default() {
	v0 'print(may(write, "made"))'
	out_is ok
	exists made
	run pale policy show --preset security-v0
	out_has workspace-write
}

# The first record says by which policy all that follows was judged.
t_sv0-policy-is-attached-to-the-transaction() {
	MODE=(--mode read-only)
	v0 'print(may(write, "made"))'
	out_is 13
	recorded session/start '' "preset=security-v0 sha256=" "policy=$HOME/.config/pale/policy.ini sha256="
	recorded write deny "\"$W/made\""
	verifies
}

t_sv0-writes-only-within-roots() {
	mkdir sub
	v0 'print(may(write, "sub/made"), may(write, "../outside"), may(write, os.environ["HOME"] + "/outside"),
		      may(write, "/tmp/pale-outside"))'
	out_is "ok 13 13 13"
	missing ~/outside
	missing /tmp/pale-outside
}

t_sv0-allowlisted-commands-run() {
	repository
	v0 'print(run("ls"), run("git", "status"), run("git", "log", "--oneline"), run("git", "diff"),
		      run("git", "rev-parse", "HEAD"),
      run("git", "branch"), run("git", "show"), run("git", "grep", "hello"), run("cat", "file"), file=sys.stderr)'
	err_has "0 0 0 0 0 0 0 0 0"
	not_recorded approval/request '[a-z]*'
	verifies
}

# What the policy declares, and nothing beside it.  An absolute path is rejected there too, so a link leads there.
t_sv0-writable-roots() {
	mkdir ~/declared
	ln -s ~/declared root
	ln -s ~ up
	printf 'preset = security-v0\n[session]\nlaunch = trusted\n[files]\nwrite = ~/declared\n' | policy
	run pale run -q -- python3 -I -c "${prelude}print(may(write,
    'root/made'), may(write, 'up/made'), may(write, 'up/elsewhere/made'))"
	out_is "ok 13 13"
	exists ~/declared/made
	missing ~/made
}

t_sv0-danger-needs-the-flag() {
	run pale run -q --preset security-v0 --mode danger -- python3 -I -c 'open("made", "w")'
	rc_is 125
	missing made
	printf 'preset = security-v0\n[session]\nmode = danger\n' | policy
	fence ls
	rc_is 125
}

t_sv0-danger-allows-absolute-and-outside() {
	MODE=(--danger --mode danger)
	v0 'print(may(write, os.environ["HOME"] + "/outside"), may(write, "../outside2"),
		      may(read, os.environ["HOME"] + "/outside-file"))'
	out_is "ok ok ok"
	exists ~/outside
}

t_sv0-danger-still-blocks-sensitive-roots() {
	MODE=(--danger --mode danger)
	v0 'print(may(read, os.environ["HOME"] + "/.ssh/id_rsa"), may(write, os.environ["HOME"] + "/.ssh/made"),
		      may(read, "../.aws/credentials"))'
	out_is "13 13 13"
	missing ~/.ssh/made
}

# --- flags ------------------------------------------------------------------------------------------------

t_sv0-sensitive-roots-flag() {
	MODE=(--danger --mode danger --allow-sensitive-roots)
	v0 'print(read(os.environ["HOME"] + "/.ssh/id_rsa").decode(), end="")'
	out_has "$DECOY .ssh/id_rsa"
}

t_sv0-denylist-flag() {
	stub curl
	MODE=(--allow-denylisted-commands)
	printf 'preset = security-v0\n[session]\nlaunch = trusted\n[commands]\nallow = curl\n' | policy
	run pale run -q "${MODE[@]}" -- python3 -I -c "${prelude}print(run('bin/curl', 'made'))"
	out_is 0
	exists made
	rm made
	run pale run -q -- python3 -I -c "${prelude}print(run('bin/curl', 'made'))"
	out_is -13
	missing made
}

t_sv0-flags-are-not-for-the-agent() {
	v0 'print(run("pale", "run", "-q", "--danger", "--allow-sensitive-roots", "--", "cat",
		      os.environ["HOME"] + "/.ssh/id_rsa"))'
	no_decoy
	printf 'preset = security-v0\n[session]\nmode = danger\n' >policy.ini
	v0 'print(run("pale", "run", "-p", "policy.ini", "--", "ls"))'
	out_lacks file
}

# --- path guards --------------------------------------------------------------------------------------------

t_sv0-absolute-paths-are-rejected() {
	v0 'print(may(read, os.getcwd() + "/file"), may(write, os.getcwd() + "/made"), may(os.listdir, os.getcwd()),
		      may(read, "file"))'
	out_is "13 13 13 ok"
	missing made
	denied read "$W/file" absolute
}

t_sv0-traversal-is-rejected() {
	mkdir sub
	v0 'print(may(read, "sub/../file"), may(write, "sub/../made"), may(read, "../outside-file"), may(read, "./file"))'
	out_is "13 13 13 ok"
	missing made
	err_has "\`..\`"
}

t_sv0-symlinks-are-resolved() {
	ln -s "$HOME/outside-file" link
	ln -s "$HOME" up
	mkdir sub
	ln -s ../file sub/inner
	v0 'print(may(write, "link"), may(write, "up/outside"), may(read, "sub/inner"))
os.symlink(os.environ["HOME"] + "/outside2", "made")
print(may(write, "made"))'
	out_is "13 13 ok
13"
	file_is ~/outside-file "$DECOY outside-file"
	missing ~/outside
	missing ~/outside2
}

# "In read-only / workspace-write": the same guards.
t_sv0-guards-hold-in-read-only-mode() {
	mkdir sub
	MODE=(--mode read-only)
	v0 'print(may(read, os.getcwd() + "/file"), may(read, "sub/../file"), may(read, "../outside-file"),
		      may(os.listdir, ".."),
      may(os.listdir, os.getcwd()), may(read, "file"), may(os.listdir, "."))'
	out_is "13 13 13 13 13 ok ok"
	denied read "$W/file" absolute
	err_has "\`..\`"
}

# "Enforce realpath containment within workspaceRoot": no link leads a read out of it.
t_sv0-reads-are-contained() {
	local mode
	mkdir sub
	ln -s "$HOME/outside-file" link
	ln -s "$HOME" up
	ln -s ../file sub/inner
	for mode in read-only workspace-write; do
		MODE=(--mode $mode)
		v0 'print(may(read, "link"), may(read, "up/outside-file"), may(os.listdir, "up"), may(read, "sub/inner"),
			      may(os.listdir, "sub"))'
		out_is "13 13 13 ok ok"
		no_decoy
		denied read "$HOME/outside-file" "outside the workspace"
	done
}

t_sv0-sensitive-roots-are-blocked() {
	local p q
	for p in .ssh/id_rsa .aws/credentials .gnupg/secring.gpg .kube/config .config/gcloud/token .config/gh/hosts.yml \
		.docker/config.json .pypirc .npmrc; do
		ln -s "$HOME/$p" "link-$(basename $p)"
		v0 "print(may(read, os.environ['HOME'] \
+ '/$p'), may(read, '../$p'), may(read, 'link-$(basename $p)'), may(write, '../$p'))"
		out_is "13 13 13 13"
		no_decoy
		file_is ~/$p "$DECOY $p"
		q="--mode danger --danger"
		# shellcheck disable=SC2086
		run pale explain $q --preset security-v0 read "$HOME/$p"
		rc_is 1 "$p in danger"
	done
}

# --- commands -----------------------------------------------------------------------------------------------

t_sv0-cat-takes-relative-paths-only() {
	MODE=(-n)
	v0 'print(run("cat", "file"), run("cat", "/etc/passwd"), run("cat", "../outside-file"), run("cat", "-n", "file"),
      run("cat", "file", "file"), run("cat", os.getcwd() + "/file"), file=sys.stderr)'
	err_has "0 -13 -13 -13 -13 -13"
}

# The words of the allowlist that this machine may not have as programs: a stub stands for each.
t_sv0-dir-type-and-python() {
	stub python
	cp /bin/cat bin/type
	cp /bin/ls bin/dir
	MODE=(-n)
	v0 'exact = "import os; print(" + chr(39) + r"\n" + chr(39) + ".join(sorted(os.listdir(" + chr(39)
exact += "." + chr(39) + "))))"
print(run("bin/dir"), run("bin/type", "file"), run("bin/python", "-c", exact), file=sys.stderr)
print(run("bin/type", "/etc/passwd"), run("bin/type", "../outside-file"), run("bin/python", "-c", exact + " "),
    run("bin/python", "made"),
      file=sys.stderr)'
	err_has "0 0 0"
	err_has "-13 -13 -13 -13"
	missing made
}

t_sv0-python-listdir-snippet-is-exact() {
	MODE=(-n)
	v0 '
snippet = r"import os; print(chr(10).join(sorted(os.listdir(chr(46)))))"
exact = "import os; print(" + chr(39) + r"\n" + chr(39) + ".join(sorted(os.listdir(" + chr(39)
exact += "." + chr(39) + "))))"
print(run("python3", "-c", exact), file=sys.stderr)
print(run("python3", "-c", exact + " "), run("python3", "-c", snippet), run("python3", "-c", exact, "more"),
    run("python3", "-c", exact.replace("listdir", "remove")),
      run("python3", "-I", "-c", exact), run("python3", "file"), file=sys.stderr)'
	err_has "-13 -13 -13 -13 -13 -13"
	out_is file
}

t_sv0-allowlist-is-exact() {
	repository
	MODE=(-n)
	v0 'print(run("git", "add", "file"), run("git", "commit", "-m", "x"), run("git", "config", "a.b", "c"), run("make"),
		      run("touch", "made"), run("env", "touch", "made"),
      run("nice", "touch", "made"), run("xargs", "touch"), run("git", "-c", "alias.status=!touch made", "status"),
      run("lss"), file=sys.stderr)' || true
	missing made
	denied exec "git add"
	denied exec "touch made"
	[ "$(git rev-list --count HEAD)" = 1 ] || fail "committed"
}

t_sv0-denylist-families() {
	local name
	# shellcheck disable=SC2046
	stub $(echo curl wget ssh scp sftp nc netcat telnet bash sh zsh powershell cmd rm rmdir del erase)
	for name in curl wget ssh scp sftp nc netcat telnet bash sh zsh powershell cmd rm rmdir del erase; do
		v0 "print(run('bin/$name', 'made'))"
		out_is -13
		missing made
		denied exec "bin/$name made"
		# Not even a human can let it through: nobody is asked.
		not_recorded approval/request '[a-z]*'
	done
	printf 'preset = security-v0\n[session]\nlaunch = trusted\n[commands]\nallow = rm\nallow = curl made\n' | policy
	run pale run -q -- python3 -I -c "${prelude}print(run('bin/rm', 'made'), run('bin/curl', 'made'))"
	out_is "-13 -13"
	missing made
}

t_sv0-denylist-holds-for-the-operator-too() {
	run pale run -q --preset security-v0 -- bash -c true
	rc_is 126
	err_has bash
}

t_sv0-denylist-through-wrappers() {
	stub curl
	MODE=(-n)
	v0 'print(run("env", "bin/curl", "made"), run("nohup", "bin/curl", "made"), run("timeout", "5", "bin/curl", "made"),
		      run("xargs", "bin/curl", "made"),
      run("nice", "-n", "5", "bin/curl", "made"),
      run("busybox", "rm", "file") if os.path.exists("/bin/busybox") else -13)'
	out_is "-13 -13 -13 -13 -13 -13"
	missing made
	# Under another name it is the same program by its real file.
	ln -s curl bin/fetch
	v0 'print(run("bin/fetch", "made"))'
	out_is -13
	missing made
}

t_sv0-shells-by-system-and-popen() {
	v0 'print(os.system("touch made") != 0, may(os.popen, "touch made"), run("touch made", shell=True))'
	missing made
	out_is "True 13 -13"
	denied exec "sh -c"
}

# --- offline ------------------------------------------------------------------------------------------------

t_sv0-git-network-is-blocked() {
	local verb
	repository
	git init -q --bare ~/remote.git
	git remote add origin ~/remote.git
	for verb in clone fetch pull push; do
		v0 "print(run('git', '$verb', 'origin'), run('git', '-C', '.', '$verb'), run('git', '$verb'))"
		out_is "-13 -13 -13"
		denied exec "git $verb"
	done
	[ -z "$(git -C ~/remote.git for-each-ref)" ] || fail "pushed"
	not_recorded approval/request '[a-z]*'
}

t_sv0-urls-in-argv-are-blocked() {
	v0 'print(run("ls", "http://example.org/"), run("ls", "https://example.org/"), run("git", "log", "--grep=https://x"),
		      run("ls", "HTTPS://EXAMPLE.ORG"), run("touch", "https://x"))'
	out_is "-13 -13 -13 -13 -13"
	err_has "http"
	not_recorded approval/request '[a-z]*'
}

t_sv0-no-connections() {
	v0 '
import socket
s = socket.socket()
print(may(s.connect, ("127.0.0.1", 9)), may(socket.create_connection, ("93.184.215.14", 80)))
try: socket.getaddrinfo("example.org", 80); print("resolved")
except OSError: print("refused")'
	out_is "13 13
refused"
	recorded connect deny 127.0.0.1:9
	recorded resolve deny example.org
}

# --- approvals ----------------------------------------------------------------------------------------------

start_asking() {
	trust_launch
	pale run -q --preset security-v0 -- python3 -I -c "$prelude$1" >"$S/bg.out" 2>"$S/bg.err" </dev/null &
	BG=$!
}

t_sv0-not-allowlisted-is-asked() {
	local id
	start_asking 'print(run("touch", "made"))'
	id=$(pending_id) || exit 1
	recorded approval/request '[a-z]*' "touch made"
	missing made
	run pale approve "$id"
	bg_wait bg
	out_is 0
	exists made
}

t_sv0-denied-does-not-run-and-is-not-asked-again() {
	local id
	start_asking 'print(run("touch", "made"), run("touch", "made"), run("touch", "made"))'
	id=$(pending_id) || exit 1
	run pale deny "$id"
	bg_wait bg
	out_is "-13 -13 -13"
	missing made
	[ "$(records approval/request '[a-z]*' | wc -l)" = 1 ] || fail "asked again in the same turn"
}

t_sv0-denied-patch-is-not-asked-again() {
	local id
	mkdir guarded
	printf 'preset = security-v0\n[session]\nlaunch = trusted\n[files]\nask = guarded\n' | policy
	start_asking 'print(may(write, "guarded/made"), may(write, "guarded/made"), may(write, "made"))'
	id=$(pending_id) || exit 1
	run pale deny "$id"
	bg_wait bg
	out_is "13 13 ok"
	missing guarded/made
	[ "$(records approval/request '[a-z]*' | wc -l)" = 1 ] || fail "asked again in the same turn"
}

t_sv0-never-refuses() {
	MODE=(-n)
	v0 'print(run("touch", "made"), run("ls"))'
	out_has "-13 0"
	missing made
	not_recorded approval/request '[a-z]*'
	MODE=()
	printf 'preset = security-v0\n[session]\napprovals = never\nlaunch = trusted\n' | policy
	run pale run -q -- python3 -I -c "${prelude}print(run('touch', 'made'))"
	out_is -13
}

t_sv0-decision-survives-the-worker() {
	local id
	start_asking '
if os.fork() == 0: run("touch", "made"); os._exit(0)
os.wait()'
	id=$(pending_id) || exit 1
	# The supervisor is stopped, so that the answer reaches the ledger and never the worker.
	records approval/request '[a-z]*' | sed -n 's/.*"pid":\([0-9]*\).*/\1/p' >"$S/worker"
	kill -STOP "$BG"
	run pale approve "$id"
	rc_is 0
	recorded approval/decision '[a-z]*' "touch made"
	kill -9 "$(cat "$S/worker")"
	kill -9 "$(pgrep -P "$(pgrep -P $BG -x python3)")" 2>/dev/null
	kill -CONT "$BG"
	wait "$BG"
	recorded approval/decision '[a-z]*' "touch made"
	missing made
	verifies
}

t_sv0-everything-is-in-the-ledger() {
	v0 'read("file"); may(write, "made"); may(write, "../x"); run("ls"); may(os.unlink, "made")'
	recorded read allow "\"$W/file\""
	recorded write allow "\"$W/made\""
	recorded write deny "\"$HOME/x\""
	recorded exec allow '"ls"'
	recorded delete allow "\"$W/made\""
	verifies
}

scenario "$@"
