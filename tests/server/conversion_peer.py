# SPDX-License-Identifier: Apache-2.0
"""A webhook that converts: spec.host and spec.port of v1 are spec.hostPort of v2. By the
last part of its path it does something wrong."""
import json

from webhook_peer import Hook


def split(d):
    spec = d.setdefault("spec", {})
    if "hostPort" in spec:
        host, _, port = spec.pop("hostPort").partition(":")
        spec.update(host=host, port=port)
    return d


def join(d):
    spec = d.setdefault("spec", {})
    if "host" in spec:
        spec["hostPort"] = f"{spec.pop('host')}:{spec.pop('port', '')}"
    return d


def converted(d, version):
    """Of a copy of its own."""
    d = json.loads(json.dumps(d))
    made = join(d) if version.endswith("/v2") else split(d)
    made["apiVersion"] = version
    return made


def change(path, value):
    def apply(objects):
        for d in objects:
            at = d
            for key in path[:-1]:
                at = at.setdefault(key, {})
            at[path[-1]] = value
        return objects
    return apply


def without_metadata(objects):
    for d in objects:
        d.pop("metadata")
    return objects


OBJECTS = {
    "fewer": lambda all_of_them: all_of_them[1:],
    "more": lambda all_of_them: all_of_them * 2,
    "renamer": change(["metadata", "name"], "other"),
    "mover": change(["metadata", "namespace"], "other"),
    "uider": change(["metadata", "uid"], "other"),
    "versioner": change(["apiVersion"], "conv.ex.com/v3"),
    "kinder": change(["kind"], "Other"),
    "metaless": without_metadata,
    "labeler": change(["metadata", "labels"], {"converted": "yes"}),
    "badlabel": change(["metadata", "labels"], {"con/ver/ted": "yes"}),
    "oddlabel": change(["metadata", "labels"], {"converted": 5}),
    "finalizer": change(["metadata", "finalizers"], ["ex.com/x"]),
    "unknown": change(["spec", "unknown"], "x"),
    "texts": lambda all_of_them: ["x"],
}
SUCCESS = {"status": "Success"}
RESPONSES = {
    "failing": {"result": {"status": "Failure", "message": "not today"}},
    "bare": {"result": {"status": "Failure"}},
    "resultless": {"result": {}},
    "otheruid": {"uid": "x"},
}
BODIES = {
    "silent": lambda review: {"apiVersion": review["apiVersion"], "kind": "ConversionReview"},
    "otherkind": lambda review: {"apiVersion": review["apiVersion"], "kind": "Odd", "response": {
        "uid": review["request"]["uid"], "result": SUCCESS}},
    "admission": lambda review: {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                                 "response": {"uid": review["request"]["uid"]}},
    "nojson": lambda review: b"hello",
    "broken": lambda review: (500, b"boom"),
    "absent": lambda review: (404, b"nothing"),
}
MODES = ["good", "beta", *OBJECTS, *RESPONSES, *BODIES]


class Converter(Hook):
    """Its `seen` has what it was asked: path, query, headers, review."""

    def answer(self, handler, review):
        name = handler.path.partition("?")[0].strip("/")
        query = handler.path.partition("?")[2]
        self.seen.append((name, query, dict(handler.headers), review))
        self.peers.add(handler.client_address)
        self.reply(handler, self.made(name, review))

    def made(self, name, review):
        if name in BODIES:
            return BODIES[name](review)
        request = review["request"]
        objects = [converted(d, request["desiredAPIVersion"]) for d in request["objects"]]
        objects = OBJECTS[name](objects) if name in OBJECTS else objects
        return {"apiVersion": review["apiVersion"], "kind": "ConversionReview",
                "response": {"uid": request["uid"], "result": SUCCESS,
                             "convertedObjects": objects, **RESPONSES.get(name, {})}}
