# SPDX-License-Identifier: Apache-2.0
"""Objects that are nearly right: a field taken away, added, or given another value.

What fields there are is said by the tables that dray is built from (src/api/types)."""
import copy
import pathlib
import re

TYPES = pathlib.Path(__file__).resolve().parents[2] / "src/api/types"
SCALARS = {"string", "integer", "number", "boolean", "object", "any", "time", "microTime",
           "quantity", "intOrString", "rawExtension", "fieldsV1"}
GONE = object()  # as a value: the member is taken away
DEEPEST = 12

TEXTS = ["", "a", "a b", "A_B", "x" * 64, "x." * 130 + "y", "/abs/p", "../x", "Nope", "a.b/c",
         "-x", "1.2.3.4", "true", "None", "a" * 40 + "/b", "é"]
VALUES = {
    "string": TEXTS,
    "integer": [-1, 0, 1, 2, 70000, 2**31 - 1, 2**31],
    "number": [-1, 0, 1, 0.5],
    "boolean": [True, False],
    "quantity": ["-1", "0", "1500m", "1Ki", "5", 3],
    "intOrString": [-1, 0, 1, 70000, "", "a b", "101%", "10%", "http"],
    "time": ["2026-01-01T00:00:00Z", "1970-01-01T00:00:00Z"],
    "microTime": ["2026-01-01T00:00:00.000000Z", "1970-01-01T00:00:00.500000Z"],
    "{}string": [{}, {"a b": "x"}, {"a": "x y"}, {"": "x"}, {"a.io/b": "x"}, {"A_B/c": "x"}],
    "{}quantity": [{}, {"cpu": "-1"}, {"bogus": "1"}, {"example.com/x": "1500m"},
                   {"example.com/x": "1"}, {"hugepages-2Mi": "3Mi"}, {"cpu": "1", "memory": "1"},
                   {"kubernetes.io/x": "1"}, {"ephemeral-storage": "1"}],
    "object": [{}, {"a": 1}], "any": [{}, {"a": 1}], "rawExtension": [{}, {"a": 1}],
}


def read_types():
    types = {}
    for path in TYPES.glob("*.tsv"):
        if path.stem == "kinds":
            continue
        for line in path.read_text().splitlines()[1:]:
            cells = line.split("\t")
            if len(cells) > 4 and cells[1]:
                types.setdefault((path.stem, cells[0]), []).append(
                    (cells[1], cells[3], cells[4]))
    return types


FIELDS = read_types()


def fields_of(table, name):
    for where in (table, "meta_v1", "core_v1"):
        if (where, name) in FIELDS:
            return where, FIELDS[where, name]
    return table, []


def values_of(kind, form):
    return VALUES.get(kind, []) + (["bm8=", "bm8"] if form == "byte" else [])


def put(object_, path, value):
    """Sets what lies at the path; maps on the way are made."""
    at = object_
    for key in path[:-1]:
        if isinstance(at, dict) and at.get(key) is None:
            at[key] = {}
        at = at[key]
    if value is not GONE:
        at[path[-1]] = copy.deepcopy(value)
    elif isinstance(at, dict):
        at.pop(path[-1], None)


def lists(table, base, form, have, depth):
    """Values of a list, and changes in the items that it has, as (path, value)."""
    yield (), []
    if base in SCALARS:
        few = values_of(base, form)
        for value in few:
            yield (), [value]
            yield (), (have or []) + [value]
        if few:
            yield (), [few[-1], few[-1]]
    else:
        yield (), [{}]
        if not have and depth < DEEPEST - 3:
            for path, value in changes(table, base, {}, depth + 1):
                if value is not GONE:
                    item = {}
                    put(item, path, value)
                    yield (), [item]
    if have:
        yield (), have + [have[0]]
        yield (), [have[0]] * 70
        for i, item in enumerate(have if base not in SCALARS else []):
            for path, value in changes(table, base, item, depth + 1):
                yield (i,) + path, value


def maps(table, kind, base, form, have, depth):
    for value in values_of(kind, form) if base in SCALARS else [{"a": {}}]:
        yield (), value
        yield (), {**(have or {}), **value}
    for key, item in (have or {}).items():
        if base not in SCALARS:
            for path, value in changes(table, base, item, depth + 1):
                yield (key,) + path, value


def changes(table, name, object_, depth=0, skip=()):
    """(path, value) of everything that may be changed below an object of this type. skip:
    paths that stay."""
    table, fields = fields_of(table, name)
    for member, kind, form in fields if depth <= DEEPEST else ():
        if (member,) in skip or (depth == 0 and member in ("apiVersion", "kind")):
            continue
        have = object_.get(member) if isinstance(object_, dict) else None
        base = re.sub(r"^(\[\]|\{\}(\[\])?)", "", kind)
        deeper = [p[1:] for p in skip if p[0] == member and len(p) > 1]
        if have is not None:
            yield (member,), GONE
        if kind.startswith("[]"):
            found = lists(table, base, form, have, depth)
        elif kind.startswith("{}"):
            found = maps(table, kind, base, form, have, depth)
        elif base in SCALARS:
            found = (((), v) for v in values_of(kind, form) if v != have)
        else:
            found = structs(table, base, have, depth, deeper)
        for path, value in found:
            yield (member,) + path, value


def structs(table, base, have, depth, skip):
    yield (), {}
    if have is None and depth >= DEEPEST - 3:
        return
    yield from changes(table, base, have or {}, depth + 1, skip)
