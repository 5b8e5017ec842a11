"""Web servers that only write down which of them was reached: witness.py FILE ADDRESS..."""
import select
import socket
import sys

doors = [socket.create_server((addr, 80), backlog=64) for addr in sys.argv[2:]]
with open(sys.argv[1], "w", buffering=1) as log:
    while True:
        for door in select.select(doors, [], [])[0]:
            door.accept()[0].close()
            log.write(door.getsockname()[0] + "\n")
