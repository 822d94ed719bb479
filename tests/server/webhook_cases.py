# SPDX-License-Identifier: Apache-2.0
"""The cases of `webhooks`: each has a configuration, about objects with its label alone."""
GROUP = "/apis/admissionregistration.k8s.io/v1/"
MUTATING, VALIDATING = GROUP + "mutatingwebhookconfigurations", \
    GROUP + "validatingwebhookconfigurations"
MAPS = "/api/v1/namespaces/one/configmaps"
MERGE = "application/merge-patch+json"
NAMESPACES = [("/api/v1/namespaces", {"metadata": {"name": n, "labels": labels}})
              for n, labels in (("one", {"team": "red"}), ("two", {"team": "blue"}))]
CASES = []
# Here dray says in other words what went wrong.
OWN_WORDS = {"v-no-json", "v-wrong-kind", "v-wrong-version", "m-remove-none", "m-wrong-type",
             "mi-remove-none", "mi-wrong-type", "m-no-base64", "closed-port", "no-host"}
ON_PURPOSE = {}


def config(case, name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "labels": {"case": case}}, "data": data}


def rule(operations=("CREATE", "UPDATE", "DELETE"), groups=("",), versions=("v1",),
         resources=("configmaps",), **more):
    return {"operations": list(operations), "apiGroups": list(groups),
            "apiVersions": list(versions), "resources": list(resources), **more}


def create(case, **data):
    return ("POST", MAPS, config(case, case + "-x", **(data or {"k": "v"})))


def hook(path, **more):
    return {"path": path, **more}


def objects_of(case, peer):
    """peer: where the webhook is."""
    webhooks = []
    for i, h in enumerate(case["hooks"]):
        h = dict(h)
        path = h.pop("path")
        client = h.pop("client", None) or {"url": f"https://127.0.0.1:{peer.port}/{path}",
                                           "caBundle": peer.ca}
        webhooks.append({"name": f"h{i}.{case['name']}.example.com", "clientConfig": client,
                         "rules": [rule()], "sideEffects": "None",
                         "admissionReviewVersions": ["v1"], "timeoutSeconds": 2,
                         "objectSelector": {"matchLabels": {"case": case["name"]}}, **h})
    return [(case["path"], {"metadata": {"name": case["name"]}, "webhooks": webhooks})]


def add(path, name, hooks, steps=None):
    CASES.append({"name": name, "path": path, "hooks": hooks, "steps": steps or [create(name)]})


def validating(name, *hooks, steps=None):
    add(VALIDATING, name, hooks, steps)


def mutating(name, *hooks, steps=None):
    add(MUTATING, name, hooks, steps)


for answer in ("allow warn deny deny-message deny-reason deny-code deny-ok deny-later wrong-uid "
               "no-response wrong-kind wrong-version no-json fails missing busy add no-patch").split():
    validating("v-" + answer, hook(answer))
    validating("vi-" + answer, hook(answer, failurePolicy="Ignore"))
for answer in ("add empty-patch remove-none wrong-type unknown bad-name no-type no-patch odd-type "
               "no-base64 deny deny-code fails warn").split():
    mutating("m-" + answer, hook(answer))
    mutating("mi-" + answer, hook(answer, failurePolicy="Ignore"))
