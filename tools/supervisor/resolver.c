#include "tools/supervisor/resolver.h"

#include <errno.h>

#include "tools/supervisor/notify.h"

struct loop *session_loop(struct supervisor *s)
{
	struct loop *l;

	pthread_mutex_lock(&s->net_lock);
	if (!s->loop && loop_start(&s->loop) < 0)
		s->loop = NULL;
	l = s->loop;
	pthread_mutex_unlock(&s->net_lock);
	return l;
}

struct hosts *session_hosts(struct supervisor *s)
{
	(void)s;
	return NULL;
}

bool resolver_query(struct supervisor *s, const struct asker *who, const uint8_t *msg, size_t len,
		    resolver_reply reply, void *cookie)
{
	(void)s, (void)who, (void)msg, (void)len, (void)reply, (void)cookie;
	return false;
}

void resolver_forget(struct supervisor *s, void *cookie)
{
	(void)s, (void)cookie;
}

int resolver_door(struct supervisor *s, int family, struct sockaddr_storage *ret, socklen_t *ret_len)
{
	(void)s, (void)family, (void)ret, (void)ret_len;
	return -ENOSYS;
}

int resolver_expect(struct supervisor *s, const struct sockaddr_storage *from, const struct asker *who)
{
	(void)s, (void)from, (void)who;
	return -ENOSYS;
}

void resolver_done(struct supervisor *s)
{
	loop_stop(s->loop);
	s->loop = NULL;
}
