/*
 * What shall become of a call, by a reviewer's own lists and plain C: want() knows nothing of calls.def and
 * denials.def, nor of how the program is made.  Included by filter_cases.h.
 */
#define LIST(name, ...)                                                                                      \
	static bool name(int nr)                                                                             \
	{                                                                                                    \
		static const int list[] = { __VA_ARGS__ };                                                   \
                                                                                                             \
		for (size_t i = 0; i < COUNT(list); i++)                                                     \
			if (list[i] == nr)                                                                   \
				return true;                                                                 \
		return false;                                                                                \
	}

LIST(is_gated, __NR_creat, __NR_unlink, __NR_unlinkat, __NR_rmdir, __NR_rename, __NR_renameat, __NR_renameat2,
     __NR_link, __NR_linkat, __NR_symlink, __NR_symlinkat, __NR_mkdir, __NR_mkdirat, __NR_mknod, __NR_mknodat,
     __NR_readlinkat)
LIST(is_counted, __NR_chdir, __NR_fchdir)
LIST(is_carried, __NR_execve, __NR_execveat, __NR_truncate, __NR_chmod, __NR_fchmod, __NR_fchmodat, 452,
     __NR_chown, __NR_lchown, __NR_fchown, __NR_fchownat, __NR_utime, __NR_utimes, __NR_futimesat,
     __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr, __NR_removexattr, __NR_lremovexattr, __NR_fremovexattr,
     463, 466, 469, __NR_readlink, __NR_getxattr, __NR_lgetxattr, __NR_listxattr, __NR_llistxattr,
     __NR_inotify_add_watch, __NR_connect, __NR_bind, __NR_listen, __NR_shmget, __NR_shmat, __NR_shmctl,
     __NR_semget, __NR_semop, __NR_semtimedop, __NR_semctl, __NR_msgget, __NR_msgsnd, __NR_msgrcv,
     __NR_msgctl, __NR_recvmsg, __NR_recvmmsg, __NR_getsockname, __NR_getpeername)
LIST(is_no_call, 425, 426, 427, 435, 464, 465, 468, __NR_add_key, __NR_request_key, __NR_keyctl, __NR_mq_open,
     __NR_mq_unlink, __NR_mq_timedsend, __NR_mq_timedreceive, __NR_mq_notify, __NR_mq_getsetattr,
     __NR_lookup_dcookie, __NR_uselib)
LIST(is_forbidden, __NR_setns, __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, 428, 429, 430, 431,
     432, 433, 442, 467, __NR_bpf, __NR_userfaultfd, __NR_fanotify_init, __NR_kexec_load,
     __NR_kexec_file_load, __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_open_by_handle_at,
     __NR_acct, __NR_swapon, __NR_swapoff, __NR_quotactl, 443, __NR_syslog, __NR_reboot, __NR_settimeofday,
     __NR_clock_settime, __NR_adjtimex, __NR_clock_adjtime, __NR_sethostname, __NR_setdomainname,
     __NR_vhangup, __NR_iopl, __NR_ioperm)
LIST(aims_by_first, __NR_process_vm_readv, __NR_process_vm_writev, 434, __NR_kcmp, __NR_get_robust_list,
     __NR_move_pages, __NR_migrate_pages, __NR_sched_setscheduler, __NR_sched_setparam, __NR_sched_setattr,
     __NR_sched_setaffinity, __NR_kill, __NR_tkill, __NR_tgkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo)
LIST(sends_signal, __NR_kill, __NR_tkill, __NR_tgkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo, 424)
LIST(sets_schedule, __NR_sched_setscheduler, __NR_sched_setparam, __NR_sched_setattr, __NR_sched_setaffinity)
LIST(aims_by_second, __NR_ptrace, __NR_kcmp, __NR_setpriority, __NR_ioprio_set, __NR_tgkill,
     __NR_rt_tgsigqueueinfo)
/* By number and not by name: what the headers say is not asked. */
LIST(is_console_request, 0x540c, 0x5412, 0x541c, 0x541d, 0x5423)
LIST(is_carried_request, 0x40086602, 0x401c5820, 0x70616c65, 0x70616c66, 0x70616c67, 0x541b)
LIST(is_reflink_request, 0x40049409, 0x4020940d, (int)0xc0189436)
LIST(is_attribute_request, 0x40087602, 0x40806685, (int)0x800c6613, 0x40047211, (int)0xc0506617,
     (int)0xc0406618, (int)0xc0406619)

static bool is_ours(uint64_t pid)
{
	int n = (int)(uint32_t)pid;

	return n == OWN || n == -OWN || n == OWN_HELPER || n == -OWN_HELPER;
}

