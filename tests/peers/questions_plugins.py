# SPDX-License-Identifier: Apache-2.0
"""Random pods, volume claims and services for the plugins of admission that judge them:
PodSecurity, LimitRanger and ResourceQuota."""
import copy
import re

from questions_num import Mode, plain_differences
from questions_patch import lesser

NAMES = ["a", "b", "c", "d"]
NOW = "2026-01-01T00:01:00Z"


class Plugin(Mode):
    program = "plugins"
    batch = 300

    def maybe(self, chance=0.5):
        return self.random.random() < chance

    def pick(self, *values):
        return self.random.choice(values)

    def some(self, chance=0.3, **makers):
        """Members that are there by chance."""
        return {k: v() for k, v in makers.items() if self.maybe(chance)}

    def names(self, most=3):
        return self.random.sample(NAMES, self.random.randint(0, most))

    def smaller(self, question):
        for field in ("object", "old", "range", "quotas", "limited"):
            if field in question:
                for less in lesser(question[field]):
                    yield {**question, field: less}


# ---- PodSecurity ----

SYSCTLS = ["kernel.shm_rmid_forced", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_fin_timeout",
           "net.ipv4.tcp_rmem", "net.ipv4.tcp_notsent_lowat", "kernel.msgmax"]
VOLUMES = ["configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim",
           "projected", "secret", "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo",
           "nfs", "iscsi", "glusterfs", "rbd", "flexVolume", "cinder", "cephfs", "flocker", "fc",
           "azureFile", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk",
           "portworxVolume", "scaleIO", "storageos"]
ANNOTATIONS = ["seccomp.security.alpha.kubernetes.io/pod", "other",
               *(f"container.seccomp.security.alpha.kubernetes.io/{n}" for n in NAMES),
               *(f"container.apparmor.security.beta.kubernetes.io/{n}" for n in NAMES)]


class PodSecurity(Plugin):
    name = "podsecurity"

    def question(self):
        version = "latest" if self.maybe(0.2) else f"v1.{self.random.randint(0, 40)}"
        return {"level": self.pick("privileged", "baseline", "baseline", "restricted", "restricted",
                                   "restricted"),
                "version": version, "object": self.pod()}

    def compare(self, question, theirs, ours):
        return plain_differences(theirs, ours, ("id",))

    def flag(self):
        return self.maybe()

    def selinux(self):
        return self.some(0.3, user=lambda: self.pick("", "u"), role=lambda: self.pick("", "r"),
                         type=lambda: self.pick("", "container_t", "container_engine_t", "spc_t", "x_t"))

    def profile(self):
        return {"type": self.pick("RuntimeDefault", "Localhost", "Unconfined", "")}

    def shared(self, chance):
        return self.some(chance, seLinuxOptions=self.selinux, seccompProfile=self.profile,
                         appArmorProfile=self.profile, runAsNonRoot=self.flag,
                         runAsUser=lambda: self.pick(0, 0, 1000),
                         windowsOptions=lambda: self.some(0.5, hostProcess=self.flag))

    def capabilities(self):
        return self.some(0.5, add=lambda: self.random.sample(
            ["CHOWN", "NET_BIND_SERVICE", "SYS_ADMIN", "NET_RAW", "ALL"], self.random.randint(0, 2)),
            drop=lambda: self.random.sample(["ALL", "CHOWN"], self.random.randint(0, 2)))

    def context(self):
        chance = self.pick(0.1, 0.4)
        return {**self.shared(chance), **self.some(
            chance, privileged=self.flag, procMount=lambda: self.pick("Default", "Unmasked", "Odd")),
            **self.some(0.7, allowPrivilegeEscalation=lambda: self.maybe(0.2),
                        capabilities=self.capabilities)}

    def handler(self):
        return self.some(0.4, httpGet=lambda: {"port": 1, **self.some(0.4, host=lambda: self.pick(
            "", "h", "127.0.0.1"))}, tcpSocket=lambda: {"port": 1, **self.some(0.4, host=lambda: "t")})

    def container(self, name):
        return {"name": name, **self.some(0.7, securityContext=self.context), **self.some(
            0.1, livenessProbe=self.handler, readinessProbe=self.handler, startupProbe=self.handler,
            lifecycle=lambda: self.some(0.5, postStart=self.handler, preStop=self.handler),
            ports=lambda: [{"containerPort": 1, "hostPort": self.pick(0, 80, 8080, 9)}
                           for _ in range(self.random.randint(1, 3))])}

    def volume(self, name):
        return {"name": name, **{k: {} for k in self.random.sample(VOLUMES, self.pick(0, 1, 1, 1, 2))}}

    def annotations(self):
        return {k: self.pick("", "runtime/default", "docker/default", "localhost/x", "unconfined", "a\"\u00e9")
                for k in self.random.sample(ANNOTATIONS, self.random.randint(0, 4))}

    def pod(self):
        context = {**self.shared(0.3), **self.some(0.2, sysctls=lambda: [
            {"name": n, "value": "1"} for n in self.random.sample(SYSCTLS, self.random.randint(1, 4))])}
        spec = {**{k: [self.container(n) for n in self.names()]
                   for k in ("containers", "initContainers", "ephemeralContainers") if self.maybe(0.7)},
                **self.some(0.1, hostNetwork=self.flag, hostPID=self.flag, hostIPC=self.flag),
                **self.some(0.2, hostUsers=self.flag,
                            os=lambda: {"name": self.pick("linux", "windows")}),
                **self.some(0.6, securityContext=lambda: context),
                **self.some(0.3, volumes=lambda: [self.volume(n) for n in self.names()])}
        return {"metadata": self.some(0.3, annotations=self.annotations), "spec": spec}


