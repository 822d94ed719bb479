# SPDX-License-Identifier: Apache-2.0
"""Random schemas of custom resources, mostly ones that are accepted, and objects that are
mostly of them. Every error, default and unknown member must be the same."""
import copy
import json
import re

from questions_num import Mode

NAMES = ["a", "b", "name", "spec", "x-y", "in", "c.d", "a__b", "9z", "size"]
FORMATS = ["byte", "date", "date-time", "duration", "uuid", "uri", "ipv4", "ipv6", "cidr",
           "mac", "hostname", "email", "int32", "int64", "float", "double", "password",
           "k8s-short-name", "k8s-long-name", "isbn", "creditcard", "ssn", "hexcolor",
           "rgbcolor", "bsonobjectid", "no-such-format"]
TEXTS = ["", "a", "abc", "a-b", "A", "0", "12", "é€", "10s", "1h30m", "2 days", "-1h",
         "2024-01-31", "2024-02-30", "2024-01-31T10:00:00Z", "2024-01-31t10:00:00.5+02:00",
         "2024-01-31T25:00:00Z", "YWJj", "YWI=", "a+b/", "http://x.y/z", "/path", "x y",
         "10.0.0.1", "010.0.0.1", "::1", "::ffff:1.2.3.4", "10.0.0.0/8", "fe80::/129",
         "01:23:45:67:89:ab", "0123.4567.89ab", "00:00", "x.example.com", "-x", "me@example.com",
         "Me <me@example.com>", "a@b@c", "123e4567-e89b-42d3-a456-426614174000",
         "978-3-16-148410-0", "0-306-40615-2", "4111111111111111", "123-45-6789", "#fff",
         "rgb(1, 2,300)", "rgb(1,2,3)", "507f1f77bcf86cd799439011", "x" * 70]
NUMBERS = [0, 1, 2, 3, 5, 10, -1, -7, 1.5, 0.1, 2.0, 1e21, 1e-7, 2**31, 2**53, 2**53 + 1,
           2**63 - 1, -2**63, 2**63, 1e300]
PATTERNS = ["^[a-z]*$", "a|b", "^.{2,3}$", "[0-9]", "(?i)A", "^$", "("]


