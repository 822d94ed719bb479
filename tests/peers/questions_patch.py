# SPDX-License-Identifier: Apache-2.0
"""Random objects and patches of three kinds; what comes out must be equal."""
import copy

from questions_num import Mode

NAMES = ["a", "b", "c", "d"]


class Patch(Mode):
    name = "patch"
    batch = 500

    def question(self):
        kind = self.random.choice(["json", "merge", "strategic", "strategic"])
        if kind == "strategic":
            pod = self.pod()
            return {"kind": kind, "object": pod, "patch": self.strategic_patch(pod)}
        thing = self.map(3)
        patch = self.operations(thing) if kind == "json" else self.merge_patch(thing)
        return {"kind": kind, "object": thing, "patch": patch}

    def settle(self, question, theirs, ours, oracle):
        """Where a list is both set and deleted from, upstream does one of the two first,
        by the order of a Go map."""
        tries = 12 if "$deleteFromPrimitiveList" in str(question["patch"]) else 0
        while tries and dict(self.compare(question, theirs, ours)):
            theirs = oracle.ask([question])[0]
            tries -= 1
        return theirs

    def compare(self, question, theirs, ours):
        kind = question["kind"]
        if kind == "merge" and isinstance(question["patch"], list):
            kind = "merge with a list:"
        if theirs["ok"] != ours["ok"]:
            yield (f"{kind} verdict", f"upstream {theirs.get('error', 'takes it')!r}, "
                                      f"dray {ours.get('error', 'takes it')!r}")
        elif theirs["ok"] and not same(theirs["result"], ours["result"]):
            yield f"{kind} result", f"upstream {theirs['result']}, dray {ours['result']}"

    def smaller(self, question):
        for field in ("patch", "object"):
            for less in lesser(question[field]):
                yield {**question, field: less}

    # ---- any JSON ----

    def scalar(self):
        return self.random.choice([None, True, False, 0, 1, 1.5, "x", "", "a/b"])

    def value(self, depth):
        form = self.random.random()
        if depth == 0 or form < 0.4:
            return self.scalar()
        if form < 0.7:
            return self.map(depth - 1)
        return [self.value(depth - 1) for _ in range(self.random.randint(0, 3))]

    def map(self, depth):
        keys = self.random.sample(NAMES + ["", "~", "x/y", "0"], self.random.randint(0, 4))
        return {k: self.value(depth) for k in keys}

    def merge_patch(self, thing):
        """A part of the object, changed, with deletions."""
        r = self.random
        if r.random() < 0.05:
            return self.value(2)
        patch = self.map(2) if r.random() < 0.5 else {}
        for key, value in thing.items():
            if r.random() < 0.5:
                patch[key] = (self.merge_patch(value) if isinstance(value, dict)
                              and r.random() < 0.7 else r.choice([None, self.value(2)]))
        return patch

    def pointer(self, thing):
        """Mostly to what is there, or just beside it."""
        r, path = self.random, ""
        while isinstance(thing, (dict, list)) and r.random() < 0.8:
            if isinstance(thing, dict):
                key = r.choice(list(thing) + NAMES[:1])
                thing = thing.get(key)
            else:
                key = r.choice([str(i) for i in range(len(thing) + 1)] + ["-", "-1", "01", "x"])
                at = int(key) if key.isdigit() else len(thing)
                thing = thing[at] if at < len(thing) else None
            path += "/" + key.replace("~", "~0").replace("/", "~1")
        return path

    def operations(self, thing):
        r, all_of_them = self.random, []
        for _ in range(r.randint(0, 4)):
            op = {"op": r.choice(["add", "remove", "replace", "move", "copy", "test"]),
                  "path": self.pointer(thing)}
            if op["op"] in ("move", "copy"):
                op["from"] = self.pointer(thing)
            if op["op"] in ("add", "replace", "test"):
                op["value"] = self.value(1)
            if r.random() < 0.03:
                op.pop(r.choice(list(op)))
            all_of_them.append(op)
        return all_of_them

    # ---- pods ----

    def some(self, make, most=3):
        names = self.random.sample(NAMES, self.random.randint(0, most))
        return [make(n) for n in names]

    def env(self, name):
        return {"name": name, "value": self.random.choice("xyz")}

    def port(self, name):
        port = {"containerPort": NAMES.index(name) + 1}
        if self.random.random() < 0.5:
            port["protocol"] = self.random.choice(["TCP", "UDP"])
        return port

    def container(self, name):
        c = {"name": name, "image": self.random.choice("xyz")}
        if self.random.random() < 0.6:
            c["env"] = self.some(self.env)
        if self.random.random() < 0.4:
            c["ports"] = self.some(self.port)
        if self.random.random() < 0.3:
            c["command"] = self.random.sample(NAMES, 2)
        return c

    def volume(self, name):
        source = self.random.choice(["emptyDir", "hostPath"])
        return {"name": name, source: {"path": "/x"} if source == "hostPath" else {}}

    def metadata(self):
        meta = {"name": "p"}
        if self.random.random() < 0.6:
            meta["labels"] = {n: "x" for n in self.random.sample(NAMES, 2)}
        if self.random.random() < 0.6:
            meta["finalizers"] = self.random.sample(NAMES, self.random.randint(0, 3))
        return meta

    def pod(self):
        spec = {"containers": self.some(self.container)}
        if self.random.random() < 0.5:
            spec["volumes"] = self.some(self.volume)
        if self.random.random() < 0.4:
            spec["tolerations"] = [{"key": n} for n in self.random.sample(NAMES, 2)]
        if self.random.random() < 0.3:
            spec["securityContext"] = {"runAsUser": 1}
        return {"metadata": self.metadata(), "spec": spec}

    def strategic_patch(self, pod):
        patch = {}
        if self.random.random() < 0.5:
            patch["metadata"] = self.change(pod["metadata"], self.metadata())
        if self.random.random() < 0.9:
            patch["spec"] = self.change(pod["spec"], self.pod()["spec"])
        return patch

    def change(self, now, other):
        """Members of another object of the same type, with directives."""
        r, patch = self.random, {}
        for key, value in other.items():
            if r.random() < 0.35:
                continue
            if r.random() < 0.1:
                patch[key] = None
            elif isinstance(value, dict):
                patch[key] = self.change(now.get(key) or {}, value)
            elif key in ("containers", "volumes", "env", "ports"):
                self.change_list(patch, key, now.get(key) or [], value)
            elif key == "finalizers":
                self.change_texts(patch, key, now.get(key) or [], value)
            else:
                patch[key] = copy.deepcopy(value)
        if r.random() < 0.05:
            patch["$patch"] = r.choice(["replace", "delete", "merge", "nonsense"])
        if r.random() < 0.08:
            patch["$retainKeys"] = r.sample(list(patch) + NAMES[:2], 1)
        return patch

    def change_list(self, patch, key, now, other):
        r, items = self.random, []
        merge_key = "containerPort" if key == "ports" else "name"
        for item in other:
            old = next((o for o in now if o[merge_key] == item[merge_key]), {})
            if r.random() < 0.15:
                items.append({merge_key: item[merge_key], "$patch": "delete"})
            else:
                items.append({**self.change(old, item), merge_key: item[merge_key]})
        if r.random() < 0.05:
            items.append({"$patch": r.choice(["replace", "merge"])})
        patch[key] = items
        if r.random() < 0.4:
            keys = [i[merge_key] for i in now + other]
            order = list(dict.fromkeys(r.sample(keys, r.randint(0, len(keys)))))
            missing = [i[merge_key] for i in items if merge_key in i and "$patch" not in i
                       and i[merge_key] not in order]
            if r.random() < 0.9:
                order += missing
            patch["$setElementOrder/" + key] = [{merge_key: k} for k in order]

    def change_texts(self, patch, key, now, other):
        r = self.random
        patch[key] = list(other)
        if r.random() < 0.3 and now:
            patch["$deleteFromPrimitiveList/" + key] = r.sample(now, 1)
        if r.random() < 0.3:
            order = list(dict.fromkeys(now + other))
            r.shuffle(order)
            patch["$setElementOrder/" + key] = order


def same(a, b):
    """Equal as JSON: True is not 1."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def lesser(value):
    """The value with one thing less in it."""
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
        for key in value:
            for less in lesser(value[key]):
                yield {**value, key: less}
    elif isinstance(value, list):
        for i in range(len(value)):
            yield value[:i] + value[i + 1:]
        for i, item in enumerate(value):
            for less in lesser(item):
                yield value[:i] + [less] + value[i + 1:]