# ---- amounts ----

class Amounts(Plugin):
    RESOURCES = ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/a", "x.io/b",
                 "deviceclass.resource.kubernetes.io/g", "requests.example.com/c", "kubernetes.io/odd"]

    def quantity(self):
        return self.pick("0", "1", "2", "500m", "100m", "1500m", "1Gi", "512Mi", "1G", "1e3", "3", "0.5",
                         str(self.random.randint(0, 3000)) + self.pick("", "m", "Ki", "k", "Mi"))

    def amounts(self, resources=None, most=3):
        names = resources or self.RESOURCES
        weights = self.random.sample(names, min(len(names), self.random.randint(0, most)))
        return {n: self.quantity() for n in weights}

    def requirements(self):
        return self.some(0.8, requests=self.amounts, limits=self.amounts)

    def container(self, name, init):
        return {"name": name, "resources": self.requirements(),
                **({"restartPolicy": "Always"} if init and self.maybe(0.4) else {})}

    def pod_spec(self):
        return {"containers": [self.container(n, False) for n in self.names() or ["a"]],
                "initContainers": [self.container(n, True) for n in self.names()] if self.maybe() else [],
                **self.some(0.25, resources=self.requirements, overhead=self.amounts)}


class Limits(Amounts):
    name = "limits"

    def item(self):
        kind = self.pick("Container", "Container", "Pod", "PersistentVolumeClaim")
        names = ["storage"] if kind == "PersistentVolumeClaim" else None
        return {"type": kind, **self.some(
            0.4, min=lambda: self.amounts(names), max=lambda: self.amounts(names),
            maxLimitRequestRatio=lambda: self.amounts(names), default=lambda: self.amounts(names),
            defaultRequest=lambda: self.amounts(names))}

    def question(self):
        limits = {"spec": {"limits": [self.item() for _ in range(self.random.randint(0, 3))]}}
        if self.maybe(0.15):
            return {"resource": "persistentvolumeclaims", "range": limits, "object": {
                "spec": {"resources": {"requests": self.amounts(["storage"])}}}}
        return {"resource": "pods", "range": limits, "object": {
            "metadata": self.some(0.3, annotations=lambda: {"z": "1", "a": "2"}), "spec": self.pod_spec()}}

    @staticmethod
    def problems(text):
        if not text:
            return []
        if text.startswith("["):
            text = text[1:-1]
        return sorted(re.split(r", (?=minimum |maximum |\S+ max limit)", text))

    @staticmethod
    def filled(resources):
        return [{k: v for k, v in r.items() if v} for r in resources or []]

    def compare(self, question, theirs, ours):
        theirs, ours = copy.deepcopy(theirs), copy.deepcopy(ours)
        ours["problems"] = self.problems(ours["problems"])
        for side in (theirs, ours):
            side["resources"] = self.canonical(self.filled(side.get("resources")))
            side.setdefault("note", "")
        return plain_differences(theirs, ours, ("id",))

    @staticmethod
    def canonical(resources):
        """Upstream prints what it has parsed; here what was written stays."""
        number = {"": 1, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20,
                  "Gi": 2**30}

        def value(text):
            m = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?)([a-zA-Z]*)", text)
            return round(float(m.group(1)) * number[m.group(2)], 6)
        return [{k: {n: value(q) for n, q in amounts.items()} for k, amounts in r.items()}
                for r in resources]


# ---- ResourceQuota ----

