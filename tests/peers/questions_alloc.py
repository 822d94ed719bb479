# SPDX-License-Identifier: Apache-2.0
"""Random inputs of the allocator: small clusters over all features and their mixes.

A question is a case of golden/allocator. Some have a trait that upstream is known to get
wrong (spec 3.14); the traits are part of the kind of a difference.
"""
import collections
import copy
import os
import re
import sys
from fractions import Fraction

from questions_num import Mode

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../bench"))
import families

DRIVERS = ["a.example.com", "b.example.com"]
FEATURES = ["AdminAccess", "PrioritizedList", "PartitionableDevices", "DeviceTaints",
            "DeviceBindingAndStatus", "ConsumableCapacity", "FractionalCapacityRange",
            "ListTypeAttributes", "OptionalNodeOperations", "DerivedAttributes",
            "CompatibilityGroups"]
DEFAULT = FEATURES[:7]
UNITS = {"": 1, "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000),
         "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18,
         "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}


def quantity(text):
    number, exponent, suffix = re.fullmatch(r"([+-]?[\d.]+)(?:[eE]([+-]?\d+))?([a-zA-Z]*)",
                                            text).groups()
    return Fraction(number) * Fraction(10)**int(exponent or 0) * UNITS[suffix]


class Cluster:
    """One random question in the making. want() decides once whether a theme takes part."""

    def __init__(self, random):
        self.random = r = random
        self.features = None if r.random() < 0.4 else (
            DEFAULT if r.random() < 0.6 else [f for f in FEATURES if r.random() < 0.8])
        themes = {"counters": 0.35, "capacity": 0.3, "taints": 0.25, "binding": 0.15,
                  "lists": 0.3, "admin": 0.15, "derived": 0.1, "groups": 0.3, "skip": 0.1,
                  "all": 0.25, "alternatives": 0.3, "constraints": 0.5, "errors": 0.1,
                  "odd pools": 0.08, "configs": 0.3, "per device": 0.15}
        self.themes = {t for t, p in themes.items() if r.random() < p}
        if "admin" in self.themes and r.random() < 0.8:
            self.themes -= {"counters", "capacity"}   # defect U1
        if "groups" in self.themes:
            self.themes |= {"counters"} if "admin" not in self.themes else set()

    def chance(self, p):
        return self.random.random() < p

    def want(self, theme, p=1.0):
        return theme in self.themes and self.chance(p)

    # ---- Devices ----

    def attributes(self):
        r, out = self.random, {}
        for name, make in (("model", lambda: {"string": r.choice(["x", "y"])}),
                           ("root", lambda: {"int": r.randint(0, 2)}),
                           ("numa", lambda: {"int": r.randint(0, 1)}),
                           ("fast", lambda: {"bool": self.chance(0.5)}),
                           ("ver", lambda: {"version": r.choice(["1.0.0", "2.0.0"])})):
            if self.chance(0.85):
                out[name] = make()
        if self.want("lists", 0.8):
            out["links"] = r.choice([
                {"ints": sorted(r.sample(range(4), r.randint(1, 3)))},
                {"strings": r.sample(["p", "q", "s"], r.randint(1, 2))},
                {"int": r.randint(0, 3)}])
        return out

    def policy(self, value):
        r = self.random
        if self.chance(0.4):
            return {}
        default = str(r.randint(1, 3))
        if self.chance(0.4):
            values = sorted(r.sample(range(1, value + 3), min(3, value)))
            return {"requestPolicy": {"default": str(values[0]),
                                      "validValues": [str(v) for v in values]}}
        limits = {"min": str(r.randint(1, 2))}
        if self.chance(0.6):
            limits["max"] = str(r.randint(2, value + 2))
        if self.chance(0.5):
            limits["step"] = str(r.randint(1, 2))
        return {"requestPolicy": {"default": default, "validRange": limits}}

    def device(self, name, counter_sets):
        r = self.random
        d = {"name": name, "attributes": self.attributes()}
        if self.want("capacity", 0.8):
            value = r.randint(2, 10)
            d["capacity"] = {"mem": {"value": str(value), **self.policy(value)}}
            if self.chance(0.3):
                d["capacity"]["bw"] = {"value": f"{r.randint(1, 4)}G"}
            if self.chance(0.6):
                d["allowMultipleAllocations"] = True
        if counter_sets and self.chance(0.85):
            d["consumesCounters"] = [self.consumption(s) for s in
                                     r.sample(counter_sets, 1 + (self.chance(0.15) and
                                                                 len(counter_sets) > 1))]
        if self.want("taints", 0.4):
            d["taints"] = [{"key": r.choice(["k1", "k2"]), "value": r.choice(["", "v"]),
                            "effect": r.choice(["NoSchedule", "NoExecute", "None"])}]
        if self.want("binding", 0.3):
            d["bindingConditions"] = ["ready"]
            d["bindingFailureConditions"] = ["failed"]
            if self.chance(0.4):
                d["bindsToNode"] = True
        return d

    def consumption(self, counter_set):
        r = self.random
        c = {"counterSet": counter_set["name"],
             "counters": {k: {"value": str(r.randint(1, 3))} for k in counter_set["counters"]
                          if self.chance(0.8)}}
        if self.want("groups", 0.6):
            c["compatibilityGroups"] = r.sample(["g1", "g2"], r.randint(1, 2))
        return c

    # ---- Pools ----

    def selector(self, value):
        return {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "zone", "operator": "In", "values": [value]}]}]}

    def place(self):
        r = self.random
        kind = r.choice(["node", "node", "node", "all", "selector"])
        if kind == "node":
            return {"nodeName": r.choice(["n1", "n1", "n2"])}
        return {"allNodes": True} if kind == "all" else {"nodeSelector": self.selector("z1")}

    def pool(self, driver, name):
        r = self.random
        sets = []
        if self.want("counters", 0.8):
            sets = [{"name": f"set{i}", "counters": {k: {"value": str(r.randint(2, 7))}
                                                     for k in r.sample(["c", "e"], r.randint(1, 2))}}
                    for i in range(r.randint(1, 2))]
        where, per_device = self.place(), self.want("per device", 0.6)
        slices, count = [], 0
        for i in range(r.randint(1, 2)):
            devices = []
            for _ in range(r.randint(1, 6)):
                devices.append(self.device(f"d{count}", sets))
                count += 1
                if per_device:
                    devices[-1].update(self.place())
            spec = {"perDeviceNodeSelection": True} if per_device else dict(where)
            if self.want("skip", 0.5):
                spec["skipNodeOperations"] = ["PrepareResources"]
            slices.append({"metadata": {"name": f"{name}-{driver[0]}-{r.choice('abc')}{i}"},
                           "spec": {**spec, "devices": devices}})
        if sets:
            slices.append({"metadata": {"name": f"{name}-{driver[0]}-sets"},
                           "spec": {**(where if not per_device else {"allNodes": True}),
                                    "sharedCounters": sets}})
        for s in slices:
            s["spec"].update(driver=driver, pool={"name": name, "generation": 1,
                                                  "resourceSliceCount": len(slices)})
        if self.want("odd pools"):
            self.disturb(slices)
        return slices

    def disturb(self, slices):
        """Pools in the middle of an update, or wrong."""
        r, s = self.random, self.random.choice(slices)
        kind = r.choice(["incomplete", "generation", "count", "duplicate", "unknown set"])
        if kind == "incomplete":
            for x in slices:
                x["spec"]["pool"]["resourceSliceCount"] += 1
        elif kind == "generation":
            s["spec"]["pool"]["generation"] = 2
        elif kind == "count":
            s["spec"]["pool"]["resourceSliceCount"] += r.choice([-1, 1])
        elif "devices" in s["spec"]:
            device = r.choice(s["spec"]["devices"])
            if kind == "duplicate":
                s["spec"]["devices"].append(dict(device))
            else:
                device["consumesCounters"] = [{"counterSet": "none",
                                               "counters": {"c": {"value": "1"}}}]

    # ---- Claims ----

    def condition(self):
        r, d = self.random, self.random.choice(DRIVERS)
        if self.want("errors", 0.3):
            return r.choice([f'device.attributes["{d}"].missing == 1', "1 +",
                             f'device.attributes["{d}"].root == 1'])
        return r.choice([
            "true", "true", "true", f'device.driver == "{d}"', f'device.attributes["{d}"].?model.orValue("x") == "x"',
            f'device.attributes["{d}"].?root.orValue(0) <= 1',
            f'has(device.attributes["{d}"].fast) && device.attributes["{d}"].fast',
            f'!has(device.attributes["{d}"].ver) || '
            f'device.attributes["{d}"].ver.isGreaterThan(semver("1.5.0"))',
            f'device.capacity["{d}"].?mem.orValue(quantity("0")).isLessThan(quantity("6"))'])

    def exactly(self):
        r = self.random
        e = {"deviceClassName": r.choice(["any"] * 4 + ["a", "picky"]),
             "allocationMode": "ExactCount", "count": r.choice([1, 1, 1, 1, 2, 3])}
        if self.want("errors", 0.05):
            e["deviceClassName"] = "nothing"
        if self.want("all", 0.4):
            e["allocationMode"] = "All"
            del e["count"]
        if self.chance(0.3):
            e["selectors"] = [{"cel": {"expression": self.condition()}}
                              for _ in range(r.randint(1, 2))]
        if self.want("capacity", 0.5):
            e["capacity"] = {"requests": {r.choice(["mem", "mem", "mem", "bw"]):
                                          r.choice(["1", "2", "3", "5", "1500m", "1k"])}}
        if self.want("taints", 0.5):
            e["tolerations"] = [r.choice([
                {"operator": "Exists"}, {"key": "k1", "operator": "Exists"},
                {"key": "k1", "operator": "Equal", "value": "v", "effect": "NoSchedule"},
                {"key": "k2"}])]
        if self.want("derived", 0.5) and (self.features is None or
                                          "DerivedAttributes" in self.features):
            e["derivedAttributes"] = [{"name": f"{DRIVERS[0]}/half", "expression":
                                       f'device.attributes["{DRIVERS[0]}"].?root.orValue(0) / 2'}]
        return e

    def request(self, name):
        if self.want("alternatives", 0.5):
            subs = [{**self.exactly(), "name": f"s{i}"}
                    for i in range(self.random.randint(1, 3))]
            return {"name": name, "firstAvailable": subs}
        e = self.exactly()
        if self.want("admin", 0.5):
            e["adminAccess"] = self.chance(0.9)
        return {"name": name, "exactly": e}

    def constraint(self, names):
        r = self.random
        attribute = r.choice(["root", "numa", "model", "ver", "fast"] +
                             ["links"] * 3 * ("lists" in self.themes) +
                             ["half"] * 3 * ("derived" in self.themes))
        kind = "distinctAttribute" if self.chance(0.3) else "matchAttribute"
        c = {kind: f"{r.choice([DRIVERS[0], DRIVERS[0], DRIVERS[1]])}/{attribute}"}
        if self.chance(0.4):
            c["requests"] = r.sample(names, r.randint(1, len(names)))
        return c

    @staticmethod
    def config(driver, requests=None):
        c = {"opaque": {"driver": driver, "parameters": {"kind": "Config", "apiVersion": "v1"}}}
        return {**c, "requests": requests} if requests else c

    def claim(self, name):
        r = self.random
        requests = [self.request(f"r{i}") for i in range(r.choice([1, 1, 1, 2, 3]))]
        names = [q["name"] for q in requests]
        names += [f"{q['name']}/{s['name']}" for q in requests
                  for s in q.get("firstAvailable", [])]
        spec = {"requests": requests}
        if "constraints" in self.themes:
            spec["constraints"] = [self.constraint(names)
                                   for _ in range(r.choice([0, 1, 1, 2]))]
        if "configs" in self.themes:
            spec["config"] = [self.config(r.choice(DRIVERS), r.sample(names, r.randint(0, len(names))))
                              for _ in range(r.randint(1, 2))]
        return {"metadata": {"name": name, "namespace": "default", "uid": name},
                "spec": {"devices": spec}}

    def classes(self):
        def make(name, *expressions, config=False):
            spec = {"selectors": [{"cel": {"expression": e}} for e in expressions]}
            if config:
                spec["config"] = [self.config(DRIVERS[0])]
            return {"metadata": {"name": name}, "spec": spec}
        return [make("any", config=self.want("configs", 0.5)),
                make("a", f'device.driver == "{DRIVERS[0]}"', config=self.want("configs", 0.5)),
                make("picky", self.condition())]

    # ---- What is in use ----

    def in_use(self, slices):
        """Exclusive holders of dedicated devices, shares of the others."""
        state = {"allocatedDevices": [], "allocatedSharedDeviceIDs": [], "aggregatedCapacity": []}
        shared = self.features is None or "ConsumableCapacity" in self.features
        seen, groups = set(), {}
        for s in slices:
            for d in s["spec"].get("devices", []):
                where = {"driver": s["spec"]["driver"], "pool": s["spec"]["pool"]["name"],
                         "device": d["name"]}
                key = tuple(where.values())
                if key in seen or not self.chance(0.15) or not self.joins(groups, key[:2], d):
                    continue
                seen.add(key)
                if not (shared and d.get("allowMultipleAllocations")):
                    state["allocatedDevices"].append(where)
                    continue
                state["allocatedSharedDeviceIDs"].append({**where, "shareID": "old"})
                used = {k: "1" for k in d.get("capacity", {})}
                state["aggregatedCapacity"].append({**where, "consumedCapacity": used})
        return state

    @staticmethod
    def joins(groups, pool, device):
        """Whether the device can be there beside those held so far: their groups on every
        counter set go together. Then it is one of them."""
        after = {}
        for c in device.get("consumesCounters", []):
            key, own = (*pool, c["counterSet"]), set(c.get("compatibilityGroups", []))
            others = groups.get(key)
            if others is not None and not (others & own or not (others or own)):
                return False
            after[key] = own if others is None else others & own
        groups.update(after)
        return True

    def question(self):
        r = self.random
        slices = [s for i in range(r.randint(1, 3))
                  for s in self.pool(r.choice(DRIVERS[:1 + (i > 0)]), f"p{i}")]
        state = self.in_use(slices)
        claims = [self.claim(f"c{i}") for i in range(r.choice([1, 1, 1, 2, 3]))]
        r.shuffle(slices)
        nodes = [{"metadata": {"name": n, "labels": {"kubernetes.io/hostname": n, "zone": z}},
                  "status": {"declaredFeatures": ["DRAOptionalNodeOperations"]
                             if self.want("skip", 0.5) else []}}
                 for n, z in (("n1", "z1"), ("n2", "z2"))]
        q = {"nodes": nodes, "classes": self.classes(), "slices": slices, "claims": claims, **state}
        if self.features is not None:
            q["features"] = {f: True for f in self.features}
        return q


