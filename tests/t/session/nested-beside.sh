# nightly: hooks
# limit: 60
# What a run inside a run reaches of what runs beside it.
. "$T_LIB"

# Whoever is in a nested run, and knows number and stack of what runs beside it.
BESIDE='sleep 60 </dev/null & sleep 0.3; at=$(sed -n "/stack/s/-.*//p" /proc/$!/maps);'
reach() {
	cat >reach.py <<-'EOF2'
		import ctypes, os, signal, subprocess, sys
		libc = ctypes.CDLL(None, use_errno=True)
		class iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
		def vm(call, pid):
		    at = int(sys.argv[2], 16)
		    mine = ctypes.create_string_buffer(8)
		    return getattr(libc, call)(pid, ctypes.byref(iovec(ctypes.addressof(mine), 8)), 1, ctypes.byref(iovec(at, 8)),
		        1, 0)
		def trace(request, pid):
		    r = libc.ptrace(request, pid, None, None)
		    if r == 0: os.waitpid(pid, 0x40000000) if request == 16 else None; libc.ptrace(17, pid, None, None)
		    return r
		def opened(name, flags):
		    def act(pid):
		        os.close(os.open("/proc/%d/%s" % (pid, name), flags)); return 0
		    return act
		ways = {
		    "attach": lambda pid: trace(16, pid), "seize": lambda pid: trace(0x4206, pid),
		    "readv": lambda pid: vm("process_vm_readv", pid), "writev": lambda pid: vm("process_vm_writev", pid),
		    "getfd": lambda pid: libc.syscall(438, os.pidfd_open(pid), 0, 0),
		    "kcmp": lambda pid: libc.syscall(312, os.getpid(), pid, 1, 0, 0),
		    "mem": opened("mem", os.O_RDONLY), "mem+": opened("mem", os.O_RDWR), "environ": opened("environ", os.O_RDONLY),
		    "fd": opened("fd/0", os.O_RDONLY), "task": opened("task/%s/mem" % sys.argv[1], os.O_RDONLY),
		    "limits": lambda pid: libc.prlimit(pid, 7, ctypes.byref((ctypes.c_ulong * 2)(64, 64)), None),
		}
		for name, way in ways.items():
		    ctypes.set_errno(0)
		    try: r = way(int(sys.argv[1]))
		    except OSError as e: r = -1
		    if r >= 0: print(name)
	EOF2
}

t_what_runs_beside_is_out_of_reach() {
	local level inside
	reach
	for level in full strict; do
		OPTS=(--level $level)
		for inside in '' 'pale run -q --mode read-only --' 'pale run -q -n --'; do
			fsh "$BESIDE $inside python3 -B reach.py \$! \$at; kill \$!"
			[ -n "$inside" ] || [ "$(wc -l <"$S/out")" -ge 9 ] || fail "even beside it little is reached"
			[ -z "$inside" ] || out_is ''
		done
	done
}

t_a_debugger_reaches_nothing_beside() {
	need gdb
	for level in full strict; do
		OPTS=(--level $level)
		fsh 'sleep 60 & pale run -q --mode read-only -- gdb -nx -batch -p $! -ex "call (int)creat(\"escaped\",0644)"; kill $!'
		missing escaped
	done
}

# What holds it back from others does not hold it back from its own, nor its files.
t_inside_all_works() {
	reach
	mkdir a b && echo x >a/f
	fsh 'pale run -q -n -- bash -c "$1"' sh "mv a/f b/f
		ln b/f a/g; mkfifo p; rm p; $BESIDE python3 -B reach.py \$! \$at; kill \$!; pale run -q -n -- cat b/f"
	rc_is 0
	out_has writev
	out_has attach
	out_has x
	exists a/g
}

scenario "$@"