class Schema(Mode):
    name = "schema"
    batch = 60

    # ---- schemas ----

    def chance(self, p):
        return self.random.random() < p

    def pick(self, values):
        return self.random.choice(values)

    def number(self):
        return self.pick(NUMBERS)

    def bounds(self, s, names, values):
        for name in names:
            if self.chance(0.2):
                s[name] = self.pick(values)

    def string(self):
        s = {"type": "string"}
        self.bounds(s, ["maxLength", "minLength"], [0, 1, 2, 3, 10, -1])
        if self.chance(0.15):
            s["pattern"] = self.pick(PATTERNS[:-1])
        if self.chance(0.25):
            s["format"] = self.pick(FORMATS)
        if self.chance(0.15):
            s["enum"] = self.random.sample(TEXTS[:8], self.random.randint(1, 3))
        return s

    def numeric(self, kind):
        s = {"type": kind}
        self.bounds(s, ["maximum", "minimum", "multipleOf"], NUMBERS[:14])
        if self.chance(0.1):
            s[self.pick(["exclusiveMaximum", "exclusiveMinimum"])] = True
        if self.chance(0.2):
            s["format"] = self.pick(["int32", "int64", "float", "double", "date"])
        if self.chance(0.1):
            s["enum"] = self.random.sample(NUMBERS[:12], 2)
        return s

    def array(self, depth):
        s = {"type": "array", "items": self.schema(depth - 1)}
        self.bounds(s, ["maxItems", "minItems"], [0, 1, 2, 3, 10])
        kind = self.random.random()
        if kind < 0.2:
            s["x-kubernetes-list-type"] = "set"
            if self.chance(0.8):
                s["items"] = self.pick([self.string, lambda: self.numeric("integer")])()
        elif kind < 0.45:
            keys = self.random.sample(NAMES[:5], self.random.randint(1, 2))
            items = self.object(depth - 1)
            for key in keys:
                items["properties"][key] = self.pick([self.string(), {"type": "integer"}])
            items["required"] = sorted(set(items.get("required", []) + keys))
            s.update({"items": items, "x-kubernetes-list-type": "map",
                      "x-kubernetes-list-map-keys": keys})
        elif kind < 0.5:
            s["x-kubernetes-list-type"] = "atomic"
        return s

    def object(self, depth):
        names = self.random.sample(NAMES, self.random.randint(1, 4))
        s = {"type": "object", "properties": {n: self.schema(depth - 1) for n in names}}
        if self.chance(0.3):
            s["required"] = self.random.sample(names, self.random.randint(1, len(names)))
        if self.chance(0.1):
            s["x-kubernetes-preserve-unknown-fields"] = True
        if self.chance(0.1):
            s["x-kubernetes-map-type"] = self.pick(["atomic", "granular"])
        return s

    def map(self, depth):
        s = {"type": "object", "additionalProperties":
             self.pick([True, False]) if self.chance(0.1) else self.schema(depth - 1)}
        self.bounds(s, ["maxProperties", "minProperties"], [0, 1, 2, 3])
        return s

    def odd(self, depth):
        return self.pick([
            {"x-kubernetes-int-or-string": True},
            {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            {"x-kubernetes-int-or-string": True, "maxLength": 3,
             "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"pattern": "^[0-9]+$"}]},
            {"x-kubernetes-preserve-unknown-fields": True},
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            {"type": "object"},
            {"type": "object", "x-kubernetes-embedded-resource": True,
             "x-kubernetes-preserve-unknown-fields": True},
            {"type": "object", "x-kubernetes-embedded-resource": True,
             "properties": {"a": self.schema(depth - 1), "metadata": {"type": "object"}}},
        ])

    def nested(self, s, depth):
        """What may stand inside of anyOf and the like: restrictions alone."""
        n = {}
        if s.get("type") == "object" and s.get("properties") and depth > 0:
            name = self.pick(sorted(s["properties"]))
            n["properties"] = {name: self.nested(s["properties"][name], depth - 1)}
            if self.chance(0.5):
                n["required"] = [name]
        elif s.get("type") == "array" and depth > 0 and isinstance(s.get("items"), dict):
            n["items"] = self.nested(s["items"], depth - 1)
            self.bounds(n, ["maxItems", "minItems"], [0, 1, 2])
        elif s.get("type") == "string":
            self.bounds(n, ["maxLength", "minLength"], [0, 1, 2, 3])
            if self.chance(0.3):
                n["enum"] = self.random.sample(TEXTS[:6], 2)
            if self.chance(0.2):
                n["pattern"] = self.pick(PATTERNS[:-1])
            if self.chance(0.2):
                n["format"] = self.pick(FORMATS)
        elif s.get("type") in ("integer", "number"):
            self.bounds(n, ["maximum", "minimum", "multipleOf"], NUMBERS[:14])
        elif s.get("type") == "object":
            self.bounds(n, ["maxProperties", "minProperties"], [0, 1, 2])
        if self.chance(0.1):
            n["not"] = self.nested(s, 0)
        return n

    def schema(self, depth):
        kind = self.random.random()
        if depth <= 0 or kind < 0.35:
            s = self.pick([self.string, self.string, lambda: self.numeric("integer"),
                           lambda: self.numeric("number"), lambda: {"type": "boolean"}])()
        elif kind < 0.6:
            s = self.object(depth)
        elif kind < 0.75:
            s = self.array(depth)
        elif kind < 0.88:
            s = self.map(depth)
        else:
            s = self.odd(depth)
        self.decorate(s)
        return s

    def decorate(self, s):
        if self.chance(0.12):
            s["nullable"] = True
        if self.chance(0.12):
            s["default"] = self.value(s, 3, wrong=0.05)
        for word in ("allOf", "anyOf", "oneOf"):
            if self.chance(0.05) and word not in s:
                s[word] = [self.nested(s, 2) for _ in range(self.random.randint(1, 3))]
        if self.chance(0.03):
            s["not"] = self.nested(s, 1)
        if self.chance(0.25):
            s["x-kubernetes-validations"] = [self.rule(s) for _ in range(self.random.randint(1, 2))]
        if self.chance(0.01):
            self.damage(s)

    def damage(self, s):
        s.update(copy.deepcopy(self.pick([
            {"type": "strange"}, {"type": "null"}, {"$ref": "#/x"}, {"uniqueItems": True},
            {"pattern": "("}, {"id": "x"}, {"additionalItems": True}, {"items": [{"type": "string"}]},
            {"allOf": [{"type": "string"}]}, {"anyOf": [{"nullable": True, "title": "t"}]},
            {"oneOf": [{"properties": {"metadata": {}, "zz": {}}}]}, {"not": {"default": 1}},
            {"x-kubernetes-list-type": "odd"}, {"x-kubernetes-map-type": "odd"},
            {"x-kubernetes-list-map-keys": ["zz"]}, {"x-kubernetes-list-type": "map"},
            {"x-kubernetes-preserve-unknown-fields": False}, {"x-kubernetes-embedded-resource": True},
            {"additionalProperties": {"type": "string"}}, {"properties": {"q": {}}}, {"definitions": {"x": {}}}, {"patternProperties": {"x": {}}},
            {"dependencies": {"x": ["y"]}}])))

    def root(self):
        s = self.object(3)
        props = s["properties"]
        if self.chance(0.3):
            props["metadata"] = {"type": "object"}
            if self.chance(0.4):
                props["metadata"]["properties"] = {
                    self.pick(["name", "generateName", "labels"]): {"type": "string", "maxLength": 10}}
        if self.chance(0.2):
            props["apiVersion"] = {"type": self.pick(["string", "string", "integer"])}
        self.decorate(s)
        for word in ("nullable", "default"):
            if self.chance(0.9):
                s.pop(word, None)
        return s

    # ---- rules ----

    def rule(self, s):
        text = self.pick(self.conditions(s, "self") + ["true", "self == oldSelf"])
        if self.chance(0.2):
            text = f"{text} {self.pick(['||', '&&'])} {self.pick(self.conditions(s, 'self'))}"
        if self.chance(0.1):
            text = self.pick([f"!({text})", f"oldSelf != self || {text}", "oldSelf.hasValue()",
                              "self.nope", "self +", "1", "self.all(x, x == x)", ""])
        r = {"rule": text}
        if self.chance(0.4):
            r["message"] = self.pick(["must hold", " spaces ", "a\nb", ""])
        if self.chance(0.2):
            r["messageExpression"] = self.pick(["'say ' + 'it'", "''", "self", "'a\\nb'", "string(self)",
                                                "size(self) > 1 ? 'long' : 'short'", "nope"])
        if self.chance(0.2):
            r["reason"] = self.pick(["FieldValueRequired", "FieldValueInvalid", "FieldValueDuplicate",
                                     "FieldValueForbidden", "Other"])
        if self.chance(0.15):
            names = sorted(s.get("properties", {"zz": 1}))
            r["fieldPath"] = self.pick([f".{self.pick(names)}", f"['{self.pick(names)}']", ".zz", "x", "."])
        if self.chance(0.15):
            r["optionalOldSelf"] = self.chance(0.8)
            if self.chance(0.6):
                r["rule"] = f"oldSelf.hasValue() ? {text} : true"
        return r

    def conditions(self, s, me, depth=2):
        kind = s.get("type")
        if s.get("x-kubernetes-int-or-string"):
            return [f"type({me}) == int ? {me} < 5 : {me} != 'a'", f"{me} == 1"]
        if kind == "string":
            if s.get("format") in ("date", "date-time"):
                return [f"{me} < timestamp('2024-01-31T00:00:00Z')", f"{me}.getFullYear() == 2024"]
            if s.get("format") == "duration":
                return [f"{me} > duration('1m')", f"{me}.getSeconds() > 5"]
            if s.get("format") == "byte":
                return [f"size({me}) < 3", f"{me} == b'abc'"]
            return [f"{me}.size() < 3", f"{me} != 'a'", f"{me}.startsWith('a')", f"{me}.matches('^[a-z]+$')",
                    f"{me} in ['a', 'abc', '']", f"{me}.contains('b')"]
        if kind == "integer":
            return [f"{me} < 5", f"{me} * 2 > 3", f"{me} / ({me} - 1) > 0"]
        if kind == "number":
            return [f"{me} < 5.0", f"{me} + 1.0 > 2.0"]
        if kind == "boolean":
            return [me, f"!{me}"]
        if kind == "array" and depth and isinstance(s.get("items"), dict):
            out = [f"size({me}) < 3", f"{me} == {me}", f"{me}.includes('a')",
                   f"{me} + {me} == {me}", f"{me}.exists(x, type(x) == int)", f"size({me}) == 0 || {me}[0] == {me}[size({me}) - 1]"]
            for inner in self.conditions(s["items"], "x", depth - 1)[:3]:
                out += [f"{me}.all(x, {inner})", f"{me}.exists_one(x, {inner})"]
            return out
        if kind == "object" and depth and isinstance(s.get("additionalProperties"), dict):
            out = [f"size({me}) < 2", f"'a' in {me}", f"{me}.all(k, k != 'b')"]
            for inner in self.conditions(s["additionalProperties"], f"{me}[k]", depth - 1)[:2]:
                out.append(f"{me}.all(k, {inner})")
            return out
        if kind == "object" and depth:
            out = [f"{me} == {me}"]
            for name, prop in s.get("properties", {}).items():
                if name[0].isdigit():
                    continue
                field = f"{me}.{escaped(name)}"
                out.append(f"has({field})")
                for inner in self.conditions(prop, field, depth - 1)[:3]:
                    out += [inner, f"!has({field}) || {inner}"]
                out.append(f"{field} == oldSelf.{escaped(name)}")
            return out
        return ["true"]

    # ---- objects ----

    def anything(self, depth):
        kind = self.random.random()
        if depth <= 0 or kind < 0.6:
            return self.pick([None, True, False, self.pick(TEXTS), self.number()])
        if kind < 0.8:
            return [self.anything(depth - 1) for _ in range(self.random.randint(0, 2))]
        return {n: self.anything(depth - 1) for n in self.random.sample(NAMES, self.random.randint(0, 3))}

    def value(self, s, depth, wrong=0.1):
        if self.chance(wrong):
            return self.anything(2)
        if "default" in s and self.chance(0.3):
            return copy.deepcopy(s["default"])
        if s.get("enum") and self.chance(0.7):
            return self.pick(s["enum"])
        kind = s.get("type")
        if s.get("x-kubernetes-int-or-string"):
            return self.pick([1, 10, "a", "12", "50%"])
        if kind == "string":
            return self.pick(TEXTS)
        if kind == "integer":
            return self.pick([n for n in NUMBERS if isinstance(n, int)] + [2.0])
        if kind == "number":
            return self.number()
        if kind == "boolean":
            return self.chance(0.5)
        if kind == "array" and isinstance(s.get("items"), dict) and depth > 0:
            items = [self.value(s["items"], depth - 1, wrong) for _ in range(self.random.randint(0, 3))]
            if items and self.chance(0.15):
                items.append(copy.deepcopy(items[0]))
            return items
        if kind == "object" and depth > 0:
            return self.members(s, depth, wrong)
        return self.anything(1)

    def members(self, s, depth, wrong):
        out = {}
        for name, prop in s.get("properties", {}).items():
            if name in s.get("required", []) or self.chance(0.7):
                if not (name in s.get("required", []) and self.chance(wrong)):
                    out[name] = self.value(prop, depth - 1, wrong)
        if isinstance(s.get("additionalProperties"), dict):
            for name in self.random.sample(NAMES, self.random.randint(0, 3)):
                out[name] = self.value(s["additionalProperties"], depth - 1, wrong)
        if s.get("x-kubernetes-embedded-resource"):
            out.update(self.type_meta())
        if self.chance(0.15):
            out[self.pick(NAMES + ["unknown"])] = self.anything(2)
        return out

    def type_meta(self):
        out = {"apiVersion": self.pick(["v1", "a/v1", "a/b/c"]), "kind": self.pick(["Thing", "Bad_Kind"]),
               "metadata": {"name": self.pick(["x", "a/b", ""])}}
        if self.chance(0.3):
            out["metadata"].update(self.pick([{"labels": {"a": "b"}}, {"labels": {"a b": "c"}}, {"zz": 1},
                                              {"namespace": "N"}, {"finalizers": ["x"]}]))
        if self.chance(0.2):
            out.pop(self.pick(sorted(out)))
        return out

    def changed(self, value, depth=3):
        """A value that differs here and there."""
        if self.chance(0.1):
            return self.anything(1)
        if isinstance(value, dict) and depth:
            out = {k: self.changed(v, depth - 1) if self.chance(0.3) else v for k, v in value.items()}
            if out and self.chance(0.15):
                out.pop(self.pick(sorted(out)))
            return out
        if isinstance(value, list) and depth:
            out = [self.changed(v, depth - 1) if self.chance(0.3) else v for v in value]
            if self.chance(0.2):
                self.random.shuffle(out)
            return out
        return value

    def object_of(self, s):
        wrong = self.pick([0, 0, 0.03, 0.1])
        out = self.members(s, 4, wrong)
        out.update({"apiVersion": "example.com/v1", "kind": "Thing",
                    "metadata": {"name": "x", "namespace": "n"}})
        return out

    def question(self):
        schema = self.root()
        objects = []
        for _ in range(4):
            o = {"object": self.object_of(schema)}
            if self.chance(0.5):
                old = self.changed(o["object"])
                if isinstance(old, dict):
                    old.update({k: o["object"][k] for k in ("apiVersion", "kind", "metadata")})
                    o["old"] = old
            objects.append(o)
        q = {"schema": schema, "status": self.chance(0.2), "objects": objects}
        if self.chance(0.2):
            q["oldSchema"] = {"type": "object", "properties": {"old": {
                "type": "string", "x-kubernetes-validations": sorted(rules_in(schema), key=str)}}}
        return q

    # ---- comparison ----

    def settle(self, question, theirs, ours, oracle):
        """Upstream goes through maps in no order, which shows where it stops early."""
        tries = 3
        while tries and dict(self.compare(question, theirs, ours)):
            theirs = oracle.ask([question])[0]
            tries -= 1
        return theirs

    def compare(self, question, theirs, ours):
        if theirs.get("undecodable") != ours.get("undecodable"):
            yield "decodable", f"upstream {theirs}, dray {ours}"
            return
        mine, yours = plain(ours.get("definition")), plain(theirs.get("definition"))
        if mine != yours:
            kind = "definition"
            if unshown(mine) == unshown(yours):
                kind += " as it is shown"
            elif unshared(mine) == unshared(yours):
                kind += ", shares of the total"
            yield kind, difference(yours, mine)
            return
        for t, o in zip(theirs.get("objects", []), ours.get("objects", [])):
            for field in ("bad", "unknown", "object", "errors"):
                mine, yours = plain(o.get(field)), plain(t.get(field))
                if mine != yours:
                    odd = ", invalid data" if "invalid data, expected" in str(mine) else ""
                    odd += ", keys with dashes" if has_odd_keys(question["schema"]) else ""
                    yield f"object's {field}{odd}", difference(yours, mine)

    def smaller(self, question):
        for i in range(len(question["objects"])):
            yield {**question, "objects": question["objects"][:i] + question["objects"][i + 1:]}
        for less in lesser(question["schema"]):
            yield {**question, "schema": less}
        for i, o in enumerate(question["objects"]):
            for field in o:
                for less in lesser(o[field]):
                    objects = list(question["objects"])
                    objects[i] = {**o, field: less}
                    yield {**question, "objects": objects}
            if "old" in o:
                objects = list(question["objects"])
                objects[i] = {"object": o["object"]}
                yield {**question, "objects": objects}


def rules_in(value):
    if isinstance(value, dict):
        for k, v in value.items():
            if k == "x-kubernetes-validations":
                yield from v
            else:
                yield from rules_in(v)
    elif isinstance(value, list):
        for v in value:
            yield from rules_in(v)


def lesser(value):
    if isinstance(value, dict):
        for k in value:
            yield {n: v for n, v in value.items() if n != k}
        for k in value:
            for less in lesser(value[k]):
                yield {**value, k: less}
    elif isinstance(value, list):
        for i in range(len(value)):
            yield value[:i] + value[i + 1:]
        for i, v in enumerate(value):
            for less in lesser(v):
                yield value[:i] + [less] + value[i + 1:]


def plain(value):
    """Without what is made up anew each time, the names of types, and Go's own texts about
    times."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, str):
        value = re.sub(r": parsing time .*( evaluating)", r"\1", value)
        return re.sub(r"selfType[\w.@]*", "selfType", value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def has_odd_keys(schema):
    if isinstance(schema, dict):
        keys = schema.get("x-kubernetes-list-map-keys", [])
        return any(escaped(k) != k for k in keys) or any(map(has_odd_keys, schema.values()))
    return isinstance(schema, list) and any(map(has_odd_keys, schema))


def unshared(errors):
    return [e for e in errors or [] if "contributed to estimated" not in e]


def unshown(errors):
    return [re.sub(r'Invalid value: \{"ID".*', "", e) for e in errors or []]


def difference(theirs, ours):
    if isinstance(theirs, list) and isinstance(ours, list):
        theirs, ours = [x for x in theirs if x not in ours], [x for x in ours if x not in theirs]
    return f"upstream {theirs!r}, dray {ours!r}"


def escaped(name):
    special = {".": "__dot__", "-": "__dash__", "/": "__slash__"}
    if name in ("in", "if", "for", "namespace"):
        return f"__{name}__"
    name = name.replace("__", "__underscores__")
    return "".join(special.get(c, c) for c in name)