# ---- Traits ----

def pool_of(s):
    return s["spec"]["driver"], s["spec"]["pool"]["name"]


def devices_of(question):
    return [(pool_of(s), d) for s in question["slices"] for d in s["spec"].get("devices", [])]


def admin_beside_others(question):
    """An admin access is charged, and blocks other claims (U1)."""
    admin = any(r.get("exactly", {}).get("adminAccess") for c in question["claims"]
                for r in c["spec"].get("devices", {}).get("requests", []))
    return admin and (len(question["claims"]) > 1 or any(
        "consumesCounters" in d or "capacity" in d for _, d in devices_of(question)))


def several(question, field):
    seen = collections.defaultdict(set)
    for s in question["slices"]:
        seen[pool_of(s)].add(s["spec"]["pool"].get(field))
    return any(len(v) > 1 for v in seen.values())


def overcommitted(question):
    """What holds devices takes more of some counter than there is (U6)."""
    held = {(x["driver"], x["pool"], x["device"])
            for key in ("allocatedDevices", "allocatedSharedDeviceIDs")
            for x in question.get(key, []) if {"driver", "pool", "device"} <= set(x)}
    left = collections.Counter()
    for s in question["slices"]:
        for cs in s["spec"].get("sharedCounters", []):
            for name, v in cs.get("counters", {}).items():
                left[(*pool_of(s), cs.get("name"), name)] += int(v.get("value", 0))
    for pool, d in devices_of(question):
        if (*pool, d.get("name")) in held:
            for c in d.get("consumesCounters", []):
                for name, v in c.get("counters", {}).items():
                    left[(*pool, c.get("counterSet"), name)] -= int(v.get("value", 0))
    return any(v < 0 for v in left.values())


