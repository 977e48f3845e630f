"""An MCP server with an authorization server of its own, on loopback and of the standard library alone. The first line
that it says is its origin. What it does can be changed, and what it saw be read: a JSON object on standard input changes
its settings, and the answer is a line of what it saw so far."""

import base64
import hashlib
import json
import secrets
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

settings = {"expires_in": 3600, "is_down": False, "iss": None, "resource": None, "issuer": None,
    # The secret of the client `us`, which is registered by hand; whether no token is taken any more; and the
    # authorization server that is named in the place of this one.
    "secret": None, "is_deaf": False, "named": None,
    # Whether it is a server of the newest revision, whose tool asks for something first.
    "asks": False}
seen = {"registered": 0, "redeemed": 0, "refreshed": 0, "reused": 0, "revoked": 0, "called": [], "strange": []}
clients, codes, access, refresh = {}, {}, {}, {}
lock = threading.Lock()


def origin():
    return f"http://127.0.0.1:{server.server_address[1]}"


def issue(login, number):
    token, renewal = f"access-{secrets.token_hex(8)}", f"refresh-{secrets.token_hex(8)}"
    access[token], refresh[renewal] = (login, number), (login, number)
    return {"access_token": token, "token_type": "Bearer", "expires_in": settings["expires_in"], "refresh_token": renewal}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def say(self, status, body, **fields):
        body = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": len(body), **fields}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/.well-known/oauth-protected-resource/mcp":
            resource = settings["resource"] or f"{origin()}/mcp"
            return self.say(200, {"resource": resource, "authorization_servers": [settings["named"] or origin()],
                "scopes_supported": ["notes"]})
        if url.path == "/.well-known/oauth-authorization-server":
            if settings["is_down"]:
                return self.say(503, {})
            ends = {f"{name}_endpoint": f"{origin()}/{path}" for name, path in
                [("authorization", "authorize"), ("token", "token"), ("registration", "register"), ("revocation", "revoke")]}
            return self.say(200, {"issuer": settings["issuer"] or origin(), **ends,
                "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": True})
        if url.path == "/authorize":
            asked = {key: values[0] for key, values in parse_qs(url.query).items()}
            client = clients.get(asked["client_id"])
            by_hand = settings["secret"] and asked["client_id"] == "us"
            if not (by_hand or client and asked["redirect_uri"] in client) or asked["code_challenge_method"] != "S256":
                return self.say(400, {"error": "invalid_request"})
            code = f"code-{secrets.token_hex(8)}"
            codes[code] = asked
            back = urlencode({"code": code, "state": asked["state"], "iss": settings["iss"] or origin()})
            return self.say(302, {}, Location=f"{asked['redirect_uri']}?{back}")
        self.say(404 if url.path != "/mcp" else 405, {})

    def do_POST(self):
        body, path = self.body(), urlsplit(self.path).path
        with lock:
            if path == "/mcp":
                return self.mcp(body)
            if path == "/register":
                name = f"client-{secrets.token_hex(4)}"
                clients[name] = json.loads(body)["redirect_uris"]
                seen["registered"] += 1
                return self.say(201, {"client_id": name, "token_endpoint_auth_method": "none"})
            form = {key: values[0] for key, values in parse_qs(body.decode()).items()}
            if path == "/revoke":
                seen["revoked"] += 1
                refresh.pop(form["token"], None)
                return self.say(200, {})
            if path == "/token":
                return self.say(503, {}) if settings["is_down"] else self.token(form)
        self.say(404, {})

    def is_known(self, form):
        if settings["secret"] is None:
            return form.get("client_id") in clients
        pair = base64.b64encode(f"us:{settings['secret']}".encode()).decode()
        return self.headers.get("Authorization") == f"Basic {pair}"

    def token(self, form):
        if settings["secret"] and not self.is_known(form):
            return self.say(401, {"error": "invalid_client"})
        if form.get("resource") != f"{origin()}/mcp" or not self.is_known(form):
            seen["strange"].append(form.get("resource"))
            return self.say(400, {"error": "invalid_target"})
        if form["grant_type"] == "refresh_token":
            known = refresh.pop(form["refresh_token"], None)
            if known is None:
                seen["reused"] += 1
                return self.say(400, {"error": "invalid_grant"})
            seen["refreshed"] += 1
            return self.say(200, issue(*known))
        asked = codes.pop(form["code"], None)
        challenge = hashlib.sha256(form["code_verifier"].encode()).digest()
        is_right = asked and asked["code_challenge"] == base64.urlsafe_b64encode(challenge).rstrip(b"=").decode()
        if not is_right or asked["redirect_uri"] != form["redirect_uri"] or asked["resource"] != form["resource"]:
            return self.say(400, {"error": "invalid_grant"})
        seen["redeemed"] += 1
        self.say(200, issue(f"login-{seen['redeemed']}", seen["redeemed"]))

    def mcp(self, body):
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        told = json.loads(body)
        if token not in access or settings["is_deaf"]:
            where = f'Bearer resource_metadata="{origin()}/.well-known/oauth-protected-resource/mcp"'
            return self.say(401, {}, WWW_Authenticate=where)
        method, login = told.get("method"), access[token][0]
        if "id" not in told:
            self.send_response(202)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if method == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "far", "version": "1"}}
        elif method == "server/discover" and settings["asks"]:
            result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0,
                "cacheScope": "private"}
        elif method == "tools/call" and settings["asks"] and "inputResponses" not in told["params"]:
            page = {"mode": "url", "message": "Look here.", "url": "https://far.example/look", "elicitationId": "1"}
            result = {"resultType": "input_required", "requestState": "first",
                "inputRequests": {"page": {"method": "elicitation/create", "params": page}}}
        elif method == "tools/list":
            result = {"tools": [{"name": "whoami", "inputSchema": {"type": "object"}}]}
            result |= {"ttlMs": 0, "cacheScope": "private"} if settings["asks"] else {}
        elif method == "tools/call":
            seen["called"].append(login)
            result = {"content": [{"type": "text", "text": f"You are {login}."}]}
        else:
            return self.say(200, {"jsonrpc": "2.0", "id": told["id"], "error": {"code": -32601, "message": "no"}})
        result = {"resultType": "complete", **result} if settings["asks"] else result
        self.say(200, {"jsonrpc": "2.0", "id": told["id"], "result": result})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(origin(), flush=True)
for line in sys.stdin:
    with lock:
        change = json.loads(line)
        if change.pop("end_access", False):
            access.clear()
        if change.pop("end_all", False):
            access.clear(), refresh.clear()
        settings.update(change)
        print(json.dumps(seen), flush=True)