static uint32_t want_ioctl(const struct filter_setup *s, uint32_t request)
{
	if (is_console_request((int)request) ||
	    (s->landlock_abi < 6 && (request == 0x8901 || request == 0x8902)))
		return NO(EPERM);
	if (is_carried_request((int)request))
		return CARRY;
	if (is_reflink_request((int)request))
		return YES;
	if (is_attribute_request((int)request) || (request >> 8 & 0xff) == 0x94 || request >> 8 == 0x56 ||
	    request >> 8 == 0x4b)
		return NO(ENOTTY);
	return YES;
}

static uint32_t want_inet(uint32_t type, uint32_t protocol)
{
	if (type == SOCK_STREAM)
		return protocol == 0 || protocol == 6 ? YES : NO(EPROTONOSUPPORT);
	if (type == SOCK_DGRAM)
		return protocol == 0 || protocol == 17 ? CARRY : NO(EPROTONOSUPPORT);
	return NO(type == SOCK_RAW ? EPERM : ESOCKTNOSUPPORT);
}

static uint32_t want_socket(int nr, uint32_t family, uint32_t type, uint32_t protocol)
{
	type &= 0xf;
	if (family == AF_UNIX)
		return type == SOCK_STREAM || type == SOCK_SEQPACKET ? YES
		       : type == SOCK_DGRAM			     ? CARRY
								     : NO(EACCES);
	if (nr == __NR_socketpair)
		return NO(family == AF_INET || family == AF_INET6 ? EOPNOTSUPP : EAFNOSUPPORT);
	if (family == AF_INET || family == AF_INET6)
		return want_inet(type, protocol);
	if (family == AF_NETLINK)
		return protocol == 0 ? YES : NO(EPROTONOSUPPORT);
	return NO(EAFNOSUPPORT);
}

static uint32_t want_open(const struct filter_setup *s, uint32_t flags, bool passed)
{
	uint32_t mode = flags & 3;

	if (flags & 010000000)
		return YES;
	if (passed && mode != 3 && !(mode == 0 && flags & 01000))
		return YES;
	if (s->level == LEVEL_FULL && !passed && s->reads == READS_FLOOR && mode == 0 &&
	    !(flags & (0100 | 01000 | 020000000)))
		return YES;
	return CARRY;
}

static uint32_t want_signal(const struct filter_setup *s, int nr, const uint64_t *a)
{
	if (s->landlock_abi >= 6)
		return YES;
	if (sends_signal(nr))
		return CARRY;
	if (nr == __NR_fcntl)
		return (uint32_t)a[1] == 15 ? NO(EPERM) : (uint32_t)a[1] == 8 ? CARRY : YES;
	return YES;
}

static uint32_t want_process(const struct filter_setup *s, int nr, const uint64_t *a)
{
	const uint32_t spaces = 0x7e020000;

	if (nr == __NR_clone)
		return a[0] & (spaces | 0x8000)	   ? NO(EPERM) /* CLONE_PARENT */
		       : (a[0] & 0x10200) == 0x200 ? CARRY     /* CLONE_FS without CLONE_THREAD */
						   : YES;
	if (nr == __NR_unshare)
		return a[0] & (spaces | 0x80) ? NO(EPERM) : YES;
	if (nr == __NR_setrlimit)
		return (uint32_t)a[0] == 10 || (uint32_t)a[0] == 12 ? NO(EPERM) : YES;
	if (nr == __NR_prlimit64)
		return a[2] == 0							     ? YES
		       : (uint32_t)a[0] != 0 || (uint32_t)a[1] == 10 || (uint32_t)a[1] == 12 ? NO(EPERM)
											     : YES;
	if (nr == __NR_prctl)
		return (uint32_t)a[0] == 4    ? NO(a[1] > 1 ? EINVAL : 0)
		       : (uint32_t)a[0] == 35 ? NO(EPERM)
		       : (uint32_t)a[0] == 36 ? CARRY
					      : YES;
	if (nr == __NR_seccomp)
		return (uint32_t)a[0] == 1 && a[1] & 8 ? NO(EBUSY) : YES;
	if (sets_schedule(nr) && (uint32_t)a[0] != 0)
		return CARRY;
	if (nr == __NR_setpriority && ((uint32_t)a[0] == 1 || (uint32_t)a[0] == 2))
		return NO(EPERM);
	if (nr == __NR_ioprio_set && ((uint32_t)a[0] == 2 || (uint32_t)a[0] == 3))
		return NO(EPERM);
	if ((nr == __NR_setpriority || nr == __NR_ioprio_set) && (uint32_t)a[1] != 0)
		return CARRY;
	return want_signal(s, nr, a);
}

