# SPDX-License-Identifier: Apache-2.0
"""A dray apiserver of a test's own, and its cases as TAP."""
import base64
import http.client
import json
import pathlib
import re
import socket
import ssl
import subprocess
import sys

LATE = 10  # seconds that anything may take
MERGE = "application/merge-patch+json"
# As the server had it with which conversations were recorded; it warns of nothing.
AS_RECORDED = ["--enforced-elsewhere", "resourcequotas,networkpolicies.networking.k8s.io,"
               "flowschemas.flowcontrol.apiserver.k8s.io,"
               "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
               "--runtime-config", "api/all=true", "--enable-admission-plugins",
               "NodeRestriction", "--disable-admission-plugins", "ServiceAccount",
               "--service-account-issuer", "https://kubernetes"]


def all_gates():
    """All gates that are not locked, on: the recorded server had them so."""
    header = pathlib.Path(__file__).resolve().parents[2] / "src/api/gates.h"
    found = re.findall(r"X\((\w+), \w+, false, ", header.read_text())
    return ",".join(name + "=true" for name in found)


class Server:
    def __init__(self, dray, folder, *flags):
        self.folder = folder
        self.process = subprocess.Popen(
            [dray, "apiserver", "--data", folder, "--listen", "127.0.0.1:0", *flags],
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "ready on " not in line:
            sys.exit(f"Bail out! the server did not start: {line}")
        self.port = int(line.split(":")[-1])
        self.tls = ssl.create_default_context(cafile=folder + "/ca.crt")
        self.tls.load_cert_chain(folder + "/admin.crt", folder + "/admin.key")

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=30)

    def ask(self, method, path, body=None, kind="application/json", headers=()):
        c = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=LATE)
        c.request(method, path, json.dumps(body) if isinstance(body, dict) else body,
                  {"Content-Type": kind, **dict(headers)})
        r = c.getresponse()
        text = r.read()
        c.close()
        return r.status, text.decode(errors="replace"), r.headers

    def must(self, *args):
        status, text, _ = self.ask(*args)
        if status not in (200, 201, 409):
            sys.exit(f"Bail out! {args[:2]}: {status} {text}")

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=LATE)
        return self.tls.wrap_socket(s, server_hostname="127.0.0.1")

    def upgrade(self, path, extra="", method="GET", protocol="websocket"):
        """The connection, and the head of the answer with what came behind it."""
        s = self.connect()
        s.sendall(f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                  f"Upgrade: {protocol}\r\nSec-WebSocket-Version: 13\r\n{extra}\r\n".encode())
        got = b""
        while b"\r\n\r\n" not in got:
            more = s.recv(1 << 16)
            if not more:
                break
            got += more
        return s, got


class Other(Server):
    """An API server that runs already, as a kubeconfig says: what a test holds for upstream's
    ways can be asked of the real one."""

    def __init__(self, kubeconfig, folder):
        with open(kubeconfig, encoding="utf-8") as f:
            text = f.read()
        self.folder, self.tls = folder, ssl.create_default_context()
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE
        self.port = int(re.search(r"server: .?https://[^:]*:(\d+)", text).group(1))
        self.token = re.search(r"token: (\S+)", text)
        files = [re.search(rf"client-{part}: ([^\s,}}]+)", text) for part in ("certificate", "key")]
        found = [re.search(rf"client-{part}-data: (\S+)", text) for part in ("certificate", "key")]
        if all(found):
            with open(folder + "/pair", "wb") as f:
                f.write(b"".join(base64.b64decode(m.group(1)) for m in found))
            self.tls.load_cert_chain(folder + "/pair")
        elif all(files):
            self.tls.load_cert_chain(*(m.group(1) for m in files))

    def ask(self, method, path, body=None, kind="application/json", headers=()):
        if self.token:
            headers = {"Authorization": "Bearer " + self.token.group(1), **dict(headers)}
        return super().ask(method, path, body, kind, headers)

    def stop(self):
        return 0


def reach(program, folder, *flags):
    """A dray of the test's own, or what a kubeconfig leads to."""
    return (Other(program, folder) if program.endswith("kubeconfig")
            else Server(program, folder, *flags))


class Report:
    number = failed = 0

    def line(self, ok, name, why=""):
        self.number += 1
        self.failed += not ok
        print(f"{'ok' if ok else 'not ok'} {self.number} - {name}", flush=True)
        if not ok:
            print("#   " + str(why)[:6000].replace("\n", "\n#   "), flush=True)

    def passes(self, got, name):
        """got: (whether it does, why not)"""
        self.line(got[0], name, got[1])

    def skip(self, name, why):
        self.number += 1
        print(f"ok {self.number} - {name} # SKIP {why}", flush=True)

    def end(self):
        """What the program should exit with."""
        print(f"1..{self.number}")
        return 1 if self.failed else 0
