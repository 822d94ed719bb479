# SPDX-License-Identifier: Apache-2.0
"""Pods with devices that come and go without end, and what must be true when they do not."""
import http.client
import json
import random
import threading

from apiserver import MERGE
from cluster import DRA, LATE, claim, device_class, exactly, pod, template

MOST_PODS = 40
SHAPES = "h100x8=2,a100x2-mig=1"
PODS, CLAIMS = "/api/v1/namespaces/default/pods", DRA + "/namespaces/default/resourceclaims"
SETS = "/apis/apps/v1/namespaces/default/deployments"

# Apart, so that a handful of pods has room in whatever way they came.
GPU = 'device.driver == "gpu.nvidia.com" && ' \
      'device.attributes["gpu.nvidia.com"].productName.contains("H100")'
MIG = 'device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].type == "mig"'
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: set}
spec:
  replicas: 2
  selector: {matchLabels: {app: set}}
  template:
    metadata: {labels: {app: set}}
    spec:
      terminationGracePeriodSeconds: 0
      resourceClaims: [{name: g, resourceClaimTemplateName: one}]
      containers: [{name: c, image: i, resources: {claims: [{name: g}]}}]
"""
# What pods ask for; of an extended resource, too.
KINDS = [("g=template one",), ("g=template two",), ("g=template part",),
         ("g=template one", "h=template two"), ("g=claim own0",), ("g=claim own1",), ()]


def manifest(name, rng):
    entries = rng.choice(KINDS)
    extra = "" if entries else 'requests: {example.com/gpu: "1"}, limits: {example.com/gpu: "1"}'
    return pod(name, *entries, resources=extra).replace("GracePeriodSeconds: 1",
                                                        "GracePeriodSeconds: 0")


class Load(threading.Thread):
    """Makes and deletes pods on one connection until it is stopped, or nobody answers."""

    def __init__(self, cluster, seed):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPSConnection("127.0.0.1", cluster.port,
                                                      context=cluster.tls, timeout=LATE)
        self.rng, self.over, self.answers = random.Random(seed), False, 0
        self.start()

    def ask(self, method, path, body=None, kind=MERGE):
        self.connection.request(method, path, body, {"Content-Type": kind})
        self.answers += 1
        return self.connection.getresponse().read()

    def step(self):
        r = self.rng
        if r.random() < 0.1:
            self.ask("PATCH", SETS + "/set", json.dumps({"spec": {"replicas": r.randrange(5)}}))
        elif r.random() < 0.5:
            name = f"p-{r.getrandbits(40):x}"
            self.ask("POST", PODS, manifest(name, r), "application/yaml")
        else:
            found = [p["metadata"]["name"] for p in json.loads(self.ask("GET", PODS))["items"]]
            own = [name for name in found if name.startswith("p-")]
            for name in r.sample(own, min(len(own), max(1, len(own) - MOST_PODS))):
                self.ask("DELETE", f"{PODS}/{name}" + r.choice(["", "?gracePeriodSeconds=0"]))

    def run(self):
        try:
            while not self.over:
                self.step()
        except (OSError, ValueError, http.client.HTTPException):
            self.answers -= 1  # killed
        self.connection.close()


def phases(c):
    return {p["metadata"]["name"]: p["status"].get("phase") for p in c.items(PODS)
            if "deletionTimestamp" not in p["metadata"]}


def pods_told(c):
    return [(p["metadata"]["name"], p["spec"].get("resourceClaims"), p["status"])
            for p in c.items(PODS) if p["status"].get("phase") != "Running"]


def owned(c):
    """Claims that were made for a pod: pods that have them."""
    return {x["metadata"]["name"]: x["metadata"]["ownerReferences"][0]["name"]
            for x in c.items(CLAIMS) if x["metadata"].get("ownerReferences")}


def thin_out(c, keep):
    """So few pods that all of them have devices."""
    c.patch(SETS + "/set", {"spec": {"replicas": 2}})
    for name in sorted(n for n in phases(c) if n.startswith("p-"))[keep:]:
        c.ask("DELETE", f"{PODS}/{name}")


def settle(r, c, when):
    """A handful of pods runs; then none is left, and no device is held."""
    thin_out(c, 4)
    runs = lambda: (p := phases(c)) and len(p) >= 2 and set(p.values()) == {"Running"} and \
        len(p) == len(c.items(PODS))
    if not c.until(runs):
        r.line(False, f"{when}: no pod is stuck", (pods_told(c), c.said()))
    alive = lambda: set(owned(c).values()) <= set(phases(c))
    if not c.until(alive):
        r.line(False, f"{when}: no claim is left over", (owned(c), phases(c)))
    thin_out(c, 0)
    c.patch(SETS + "/set", {"spec": {"replicas": 0}})
    empty = lambda: not c.items(PODS) and not owned(c) and not any(
        x.get("status", {}).get("allocation") for x in c.items(CLAIMS))
    if not c.until(empty):
        r.line(False, f"{when}: all devices are free again",
               ([x["metadata"]["name"] for x in c.items(PODS)], c.items(CLAIMS), c.said()))


def set_up(c):
    c.apply(device_class("gpu", GPU, ", extendedResourceName: example.com/gpu"),
            device_class("mig", MIG), claim("own0", exactly("gpu")), claim("own1", exactly("mig")),
            template("one", exactly("gpu")), template("two", exactly("gpu", extra=", count: 2")),
            template("part", exactly("mig")), DEPLOYMENT)
