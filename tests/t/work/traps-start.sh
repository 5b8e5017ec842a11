# nightly: hooks strict
# limit: 120
# Traps of starting a program: environments, descriptors, children, loaders.
. "$T_LIB"
. "$T_BASE/t/held.sh"

# --- the environment --------------------------------------------------------------------------------

t_env_i() {
	holds hook 'env -i /bin/cat "$F" && env -i /usr/bin/env -i /bin/cat "$F" && exec -c /bin/cat "$F"'
}

t_envp_null() {
	holds hook '"$T" environment-null "$F"'
}

t_environ_null() {
	holds hook '"$T" environ-is-null "$F"'
}

t_clearenv() {
	holds hook '"$T" cleared "$F"'
}

t_unsetenv() {
	holds hook '"$T" unset "$F"'
}

t_putenv() {
	holds hook '"$T" put "$F"'
}

t_environment_overwritten() {
	holds hook '"$T" overwritten "$F"'
}

t_own_envp_with_another_preload() {
	holds hook '"$T" own-vector "$F"'
}

t_environment_of_a_megabyte() {
	holds hook 'x=$(printf "%0100000d"); for i in {1..10}; do export "V$i=$x"; done
		env | grep -c ^V; env -u A /bin/cat "$F"; (unset LD_PRELOAD; cat "$F"); python3 -c "
import subprocess, sys
subprocess.run([\"cat\", sys.argv[1]])" "$F"; true'
}

# --- words ------------------------------------------------------------------------------------------

t_argv0_null() {
	holds hook '"$T" no-argv0 "$F"'
}

t_exec_a() {
	holds hook '(exec -a "" cat "$F"); (exec -a -cat cat "$F"); exec -a /usr/bin/git cat "$F"'
}

t_shebang_chains() {
	printf '#!/bin/cat\n' >s0
	for i in 1 2 3 4 5; do printf '#!./s%d -x\n' $((i - 1)) >s$i; done
	printf '#!/usr/bin/env -S -i /bin/cat\n' >senv
	printf '#! /bin/sh -e \ncat "$1"\n' >ssh
	printf 'cat "$1"\n' >none
	chmod +x s* none
	same './s1 "$F" 2>&1; ./s3 "$F" 2>&1; ./s4 "$F"; echo $?; ./s5 "$F"; echo $?'
	holds hook './s0 "$F"; ./senv "$F"; ./ssh "$F"; ./none "$F"; true'
}

t_ld_so_as_a_command() {
	local ld
	ld=$(readelf -lW /bin/cat | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
	export ld
	holds hook '$ld /bin/cat "$F"; env -i $ld --inhibit-cache /bin/cat "$F"
		$ld --argv0 x /bin/cat "$F"; $ld --list /bin/cat | grep -c libc.so.6; $ld --verify /bin/cat'
	held hook '$ld --preload "" /bin/cat "$F"; LD_PRELOAD= $ld --preload libutil.so.1 /bin/cat "$F"'
}

# --- descriptors ------------------------------------------------------------------------------------

t_close_range() {
	holds hook '"$T" descriptors-closed "$F"'
}

t_standard_descriptors_closed() {
	holds hook '"$T" standard-closed "$F"'
	same 'for c in "<&-" ">&-" "2>&-" "<&- >&-" "<&- 2>&-" ">&- 2>&-" \
		"<&- >&- 2>&-"; do
			eval "cp file copy$i $c"
			eval "python3 -c \"open(\\\"p\\\" + \\\"$c\\\".replace(\\\"/\\\", \\\"\\\"), \\\"w\\\").write(\\\"x\\\")\" $c"
		done'
}

t_stdin_closed_and_reopened() {
	holds hook 'exec 9<&0 0<&-; exec <"$F"; head -n1; exec 0<&-; cat "$F"; exec 0<&9 9<&-; cat; true'
}

# --- children ---------------------------------------------------------------------------------------

t_vfork_child() {
	holds hook '"$T" vfork "$F"'
}

t_posix_spawn_with_file_actions() {
	holds hook '"$T" spawn "$F"'
}

t_python_subprocess() {
	cat >p.py <<-'END'
		import itertools, os, subprocess, sys
		for close, env, session, cwd in itertools.product((True, False), (None, {}), (True, False), (None, "/")):
		    r = subprocess.run(["/bin/cat", sys.argv[1]], close_fds=close, env=env, start_new_session=session, cwd=cwd,
		        capture_output=True)
		    print(r.returncode, r.stdout)
	END
	holds hook 'python3 p.py "$F"'
}

t_daemon() {
	holds hook '"$T" daemon "$F"'
}

t_setsid() {
	holds hook 'setsid -w cat "$F"
		setsid -f sh -c "cat \"\$F\" >late; mv late late2"; until [ -e late2 ]; do sleep 0.01; done; cat late2'
}

# --- programs from nowhere --------------------------------------------------------------------------

t_fexecve() {
	holds hook '"$T" fexecve "$F"'
}

t_memfd() {
	holds hook '"$T" memfd "$F"'
}

t_wordexp() {
	holds hook '"$T" wordexp "$F"'
}

# --- the loader's switches --------------------------------------------------------------------------

t_ld_bind_now() {
	holds hook 'LD_BIND_NOW=1 cat "$F"; LD_BIND_NOT=1 cat "$F"; LD_WARN=1 cat "$F"'
}

t_ld_debug() {
	holds hook 'LD_DEBUG=all LD_DEBUG_OUTPUT=dbg cat "$F"; ls | grep -c dbg
		LD_DEBUG=statistics cat "$F" 2>/dev/null; LD_SHOW_AUXV=1 cat "$F" | grep -c ^AT_SYSINFO; rm dbg*; cat "$F"'
}

t_ld_trace_loaded_objects() {
	same 'ldd /bin/cat | grep -c "libc.so.6"'
}

t_ld_library_path_with_an_own_libc() {
	mkdir lib
	cp -L /lib/x86_64-linux-gnu/libc.so.6 lib/ 2>/dev/null || skip "another architecture"
	holds hook 'LD_LIBRARY_PATH=$PWD/lib cat "$F"; LD_LIBRARY_PATH=lib env -i LD_LIBRARY_PATH=lib /bin/cat "$F"'
}

t_ld_audit() {
	cat >a.c <<-'END'
		#include <fcntl.h>
		#include <link.h>
		#include <unistd.h>
		unsigned la_version(unsigned v) { return v; }
		unsigned la_objopen(struct link_map *m, Lmid_t l, uintptr_t *c) {
			(void)m; (void)l; (void)c;
			return LA_FLG_BINDTO | LA_FLG_BINDFROM;
		}
		void la_preinit(uintptr_t *c) { (void)c; close(open("file", O_RDONLY)); }
	END
	gcc -shared -fPIC -o a.so a.c
	holds hook 'LD_AUDIT=$PWD/a.so cat "$F"; LD_AUDIT=$PWD/a.so sh -c "cat \"\$F\""'
}

# --- other rights -----------------------------------------------------------------------------------

t_setuid_program() {
	# Setgid, and runs what it is told to: bare the loader takes no preload into it.
	[ -g /usr/bin/ssh-agent ] || skip "no setgid program that runs another"
	holds hook 'ssh-agent cat "$F"; env -i /usr/bin/ssh-agent /bin/cat "$F"'
	same 'gpasswd --help | head -n1; chage --help | head -n1'
}

scenario "$@"