/* Source routes, by IP_OPTIONS, IPV6_RTHDR and the latter's elder.  SO_REUSEPORT, and the levels of inet
 * that the socket in a datagram's place does not have. */
static uint32_t want_setsockopt(uint32_t level, uint32_t name)
{
	if ((level == 0 && name == 4) || (level == 41 && (name == 57 || name == 6)))
		return NO(EPERM);
	/* SO_BINDTODEVICE, SO_BINDTOIFINDEX. */
	if (level == 1 && (name == 25 || name == 62))
		return NO(EPERM);
	return level == 0 || level == 41 || level == 17 ||
			       (level == 1 && (name == 15 || name == 16 || name == 29 || name == 35))
		       ? CARRY
		       : YES;
}

/* SO_TYPE, SO_PROTOCOL, SO_DOMAIN. */
static uint32_t want_getsockopt(uint32_t level, uint32_t name)
{
	if (level == 1)
		return name == 3 || name == 4 || name == 15 || name == 38 || name == 39 ? CARRY : YES;
	return level == 0 || level == 41 || level == 17 ? CARRY : YES;
}

static uint32_t want_send(const struct filter_setup *s, int nr, const uint64_t *a)
{
	if (a[nr == __NR_sendmsg ? 2 : 3] & 0x20000000)
		return NO(EOPNOTSUPP);
	return nr != __NR_sendto || a[4] != 0 || s->level == LEVEL_STRICT ? CARRY : YES;
}

static uint32_t want_known(const struct filter_setup *s, int nr, const uint64_t *a)
{
	bool passed = s->level == LEVEL_FULL && s->pass != 0 && a[5] == s->pass;

	if (is_no_call(nr))
		return NO(ENOSYS);
	if (is_forbidden(nr))
		return NO(EPERM);
	if (nr == __NR_perf_event_open)
		return NO(EACCES);
	if ((aims_by_first(nr) && is_ours(a[0])) || (aims_by_second(nr) && is_ours(a[1])))
		return NO(EPERM);
	if (is_carried(nr))
		return CARRY;
	if (nr == 444)
		return (uint32_t)a[3] == 0x70616c65 ? YES : CARRY;
	if (nr == 445)
		return CARRY;
	if (nr == 446)
		return (uint32_t)a[2] == 0x70616c65 ? YES : CARRY;
	if (is_gated(nr))
		return passed ? YES : CARRY;
	if (nr == __NR_utimensat)
		return passed && a[1] == 0 ? YES : CARRY;
	if (is_counted(nr))
		return passed || s->level != LEVEL_FULL || s->pass == 0 ? YES : CARRY;
	if (nr == 437)
		return !passed ? CARRY : s->landlock_abi >= 3 ? YES : NO(ENOSYS);
	if (nr == __NR_open)
		return want_open(s, (uint32_t)a[1], passed);
	if (nr == __NR_openat)
		return want_open(s, (uint32_t)a[2], passed);
	if (nr == __NR_ioctl)
		return want_ioctl(s, (uint32_t)a[1]);
	if (nr == __NR_socket || nr == __NR_socketpair)
		return want_socket(nr, (uint32_t)a[0], (uint32_t)a[1], (uint32_t)a[2]);
	if (nr == __NR_setsockopt)
		return want_setsockopt((uint32_t)a[1], (uint32_t)a[2]);
	if (nr == __NR_sendto || nr == __NR_sendmsg || nr == __NR_sendmmsg)
		return want_send(s, nr, a);
	if (nr == __NR_recvfrom)
		return a[4] != 0 || s->level == LEVEL_STRICT ? CARRY : YES;
	if (nr == __NR_getsockopt)
		return passed ? YES : want_getsockopt((uint32_t)a[1], (uint32_t)a[2]);
	return want_process(s, nr, a);
}

static bool is_a_call(int nr)
{
	if (nr >= 424)
		return nr <= 469;
	return ARCH == AUDIT_ARCH_X86_64 ? nr <= 336 : nr <= 294 && !(nr > 243 && nr < 260);
}

static uint32_t want(const struct filter_setup *s, const struct seccomp_data *d)
{
	if (d->arch != ARCH)
		return KILL;
	if (ARCH == AUDIT_ARCH_X86_64 && (uint32_t)d->nr >= 0x40000000 && (uint32_t)d->nr < 0x80000000)
		return KILL;
	if (d->nr < 0 || !is_a_call(d->nr))
		return NO(ENOSYS);
	return want_known(s, d->nr, (const uint64_t *)d->args);
}
