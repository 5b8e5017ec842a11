"""The system calls that a unit leaves its service, as systemd 252 filters them: SystemCallFilter= by the groups
that systemd-analyze(1) names, and what RestrictSUIDSGID= answers to a call whose flags no filter can read."""

import ctypes
import errno
import subprocess

ALLOW = 0x7FFF0000


def refuse(number):
    return 0x00050000 | number


def settings(unit, name):
    with open(unit) as f:
        return [line.split("=", 1)[1].strip() for line in f if line.startswith(name + "=")]


def members(group):
    out = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True)
    names = {line.strip() for line in out.stdout.splitlines()[1:]}
    calls = {n for n in names if n and n[0] not in "@#"}
    return calls.union(*(members(n) for n in names if n.startswith("@")))


def allowed(unit):
    calls = members("@default")
    for line in settings(unit, "SystemCallFilter"):
        words = line.lstrip("~").split()
        named = set().union(*(members(w) if w.startswith("@") else {w} for w in words))
        calls = calls - named if line.startswith("~") else calls | named
    return calls


def prepare(unit):
    """What load() wants: before anything is given up that asking needs."""
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    ctx = ctypes.c_void_p(lib.seccomp_init(refuse(errno.EPERM)))
    strict = settings(unit, "RestrictSUIDSGID") == ["yes"]
    for name in sorted(allowed(unit)):
        number = lib.seccomp_syscall_resolve_name(name.encode())
        action = refuse(errno.ENOSYS) if strict and name == "openat2" else ALLOW
        if number >= 0 and lib.seccomp_rule_add(ctx, ctypes.c_uint32(action), number, 0) != 0:
            raise OSError("no rule can be made for " + name)
    return lib, ctx


def load(filter):
    lib, ctx = filter
    if lib.seccomp_load(ctx) != 0:
        raise OSError("the filter cannot be loaded")
