/* System V IPC of a session: the objects that it made. */
#ifndef PALE_SYSV_H
#define PALE_SYSV_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IPC_MAX	       1024
#define IPC_OF_ORPHANS UINT32_MAX

enum ipc_kind { IPC_SHM, IPC_SEM, IPC_MSG, IPC_KINDS };

struct ipc {
	pthread_mutex_t lock; /* of all that follows */
	struct ipc_object {
		int id;
		int key; /* the key inside the session; IPC_PRIVATE: no key, or removed */
		enum ipc_kind kind;
		uint32_t image; /* of the process that made it */
		bool removed;	/* a segment that exists while it is still attached */
	} list[IPC_MAX];
	size_t n;
	unsigned made; /* since the session began */
};

struct supervisor;

/* 0 or -ENOMEM. */
int ipc_new(struct supervisor *s);
/* Removes the objects that the session made and left.  No call is served any more. */
void ipc_done(struct supervisor *s);

#endif
