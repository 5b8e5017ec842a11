"""An HTTP server that answers each request by its path's first word: /401/..., /404/..., and so on; `hang` never
answers, `cut` ends in the middle.  answers.py FILE: its port is written there."""

import http.server
import sys
import time


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        word = self.path.split("/")[1]
        if word == "hang":
            time.sleep(600)
        if word == "cut":
            self.send_response(200)
            self.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"001e# service=git-upload-pack\n000000")
            return
        self.send_response(int(word))
        if word == "302":
            self.send_header("Location", "http://127.0.0.1:%d/404/b.git" % server.server_port)
        if word == "401":
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
        self.end_headers()

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
with open(sys.argv[1] + ".new", "w") as f:
    f.write(str(server.server_port))
__import__("os").rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
