"""A writer of policy/wire/ring.h."""

from basics import *

RING_SLOTS, RING_SLOT, RING_HEAD = 1 << 16, 64, 320
RING_NAMES = 8 + 256 * (8 + 8 + 16 + 256)  # policy/wire/ring_names.c
RING_SIZE = RING_HEAD + RING_SLOTS * RING_SLOT + RING_NAMES
RESERVED, PUBLISHED, VOID = 1, 2, 3
UNWRITTEN = 216
M64 = (1 << 64) - 1


def sum_add(total, data):
    factor = 0x9E3779B97F4A7C15 + 2 * len(data)
    while len(data) >= 8:
        total += (int.from_bytes(data[:8], "little") ^ 0xA0761D6478BD642F) * factor & M64
        data, factor = data[8:], factor + 0x632BE59BD9B4E01A
    w = len(data)
    for byte in data:
        w = (w << 8 | byte) & M64
    total = total + ((w ^ 0xA0761D6478BD642F) & M64) * (factor & M64) & M64
    return total ^ total >> 29


NOTES = ("none", "around", "dynamic", "static", "name", "floor")


class Ring:
    """A writer of policy/wire/ring.h; one at a time."""

    def __init__(self, fd):
        self.map = mmap.mmap(fd, 0)

    def u64(self, at):
        return struct.unpack_from("<Q", self.map, at)[0]

    def decide(self, target, verdict=ALLOW, op="read", **more):
        self.write(1, target, verdict=verdict, op=OP[op], **more)

    def attach(self, exe, **more):
        self.write(2, "", op=OP["attach"], exe=exe, **more)

    def write(self, kind, target, verdict=0, op=0, approval=b"", exe="", note="none", image=0, pid=None, when=None,
              id=0, why="", rule=0xFFFFFFFF, reason=5, state=PUBLISHED):
        target, exe, why, pid = target.encode(), exe.encode(), why.encode(), pid or os.getpid()
        head = self.u64(64)
        tail = struct.pack("<IIIiiQIHHBBBBBBBBII", rule, 0, verdict, pid, os.getppid(),
                           time.time_ns() if when is None else when, 0, len(target), len(exe), len(approval), kind, op,
                           reason, 1, image, NOTES.index(note), len(why), id, 0)
        total = sum_add(sum_add(1, tail), target)
        for text in (exe, approval, why):
            total = sum_add(total, text) if text else total
        lap = head // RING_SLOTS * 0x9E3779B1 & 0xFFFFFFFF
        entry = struct.pack("<I", (total ^ total >> 32) & 0xFFFFFFFF ^ lap) + tail
        entry += target + b"\0" + exe + b"\0" + approval + b"\0" + why + b"\0"
        slots = (8 + len(entry) + RING_SLOT - 1) // RING_SLOT
        while head + slots - self.u64(128) > RING_SLOTS:
            time.sleep(0.001)
        at = RING_HEAD + head % RING_SLOTS * RING_SLOT
        struct.pack_into("<Q", self.map, 64, head + slots)
        first = min(len(entry), RING_HEAD + RING_SLOTS * RING_SLOT - at - 8)
        self.map[at + 8 : at + 8 + first] = entry[:first]
        self.map[RING_HEAD : RING_HEAD + len(entry) - first] = entry[first:]
        tag = state | slots << 2 | (pid & 0x7FFFFF) << 9 | (head & 0xFFFFFFFF) << 32
        struct.pack_into("<Q", self.map, at, tag)


SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


def memory(content=b"", size=None, seals=SEALS):
    """A file without a name: its descriptor."""
    fd = os.memfd_create("memory", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, content)
    os.ftruncate(fd, len(content) if size is None else size)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd
