# SPDX-License-Identifier: Apache-2.0
"""What tests of converting webhooks ask of a server, and of kube-apiserver 1.37.2."""
from apiserver import MERGE
from conversion_peer import MODES

GROUP = "conv.ex.com"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TEXT = {"type": "string"}
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


def struct(**properties):
    return {"type": "object", "properties": properties}


def version(name, storage, **fields):
    return {"name": name, "served": True, "storage": storage, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": struct(spec=struct(**fields), status=struct(at=TEXT))}}


def definition(mode, client, stored="v1", reviews=("v1",)):
    plural = mode + "s"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {"group": GROUP, "scope": "Namespaced",
                     "names": {"plural": plural, "kind": mode.capitalize()},
                     "versions": [
                         version("v1", stored == "v1", host=TEXT, port=TEXT),
                         {**version("v2", stored == "v2", hostPort=TEXT,
                                    mode={**TEXT, "default": "plain"}),
                          "selectableFields": [{"jsonPath": ".spec.hostPort"}]}],
                     "conversion": {"strategy": "Webhook", "webhook": {
                         "clientConfig": client, "conversionReviewVersions": list(reviews)}}}}


def definitions(peer):
    for mode in MODES:
        client = {"url": f"https://127.0.0.1:{peer.port}/{mode}", "caBundle": peer.ca}
        yield definition(mode, client, reviews=("v1beta1",) if mode == "beta" else ("v1",))
    yield definition("lost", {"service": {"namespace": "default", "name": "none"}})
    yield definition("closed", {"url": "https://127.0.0.1:1/x", "caBundle": peer.ca})


def path(mode, number, name="", sub=""):
    return (f"/apis/{GROUP}/v{number}/namespaces/default/{mode}s" + (f"/{name}" if name else "") +
            (f"/{sub}" if sub else ""))


def thing(mode, number, name, **spec):
    return {"apiVersion": f"{GROUP}/v{number}", "kind": mode.capitalize(),
            "metadata": {"name": name}, "spec": spec}


def steps_of(mode):
    """In v1, which is stored, then in v2."""
    yield "POST", path(mode, 1), thing(mode, 1, "a", host="h", port="1")
    yield "GET", path(mode, 1, "a"), None
    yield "GET", path(mode, 2, "a"), None
    yield "GET", path(mode, 2), None
    yield "POST", path(mode, 2), thing(mode, 2, "b", hostPort="h:2")
    yield "PUT", path(mode, 2, "a"), thing(mode, 2, "a", hostPort="h:3")
    yield "PATCH", path(mode, 2, "a"), {"spec": {"hostPort": "h:4"}}, MERGE
    yield ("PATCH", path(mode, 2, "a", "status"), {"status": {"at": "x"}}, MERGE)
    yield ("PATCH", path(mode, 2, "a") + "?fieldManager=m&force=true",
           thing(mode, 2, "a", hostPort="h:5"), APPLY)
    yield "GET", path(mode, 2) + "?fieldSelector=spec.hostPort%3Dh:5", None
    yield "GET", path(mode, 1, "a"), None
    yield "DELETE", path(mode, 2, "a"), None
    yield "GET", path(mode, 1, "a"), None
    yield "DELETE", path(mode, 2), None
    yield "DELETE", path(mode, 1), None


OWN_WORDS = {"nojson"}  # what Go's reader of JSON says
# Fields that nobody knows are dropped before anybody is asked who owns them.
ON_PURPOSE = {"unknown": 200}
CASES = [*MODES, "lost", "closed"]
