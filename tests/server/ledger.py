# SPDX-License-Identifier: Apache-2.0
"""Who holds what, seen by a watch of claims: at every moment that the store went through,
no device is in two live allocations, and no counter or capacity is used above its total."""
import collections
import http.client
import json
import re
import threading

DRA = "/apis/resource.k8s.io/v1"
UNITS = {"": 1, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
         "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def amount(text):
    number, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(text)).groups()
    return float(number) * UNITS[unit]


class Stock:
    """What slices offer: capacities and counters, by (driver, pool, name)."""

    def __init__(self, slices):
        self.counters, self.devices = {}, {}
        for s in slices:
            spec = s["spec"]
            place = (spec["driver"], spec["pool"]["name"])
            for group in spec.get("sharedCounters", []):
                for name, value in group["counters"].items():
                    self.counters[(*place, group["name"], name)] = amount(value["value"])
            for device in spec.get("devices", []):
                self.devices[(*place, device["name"])] = device

    def judge(self, held):
        """What is wrong when claims hold this: {claim: [result]}; or None."""
        owners = collections.defaultdict(set)
        parts = collections.Counter()
        for name, list_ in held.items():
            for r in list_:
                key = (r["driver"], r["pool"], r["device"])
                if r.get("adminAccess"):
                    continue
                owners[key].add((name, r.get("shareID")))
                for what, value in (r.get("consumedCapacity") or {}).items():
                    parts[(*key, what)] += amount(value)
        return (self.judge_owners(owners) or self.judge_capacity(parts) or
                self.judge_counters(owners))

    def judge_owners(self, owners):
        for key, who in owners.items():
            if len(who) > 1 and any(share is None for _, share in who):
                return f"{key} is held by {sorted(map(str, who))}"
        return None

    def judge_capacity(self, parts):
        for (*key, what), used in parts.items():
            of = self.devices.get(tuple(key), {}).get("capacity", {}).get(what)
            if of and used > amount(of["value"]):
                return f"{key} gives {used} of {of['value']} {what}"
        return None

    def judge_counters(self, owners):
        used = collections.Counter()
        for key in owners:
            for group in self.devices.get(key, {}).get("consumesCounters", []):
                for name, value in group["counters"].items():
                    used[(*key[:2], group["counterSet"], name)] += amount(value["value"])
        for name, value in used.items():
            if value > self.counters.get(name, 0):
                return f"{value} of {self.counters.get(name)} {name} are used"
        return None


def holds(claim):
    return claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])


def key_of(claim):
    meta = claim["metadata"]
    return f"{meta['namespace']}/{meta['name']}/{meta['uid']}"


class Ledger:
    """Watches in a thread of its own, until it is closed or the server goes."""

    def __init__(self, server):
        self.server, self.wrong, self.moments, self.most = server, None, 0, 0
        self.stock = Stock(self.items("resourceslices")["items"])
        found = self.items("resourceclaims")
        self.held = {key_of(c): holds(c) for c in found["items"]}
        self.note()
        self.connection = http.client.HTTPSConnection("127.0.0.1", server.port,
                                                      context=server.tls)
        self.connection.request("GET", f"{DRA}/resourceclaims?watch=true&resourceVersion=" +
                                found["metadata"]["resourceVersion"])
        self.answer = self.connection.getresponse()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def items(self, resource):
        return json.loads(self.server.ask("GET", f"{DRA}/{resource}")[1])

    def note(self):
        self.moments += 1
        self.most = max(self.most, sum(bool(list_) for list_ in self.held.values()))
        self.wrong = self.wrong or self.stock.judge(self.held)

    def take(self, event):
        one = event["object"]
        if event["type"] == "DELETED":
            self.held.pop(key_of(one), None)
        elif event["type"] in ("ADDED", "MODIFIED"):
            self.held[key_of(one)] = holds(one)
        self.note()

    def follow(self):
        try:
            while line := self.answer.readline():
                self.take(json.loads(line))
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass  # the server was killed, or the test is done

    def close(self):
        """What was wrong at some moment; None: nothing."""
        try:
            self.connection.sock.shutdown(2)
        except (OSError, AttributeError):
            pass
        self.thread.join(timeout=30)
        self.connection.close()
        return self.wrong