class Quota(Amounts):
    name = "quota"
    KEYS = {
        "pods": ["pods", "count/pods", "cpu", "memory", "requests.cpu", "limits.cpu", "limits.memory",
                 "requests.memory", "ephemeral-storage", "limits.ephemeral-storage", "hugepages-2Mi",
                 "requests.hugepages-2Mi", "requests.example.com/a", "requests.x.io/b",
                 "requests.deviceclass.resource.kubernetes.io/g", "requests.kubernetes.io/odd"],
        "services": ["services", "count/services", "services.nodeports", "services.loadbalancers", "pods"],
        "persistentvolumeclaims": ["persistentvolumeclaims", "count/persistentvolumeclaims",
                                   "requests.storage", "s.storageclass.storage.k8s.io/requests.storage",
                                   "s.storageclass.storage.k8s.io/persistentvolumeclaims",
                                   ".storageclass.storage.k8s.io/requests.storage"],
    }
    SCOPES = ["Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass",
              "CrossNamespacePodAffinity", "VolumeAttributesClass"]

    def term(self):
        op = self.pick("In", "NotIn", "Exists", "DoesNotExist")
        values = {"values": self.pick(["high"], ["low", "high"], ["gold"])} if "In" in op else {}
        return {"scopeName": self.pick("PriorityClass", "VolumeAttributesClass", "PriorityClass"),
                "operator": op, **values}

    def quota(self, i, resource):
        hard = self.amounts(self.KEYS[resource], 5)
        if self.maybe(0.7):
            hard = {k: self.pick("1", "3", "10Gi", "5k", v) for k, v in hard.items()}
        used = {k: self.quantity() for k in hard if self.maybe(0.95)}
        return {"metadata": {"name": f"q{i}"}, "status": {"hard": hard, "used": used},
                "spec": {**self.some(0.25, scopes=lambda: self.random.sample(
                    self.SCOPES, self.random.randint(1, 2))),
                    **self.some(0.25, scopeSelector=lambda: {"matchExpressions": [
                        self.term() for _ in range(self.random.randint(1, 2))]})}}

    def limited(self, resource):
        return [{"resource": resource, **self.some(0.5, matchContains=lambda: [self.pick(
            "cpu", "pods", "storage", "node", "example.com")], matchScopes=lambda: [self.term()])}]

    def question(self):
        resource = self.pick("pods", "pods", "services", "persistentvolumeclaims")
        make = getattr(self, resource)
        out = {"resource": resource, "now": NOW, "object": make(), "sub": "",
               "quotas": [self.quota(i, resource) for i in range(self.random.randint(0, 3))],
               **self.some(0.15, limited=lambda: self.limited(resource))}
        if self.maybe(0.35):
            old = make() if self.maybe(0.7) else copy.deepcopy(out["object"])
            old.setdefault("metadata", {})["resourceVersion"] = "5"
            out["old"] = old
            out["sub"] = self.pick("", "resize" if resource == "pods" else "status", "")
        return out

    def pods(self):
        spec = self.pod_spec()
        spec.update(self.some(0.2, activeDeadlineSeconds=lambda: self.pick(0, 5),
                              priorityClassName=lambda: self.pick("high", "low", ""),
                              affinity=self.affinity))
        return {"metadata": self.some(0.1, deletionTimestamp=lambda: self.pick(
            "2026-01-01T00:00:00Z", "2026-01-01T00:00:45Z"), deletionGracePeriodSeconds=lambda: self.pick(
                0, 30, 60)), "spec": spec, **self.some(0.3, status=lambda: self.pod_status(spec))}

    def affinity(self):
        term = {"topologyKey": "k", **self.some(0.4, namespaces=lambda: self.pick([], ["x"]),
                                                namespaceSelector=dict)}
        kinds = {"requiredDuringSchedulingIgnoredDuringExecution": [term],
                 "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
        return {self.pick("podAffinity", "podAntiAffinity"): dict([self.pick(*kinds.items())])}

    def pod_status(self, spec):
        def one(c):
            return {"name": c["name"], **self.some(0.5, allocatedResources=self.amounts,
                                                   resources=self.requirements)}
        return self.some(
            0.4, phase=lambda: self.pick("Running", "Running", "Failed", "Succeeded"),
            qosClass=lambda: self.pick("BestEffort", "Burstable", ""),
            containerStatuses=lambda: [one(c) for c in spec["containers"]],
            initContainerStatuses=lambda: [one(c) for c in spec["initContainers"]],
            conditions=lambda: [{"type": "PodResizePending", "reason": self.pick("Infeasible", "Deferred")}])

    def services(self):
        return {"spec": {"type": self.pick("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
                         "ports": [{"port": i, **self.some(0.3, nodePort=lambda: self.pick(0, 30000))}
                                   for i in range(self.random.randint(0, 3))],
                         **self.some(0.3, allocateLoadBalancerNodePorts=self.maybe)}}

    def persistentvolumeclaims(self):
        def storage():
            return self.amounts(["storage"])
        return {"metadata": self.some(0.2, annotations=lambda: {
            "volume.beta.kubernetes.io/storage-class": self.pick("", "s", "t")}),
            "spec": {"resources": self.some(0.9, requests=storage), **self.some(
                0.4, storageClassName=lambda: self.pick("", "s", "t"),
                volumeAttributesClassName=lambda: self.pick("", "gold", "high"))},
            "status": self.some(0.2, allocatedResources=storage,
                                currentVolumeAttributesClassName=lambda: self.pick("gold", "low"),
                                modifyVolumeStatus=lambda: {"targetVolumeAttributesClassName": "high"})}

    def compare(self, question, theirs, ours):
        if ("error" in theirs) != ("error" in ours) or theirs.get("error") != ours.get("error"):
            yield "verdict", f"upstream {theirs.get('error')!r}, dray {ours.get('error')!r}"
            return
        mine, other = ([u or {} for u in side.get("used", [])] for side in (ours, theirs))
        if mine != other:
            yield "used", f"upstream {other!r}, dray {mine!r}"
