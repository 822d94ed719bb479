#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allocator inputs that grow: easy ones (E, L, U), partitions (M) and hard ones (H).

    families.py H1,16 E4,8,32 H9,32,10,4,.14,0 ... > cases
    families.py --slices 5000 > list.json    # a ResourceSliceList, 8 devices a node

One case a line, in the form of golden/allocator (tests/peers/README.md), so that dray and
the oracle read the same bytes. The id of a case is the word that asked for it. Without
arguments it lists the families. Shapes: spec performance 2.2, 2.3, 7.6.
"""
import copy
import inspect
import json
import sys

DRIVER = "a.example.com"
POOL = NODE = "n1"
PER_SLICE = 128           # devices in a slice, 64 where they consume counters
# What Kubernetes 1.37 turns on by default. H10 asks for all features (list attributes).
FEATURES = ["AdminAccess", "PrioritizedList", "PartitionableDevices", "DeviceTaints",
            "DeviceBindingAndStatus", "ConsumableCapacity", "FractionalCapacityRange"]


class Random:
    """SplitMix64, as src/base/rng.h."""
    MASK = (1 << 64) - 1

    def __init__(self, seed):
        self.state = seed & self.MASK

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & self.MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & self.MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & self.MASK
        return z ^ (z >> 31)

    def draw(self, low, high):
        return low + self.next() % (high - low + 1)


# ---- Objects ----

def attribute(value):
    if isinstance(value, dict):
        return value
    one = value[0] if isinstance(value, list) else value
    kind = {bool: "bool", int: "int", str: "string"}[type(one)]
    return {kind + "s" if isinstance(value, list) else kind: value}


def amounts(values):
    return {name: {"value": str(v)} for name, v in values.items()}


def device(name, attributes=None, capacity=None, consumes=None):
    d = {"name": name}
    if attributes:
        d["attributes"] = {k: attribute(v) for k, v in attributes.items()}
    if capacity:
        d["capacity"] = amounts(capacity)
    if consumes:
        d["consumesCounters"] = [{"counterSet": s, "counters": amounts(c)}
                                 for s, c in consumes.items()]
    return d


def devices(n, make=lambda i: {}):
    return [device(f"d{i:03d}", **make(i)) for i in range(n)]


def resource_slice(name, spec, count, pool=POOL, node=NODE):
    where = {"allNodes": True} if node is None else {"nodeName": node}
    pool = {"name": pool, "generation": 1, "resourceSliceCount": count}
    return {"metadata": {"name": name},
            "spec": {"driver": DRIVER, "pool": pool, **where, **spec}}


def chunks(items, size):
    return [items[i:i + size] for i in range(0, len(items), size)]


def pool(devs, counters=None, size=None, node=NODE, name=POOL, prefix="s"):
    """The slices of one pool: devices first, then counter sets, eight to a slice."""
    size = size or (64 if counters else PER_SLICE)
    parts = chunks(devs, size)
    sets = chunks([{"name": s, "counters": amounts(c)} for s, c in
                   (counters or {}).items()], 8)
    n = len(parts) + len(sets)
    return ([resource_slice(f"{prefix}{i}", {"devices": part}, n, name, node)
             for i, part in enumerate(parts)] +
            [resource_slice(f"t{i}", {"sharedCounters": part}, n, name, node)
             for i, part in enumerate(sets)])


def selectors(expressions):
    if isinstance(expressions, str):
        expressions = [expressions]
    return [{"cel": {"expression": e}} for e in expressions]


def exactly(count=1, select=None):
    e = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    if select:
        e["selectors"] = selectors(select)
    return e


def request(name="r", count=1, select=None):
    return {"name": name, "exactly": exactly(count, select)}


def alternatives(name, subs):
    return {"name": name, "firstAvailable": subs}


def alternative(name, count=1, select=None):
    return {**exactly(count, select), "name": name}


def claim(*requests, name="c", constraints=None):
    spec = {"requests": list(requests)}
    if constraints:
        spec["constraints"] = constraints
    return {"metadata": {"name": name, "namespace": "default", "uid": name},
            "spec": {"devices": spec}}


def match(name):
    return {"matchAttribute": f"{DRIVER}/{name}"}


def distinct(name):
    return {"distinctAttribute": f"{DRIVER}/{name}"}


def node(name=NODE):
    return {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}}


def is_(name, value):
    quoted = f'"{value}"' if isinstance(value, str) else value
    return f'device.attributes["{DRIVER}"].{name} == {quoted}'


def used(names, pool=POOL):
    return [{"driver": DRIVER, "pool": pool, "device": name} for name in names]


def case(slices, claims, allocated=None, nodes=None, by_driver=False, all_features=False):
    """by_driver: the class selects its driver's devices, as classes do in practice."""
    select = selectors(f'device.driver == "{DRIVER}"') if by_driver else []
    c = {"slices": slices, "claims": claims if isinstance(claims, list) else [claims],
         "classes": [{"metadata": {"name": "gpu"}, "spec": {"selectors": select}}],
         "nodes": nodes or [node()]}
    if not all_features:
        c["features"] = {name: True for name in FEATURES}
    if allocated:
        c["allocatedDevices"] = allocated
    return c


