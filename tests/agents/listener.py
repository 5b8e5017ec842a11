#!/usr/bin/env python3
"""Where nothing may arrive: listener.py LOG PORTFILE [PORT...]

Listens on all addresses, on the first port named that is free and on three that are free anyway,
answers every request, and writes one line for each connection to LOG.
"""

import socket
import sys
import threading

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\narrived"


def listen(ports):
    for port in [*map(int, ports), 0]:
        s = socket.socket()
        try:
            s.bind(("0.0.0.0", port))
        except OSError:
            s.close()
            continue
        s.listen()
        return s
    raise SystemExit("no port")


def serve(server, log):
    while True:
        peer, address = server.accept()
        with open(log, "a", encoding="utf-8") as f:
            f.write(f"{server.getsockname()[1]} {address[0]}\n")
        with peer:
            peer.settimeout(2)
            try:
                peer.recv(65536)
                peer.sendall(ANSWER)
            except OSError:
                pass


def main():
    log, port_file, *ports = sys.argv[1:]
    servers = [listen(ports), *(listen([]) for _ in range(3))]
    with open(port_file, "w", encoding="utf-8") as f:
        f.write(" ".join(str(s.getsockname()[1]) for s in servers) + "\n")
    for s in servers[1:]:
        threading.Thread(target=serve, args=(s, log), daemon=True).start()
    serve(servers[0], log)


main()
