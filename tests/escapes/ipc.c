/*
 * Shared memory, semaphores and message queues of others: by key, by id, by place in the kernel's table.
 * The neighbour's all have the port for a key.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "escape.h"

#define INDEX_MAX 512

struct note {
	long type;
	char text[8];
};

/* The neighbour's own ids: "segment semaphores queue". */
static int foreign(int which)
{
	const char *ids = getenv("ESCAPE_IPC");
	int id[3];

	if (!ids || sscanf(ids, "%d %d %d", &id[0], &id[1], &id[2]) != 3)
		exit(NOT_HERE);
	return id[which];
}

static int raise_semaphore(int id)
{
	struct sembuf up = { .sem_op = 1, .sem_flg = IPC_NOWAIT };

	return if_done(SC(semop, id, &up, 1));
}

static int send_note(int id)
{
	const struct note n = { 1, "stolen" };

	return if_done(SC(msgsnd, id, &n, sizeof(n.text), IPC_NOWAIT));
}

PROBE(ipc_shmat_by_key)
{
	long id = SC(shmget, escape_port, 1, 0);

	return id >= 0 && SC(shmat, id, 0, SHM_RDONLY) != -1 ? WORKED : STOPPED;
}

PROBE(ipc_shmat_by_id)
{
	return if_done(SC(shmat, foreign(0), 0, 0));
}

PROBE(ipc_shm_stat)
{
	struct shmid_ds ds;

	return if_done(SC(shmctl, foreign(0), IPC_STAT, &ds));
}

PROBE(ipc_shm_stat_by_index)
{
	struct shmid_ds ds;

	for (long i = 0; i < INDEX_MAX; i++)
		if (SC(shmctl, i, SHM_STAT, &ds) != -1 && ds.shm_perm.__key == escape_port)
			return WORKED;
	return STOPPED;
}

PROBE(ipc_shm_mode)
{
	struct shmid_ds ds = { .shm_perm = { .uid = getuid(), .gid = getgid(), .mode = 0666 } };

	return if_done(SC(shmctl, foreign(0), IPC_SET, &ds));
}

PROBE(ipc_semop_by_key)
{
	long id = SC(semget, escape_port, 1, 0);

	return id < 0 ? STOPPED : raise_semaphore((int)id);
}

PROBE(ipc_semop_by_id)
{
	return raise_semaphore(foreign(1));
}

PROBE(ipc_semtimedop_by_id)
{
	struct sembuf up = { .sem_op = 1 };

	return if_done(SC(semtimedop, foreign(1), &up, 1, NULL));
}

PROBE(ipc_semctl_by_id)
{
	return if_done(SC(semctl, foreign(1), 0, SETVAL, 3));
}

PROBE(ipc_msgsnd_by_key)
{
	long id = SC(msgget, escape_port, 0);

	return id < 0 ? STOPPED : send_note((int)id);
}

PROBE(ipc_msgsnd_by_id)
{
	return send_note(foreign(2));
}

/* Nothing there is an answer too. */
PROBE(ipc_msgrcv_by_id)
{
	struct note n;
	long r = SC(msgrcv, foreign(2), &n, sizeof(n.text), 0, IPC_NOWAIT);

	return r == -1 && errno == ENOMSG ? WORKED : if_done(r);
}

/* The id's upper half is not the kernel's to look at. */
PROBE(ipc_shmat_high_bits)
{
	return if_done(SC(shmat, 1ul << 32 | (unsigned)foreign(0), 0, SHM_RDONLY));
}

/* Who looks for a key that was taken before gets what the taker has put there. */
PROBE(ipc_key_taken)
{
	long id = SC(shmget, escape_port + 1, 4096, IPC_CREAT | 0600);
	char line[512];
	bool taken = false;
	FILE *f = fopen("/proc/sysvipc/shm", "r");

	while (f && fgets(line, sizeof(line), f))
		taken = taken || atoi(line) == escape_port + 1;
	if (f)
		fclose(f);
	if (id >= 0)
		(void)SC(shmctl, id, IPC_RMID, 0);
	return taken ? WORKED : STOPPED;
}

PROBE(ipc_mq_open)
{
	long id = SC(mq_open, "pale-escape", O_CREAT | O_RDWR, 0600, 0);

	if (id >= 0)
		(void)SC(mq_unlink, "pale-escape");
	return if_done(id);
}