# ---- Easy ----

def gpu(i):
    return {"attributes": {"model": "A100", "family": "GPU", "index": i,
                           "driverVersion": {"version": "1.2.3"}},
            "capacity": {"memory": "1Gi"}}


def easy(n, select=None, busy=0):
    return case(pool(devices(n, gpu)), claim(request(select=select)), by_driver=True,
                allocated=used(f"d{i:03d}" for i in range(busy)))


def e1(busy=0):
    """1 of 10 devices, class selector, the first BUSY in use"""
    return easy(10, busy=busy)


def e2():
    """as E1, with a version and a quantity in the claim's selector"""
    return easy(10, f'device.attributes["{DRIVER}"].driverVersion.major() >= 1 && '
                    f'device.capacity["{DRIVER}"].memory.isGreaterThan(quantity("1Mi"))')


def e3():
    """only the tenth of ten devices matches"""
    return easy(10, is_("index", 9))


def e4(n=8, k=8):
    """N devices, K selectors of which the last is false"""
    return easy(n, [is_("model", "A100")] * (k - 1) + [is_("model", "none")])


def node_names(n):
    return [f"n{i:05d}" for i in range(n)]


def cluster(n):
    return [s for name in node_names(n)
            for s in pool(devices(8, gpu), node=name, name=name, prefix=name + "-")]


def l1(n=500, asked=1):
    """N nodes with a slice of 8 devices each; the last ASKED nodes are asked"""
    return case(cluster(n), claim(request()), by_driver=True,
                nodes=[node(name) for name in node_names(n)[n - asked:]])


def l2(n=1280):
    """a pool of N devices for all nodes, only the last is free"""
    return case(pool(devices(n, gpu), node=None), claim(request()), by_driver=True,
                allocated=used(f"d{i:03d}" for i in range(n - 1)))


def l3(n=1280):
    """the same pool, free; the claim's selector matches nothing"""
    return case(pool(devices(n, gpu), node=None),
                claim(request(select=is_("model", "none"))), by_driver=True)


def u1(values=1):
    """64 devices, 32 requests matched on an attribute that only the last 32 share;
    VALUES above 1: list attributes of that length"""
    def make(i):
        own = [f"v{i}-{j}" for j in range(values - 1)]
        v = own + [f"own-{i}" if i < 32 else "common"]
        return {"attributes": {"group": v if values > 1 else v[0]}}
    return case(pool(devices(64, make)),
                claim(*[request(f"r{i}") for i in range(32)], constraints=[match("group")]),
                all_features=values > 1)


# ---- Partitions: profile, size in memory slices, where it may start ----

PROFILES = [("1g", 1, range(7)), ("2g", 2, (0, 2, 4)), ("3g", 4, (0, 4)), ("4g", 4, (0,)),
            ("7g", 8, (0,))]


