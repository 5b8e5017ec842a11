#!/usr/bin/env python3
"""Files that call each other in a circle, found from the symbols of the built objects.

circles.py BUILD_DIR [--all]: fails where a circle has more files than tests/rooms.txt permits (the lines
`circle ROOM N`).  --all prints every circle.
"""
import collections
import pathlib
import re
import subprocess
import sys

build = pathlib.Path(sys.argv[1])
top = pathlib.Path(__file__).resolve().parent.parent


def objects():
    """The objects of each room: the source's name without its ending, and the object."""
    for room in ("policy", "preload", "helper", "tools"):
        at = build / "so" / room if room == "preload" else build / room
        for path in sorted(at.rglob("*.o")):
            yield f"{room}/{path.relative_to(at).with_suffix('')}", path


def edges():
    defines, uses = {}, {}
    for name, path in objects():
        lines = subprocess.run(["nm", "-P", path], capture_output=True, text=True, check=True).stdout.splitlines()
        for symbol, kind, *_ in (line.split() for line in lines):
            if kind == "U":
                uses.setdefault(name, []).append(symbol)
            elif kind.isupper():
                defines[(name.split("/")[0], symbol)] = name
    for name, symbols in uses.items():
        room = name.split("/")[0]
        for symbol in symbols:
            to = defines.get((room, symbol)) or defines.get(("policy", symbol))
            if to and to != name:
                yield name, to


def circles(graph):
    """Strongly connected components with more than one member (Tarjan, without recursion)."""
    index, low, stack, on, found = {}, {}, [], set(), []
    for root in graph:
        work = [(root, iter(graph[root]))] if root not in index else []
        if work:
            index[root] = low[root] = len(index)
            stack.append(root)
            on.add(root)
        while work:
            node, more = work[-1]
            for to in more:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(graph[to])))
                    break
                if to in on:
                    low[node] = min(low[node], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = []
                    while True:
                        members.append(stack.pop())
                        on.discard(members[-1])
                        if members[-1] == node:
                            break
                    if len(members) > 1:
                        found.append(sorted(members))
    return sorted(found, key=len, reverse=True)


graph = collections.defaultdict(set)
for a, b in edges():
    graph[a].add(b)
    graph[b]
limits = dict(re.findall(r"^circle (\w+) ([0-9]+)$", (top / "tests/rooms.txt").read_text(), re.M))
bad = not graph
for members in circles(graph):
    room = members[0].split("/")[0]
    grown = len(members) > int(limits[room])
    bad = bad or grown
    if grown or "--all" in sys.argv:
        print(f"{len(members)} files of {room} call each other in a circle, at most {limits[room]} may:", *members)
sys.exit(bad)
