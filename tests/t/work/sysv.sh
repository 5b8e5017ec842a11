# levels: full hooks strict
# limit: 60
# System V IPC works inside as it does bare, among the session's own processes and nobody else's; limits
# of one's own processes may be set.
. "$T_LIB"

same() {
	run bash -c "$1"
	mv "$S/out" "$S/bare"
	rc_is 0
	fsh "$1"
	rc_is 0 "$(cat "$S/err")"
	diff "$S/bare" "$S/out" >"$S/diff" || fail "differs from bare: $(cat "$S/diff")"
}

ipc_program() {
	cat >ipc.c <<-'END'
		#include <errno.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/ipc.h>
		#include <sys/msg.h>
		#include <sys/sem.h>
		#include <sys/shm.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define SAY(x) do { errno = 0; long r = (long)(x); printf("%s: %d %s\n", #x, r >= 0, strerror(errno)); } while (0)
		struct note { long type; char text[16]; };
		static void step(int sem, int by) { struct sembuf b = { 0, by, SEM_UNDO }; semop(sem, &b, 1); }
		int main(int argc, char **argv)
		{
			key_t key = ftok(".", 'p');
			int shm, sem, msg;
			SAY(shmget(key, 4096, 0600));
			SAY(shm = shmget(key, 8192, IPC_CREAT | 0600));
			SAY(shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0600));
			SAY(shmget(key, 4096, IPC_CREAT) - shm);
			SAY(shmget(key, 80000, 0));
			SAY(sem = semget(key, 1, IPC_CREAT | 0600));
			SAY(semctl(sem, 0, SETVAL, 0));
			SAY(msg = msgget(key, IPC_CREAT | 0600));
			fflush(stdout);
			if (fork() == 0) {
				char *at = shmat(shmget(key, 0, 0), 0, 0);
				struct note n = { 7, "by message" };
				strcpy(at, "by memory");
				msgsnd(msgget(key, 0), &n, sizeof(n.text), 0);
				step(semget(key, 1, 0), 2);
				pause();
			}
			char *at = shmat(shm, 0, SHM_RDONLY);
			struct note n;
			struct shmid_ds ds;
			struct timespec soon = { 0, 50000000 };
			struct sembuf down = { 0, -9, 0 };
			msgrcv(msg, &n, sizeof(n.text), 7, 0);
			step(sem, -1);
			printf("%s, %s, %d\n", at, n.text, semctl(sem, 0, GETVAL));
			SAY(semtimedop(sem, &down, 1, &soon));
			SAY(shmctl(shm, IPC_STAT, &ds));
			printf("%d %d %o\n", (int)ds.shm_segsz, (int)ds.shm_nattch, ds.shm_perm.mode);
			if (argc > 1)
				return 0;
			SAY(shmctl(shm, IPC_RMID, 0));
			SAY(shmget(key, 0, 0));
			SAY(shmdt(at));
			SAY(shmdt(at));
			SAY(semctl(sem, 0, IPC_RMID));
			SAY(msgctl(msg, IPC_RMID, 0));
			SAY(semctl(sem, 0, GETVAL));
			SAY(msgctl(0x7ffffff0, IPC_STAT, 0));
			return 0;
		}
	END
	gcc -w "$@" -o ipc ipc.c || fail "does not compile"
}

t_all_three_kinds() {
	ipc_program
	same 'timeout 10 ./ipc; echo $?'
	[ "$T_LEVEL" = hooks ] || recorded write allow "shared memory" "the session's own"
}

t_all_three_kinds_unhooked() {
	[ "$T_LEVEL" != hooks ] || skip "a static program does not start there"
	ipc_program -static
	same 'timeout 10 ./ipc; echo $?'
}

t_nothing_is_left_behind() {
	local id kinds=(shm sem msg shm)
	[ "$T_LEVEL" != hooks ] || skip "nobody takes part in it"
	need ipcmk perl
	fsh 'ipcmk -M 100; ipcmk -S 2; ipcmk -Q
		perl -e "\$| = 1; print q(Killed, id: ), shmget(1, 10, 01600), qq(\n); kill 9, \$\$"; exit 0'
	rc_is 0
	for id in $(sed -n 's/.* id: \([0-9]*\)$/\1/p' "$S/out"); do
		awk -v id="$id" -v uid="$(id -u)" '$2 == id && ($5 == uid || $8 == uid) { exit 1 }' "/proc/sysvipc/${kinds[0]}" ||
			fail "left: ${kinds[0]} $id"
		kinds=("${kinds[@]:1}")
	done
	[ ${#kinds[@]} = 0 ] || fail "not made: ${kinds[*]}"
}

# By key and by id; and two sessions with one key do not meet.
t_others_are_out_of_reach() {
	local id
	[ "$T_LEVEL" != hooks ] || skip "nobody takes part in it"
	need ipcmk ipcrm perl
	id=$(ipcmk -M 4096 | tr -dc '0-9\n')
	fsh "ipcrm -m $id; perl -e 'print shmread($id, \$x, 0, 1) ? \"read\" : \"\$!\"'"
	ipcs -m -i "$id" >"$S/still"
	ipcrm -m "$id" || fail "the neighbour's segment is gone"
	out_is "Permission denied"
	denied write "shared memory $id" "it belongs to a process outside the session"
	recorded write deny "shared memory $id"
	perl -e 'shmget(4711, 100, 01600) // die' || fail "no segment"
	fsh 'perl -e "print shmget(4711, 100, 0600) // qq(\$!), qq(\n); shmget(4711, 100, 03600) // die; print qq(own\n)"'
	ipcrm -M 4711
	out_is "$(printf 'No such file or directory\nown')"
}

t_fakeroot_by_queues() {
	need fakeroot-sysv
	same 'fakeroot-sysv bash -c "touch f; chown 5:6 f; stat -c %u:%g f; mknod d c 1 3; stat -c %F d"; rm -f f d'
}

# Limits are read of whom one likes, and set of oneself.
t_limits_of_ones_own() {
	need prlimit
	same 'sleep 9 & prlimit --nofile=100:200 prlimit --nofile --noheadings -o SOFT,HARD
		prlimit --pid $! --stack --noheadings -o SOFT; kill $!; ulimit -n 90; ulimit -n'
	[ "$T_LEVEL" != hooks ] || return 0
	sleep 9 &
	for victim in $! '$!'; do
		fsh "sleep 9 & prlimit --pid $victim --nofile=100:200
			r=\$?; prlimit --pid \$! --nofile --noheadings -o SOFT; kill \$!; exit \$r"
		rc_not 0
		out_lacks 100
	done
	[ "$(prlimit --pid $! --nofile --noheadings -o SOFT)" != 100 ] || fail "a neighbour's limits were set"
	kill $!
}

# Priority, schedule, processors, disk: of oneself, by 0 or by one's own number, and of no other process.
t_schedules_of_ones_own() {
	local victim how
	need renice chrt taskset ionice python3
	cat >own.py <<-'END'
		import os, threading
		os.setpriority(os.PRIO_PROCESS, os.getpid(), 17)
		os.sched_setscheduler(os.getpid(), os.SCHED_BATCH, os.sched_param(0))
		cpu = min(os.sched_getaffinity(0))
		def pinned():
		    os.setpriority(os.PRIO_PROCESS, os.getpid(), 18)
		    os.sched_setaffinity(threading.get_native_id(), {cpu})
		    print(os.sched_getaffinity(0) == {cpu}, os.sched_getscheduler(0) == os.SCHED_BATCH)
		t = threading.Thread(target=pinned)
		t.start()
		t.join()
		print(os.getpriority(os.PRIO_PROCESS, 0))
	END
	same 'nice -n 3 nice; ionice -c 3 ionice; chrt -b 0 chrt -p 0 | sed "s/.*: //"
		taskset -c 0 nproc; nice -n 3 python3 own.py'
	[ "$T_LEVEL" != hooks ] || return 0
	fsh 'sleep 9 & renice -n 17 -p $!; r=$?; kill $!; exit $r'
	rc_not 0 "renice of a child"
	sleep 20 &
	victim=$!
	for how in "renice -n 17 -p $victim" \
		"renice -n 17 -u $(id -u)" "chrt -b -p 0 $victim" "ionice -c 3 -p $victim" "taskset -p 1 $victim"; do
		fsh "$how"
		rc_not 0 "$how"
	done
	[ "$(ps -o ni= -p $victim | tr -d ' ')" = "$(nice)" ] || fail "a neighbour's priority was set"
	chrt -p $victim | grep -q SCHED_OTHER || fail "a neighbour's schedule was set"
	kill $victim
}

scenario "$@"