def shares_of_dedicated(question):
    """A device with shares is not to be had exclusively (U7)."""
    shared = {(x.get("driver"), x.get("pool"), x.get("device"))
              for key in ("allocatedSharedDeviceIDs", "aggregatedCapacity")
              for x in question.get(key, [])}
    features = question.get("features")
    on = features is None or features.get("ConsumableCapacity")
    return any((*pool, d.get("name")) in shared and
               not (on and d.get("allowMultipleAllocations"))
               for pool, d in devices_of(question))


TRAITS = {
    "shares of a dedicated device": shares_of_dedicated,
    "admin access beside others": admin_beside_others,
    "contradicting slice counts": lambda q: several(q, "resourceSliceCount"),
    "mixed generations": lambda q: several(q, "generation"),
    "overcommitted counters": overcommitted,
}


class Puzzle(Cluster):
    """One full pool on one node and claims that only just fit, or just not: what counts is
    that no pruning of the search loses the first solution."""

    def __init__(self, random):
        super().__init__(random)
        self.features = None
        self.themes = {t for t in ("counters", "groups", "lists", "alternatives", "capacity")
                       if self.chance(0.35)} | {"constraints"}

    def condition(self):
        d = f'device.attributes["{DRIVERS[0]}"]'
        return self.random.choice([f'{d}.?model.orValue("x") == "x"', f"{d}.?root.orValue(0) <= 1",
                                   f"{d}.?numa.orValue(0) == 1", "true"])

    def exactly(self):
        e = super().exactly()
        e.update(deviceClassName="any", count=self.random.choice([1, 2, 2, 3]))
        return e

    def place(self):
        return {"nodeName": "n1"}

    def question(self):
        q = super().question()
        slices = self.pool(DRIVERS[0], "p0")
        while sum(len(s["spec"].get("devices", [])) for s in slices) not in range(6, 13):
            slices = self.pool(DRIVERS[0], "p0")
        return {**q, "nodes": q["nodes"][:1], "slices": slices, **self.in_use(slices)}