for kind, make in (("v", validating), ("m", mutating)):
    make(kind + "-told-create", hook("told"))
    make(kind + "-told-delete", hook("told", rules=[rule(["DELETE"])]), steps=[
        create(kind + "-told-delete"),
        ("DELETE", MAPS + "/" + kind + "-told-delete-x", None),
        ("DELETE", MAPS + "/" + kind + "-told-delete-x?gracePeriodSeconds=5", None),
        ("DELETE", MAPS + "/" + kind + "-told-delete-x",
         {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"})])
    make(kind + "-told-update", hook("told", rules=[rule(["UPDATE"])]), steps=[
        create(kind + "-told-update"),
        ("PATCH", MAPS + "/" + kind + "-told-update-x?fieldManager=me", {"data": {"k": "w"}}, MERGE),
        ("PUT", MAPS + "/" + kind + "-told-update-x?dryRun=All&fieldValidation=Strict",
         config(kind + "-told-update", kind + "-told-update-x", k="w"))])
    make(kind + "-beta", hook("told", admissionReviewVersions=["v1beta1", "v1"]))
    make(kind + "-slow", hook("slow", timeoutSeconds=1))
    make(kind + "-slow-ignored", hook("slow", timeoutSeconds=1, failurePolicy="Ignore"))
    make(kind + "-half", hook("half"))
validating("v-two", hook("half"), hook("deny-message"))
validating("v-two-deny", hook("deny-message"), hook("allow"))
validating("v-warnings", hook("warn"), hook("warn"))
validating("condition-met", hook("deny", matchConditions=[
    {"name": "a", "expression": "object.data.k == 'v' && request.operation == 'CREATE'"}]))
validating("condition-unmet", hook("deny", matchConditions=[
    {"name": "a", "expression": "object.data.k == 'w'"}]))
validating("condition-fails", hook("allow", matchConditions=[
    {"name": "a", "expression": "object.data.nope == 'w'"}]))
validating("condition-fails-ignored", hook("deny", failurePolicy="Ignore", matchConditions=[
    {"name": "a", "expression": "object.data.nope == 'w'"}]))
validating("condition-authorizer", hook("deny", matchConditions=[
    {"name": "a", "expression": "!authorizer.group('').resource('x').check('get').allowed()"}]))
validating("namespaces", hook("deny", namespaceSelector={"matchLabels": {"team": "blue"}}), steps=[
    create("namespaces"), ("POST", "/api/v1/namespaces/two/configmaps", config("namespaces", "n"))])
validating("dry-run", hook("allow", sideEffects="NoneOnDryRun"), steps=[
    ("POST", MAPS + "?dryRun=All", config("dry-run", "dry-run-x"))])
mutating("dry-run-mutates", hook("add"), steps=[
    ("POST", MAPS + "?dryRun=All", config("dry-run-mutates", "drm-x", k="v")),
    ("GET", MAPS + "/drm-x", None)])
mutating("chain", hook("add"), hook("told"))
mutating("again-not", hook("count"), hook("after"))
mutating("again", hook("count", reinvocationPolicy="IfNeeded"), hook("after"))
mutating("again-last", hook("after"), hook("count", reinvocationPolicy="IfNeeded"))
mutating("again-same", hook("add", reinvocationPolicy="IfNeeded"), hook("allow"))
mutating("mutate-update", hook("count", rules=[rule(["UPDATE"])]), steps=[
    create("mutate-update"),
    ("PATCH", MAPS + "/mutate-update-x", {"data": {"k": "w"}}, MERGE),
    ("PATCH", MAPS + "/mutate-update-x", {"data": {"k": "w"}}, MERGE)])
mutating("mutate-delete", hook("add", rules=[rule(["DELETE"])]), steps=[
    create("mutate-delete"), ("DELETE", MAPS + "/mutate-delete-x", None)])
mutating("generated", hook("told"), steps=[
    ("POST", MAPS, {"metadata": {"generateName": "gen-", "labels": {"case": "generated"}}})])
validating("generated-v", hook("told"), steps=[
    ("POST", MAPS, {"metadata": {"generateName": "gen-", "labels": {"case": "generated-v"}}})])
HPA = {"metadata": {"name": "h"}, "spec": {"maxReplicas": 2, "scaleTargetRef": {
    "apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}}


def hpa(case, version):
    return ("POST", f"/apis/autoscaling/{version}/namespaces/one/horizontalpodautoscalers",
            {**HPA, "metadata": {"name": case, "labels": {"case": case}}})


HPAS = [rule(groups=["autoscaling"], versions=["v1"], resources=["horizontalpodautoscalers"])]
validating("equivalent", hook("told", rules=HPAS), steps=[hpa("equivalent", "v2")])
validating("exact", hook("deny", rules=HPAS, matchPolicy="Exact"), steps=[hpa("exact", "v2")])
mutating("equivalent-m", hook("add-label", rules=HPAS), steps=[hpa("equivalent-m", "v2")])
DEPLOY = {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
    "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}
validating("scale", hook("told", objectSelector={}, rules=[
    rule(groups=["apps"], resources=["deployments/scale"])]), steps=[
        ("POST", "/apis/apps/v1/namespaces/one/deployments", DEPLOY),
        ("PATCH", "/apis/apps/v1/namespaces/one/deployments/d/scale", {"spec": {"replicas": 3}},
         MERGE)])
validating("of-namespace", hook("told", rules=[rule(resources=["namespaces"])]), steps=[
    ("POST", "/api/v1/namespaces", {"metadata": {"name": "ofn", "labels": {
        "case": "of-namespace"}}})])
validating("no-service", hook("", client={"service": {"namespace": "one", "name": "nope",
                                                      "path": "/a"}}))
validating("no-service-ignored", hook("", failurePolicy="Ignore", client={
    "service": {"namespace": "one", "name": "nope"}}))
validating("closed-port", hook("", client={"url": "https://127.0.0.1:9/x"}))
validating("no-host", hook("", client={"url": "https://nope.invalid/x"}))
validating("configurations-exempt", hook("deny", objectSelector={}, rules=[
    rule(groups=["admissionregistration.k8s.io"], resources=["*"])]), steps=[
        ("POST", VALIDATING, {"metadata": {"name": "empty"}, "webhooks": []})])
validating("reviews-exempt", hook("deny", objectSelector={}, rules=[
    rule(groups=["authorization.k8s.io"], resources=["*"])]), steps=[
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
            "spec": {"nonResourceAttributes": {"path": "/x", "verb": "get"}}})])
