# SPDX-License-Identifier: Apache-2.0
"""`dray up` of a test's own, asked by kubectl as it is, or, on machines without one, by
dray's own client; what kubectl has no command for is asked of the API."""
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import time

from apiserver import MERGE, Report, Server

LATE = 90  # seconds that anything may take, on a loaded machine under sanitizers
DRA = "/apis/resource.k8s.io/v1"


def find_kubectl():
    """The newest there is: of the programs built from source, else of the path."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(pathlib.Path.home() / ".cache")
    folder = os.environ.get("DRAY_KUBE") or cache + "/dray/kube"
    return shutil.which("kubectl", path=folder) or shutil.which("kubectl")


class Up(Server):
    """A whole cluster in one process."""
    command, ready = "up", r":(\d+),"

    def __init__(self, dray, folder, *flags):
        self.folder, self.dray = folder, dray
        self.config = folder + "/admin.kubeconfig"
        self.kubectl = [find_kubectl() or dray]
        with open(folder + ".log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [dray, self.command, "--data", folder, "--listen", "127.0.0.1:0", *flags],
                stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        if "ready on " not in line:
            sys.exit(f"Bail out! the cluster did not start: {line}\n{self.said()}")
        self.port = int(re.search(self.ready, line.strip()).group(1))
        self.tls = ssl.create_default_context(cafile=folder + "/ca.crt")
        self.tls.load_cert_chain(folder + "/admin.crt", folder + "/admin.key")

    def said(self):
        with open(self.folder + ".log", encoding="utf-8") as log:
            return log.read()[-6000:]

    def kill(self):
        self.process.kill()
        self.process.wait()

    # ---- kubectl ----

    def run(self, *args, text=None):
        """(exit code, all that was printed)"""
        p = subprocess.run([*self.kubectl, args[0], "--kubeconfig", self.config, *args[1:]],
                           input=text, capture_output=True, text=True, timeout=2 * LATE,
                           check=False)
        return p.returncode, p.stdout + p.stderr

    def apply(self, *texts):
        """Manifests as text, which must be taken."""
        code, said = self.run("apply", "-f", "-", text="\n---\n".join(texts))
        if code != 0:
            sys.exit(f"Bail out! kubectl apply: {said}")

    def wait(self, what, wanted, *flags):
        code, said = self.run("wait", what, "--for=" + wanted, f"--timeout={LATE}s", *flags)
        return code == 0, said

    def remove(self, *args):
        code, said = self.run("delete", *args, f"--timeout={LATE}s")
        return code == 0, said

    # ---- the API ----

    def get(self, path):
        status, text, _ = self.ask("GET", path)
        return json.loads(text) if status == 200 else None

    def items(self, path):
        return (self.get(path) or {"items": []})["items"]

    def patch(self, path, body):
        status, text, _ = self.ask("PATCH", path, json.dumps(body), MERGE)
        return status == 200, text

    def annotate(self, path, **notes):
        """Failures on demand: annotate(NODE, lost="true"); None takes one away."""
        return self.patch(path, {"metadata": {"annotations": {
            "sim.dray.dev/" + name: value for name, value in notes.items()}}})

    def until(self, what):
        """The first thing that what() gives and that is true, or what it gave last."""
        end = time.monotonic() + LATE
        while not (got := what()) and time.monotonic() < end:
            time.sleep(0.05)
        return got

    # ---- what tests look at ----

    def pod(self, name, ns="default"):
        return self.get(f"/api/v1/namespaces/{ns}/pods/{name}") or {}

    def claim(self, name, ns="default"):
        return self.get(f"{DRA}/namespaces/{ns}/resourceclaims/{name}") or {}

    def claim_of(self, pod, entry, ns="default"):
        """The claim of an entry of a pod, by the pod's status or its spec."""
        found = self.pod(pod, ns)
        for one in found.get("status", {}).get("resourceClaimStatuses", []):
            if one["name"] == entry and "resourceClaimName" in one:
                return self.claim(one["resourceClaimName"], ns)
        for one in found.get("spec", {}).get("resourceClaims", []):
            if one["name"] == entry and "resourceClaimName" in one:
                return self.claim(one["resourceClaimName"], ns)
        return {}

    def runs(self, pod, ns="default"):
        """(whether it does in the end, why not)"""
        return self.until(lambda: self.pod(pod, ns).get("status", {}).get("phase") == "Running"
                          ), (self.why(pod, ns), self.pod(pod, ns).get("status"))

    def why(self, pod, ns="default"):
        """Why it has no node, as its condition says; empty: it has one, or nobody looked."""
        for one in self.pod(pod, ns).get("status", {}).get("conditions", []):
            if one["type"] == "PodScheduled" and one["status"] == "False":
                return one.get("message", "")
        return ""

    def waits(self, pod, text, ns="default"):
        """It is told to wait with this text, in its condition and in an event."""
        self.until(lambda: text in self.why(pod, ns))
        said = lambda: [e for e in self.events(pod, ns)
                        if e["reason"] == "FailedScheduling" and text in e["message"]]
        return self.until(said), (self.why(pod, ns), [e["message"] for e in self.events(pod, ns)])

    def events(self, name, ns="default"):
        return self.items(f"/api/v1/namespaces/{ns}/events"
                          f"?fieldSelector=involvedObject.name%3D{name}")


