"""What a provider tells a machine about its end, for tests: a notice is there when /tmp/notice is."""
import http.server
import os


class Service(http.server.BaseHTTPRequestHandler):
    def answer(self, status, text=""):
        self.send_response(status)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_PUT(self):
        self.answer(200, "token-of-the-test")

    def do_GET(self):
        if self.headers.get("X-aws-ec2-metadata-token") != "token-of-the-test":
            self.answer(401)
        elif os.path.exists("/tmp/notice"):
            self.answer(200, '{"action": "terminate", "time": "2026-01-01T00:02:00Z"}')
        else:
            self.answer(404)


http.server.HTTPServer(("127.0.0.1", 8169), Service).serve_forever()