def without(value, keep=frozenset()):
    """The value with one item or member less, wherever one can go."""
    if isinstance(value, list):
        for i in range(len(value)):
            yield value[:i] + value[i + 1:]
        for i, v in enumerate(value):
            for less in without(v, keep):
                yield value[:i] + [less] + value[i + 1:]
    if isinstance(value, dict):
        for key, v in value.items():
            if key not in keep:
                yield {k: x for k, x in value.items() if k != key}
            for less in without(v, keep):
                yield {**value, key: less}


class Allocator(Mode):
    name = "allocator"
    batch = 200
    oracle_options = ["-flavour", "experimental", "-timeout", "2s"]
    # What an error of upstream's is about. Of the first it aborts the pod on every node where
    # only this one is to be refused (U5).
    ABOUT = [("this node", r"is currently (being updated|invalid)|exceeds the claim limit|"
                           r"node selector"),
             ("constraint", "claim constraint would not be satisfied"),
             ("selector", "CEL (compile|runtime) error"), ("class", "device class"),
             ("derived attribute", "derived attribute"), ("capacity", "capacity"),
             ("feature", "feature is disabled")]

    def questions(self):
        """By the features that choose upstream's compiler: it keeps only the last one."""
        return sorted(super().questions(), key=lambda q: [
            q.get("features", {}).get(f, "features" not in q)
            for f in ("ConsumableCapacity", "ListTypeAttributes")])

    def question(self):
        r = self.random
        if r.random() < 0.05:   # of the benchmarks' families, small ones
            seed = r.randint(0, 10**6)
            return families.make(r.choice([f"H10,1,{seed}", f"H9,14,5,3,.12,{seed}"]))
        kind = Puzzle if r.random() < 0.3 else Cluster
        return kind(r).question()

    # Without these an object is no object any more, or means another.
    KEEP = frozenset(["id", "nodes", "claims", "slices", "classes", "features", "metadata",
                      "name", "namespace", "uid", "spec", "driver", "pool", "generation",
                      "resourceSliceCount", "device", "counterSet", "value", "expression"])

    def smaller(self, question):
        for q in without(question, self.KEEP):
            if q["nodes"] and q["claims"]:
                yield self.recount(question, q)

    @staticmethod
    def recount(before, after):
        """A pool that lost a slice stays as complete as it was."""
        if len(before["slices"]) == len(after["slices"]):
            return after
        lost = collections.Counter(map(pool_of, before["slices"]))
        lost.subtract(map(pool_of, after["slices"]))
        slices = copy.deepcopy(after["slices"])
        for s in slices:
            s["spec"]["pool"]["resourceSliceCount"] -= lost[pool_of(s)]
        return {**after, "slices": slices}

    def compare(self, question, theirs, ours):
        if theirs.get("error") or ours.get("error"):
            if bool(theirs.get("error")) != bool(ours.get("error")):
                yield "unsupported", f"upstream {theirs.get('error')}, dray {ours.get('error')}"
            return
        for mine, yours in zip(theirs["upstream"], ours["upstream"]):
            if mine["outcome"] in ("timeout", "panic"):
                yield self.SKIP, mine["outcome"]
                return
            for field, text in self.node(mine, yours):
                traits = "".join(f", {t}" for t, has in TRAITS.items() if has(question))
                yield field + traits, f"{mine['node']}: {text}"

    def node(self, mine, yours):
        if mine["outcome"] != yours["outcome"]:
            yield (f"{self.outcome(mine)} is {yours['outcome']}",
                   f"upstream {self.brief(mine)}, dray {self.brief(yours)}")
            return
        a, b = self.plain(mine.get("results")), self.plain(yours.get("results"))
        if a != b:
            yield "results", f"\n  upstream {a}\n  dray     {b}"
        elif yours.get("steps", 0) > mine["steps"]:
            yield "more steps", f"upstream {mine['steps']}, dray {yours['steps']}"

    def outcome(self, answer):
        about = [f" about {name}" for name, text in self.ABOUT
                 if answer["outcome"] == "error" and re.search(text, answer["error"])]
        return answer["outcome"] + "".join(about[:1])

    @staticmethod
    def brief(answer):
        if answer.get("results"):
            return [[r["device"] for r in x["devices"].get("results", [])]
                    for x in answer["results"]]
        return answer.get("error") or answer["outcome"]

    def plain(self, value):
        """Empty is absent; amounts by value."""
        if isinstance(value, list):
            return [self.plain(v) for v in value]
        if not isinstance(value, dict):
            return value
        out = {}
        for key, v in value.items():
            if key == "consumedCapacity":
                v = {k: str(quantity(x)) for k, x in v.items()}
            v = self.plain(v)
            if v not in (None, [], {}, ""):
                out[key] = v
        return out
