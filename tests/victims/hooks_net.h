/*
 * Network: DIR is a port.  A listener of our own stands there, and what reaches it is printed as
 * "leak": a denied call must not send a byte.  For names DIR is the name.
 */

static struct sockaddr_in place(void)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)atoi(dir_a)),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int listener(int type)
{
	struct sockaddr_in at = place();
	int fd = socket(AF_INET, type, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (raw_call(SYS_bind, fd, (long)&at, sizeof(at), 0, 0, 0) < 0) {
		printf("cannot bind %s\n", dir_a);
		exit(2);
	}
	if (type == SOCK_STREAM)
		listen(fd, 4);
	return fd;
}

/* Tells what came through, keeping errno. */
static long heard(int fd, long r)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int e = errno;

	if (poll(&p, 1, r < 0 ? 50 : 1000) > 0)
		printf("%s heard\n", label);
	errno = e;
	return r < 0 ? -1 : 0;
}

static long connect_by(int (*fn)(int, const struct sockaddr *, socklen_t))
{
	struct sockaddr_in at = place();
	int server = listener(SOCK_STREAM), fd = socket(AF_INET, SOCK_STREAM, 0);

	errno = MARKER;
	return heard(server, fn(fd, (struct sockaddr *)&at, sizeof(at)));
}

static long call_connect(void)
{
	return connect_by(f_connect);
}

static long call___connect(void)
{
	return connect_by(f___connect);
}

static long call_sendto(void)
{
	struct sockaddr_in at = place();
	int server = listener(SOCK_DGRAM), fd = socket(AF_INET, SOCK_DGRAM, 0);

	errno = MARKER;
	return heard(server, f_sendto(fd, "secret", 6, 0, (struct sockaddr *)&at, sizeof(at)));
}

/* What is sent without a name, and taken out again. */
static long call_send(void)
{
	int pair[2];

	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	errno = MARKER;
	return heard(pair[0], f_send(pair[1], "secret", 6, 0));
}

static long recv_by(ssize_t n)
{
	return n == 6 ? 0 : -1;
}

static int sent(void)
{
	int pair[2];

	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	(void)!write(pair[1], "secret", 6);
	errno = MARKER;
	return pair[0];
}

static long call_recv(void)
{
	char buf[8];

	return recv_by(f_recv(sent(), buf, sizeof(buf), 0));
}

static long call___recv_chk(void)
{
	char buf[8];

	return recv_by(f___recv_chk(sent(), buf, sizeof(buf), sizeof(buf), 0));
}

static struct msghdr message(struct sockaddr_in *at, struct iovec *iov)
{
	*at = place();
	*iov = (struct iovec){ .iov_base = "secret", .iov_len = 6 };
	return (struct msghdr){ .msg_name = at, .msg_namelen = sizeof(*at), .msg_iov = iov, .msg_iovlen = 1 };
}

static long call_sendmsg(void)
{
	struct sockaddr_in at;
	struct iovec iov;
	struct msghdr msg = message(&at, &iov);
	int server = listener(SOCK_DGRAM), fd = socket(AF_INET, SOCK_DGRAM, 0);

	errno = MARKER;
	return heard(server, f_sendmsg(fd, &msg, 0));
}

static long sendmmsg_by(int (*fn)(int, struct mmsghdr *, unsigned, int))
{
	struct sockaddr_in at;
	struct iovec iov;
	struct mmsghdr vec[1] = { { .msg_hdr = message(&at, &iov) } };
	int server = listener(SOCK_DGRAM), fd = socket(AF_INET, SOCK_DGRAM, 0);

	errno = MARKER;
	return heard(server, fn(fd, vec, 1, 0));
}

static long call_sendmmsg(void)
{
	return sendmmsg_by(f_sendmmsg);
}

static long call___sendmmsg(void)
{
	return sendmmsg_by(f___sendmmsg);
}

/* --- names: only whether there is an answer; errno is libc's own affair there --- */

static long of_answer(int ok)
{
	errno = MARKER;
	return ok ? 0 : -1;
}

static long call_getaddrinfo(void)
{
	struct addrinfo *res = NULL;

	return of_answer(f_getaddrinfo(dir_a, "80", NULL, &res) == 0);
}

static long call_getaddrinfo_a(void)
{
	struct gaicb item = { .ar_name = dir_a, .ar_service = "80" };
	struct gaicb *items[] = { &item };
	int r = f_getaddrinfo_a(GAI_WAIT, items, 1, NULL);

	return of_answer(r == 0 && gai_error(&item) == 0);
}

static long call_gethostbyname(void)
{
	return of_answer(f_gethostbyname(dir_a) != NULL);
}

static long call_gethostbyname2(void)
{
	return of_answer(f_gethostbyname2(dir_a, AF_INET) != NULL);
}

static long call_gethostbyname_r(void)
{
	struct hostent ret, *result = NULL;
	char buf[4096];
	int herr = 0;
	int r = f_gethostbyname_r(dir_a, &ret, buf, sizeof(buf), &result, &herr);

	return of_answer(r == 0 && result);
}

static long call_gethostbyname2_r(void)
{
	struct hostent ret, *result = NULL;
	char buf[4096];
	int herr = 0;
	int r = f_gethostbyname2_r(dir_a, AF_INET, &ret, buf, sizeof(buf), &result, &herr);

	return of_answer(r == 0 && result);
}
