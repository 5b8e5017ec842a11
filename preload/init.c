/*
 * Start-up of the preload in one process: finds the session, maps its policy image and its ring, and keeps
 * what children must inherit.  Linked with -z initfirst, so that this runs before the constructors of the
 * program's other objects; a hook that runs even earlier finds state BOOT.
 *
 * It must not allocate memory or leave a descriptor open, and leaves errno unchanged.
 */
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "policy/base/path.h"
#include "policy/wire/wire.h"

#include "preload/judge/near.h"
#include "preload/process/clock.h"
#include "preload/process/envp.h"
#include "preload/process/gate.h"
#include "preload/process/real.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"
#include "preload/tell/ask.h"
#include "preload/tell/log.h"
#include "preload/tell/say.h"

#define EXIT_REFUSED 126 /* as pale run's */

/* The most argument words before those of a script: four levels of `#! INTERPRETER WORD`, and the script's
 * name. */
#define SCRIPT_WORDS 10

extern char **environ;

/* See WIRE_RING_NAME. */
static long ring_file(void)
{
	char path[SESSION_PATH];

	if (session.img.h->level == LEVEL_HOOKS)
		return ask_ring();
	return carried4(SYS_openat, AT_FDCWD, session_path(path, WIRE_RING_NAME), O_RDWR | O_CLOEXEC, 0);
}

const char *env_value(char *const envp[], const char *name, size_t n)
{
	for (; envp && *envp; envp++)
		if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

/*
 * Pale was replaced since the session began, and this is not the session's own libpale.  If there is a
 * supervisor, it answers all calls that pass through.  Without one this program would not be restricted, so
 * it is not started.
 */
static int session_of_another(void)
{
	if (carried3(SYS_ioctl, 2, WIRE_DENIED, NULL) >= 0)
		return STATE_BOOT;
	say_text("pale: this program is not started: pale was replaced by another version since the session "
		 "began; end the session and start it anew");
	raw1(SYS_exit_group, EXIT_REFUSED);
	return STATE_BROKEN;
}

static int session_map(const char *image)
{
	int number = image ? wire_image_number(image) : 0;
	int r = number < 0 ? -EINVAL : session_image((uint32_t)number, &session.img);
	size_t size;
	void *p;

	if (r < 0)
		return r == -EPROTO ? session_of_another() : STATE_BROKEN;
	session.image = (uint32_t)number;
	p = map_fd(ring_file(), PROT_READ | PROT_WRITE, &size);
	/* Only the size is checked, since it is sealed; any process of the session may change the
	 * header. */
	if (p && size == ring_size())
		session.ring = p;
	else
		session.img.h = NULL;
	return session.ring ? STATE_LIVE : STATE_BROKEN;
}

/* The path of libpale.so, in the memory of the dynamic loader. */
static const char *self_name(void)
{
	Dl_info info;

	return dladdr((void *)self_name, &info) && info.dli_fname ? info.dli_fname : "";
}

/* True if name is a script: the kernel then passes it both in AT_EXECFN and among the first words. */
static bool is_script(const char *name, char **argv)
{
	for (int i = 0; i < SCRIPT_WORDS && argv && argv[i]; i++)
		if (i > 0 && strcmp(argv[i], name) == 0)
			return true;
	return false;
}

/* Sets session.exe: the path by which the process was started if that is its real path, else the target of
 * /proc/self/exe. */
static void exe_name(char **argv)
{
	const char *started = (const char *)getauxval(AT_EXECFN);
	long n = started && *started == '/' && !is_script(started, argv)
			 ? sys_open_real(AT_FDCWD, started, O_PATH, session.exe)
			 : -1;

	if (n >= 0) {
		raw1(SYS_close, n);
		return;
	}
	n = gate4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", session.exe, sizeof session.exe - 1);
	session.exe[n > 0 ? n : 0] = '\0';
}

/* valgrind's client request RUNNING_ON_VALGRIND: instructions that have no effect on a real CPU. */
static bool in_valgrind(void)
{
	uint64_t running = 0;
#if defined(__x86_64__)
	const uint64_t request[6] = { 0x1001 };

	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(running)
			 : "a"(request)
			 : "cc", "memory");
#endif
	return running != 0;
}

static int session_start(char **argv, char *const envp[])
{
	const char *dir = env_value(envp, ENV_SESSION_DIR, sizeof ENV_SESSION_DIR - 1);
	const char *image = env_value(envp, ENV_IMAGE, sizeof ENV_IMAGE - 1);
	struct out o;
	int s;

	if (!dir)
		return STATE_OFF;
	if (dir[0] != '/' || strlen(dir) >= sizeof session.dir)
		return STATE_BROKEN;
	o = out_of(session.dir, sizeof session.dir);
	text_str(&o, dir);
	text_end(&o);
	o = out_of(session.env_dir, sizeof session.env_dir);
	text_str(&o, ENV_SESSION_DIR "=");
	text_str(&o, dir);
	text_end(&o);
	session.self = self_name();
	session.in_valgrind = in_valgrind();
	s = session_map(image);
	if (s == STATE_LIVE)
		exe_name(argv);
	return s;
}

/*
 * A program built with -fsanitize=address refuses to start if a library is loaded before its runtime, and
 * libpale is.  The runtime calls this function for its options, unless the program has its own one;
 * ASAN_OPTIONS still overrides them.
 */
EXPORT const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

/* Several threads write to the caches of the preload, and each read verifies the entry: the thread
 * sanitizer cannot see that. */
EXPORT const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
	return "called_from_lib:libpale.so\n";
}

__attribute__((constructor)) static void init(int argc, char **argv, char **envp)
{
	int saved = errno;
	int s;

	(void)argc;
	real_init();
	/* Another libc passes constructors no environment: the state stays BOOT, and the supervisor serves
	 * all calls. */
	if (!sys_libc_is_known())
		return;
	process_init();
	say_init();
	s = session_start(argv, envp ? envp : environ);
	__atomic_store_n((int *)&session.state, s, __ATOMIC_RELEASE);
	if (s == STATE_LIVE)
		log_attach();
	/* After log_attach(): its one record gets the time by a system call, which costs less than the page
	 * fault of the clock's page. */
	clock_init();
	errno = saved;
}
