# SPDX-License-Identifier: Apache-2.0
"""A webhook: an HTTPS server that answers a path as a function of its name says."""
import base64
import http.server
import json
import ssl
import subprocess
import threading
import time


def certificate(folder, *names):
    """PEM of a certificate of its own, for 127.0.0.1 and the names."""
    alt = ",".join(["IP:127.0.0.1", "DNS:localhost", *("DNS:" + n for n in names)])
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", "/CN=webhook",
                    "-addext", "subjectAltName=" + alt, "-keyout", folder + "/hook.key",
                    "-out", folder + "/hook.crt"], check=True, capture_output=True)
    with open(folder + "/hook.crt", "rb") as f:
        return f.read()


def patch(*operations):
    text = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"allowed": True, "patch": text, "patchType": "JSONPatch"}


class Hook:
    def __init__(self, folder, *names):
        self.ca = base64.b64encode(certificate(folder, *names)).decode()
        self.seen = []
        self.peers = set()  # addresses: one for each connection
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.answer(self, json.loads(body))

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder + "/hook.crt", folder + "/hook.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, handler, review):
        path, _, query = handler.path.partition("?")
        name = path.strip("/").split("/")[-1]
        self.seen.append((name, query, dict(handler.headers), review))
        made = ANSWERS[name](review) if name in ANSWERS else {"allowed": True}
        status, body = 200, made
        if isinstance(made, tuple):
            status, body = made
        elif isinstance(made, dict) and "response" not in made and "raw" not in made:
            body = {"apiVersion": review["apiVersion"], "kind": "AdmissionReview",
                    "response": {"uid": review["request"]["uid"], **made}}
        elif isinstance(made, dict) and "raw" in made:
            body = made["raw"]
        self.reply(handler, (status, body))

    def reply(self, handler, made):
        """A body, or a status and a body."""
        status, body = made if isinstance(made, tuple) else (200, made)
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            handler.send_response(status)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(text)))
            handler.end_headers()
            handler.wfile.write(text)
        except OSError:
            pass

    def stop(self):
        self.server.shutdown()


def slow(seconds, made):
    def answer(review):
        time.sleep(seconds)
        return made(review) if callable(made) else made
    return answer


def told(review):
    """What of the request is the same on every server."""
    r = dict(review["request"])
    r.pop("uid")
    r["userInfo"] = sorted(r["userInfo"])
    for key in ("object", "oldObject"):
        if r.get(key):
            r[key] = json.loads(json.dumps(r[key]))
            for drop in ("uid", "resourceVersion", "creationTimestamp", "managedFields",
                         "generation"):
                r[key].get("metadata", {}).pop(drop, None)
    return {"allowed": False, "status": {"message": json.dumps(r, sort_keys=True)}}


def uid_of(review):
    return review["request"]["uid"]


ADD = {"op": "add", "path": "/data/hooked", "value": "yes"}
ANSWERS = {
    "allow": lambda r: {"allowed": True},
    "warn": lambda r: {"allowed": True, "warnings": ["first", "sec\"ond"],
                       "auditAnnotations": {"k": "v"}},
    "deny": lambda r: {"allowed": False},
    "deny-message": lambda r: {"allowed": False, "status": {"message": "not here"}},
    "deny-reason": lambda r: {"allowed": False, "status": {"reason": "Forbidden"}},
    "deny-code": lambda r: {"allowed": False, "status": {
        "code": 403, "reason": "Forbidden", "message": "no", "details": {
            "name": "n", "kind": "k", "causes": [{"message": "c", "field": "spec.x"}]}}},
    "deny-ok": lambda r: {"allowed": False, "status": {"code": 200, "status": "Success"}},
    "deny-later": lambda r: {"allowed": False, "status": {
        "code": 429, "message": "later", "details": {"retryAfterSeconds": 3}}},
    "told": told,
    "add": lambda r: patch(ADD),
    "add-label": lambda r: patch({"op": "add", "path": "/metadata/labels/hooked", "value": "yes"}),
    "remove-none": lambda r: patch({"op": "remove", "path": "/data/none"}),
    "empty-patch": lambda r: patch(),
    "wrong-type": lambda r: patch({"op": "add", "path": "/data", "value": 5}),
    "unknown": lambda r: patch({"op": "add", "path": "/nope", "value": 5}),
    "bad-name": lambda r: patch({"op": "add", "path": "/data/a b", "value": "x"}),
    "no-type": lambda r: {"allowed": True, "patch": patch(ADD)["patch"]},
    "no-patch": lambda r: {"allowed": True, "patchType": "JSONPatch"},
    "odd-type": lambda r: {"allowed": True, "patchType": "Odd", "patch": patch(ADD)["patch"]},
    "no-base64": lambda r: {"allowed": True, "patchType": "JSONPatch", "patch": "eyJ4IjoxfQ=="},
    "wrong-uid": lambda r: {"allowed": True, "uid": "x"},
    "no-response": lambda r: {"raw": {"apiVersion": "admission.k8s.io/v1",
                                      "kind": "AdmissionReview"}},
    "wrong-kind": lambda r: {"raw": {"apiVersion": "admission.k8s.io/v1", "kind": "Odd",
                                     "response": {"uid": uid_of(r), "allowed": True}}},
    "wrong-version": lambda r: {"raw": {"apiVersion": "admission.k8s.io/v1beta1",
                                        "kind": "AdmissionReview",
                                        "response": {"uid": uid_of(r), "allowed": True}}},
    "no-json": lambda r: {"raw": b"hello"},
    "fails": lambda r: (500, b"boom"),
    "missing": lambda r: (404, b"nothing"),
    "refused": lambda r: (403, b"no"),
    "busy": lambda r: (503, b"busy"),
    "slow": slow(3, {"allowed": True}),
    "half": slow(0.5, {"allowed": True}),
    "half-add": slow(0.5, lambda r: patch(ADD)),
    "count": lambda r: patch({"op": "add", "path": "/data/n", "value": str(
        int(r["request"]["object"]["data"].get("n", "0")) + 1)}),
    "after": lambda r: patch({"op": "add", "path": "/data/after", "value": "x"}),
}
