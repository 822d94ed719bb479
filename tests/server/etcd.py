# SPDX-License-Identifier: Apache-2.0
"""The etcd programs of this machine, and one at work."""
import os
import pathlib
import socket
import subprocess


def binaries():
    paths = [os.path.join(d, "etcd") for d in os.environ.get("PATH", "").split(":")]
    paths.append(str(pathlib.Path.home() / ".cache/dray/kube/etcd"))
    if "DRAY_ETCD" in os.environ:
        paths = os.environ["DRAY_ETCD"].split(":")
    found = {}
    for p in paths:
        if os.access(p, os.X_OK):
            out = subprocess.run([p, "--version"], capture_output=True, text=True).stdout
            found.setdefault(out.splitlines()[0].replace(" Version:", ""), p)
    return found


class Etcd:
    def __init__(self, binary, folder, scheme="http", extra=()):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.command = [
            binary, "--data-dir", folder, "--logger", "zap", "--log-outputs", "/dev/null",
            "--listen-client-urls", f"{scheme}://127.0.0.1:{self.port}",
            "--advertise-client-urls", f"{scheme}://127.0.0.1:{self.port}",
            "--listen-peer-urls", "http://127.0.0.1:0", *extra]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def kill(self):
        self.process.kill()
        self.process.wait()