def mig(*wanted):
    devs, counters = [], {}
    for g in range(8):
        counters[f"gpu{g}"] = {f"slice{s}": 1 for s in range(8)}
        for profile, size, starts in PROFILES:
            for start in starts:
                takes = {f"slice{s}": 1 for s in range(start, start + size)}
                devs.append(device(f"gpu{g}-{profile}-{start}", {"profile": profile},
                                   consumes={f"gpu{g}": takes}))
    requests = [request(f"r{i}", count, is_("profile", profile))
                for i, (profile, count) in enumerate(wanted)]
    return case(pool(devs, counters), claim(*requests))


def m1():
    """8 GPUs of 14 placements each, one 1g"""
    return mig(("1g", 1))


def m2():
    """four 2g and two 3g"""
    return mig(("2g", 4), ("3g", 2))


def m3():
    """8 of 4g, then 9 of 3g: none"""
    return mig(("4g", 8), ("3g", 9))


def m4():
    """one 1g, then 8 of 7g: none"""
    return mig(("1g", 1), ("7g", 8))


# ---- Hard ----

def h1(n):
    """N equal devices, N + 1 wanted: none"""
    return case(pool(devices(n)), claim(request(count=n + 1)))


def h2(n, k):
    """K of any, then the one device of type X, which comes first"""
    devs = devices(n, lambda i: {"attributes": {"type": "Y" if i else "X"}})
    return case(pool(devs), claim(request("a", k), request("b", 1, is_("type", "X"))))


def h3(m):
    """M claims of one device, M - 1 devices: none"""
    return case(pool(devices(m - 1)), [claim(request(), name=f"c{i}") for i in range(m)])


def h4(n):
    """one counter: the first of N devices takes two shares, N - 1 devices wanted"""
    devs = devices(n, lambda i: {"consumes": {"cs": {"mem": 10 if i else 20}}})
    return case(pool(devs, {"cs": {"mem": 10 * (n - 1)}}), claim(request(count=n - 1)))


