# SPDX-License-Identifier: Apache-2.0
"""A server with controllers beside it: dray's, or, to see what upstream's do, those that
run there already."""
import json
import subprocess
import sys
import tempfile
import time

from apiserver import Other, Report, Server

PATIENCE = 30  # seconds that controllers may take for anything, on a loaded machine


class Controllers:
    """dray controllers; their words go to a file."""

    def __init__(self, dray, config, log, *flags):
        with open(log, "a", encoding="utf-8") as out:
            self.process = subprocess.Popen(
                [dray, "controllers", "--kubeconfig", config, "--leader-elect=false", *flags],
                stdout=subprocess.PIPE, stderr=out, text=True)
        if "working" not in self.process.stdout.readline():
            sys.exit("Bail out! dray controllers does not start")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=PATIENCE)


class Site:
    """What tests ask of a server."""

    def __init__(self, server):
        self.server = server

    def get(self, path):
        status, text, _ = self.server.ask("GET", path)
        return json.loads(text) if status == 200 else None

    def items(self, path):
        return (self.get(path) or {"items": []})["items"]

    def make(self, path, body):
        """The object as the server has it."""
        status, text, _ = self.server.ask("POST", path, body)
        if status not in (200, 201):
            sys.exit(f"Bail out! POST {path}: {status} {text}")
        return json.loads(text)

    def patch(self, path, body, kind="application/merge-patch+json"):
        return self.server.ask("PATCH", path, body, kind)[0]

    def delete(self, path, policy=None, **options):
        body = {"kind": "DeleteOptions", "apiVersion": "v1", **options}
        if policy:
            body["propagationPolicy"] = policy
        return self.server.ask("DELETE", path, body)[0]

    def until(self, what, patience=PATIENCE):
        """The first thing that what() gives and that is true, or what it gave last."""
        end = time.monotonic() + patience
        while not (got := what()) and time.monotonic() < end:
            time.sleep(0.05)
        return got

    def gone(self, path, patience=PATIENCE):
        return self.until(lambda: self.get(path) is None, patience)


def run(tests, *flags, server_flags=()):
    """PROGRAM DRAY [KUBECONFIG [theirs]]: each test is asked with the report, the site, and
    a function that ends the controllers and starts others; theirs: none are started."""
    r, dray, args = Report(), sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        config = args[0] if args else folder + "/admin.kubeconfig"
        server = Other(config, folder) if args else Server(dray, folder, *server_flags)
        theirs = len(args) > 1
        running = []

        def start():
            if not theirs:
                running.append(Controllers(dray, config, folder + "/log", *flags))

        def stop():
            if running:
                running.pop().kill()

        start()
        for test in tests:
            test(r, Site(server), stop, start)
        if running:
            r.line(running.pop().stop() == 0, "the controllers end in order")
        if r.failed and not theirs:
            with open(folder + "/log", encoding="utf-8") as log:
                print("# said by the controllers:\n#   " +
                      log.read()[-4000:].replace("\n", "\n#   "))
        r.line(server.stop() == 0, "the server ends")
    return r.end()