def results(claim):
    """[(driver, pool, device)] that it has."""
    found = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
    return [(r["driver"], r["pool"], r["device"]) for r in found]


def devices(claim):
    return [device for _, _, device in results(claim)]


def pod(name, *entries, ns="default", extra="", resources="", labels="", notes=""):
    """A pod with claims: "x=template one", "x=claim own". resources: of its container."""
    lines, names = [], []
    for entry in entries:
        key, _, what = entry.partition("=")
        kind, _, target = what.partition(" ")
        field = "resourceClaimTemplateName" if kind == "template" else "resourceClaimName"
        lines.append(f"{{name: {key}, {field}: {target}}}")
        names.append(f"{{name: {key}}}")
    claims = f"claims: [{', '.join(names)}]" if names else ""
    inner = ", ".join(part for part in (claims, resources) if part)
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: {ns}, labels: {{{labels}}}, annotations: {{{notes}}}}}
spec:
  terminationGracePeriodSeconds: 1
  resourceClaims: [{', '.join(lines)}]
  containers: [{{name: c, image: i, resources: {{{inner}}}}}]
{extra}"""


def device_class(name, expression, extra=""):
    return f"""
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {{name: {name}}}
spec: {{selectors: [{{cel: {{expression: '{expression}'}}}}]{extra}}}
"""


def claim(name, requests, constraints="", ns="default"):
    return f"""
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: {name}, namespace: {ns}}}
spec: {{devices: {{requests: [{requests}]{constraints}}}}}
"""


def template(name, requests, constraints="", ns="default"):
    return f"""
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: {name}, namespace: {ns}}}
spec: {{spec: {{devices: {{requests: [{requests}]{constraints}}}}}}}
"""


def exactly(of_class, name="r", extra=""):
    return f"{{name: {name}, exactly: {{deviceClassName: {of_class}{extra}}}}}"


def run(tests, *flags, files=None):
    """PROGRAM DRAY: each test is asked with the report and a cluster that is left as it was
    found. files: more files beside the cluster's folder, by name; flags may name them."""
    r, dray = Report(), sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="dray-cluster-") as folder:
        for name, text in (files or {}).items():
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        c = Up(dray, folder + "/cluster", *(f.replace("@", folder + "/") for f in flags))
        try:
            for test in tests:
                test(r, c)
            code = c.stop()
            r.line(code == 0, "the cluster ends in order", code)
        finally:
            c.kill()
        if r.failed:
            print("# it has said:\n#   " + c.said().replace("\n", "\n#   "))
    return r.end()
