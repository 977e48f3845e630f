# A site of pages, as any web server gives them; with `spa`, an application of one page, whose server answers every path
# with that page. Says its address in its first line.

import http.server
import sys

PAGE = b"<!doctype html><title>Hello</title><div id=app></div>"
IS_APPLICATION = sys.argv[1:] == ["spa"]


class Site(http.server.BaseHTTPRequestHandler):
    def answer(self):
        is_there = IS_APPLICATION or (self.command in ("GET", "HEAD") and self.path in ("/", "/index.html"))
        status = 200 if is_there else 404 if self.command in ("GET", "HEAD") else 501
        body = PAGE if is_there else b"<h1>Not found</h1>"
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