def h5(b, g):
    """B values of G devices each, G + 1 wanted of one value: none"""
    devs = devices(b * g, lambda i: {"attributes": {"v": i // g}})
    return case(pool(devs), claim(request(count=g + 1), constraints=[match("v")]))


def h6(v, c):
    """V values of C devices each, V + 1 distinct wanted: none"""
    devs = devices(v * c, lambda i: {"attributes": {"v": i // c}})
    return case(pool(devs), claim(request(count=v + 1), constraints=[distinct("v")]))


def h7(r, s):
    """R requests of S equal alternatives, then one that nothing matches: none"""
    requests = [alternatives(f"r{i}", [alternative(f"s{j}") for j in range(s)])
                for i in range(r)]
    return case(pool(devices(8)), claim(*requests, request("z", 1, "false")))


def h8(q, roots):
    """Q claims of a GPU and a NIC on one root; NICs on the last Q - 1 roots: none"""
    devs = [device(f"gpu{r}", {"kind": "gpu", "root": r}) for r in range(roots)]
    devs += [device(f"nic{r}", {"kind": "nic", "root": r})
             for r in range(roots - q + 1, roots)]
    return case(pool(devs), [claim(request("gpu", 1, is_("kind", "gpu")),
                                   request("nic", 1, is_("kind", "nic")),
                                   name=f"c{i}", constraints=[match("root")])
                             for i in range(q)])


def h9(n, k, dims, delta, seed):
    """K of N devices under DIMS counters, near the edge of what fits"""
    p = Random(seed)
    devs = devices(n, lambda i: {"consumes": {"cs": {f"c{j}": p.draw(20, 60)
                                                     for j in range(dims)}}})
    room = int(40 * k * (1 - delta))
    return case(pool(devs, {"cs": {f"c{j}": room for j in range(dims)}}),
                claim(request(count=k)))


def h10_devices(p, roots):
    """Devices and counter sets of H10, in the order of draws that the spec gives."""
    sizes = [(p.draw(1, 4), p.draw(0, 3)) for _ in range(roots)]
    raw = []
    for r, (gpus, nics) in enumerate(sizes):
        for kind, count in (("gpu", gpus), ("nic", nics)):
            for i in range(count):
                facts = {"kind": kind, "root": r, "numa": r % 2, "model": f"m{p.draw(0, 2)}"}
                facts["links"] = sorted({r, p.draw(0, roots - 1), p.draw(0, roots - 1)})
                raw.append((r, kind, i, facts))
    counters = {}
    for r, (gpus, nics) in enumerate(sizes):
        power = p.draw(4, 8)
        counters[f"root{r}"] = {"power": power,
                                "slots": max(0, gpus + nics - p.draw(0, 1))}
    devs = []
    for r, kind, i, facts in raw:
        power = p.draw(1, 3) if kind == "gpu" else 1
        devs.append(device(f"{kind}-{r}-{i}", facts,
                           consumes={f"root{r}": {"power": power, "slots": 1}}))
    return devs, counters


def h10_claim(p, name):
    count, select = p.draw(1, 2), [is_("kind", "gpu")]
    if p.draw(1, 3) == 1:
        select.append(is_("model", f"m{p.draw(0, 2)}"))
    nics = p.draw(0, 2)
    if p.draw(1, 4) == 1:
        gpus = alternatives("gpu", [alternative("a", count + 1, select),
                                    alternative("b", count, select),
                                    alternative("c", 1, select)])
    else:
        gpus = request("gpu", count, select)
    requests = [gpus] + ([request("nic", nics, is_("kind", "nic"))] if nics else [])
    rule = [match("root"), match("numa"), distinct("root"), match("links")][p.draw(0, 3)]
    return claim(*requests, name=name, constraints=[rule])


def most_wanted(claims):
    """Devices that the claims can get at most."""
    return sum(r["exactly"]["count"] if "exactly" in r else
               max(s["count"] for s in r["firstAvailable"])
               for c in claims for r in c["spec"]["devices"]["requests"])


def h10(z, seed):
    """mixed: roots, counters, lists, alternatives, devices in use"""
    p = Random(seed)
    devs, counters = h10_devices(p, 4 * z)
    claims = [h10_claim(p, f"c{i}") for i in range(p.draw(2, 2 + 2 * z))]
    order = list(range(len(devs)))
    busy = round(0.3 * len(devs))
    for i in range(busy):
        j = p.draw(i, len(devs) - 1)
        order[i], order[j] = order[j], order[i]
    if p.draw(0, 1) == 1:
        while most_wanted(claims) < 32 and len(claims) < 12:
            twin = copy.deepcopy(claims[0])
            twin["metadata"]["name"] = f"c{len(claims)}"
            claims.append(twin)
    return case(pool(devs, counters), claims, all_features=True,
                allocated=used(devs[i]["name"] for i in order[:busy]))


FAMILIES = {f.__name__.upper(): f for f in
            (e1, e2, e3, e4, l1, l2, l3, u1, m1, m2, m3, m4,
             h1, h2, h3, h4, h5, h6, h7, h8, h9, h10)}


def slice_list(n):
    kind = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSliceList",
            "metadata": {"resourceVersion": "1"},
            "items": [{**kind, **s} for s in cluster(n)]}


def make(word):
    name, *arguments = word.split(",")
    numbers = [float(a) if "." in a else int(a) for a in arguments]
    return {"id": word, **FAMILIES[name](*numbers)}


def main():
    if len(sys.argv) == 1:
        for name, f in FAMILIES.items():
            print(f"{name}{inspect.signature(f)}: {f.__doc__}")
    if sys.argv[1:2] == ["--slices"]:
        json.dump(slice_list(int(sys.argv[2])), sys.stdout)
        return
    for word in sys.argv[1:]:
        print(json.dumps(make(word), separators=(",", ":")))


if __name__ == "__main__":
    main()
