"""A bundle as policy/compile/bundle.c travels it: what a session's policy depends on, in bytes."""

import struct

STRINGS = ("home", "workspace", "cwd", "agent", "session", "preset", "mode", "git_own", "git_common",
           "git_head", "login", "scratch")
FLAGS = ("danger", "allow_sensitive", "allow_denylisted", "allow_unhooked", "no_prompt", "observe", "relocated",
         "judge", "keep_home", "level_hooks", "abi_max", "observes")
LISTS = ("self_write", "self_hide", "git_write", "git_keep", "git_trunk", "unproven")
PAIRS = ("reals", "idents")


def text(s):
    raw = s.encode() + b"\0"
    return struct.pack("=I", len(raw)) + raw


def bits(names, members):
    return sum(1 << i for i, name in enumerate(names) if members.get(name) not in (None, False))


def encode(members):
    """members: a dictionary by the names above, and `sources`, a list of [layer, path, text]."""
    out = [struct.pack("=II", bits(STRINGS, members), bits(FLAGS, members))]
    out += [text(members[name]) for name in STRINGS if members.get(name) is not None]
    for name in LISTS + PAIRS:
        entries = members.get(name, [])
        out.append(struct.pack("=I", len(entries)))
        for entry in entries:
            out += [text(entry)] if name in LISTS else [text(word) for word in entry]
    sources = members.get("sources", [])
    out.append(struct.pack("=I", len(sources)))
    for layer, path, content in sources:
        raw = content.encode()
        # No other file takes it in.
        out.append(struct.pack("=I", layer) + text(path) + text("") + struct.pack("=I", len(raw)) + raw)
    return b"".join(out)
