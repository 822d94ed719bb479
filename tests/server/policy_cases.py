# SPDX-License-Identifier: Apache-2.0
"""The cases of `policies`: what is made, and what is asked then.

A case has policies of its own, which look at objects with the label case=NAME alone.
"""
GROUP = "/apis/admissionregistration.k8s.io/v1/"
VAP, VAPB = GROUP + "validatingadmissionpolicies", GROUP + "validatingadmissionpolicybindings"
MAP, MAPB = GROUP + "mutatingadmissionpolicies", GROUP + "mutatingadmissionpolicybindings"
MAPS = "/api/v1/namespaces/one/configmaps"
MERGE = "application/merge-patch+json"

NAMESPACES = [("/api/v1/namespaces", {"metadata": {"name": n, "labels": labels}})
              for n, labels in (("one", {"team": "red"}), ("two", {"team": "blue"}))]
OBJECTS = [
    (MAPS, {"metadata": {"name": "limits", "labels": {"kind": "limits"}}, "data": {"max": "3"}}),
    (MAPS, {"metadata": {"name": "more", "labels": {"kind": "limits"}}, "data": {"max": "5"}}),
    ("/api/v1/namespaces/two/configmaps", {"metadata": {"name": "limits"}, "data": {"max": "9"}}),
]
CASES = []
# Here dray says in other words why it refuses.
OWN_WORDS = {"apply-type", "json-path", "json-op", "json-wrong-type",
             "map-odd-field"}
# What kube-apiserver cannot do: convert between two external versions. The status of dray.
ON_PURPOSE = {"mutate-equivalent": 201}


def config(case, name="x", **data):
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "labels": {"case": case}}, "data": data}


def rule(operations=("CREATE", "UPDATE"), groups=("",), versions=("v1",),
         resources=("configmaps",), **more):
    return {"operations": list(operations), "apiGroups": list(groups),
            "apiVersions": list(versions), "resources": list(resources), **more}


def objects_of(case):
    name = case["name"]
    if not case["spec"]:
        return []
    policy, binding = case["paths"]
    spec = {"matchConstraints": {"resourceRules": [rule()],
                                 "objectSelector": {"matchLabels": {"case": name}}},
            **case["spec"]}
    if case["match"]:
        spec["matchConstraints"] = {**spec["matchConstraints"], **case["match"]}
    bindings = case["bindings"]
    made = [(policy, {"metadata": {"name": name}, "spec": spec})]
    for i, b in enumerate(bindings):
        made.append((binding, {"metadata": {"name": f"{name}-{i}"},
                               "spec": {"policyName": name, **b}}))
    return made


def validating(name, spec, steps, binding=None, match=None, bindings=None):
    CASES.append({"name": name, "paths": (VAP, VAPB), "spec": spec, "steps": steps, "match": match,
                  "bindings": bindings or [{"validationActions": ["Deny"], **(binding or {})}]})


def mutating(name, spec, steps, binding=None, match=None):
    CASES.append({"name": name, "paths": (MAP, MAPB), "match": match, "steps": steps,
                  "spec": {"reinvocationPolicy": "Never", "failurePolicy": "Fail", **spec},
                  "bindings": [binding or {}]})


def create(case, **data):
    return ("POST", MAPS, config(case, case + "-x", **data))


def checks(*expressions, **more):
    return {"validations": [e if isinstance(e, dict) else {"expression": e} for e in expressions],
            **more}


def simple(name, spec, **data):
    validating(name, spec, [create(name, **(data or {"k": "v"}))])


# ---- validations and their messages ----

simple("allow", checks("object.data.k == 'v'"))
simple("deny", checks("object.data.k == 'w'"))
simple("message", checks({"expression": "false", "message": "  no way  "}))
simple("reason", checks({"expression": "false", "message": "m", "reason": "Forbidden"}))
simple("too-large", checks({"expression": "false", "reason": "RequestEntityTooLarge"}))
simple("message-expression", checks({"expression": "false", "message": "plain",
                                     "messageExpression": "'made of ' + object.data.k"}))
simple("message-lines", checks({"expression": "false", "message": "plain",
                                "messageExpression": "'a\\nb'"}))
simple("message-fails", checks({"expression": "false",
                                "messageExpression": "'x' + object.data.nope"}))
simple("message-empty", checks({"expression": "false", "messageExpression": "'   '"}))
simple("message-long", checks({"expression": "false", "messageExpression":
                               "['0123456789'].map(x, x + x + x + x + x + x + x + x + x + x)"
                               ".map(x, x + x + x + x + x + x + x + x + x + x)"
                               ".map(x, x + x + x + x + x + x)[0]"}))
simple("several", checks("object.data.k == 'v'", {"expression": "1 > 2", "message": "first"},
                         {"expression": "2 > 3", "message": "second"}))
simple("fails", checks("object.data.nope == 'v'"))
simple("fails-ignored", checks("object.data.nope == 'v'", failurePolicy="Ignore"))
simple("fails-and-denies", checks("object.data.nope == 'v'", "false", failurePolicy="Ignore"))
simple("false-first", checks("1 > 2", "object.data.nope == 'v'"))
simple("error-index", checks("object.data['k'][0] == 'v'"))
simple("error-type", checks("object.data.k > 5"))
simple("quotes", checks({"expression": "object.metadata.name == \"a'b\""}))

# ---- what expressions see ----

simple("request", checks("request.operation == 'CREATE' && request.name == 'request-x' && "
                         "request.namespace == 'one' && !request.dryRun && "
                         "request.kind.kind == 'ConfigMap' && request.resource.group == '' && "
                         "request.requestResource.resource == 'configmaps' && "
                         "!has(request.subResource) && 'system:masters' in request.userInfo.groups",
                         {"expression": "false", "messageExpression":
                          "'' + request.options.kind + request.options.apiVersion"}))
simple("old-is-null", checks("oldObject == null && object != null && object.kind == 'ConfigMap' "
                             "&& object.apiVersion == 'v1'"))
simple("metadata", checks("has(object.metadata.uid) && has(object.metadata.creationTimestamp) && "
                          "type(object.metadata.creationTimestamp) == string && "
                          "size(object.metadata.managedFields) == 1"))
simple("namespace", checks("namespaceObject.metadata.name == 'one' && "
                           "namespaceObject.metadata.labels.team == 'red' && "
                           "namespaceObject.status.phase == 'Active'"))
simple("namespace-field", checks("has(namespaceObject.metadata.uid)"))
simple("sizes", checks({"expression": "false", "messageExpression":
                        "string(size(object)) + ' ' + string(object.data.size()) + ' ' + "
                        "object.data.map(x, x).join(',')"}))
simple("optional", checks({"expression": "object.?data.?nope.orValue('d') == 'd' && "
                           "object.data[?'k'].orValue('') == 'v'"}))
simple("variables", checks("variables.b == 2 && variables.l.all(x, x < 5)", variables=[
    {"name": "a", "expression": "object.data.size()"},
    {"name": "b", "expression": "variables.a + 1"},
    {"name": "l", "expression": "[1, 2, 3]"}]))
simple("variable-fails", checks("variables.a == 2", variables=[
    {"name": "a", "expression": "object.data.nope"}]))
simple("variable-unused", checks("true", variables=[
    {"name": "a", "expression": "object.data.nope"}]))
simple("variable-chain-fails", checks("variables.b == 2", variables=[
    {"name": "a", "expression": "object.data.nope"},
    {"name": "b", "expression": "variables.a"}]))
simple("variable-has", checks("has(variables.a)", variables=[
    {"name": "a", "expression": "1"}]))
simple("authorizer", checks("authorizer.group('').resource('pods').namespace('one')"
                            ".check('create').allowed()",
                            {"expression": "!authorizer.serviceAccount('one', 'default').group('')"
                             ".resource('pods').check('create').allowed()"},
                            {"expression": "authorizer.requestResource.check('update').allowed()"},
                            {"expression": "false", "message": "all asked"}))
simple("authorizer-path", checks({"expression": "authorizer.path('/healthz').check('get')"
                                  ".allowed() && !authorizer.path('/x').check('get').errored()"}))
simple("authorizer-bad", checks("authorizer.serviceAccount('a b', 'c').path('/x').check('get')"
                                ".allowed()"))
simple("authorizer-many", checks("['a', 'b', 'c'].all(x, authorizer.group('').resource(x)"
                                 ".check('get').allowed())"))
simple("libraries", checks("quantity('1Gi').isGreaterThan(quantity('1Mi')) && isIP('10.0.0.1') && "
                           "semver('1.2.3').major() == 1 && ['b', 'a'].sort() == ['a', 'b'] && "
                           "'A'.lowerAscii() == 'a' && url('https://h/p').getHost() == 'h' && "
                           "format.dns1123Label().validate('a').hasValue() == false"))

# ---- limits ----

simple("call-limit", checks("[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, "
                            "[1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, "
                            "[1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, "
                            "a + b + c + d + e + f > 0))))))"))
BIG = ("[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10]"
       ".all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4].all(e, a + b + c + d + e > 0)))))")
simple("budget", checks(*[BIG] * 24))
simple("budget-ignored", checks(*[BIG] * 24, failurePolicy="Ignore"))

# ---- conditions ----

simple("condition-met", checks("false", matchConditions=[
    {"name": "a", "expression": "object.data.k == 'v'"}]))
simple("condition-unmet", checks("false", matchConditions=[
    {"name": "a", "expression": "true"}, {"name": "b", "expression": "object.data.k == 'w'"}]))
simple("condition-fails", checks("true", matchConditions=[
    {"name": "a", "expression": "object.data.nope == 'w'"}]))
simple("conditions-fail", checks("true", matchConditions=[
    {"name": "a", "expression": "object.data.nope == 'w'"},
    {"name": "b", "expression": "object.data.none == 'w'"}]))
simple("condition-fails-ignored", checks("false", failurePolicy="Ignore", matchConditions=[
    {"name": "a", "expression": "object.data.nope == 'w'"}]))
simple("condition-fails-unmet", checks("false", matchConditions=[
    {"name": "a", "expression": "object.data.nope == 'w'"},
    {"name": "b", "expression": "1 > 2"}]))

# ---- actions ----

validating("warn", checks({"expression": "false", "message": "m\"q\\"}, "1 > 2"),
           [create("warn", k="v")], {"validationActions": ["Warn"]})
validating("audit", checks("false"), [create("audit", k="v")], {"validationActions": ["Audit"]})
validating("warn-audit", checks("object.data.nope == ''"), [create("warn-audit", k="v")],
           {"validationActions": ["Warn", "Audit"]})
validating("two-bindings", checks("false"), [create("two-bindings", k="v")],
           bindings=[{"validationActions": ["Warn"]}, {"validationActions": ["Deny"]}])
validating("unbound", checks("false"), [create("unbound", k="v")],
           bindings=[{"policyName": "nobody", "validationActions": ["Deny"]}])
simple("annotations", checks("true", auditAnnotations=[
    {"key": "a", "valueExpression": "'v'"}, {"key": "b", "valueExpression": "null"}]))
simple("annotation-fails", {"auditAnnotations": [
    {"key": "a", "valueExpression": "object.data.nope + 'x'"}]})
simple("annotation-fails-ignored", {"failurePolicy": "Ignore", "auditAnnotations": [
    {"key": "a", "valueExpression": "object.data.nope + 'x'"}]})

# ---- matching ----

validating("update", checks("oldObject == null || oldObject.data.k != object.data.k"), [
    create("update", k="v"),
    ("PATCH", MAPS + "/update-x", {"data": {"k": "w"}}, MERGE),
    ("PATCH", MAPS + "/update-x", {"data": {"other": "w"}}, MERGE),
    ("PUT", MAPS + "/update-x", config("update", "update-x", k="w")),
    ("PUT", MAPS + "/update-x?dryRun=All", config("update", "update-x", k="w"))])
validating("delete", checks({"expression": "object != null", "messageExpression":
                             "oldObject.metadata.name + request.operation + "
                             "string(request.options)"}),
           [create("delete", k="v"), ("DELETE", MAPS + "/delete-x", None),
            ("DELETE", MAPS + "?labelSelector=case%3Ddelete", None)],
           match={"resourceRules": [rule(["DELETE"])]})
validating("labels-leave", checks("false"), [
    ("POST", MAPS, config("labels-join", "labels-leave-x")),
    ("PATCH", MAPS + "/labels-leave-x", {"metadata": {"labels": {"case": "labels-leave"}}}, MERGE),
], match={"resourceRules": [rule(["UPDATE"])]})
validating("namespaces", checks("false"), [
    create("namespaces"),
    ("POST", "/api/v1/namespaces/two/configmaps", config("namespaces"))],
    match={"namespaceSelector": {"matchLabels": {"team": "blue"}}})
validating("namespace-name", checks("false"), [
    create("namespace-name"),
    ("POST", "/api/v1/namespaces/two/configmaps", config("namespace-name", "nn"))],
    match={"namespaceSelector": {"matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["two"]}]}})
validating("names", checks("false"), [
    ("POST", MAPS, config("names", "names-a")), ("POST", MAPS, config("names", "names-b"))],
    match={"resourceRules": [rule(resourceNames=["names-a"])]})
validating("excluded", checks("false"), [
    ("POST", MAPS, config("excluded", "excluded-a")),
    ("POST", MAPS, config("excluded", "excluded-b"))],
    match={"excludeResourceRules": [rule(resourceNames=["excluded-a"])]})
validating("binding-match", checks("false"), [
    create("binding-match"), ("POST", "/api/v1/namespaces/two/configmaps",
                              config("binding-match"))],
    {"matchResources": {"namespaceSelector": {"matchLabels": {"team": "blue"}}}})
validating("binding-rules", checks("false"), [
    ("POST", MAPS, config("binding-rules", "br-a")), ("POST", MAPS, config("binding-rules", "br-b"))],
    {"matchResources": {"resourceRules": [rule(resourceNames=["br-b"])]}})
validating("cluster-scope", checks("false"), [
    create("cluster-scope"),
    ("POST", "/api/v1/namespaces", {"metadata": {"name": "cs", "labels": {"case": "cluster-scope"}}})],
    match={"resourceRules": [rule(resources=["*"], scope="Cluster")]})
validating("namespaced-scope", checks("false"), [
    create("namespaced-scope"),
    ("POST", "/api/v1/namespaces", {"metadata": {"name": "nsc", "labels": {
        "case": "namespaced-scope"}}})],
    match={"resourceRules": [rule(resources=["*"], scope="Namespaced")]})
validating("of-namespaces", checks({"expression": "false", "messageExpression":
                                    "request.namespace + '/' + request.name + ' ' + "
                                    "string(namespaceObject == null)"}), [
    ("POST", "/api/v1/namespaces", {"metadata": {"name": "ons", "labels": {
        "case": "of-namespaces"}}})],
    match={"resourceRules": [rule(resources=["namespaces"])],
           "namespaceSelector": {"matchLabels": {"case": "of-namespaces"}}})
DEPLOY = {"metadata": {"name": "d", "labels": {"case": "equivalent"}},
          "spec": {"minReadySeconds": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {
              "metadata": {"labels": {"a": "b"}},
              "spec": {"containers": [{"name": "c", "image": "i"}]}}}}
HPA = {"metadata": {"name": "h", "labels": {"case": "equivalent"}},
       "spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}}
validating("equivalent", checks({"expression": "false", "messageExpression":
                                 "object.apiVersion + ' ' + request.kind.version + ' ' + "
                                 "request.requestKind.version + ' ' + request.resource.version + ' '"
                                 " + string(has(object.spec.targetCPUUtilizationPercentage))"}), [
    ("POST", "/apis/autoscaling/v1/namespaces/one/horizontalpodautoscalers",
     {**HPA, "spec": {**HPA["spec"], "targetCPUUtilizationPercentage": 50}}),
    ("POST", "/apis/autoscaling/v2/namespaces/one/horizontalpodautoscalers", HPA)],
    match={"resourceRules": [rule(groups=["autoscaling"], versions=["v1"],
                                  resources=["horizontalpodautoscalers"])]})
validating("exact", checks("false"), [
    ("POST", "/apis/autoscaling/v2/namespaces/one/horizontalpodautoscalers",
     {**HPA, "metadata": {"name": "e", "labels": {"case": "exact"}}})],
    match={"matchPolicy": "Exact", "resourceRules": [
        rule(groups=["autoscaling"], versions=["v1"], resources=["horizontalpodautoscalers"])]})
validating("scale", checks({"expression": "false", "messageExpression":
                            "object.kind + ' ' + object.apiVersion + ' ' + request.kind.group + ' '"
                            " + request.subResource + ' ' + string(object.spec.replicas) + ' ' + "
                            "string(oldObject.spec.replicas) + ' ' + request.name"}), [
    ("POST", "/apis/apps/v1/namespaces/one/deployments",
     {**DEPLOY, "metadata": {"name": "s", "labels": {"case": "scale"}}}),
    ("PATCH", "/apis/apps/v1/namespaces/one/deployments/s/scale", {"spec": {"replicas": 3}},
     MERGE)],
    match={"resourceRules": [rule(groups=["apps"], resources=["deployments/scale"],
                                  resourceNames=["s"])], "objectSelector": {}})
validating("status", checks({"expression": "false", "messageExpression":
                             "object.kind + ' ' + request.subResource"}), [
    ("POST", "/apis/apps/v1/namespaces/one/deployments",
     {**DEPLOY, "metadata": {"name": "t", "labels": {"case": "status"}}}),
    ("PATCH", "/apis/apps/v1/namespaces/one/deployments/t/status", {"status": {"replicas": 3}},
     MERGE)],
    match={"resourceRules": [rule(groups=["apps"], resources=["deployments/*"])]})
validating("generated-name", checks({"expression": "false", "messageExpression":
                                     "string(request.name.startsWith('gen-')) + ' ' + "
                                     "string(size(request.name))"}), [
    ("POST", MAPS, {"metadata": {"generateName": "gen-", "labels": {"case": "generated-name"}}})])
validating("policies-exempt", checks("false"), [
    ("POST", VAP, {"metadata": {"name": "ex"}, "spec": {
        "validations": [{"expression": "true"}], "matchConstraints": {"resourceRules": [rule()]}}})],
    match={"resourceRules": [rule(groups=["admissionregistration.k8s.io"],
                                  resources=["validatingadmissionpolicies", "mutatingadmissionpolicies",
                                             "validatingadmissionpolicybindings"])],
           "objectSelector": {}})
validating("hooks-not-exempt", checks("false"), [
    ("POST", GROUP + "validatingwebhookconfigurations", {
        "metadata": {"name": "hne", "labels": {"case": "hooks-not-exempt"}}, "webhooks": []})],
    match={"resourceRules": [rule(groups=["admissionregistration.k8s.io"], resources=["*"])]})

# ---- parameters ----

KIND = {"apiVersion": "v1", "kind": "ConfigMap"}
LIMIT = {"expression": "object.data.size() <= int(params.data.max)", "messageExpression":
         "'at most ' + params.data.max + ' of ' + params.kind + params.apiVersion"}
BIG_DATA = {"a": "", "b": "", "c": "", "d": ""}


def with_params(name, ref, data=None, kind=None, check=LIMIT, **more):
    binding = {"validationActions": ["Deny"]}
    if ref is not None:
        binding["paramRef"] = {"parameterNotFoundAction": "Deny", **ref}
    validating(name, {"paramKind": kind or KIND, **checks(check), **more},
               [create(name, **(BIG_DATA if data is None else data))], binding)


with_params("param-name", {"name": "limits"})
with_params("param-allows", {"name": "limits"}, {"a": ""})
with_params("param-namespace", {"name": "limits", "namespace": "two"})
with_params("param-selector", {"selector": {"matchLabels": {"kind": "limits"}}})
with_params("param-missing", {"name": "nope"})
with_params("param-missing-allowed", {"name": "nope", "parameterNotFoundAction": "Allow"})
with_params("param-none-selected", {"selector": {"matchLabels": {"kind": "nope"}}})
with_params("param-no-ref", None, check={"expression": "params != null"})
with_params("param-unknown-kind", {"name": "x"}, kind={"apiVersion": "v9", "kind": "Nope"})
with_params("param-unknown-ignored", {"name": "x"}, kind={"apiVersion": "v9", "kind": "Nope"},
            failurePolicy="Ignore")
with_params("param-cluster", {"name": "one"}, kind={"apiVersion": "v1", "kind": "Namespace"},
            check={"expression": "params.metadata.labels.team == 'blue'"})
with_params("param-cluster-namespace", {"name": "one", "namespace": "one"},
            kind={"apiVersion": "v1", "kind": "Namespace"}, check={"expression": "true"})
with_params("param-fails", {"name": "limits"}, check={"expression": "params.data.nope == 'x'"})
validating("param-unbound-namespace", {"paramKind": KIND, **checks("true")}, [
    ("POST", "/api/v1/namespaces", {"metadata": {"name": "pun", "labels": {
        "case": "param-unbound-namespace"}}}),
    ("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
     {"metadata": {"name": "pun", "labels": {"case": "param-unbound-namespace"}}, "value": 5})],
    {"paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}},
    match={"resourceRules": [rule(groups=["*"], resources=["*"])]})

# ---- mutations ----


def applies(*expressions):
    return {"mutations": [{"patchType": "ApplyConfiguration",
                           "applyConfiguration": {"expression": e}} for e in expressions]}


def patches(*expressions):
    return {"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": e}}
                          for e in expressions]}


def mutated(name, spec, binding=None, match=None, **data):
    mutating(name, spec, [create(name, **(data or {"k": "v"}))], binding, match)


mutated("apply", applies("Object{metadata: Object.metadata{labels: {'a': object.data.k}}}"))
mutated("apply-data", applies("Object{data: {'new': 'x', 'k': 'y'}}"))
mutated("apply-two", applies("Object{data: {'new': 'x'}}",
                             "Object{data: {'newer': object.data.new + 'y'}}"))
mutated("apply-none", applies("Object{}"))
mutated("apply-unknown", applies("Object{nope: 1}"))
mutated("apply-unknown-deep", applies("Object{metadata: Object.metadata{nope: 'x'}}"))
mutated("apply-type", applies("Object{metadata: Object.metadata{labels: 'x'}}"))
mutated("apply-names", applies("Object{metadata: Object.spec{}}"))
mutated("apply-fails", applies("Object{data: {'x': object.data.nope}}"))
mutated("apply-fails-ignored", {**applies("Object{data: {'x': object.data.nope}}",
                                          "Object{data: {'y': 'z'}}"), "failurePolicy": "Ignore"})
mutated("apply-optional", applies("Object{?data: optional.none()}"))
mutated("apply-variables", {**applies("Object{data: {'n': string(variables.n)}}",
                                      "Object{data: {'m': string(variables.n)}}"),
                            "variables": [{"name": "n", "expression": "object.data.size()"}]})
mutated("json", patches("[JSONPatch{op: 'add', path: '/data/new', value: 'x'}, "
                        "JSONPatch{op: 'remove', path: '/data/k'}]"))
mutated("json-escape", patches("[JSONPatch{op: 'add', path: '/metadata/labels/' + "
                               "jsonpatch.escapeKey('a.b/c'), value: 'x~'}]"))
mutated("json-test-fails", patches("[JSONPatch{op: 'test', path: '/data/k', value: 'w'}, "
                                   "JSONPatch{op: 'remove', path: '/data/k'}]"))
mutated("json-test-missing", patches("[JSONPatch{op: 'test', path: '/data/none', value: 'w'}, "
                                     "JSONPatch{op: 'remove', path: '/data/k'}]"))
mutated("json-path", patches("[JSONPatch{op: 'remove', path: '/data/none'}]"))
mutated("json-op", patches("[JSONPatch{op: 'odd', path: '/data/none'}]"))
mutated("json-copy", patches("[JSONPatch{op: 'copy', from: '/data/k', path: '/data/l'}, "
                             "JSONPatch{op: 'move', from: '/data/k', path: '/data/m'}]"))
mutated("json-object", patches("[JSONPatch{op: 'add', path: '/metadata', value: Object.metadata{"
                               "name: object.metadata.name, namespace: 'one', "
                               "labels: {'x': 'y', 'case': 'json-object'}}}]"))
mutated("json-object-names", patches("[JSONPatch{op: 'add', path: '/data', value: "
                                     "Object.data{a: Object.b{}}}]"))
mutated("json-wrong-type", patches("[JSONPatch{op: 'add', path: '/data', value: 'x'}]"))
mutated("json-unknown", patches("[JSONPatch{op: 'add', path: '/nope', value: 'x'}]"))
mutated("json-none", patches("object.data.size() > 5 ? [JSONPatch{op: 'remove', path: '/data'}] : "
                             "[JSONPatch{op: 'add', path: '/data/n', value: 'x'}]"))
mutated("mutate-condition", {**applies("Object{data: {'x': 'y'}}"), "matchConditions": [
    {"name": "a", "expression": "object.data.k == 'w'"}]})
mutated("mutate-condition-fails", {**applies("Object{data: {'x': 'y'}}"), "matchConditions": [
    {"name": "a", "expression": "object.data.nope == 'w'"}]})
mutated("mutate-condition-ignored", {**applies("Object{data: {'x': 'y'}}"), "failurePolicy":
                                     "Ignore", "matchConditions": [
    {"name": "a", "expression": "object.data.nope == 'w'"}]})
mutated("mutate-param", {**applies("Object{data: {'max': params.data.max}}"), "paramKind": KIND},
        {"paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}})
mutated("mutate-params", {**applies("Object{data: {'of' + params.metadata.name: 'x'}}"),
                          "paramKind": KIND},
        {"paramRef": {"selector": {"matchLabels": {"kind": "limits"}},
                      "parameterNotFoundAction": "Deny"}})
mutated("mutate-param-missing", {**applies("Object{}"), "paramKind": KIND},
        {"paramRef": {"name": "none", "parameterNotFoundAction": "Deny"}})
mutated("mutate-sees", applies(
    "Object{data: {'uid': string(has(object.metadata.uid)), 'old': string(oldObject == null), "
    "'op': request.operation, 'ns': namespaceObject.metadata.name, 'may': "
    "string(authorizer.group('').resource('pods').check('get').allowed())}}"))
mutated("mutate-then-invalid", patches("[JSONPatch{op: 'add', path: '/data/a b', value: 'x'}]"))
mutating("mutate-atomic", applies(
    "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'x': 'y'}}}}"),
    [("POST", "/apis/apps/v1/namespaces/one/deployments",
      {**DEPLOY, "metadata": {"name": "ma", "labels": {"case": "mutate-atomic"}}})],
    match={"resourceRules": [rule(groups=["apps"], resources=["deployments"])]})
POD = {"metadata": {"name": "p"}, "spec": {
    "automountServiceAccountToken": False,
    "containers": [{"name": "a", "image": "i", "env": [{"name": "E", "value": "1"}]},
                   {"name": "b", "image": "i", "args": ["x"]}]}}


def pod(case):
    return ("POST", "/api/v1/namespaces/one/pods",
            {**POD, "metadata": {"name": case, "labels": {"case": case}}})


PODS = {"resourceRules": [rule(resources=["pods"])]}
mutating("mutate-keyed", applies(
    "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'b', "
    "env: [Object.spec.containers.env{name: 'N', value: '2'}]}], initContainers: ["
    "Object.spec.initContainers{name: 'side', image: 'j', restartPolicy: 'Always'}]}}"),
    [pod("mutate-keyed")], match=PODS)
mutating("mutate-map", applies(
    "Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{"
    "name: c.name, imagePullPolicy: 'Never'})}}"), [pod("mutate-map")], match=PODS)
mutating("mutate-args", applies(
    "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'b', args: ['y']}]}}"),
    [pod("mutate-args")], match=PODS)
mutating("mutate-update", applies("Object{data: {'seen': oldObject == null ? 'new' : "
                                  "oldObject.data.seen + '+'}}"), [
    create("mutate-update", k="v"),
    ("PATCH", MAPS + "/mutate-update-x", {"data": {"k": "w"}}, MERGE),
    ("PUT", MAPS + "/mutate-update-x?dryRun=All", config("mutate-update", "mutate-update-x"))])
mutating("mutate-equivalent", applies("Object{spec: Object.spec{"
                                      "targetCPUUtilizationPercentage: 42}}"), [
    ("POST", "/apis/autoscaling/v2/namespaces/one/horizontalpodautoscalers",
     {**HPA, "metadata": {"name": "me", "labels": {"case": "mutate-equivalent"}}})],
    match={"resourceRules": [rule(groups=["autoscaling"], versions=["v1"],
                                  resources=["horizontalpodautoscalers"])]})
mutating("mutate-scale", applies("Object{spec: Object.spec{replicas: 7}}"), [
    ("POST", "/apis/apps/v1/namespaces/one/deployments",
     {**DEPLOY, "metadata": {"name": "ms", "labels": {"case": "mutate-scale"}}}),
    ("PATCH", "/apis/apps/v1/namespaces/one/deployments/ms/scale", {"spec": {"replicas": 3}},
     MERGE), ("GET", "/apis/apps/v1/namespaces/one/deployments/ms/scale", None)],
    match={"resourceRules": [rule(groups=["apps"], resources=["deployments/scale"],
                                  resourceNames=["ms"])], "objectSelector": {}})
mutating("patch-scale", patches("[JSONPatch{op: 'replace', path: '/spec/replicas', value: 7}]"),
         [("POST", "/apis/apps/v1/namespaces/one/deployments",
           {**DEPLOY, "metadata": {"name": "ps", "labels": {"case": "patch-scale"}}}),
          ("PATCH", "/apis/apps/v1/namespaces/one/deployments/ps/scale", {"spec": {"replicas": 3}},
           MERGE), ("GET", "/apis/apps/v1/namespaces/one/deployments/ps/scale", None)],
         match={"resourceRules": [rule(groups=["apps"], resources=["deployments/scale"],
                                       resourceNames=["ps"])], "objectSelector": {}})


# Two policies on one object: the first asks to be called again. Names order them here, and in
# kube-apiserver nothing does: what they make together is the same in any order.
def chained(name, again):
    mutating(name, {**applies("Object{data: {'seen': string(has(object.data.late))}}"),
                    "reinvocationPolicy": again}, [create(name, k="v")])
    CASES.append({"name": name + "-z", "paths": (MAP, MAPB), "steps": [], "bindings": [{}],
                  "match": {"objectSelector": {"matchLabels": {"case": name}}},
                  "spec": {"reinvocationPolicy": "Never", "failurePolicy": "Fail",
                           **applies("Object{data: {'late': 'x'}}")}})


chained("again", "IfNeeded")

# ---- what is no policy, binding or webhook ----


def invalid(name, path, *bodies):
    CASES.append({"name": name, "paths": (None, None), "spec": None, "match": None, "bindings": [],
                  "steps": [b if isinstance(b, tuple) else ("POST", path, b) for b in bodies]})


def vap(name, **spec):
    return {"metadata": {"name": name}, "spec": {
        "matchConstraints": {"resourceRules": [rule(groups=["nobody.example.com"])]},
        "validations": [{"expression": "true"}], **spec}}


def bad_vap(name, *specs):
    invalid("vap-" + name, VAP, *[vap(f"bad-{name}", **s) for s in specs])


def bad_check(name, *validations):
    bad_vap(name, *[{"validations": [v]} for v in validations])


bad_vap("spec", {"matchConstraints": None}, {"matchConstraints": {}}, {"validations": []},
        {"failurePolicy": "Odd"}, {"auditAnnotations": [], "validations": None})
bad_check("expression", {"expression": ""}, {"expression": " "}, {"expression": "1"},
          {"expression": "object.x"}, {"expression": "nope == 1"}, {"expression": "object.x =="},
          {"expression": "params == null"}, {"expression": "variables.x == 1"},
          {"expression": "oldObject.a == object.b &&\n  request.nope == 1"},
          {"expression": "[1, 'a'].size() == 1"}, {"expression": "'a'.matches('[')"},
          {"expression": "Object{} == Object{}"}, {"expression": "isIP('1') && ip('x') == 1"})
bad_check("message", {"expression": "true", "message": " "},
          {"expression": "true", "message": "a\nb"},
          {"expression": "true", "messageExpression": " "},
          {"expression": "true", "messageExpression": "1"},
          {"expression": "true", "messageExpression": "authorizer.path('/x').check('get').reason()"},
          {"expression": "true", "reason": "NotFound"}, {"expression": "true", "reason": ""})
bad_vap("variables", {"variables": [{"name": "", "expression": "1"}]},
        {"variables": [{"name": "a-b", "expression": "1"}]},
        {"variables": [{"name": "for", "expression": "1"}]},
        {"variables": [{"name": "a", "expression": ""}]},
        {"variables": [{"name": "a", "expression": "b"}],
         "validations": [{"expression": "variables.a == variables.b"}]},
        {"variables": [{"name": "a", "expression": "variables.b"}, {"name": "b", "expression": "1"}]},
        {"variables": [{"name": "a", "expression": "'x'"}],
         "validations": [{"expression": "variables.a == 1"}]})
bad_vap("conditions", {"matchConditions": [{"name": "", "expression": ""}]},
        {"matchConditions": [{"name": "a b", "expression": "1"}]},
        {"matchConditions": [{"name": "a", "expression": "true"}, {"name": "a", "expression": "x"}]},
        {"matchConditions": [{"name": "a", "expression": "variables.x == 1"}]},
        {"matchConditions": [{"name": f"a{i}", "expression": "true"} for i in range(65)]})
bad_vap("audits", {"auditAnnotations": [{"key": "", "valueExpression": ""}]},
        {"auditAnnotations": [{"key": "a/b", "valueExpression": "1"}]},
        {"auditAnnotations": [{"key": "a", "valueExpression": "'x'"},
                              {"key": "a", "valueExpression": "null"}]},
        {"auditAnnotations": [{"key": "a", "valueExpression": "'" + "x" * 5120 + "'"}]})
bad_vap("params", {"paramKind": {}}, {"paramKind": {"apiVersion": "a/b/c", "kind": "K"}},
        {"paramKind": {"apiVersion": "A_b/v1", "kind": "1x"}},
        {"paramKind": {"apiVersion": "g/", "kind": "A-"}}, {"paramKind": {"apiVersion": "V1", "kind": "K"}})
bad_vap("rules", *[{"matchConstraints": {"resourceRules": [r]}} for r in (
    {}, rule(operations=[]), rule(operations=["*", "CREATE"]), rule(operations=["ODD"]),
    rule(groups=[]), rule(groups=["*", "a"]), rule(versions=[]), rule(versions=["*", "v1"]),
    rule(versions=[""]), rule(resources=[]), rule(resources=[""]), rule(resources=["*", "pods"]),
    rule(resources=["pods/*", "pods/status"]), rule(resources=["*/status", "pods/status"]),
    rule(resources=["*/*", "a"]), rule(scope="Odd"), rule(resourceNames=["a/b", "c", "c", ".."]))])
bad_vap("matches", {"matchConstraints": {"resourceRules": [rule()], "matchPolicy": "Odd"}},
        {"matchConstraints": {"resourceRules": [rule()], "excludeResourceRules": [rule(groups=[])],
                              "namespaceSelector": {"matchLabels": {"a b": "c d"}},
                              "objectSelector": {"matchExpressions": [
                                  {"key": "a", "operator": "In"}]}}})
invalid("vap-update", VAP, vap("vap-up", matchConditions=[{"name": "a", "expression": "true"}]),
        ("PATCH", VAP + "/vap-up", {"spec": {"validations": [{"expression": "1"}]}}, MERGE),
        ("PATCH", VAP + "/vap-up", {"spec": {"matchConditions": [
            {"name": "a", "expression": "1"}]}}, MERGE),
        ("PATCH", VAP + "/vap-up", {"metadata": {"labels": {"a": "b"}}}, MERGE))


def vapb(name, **spec):
    return {"metadata": {"name": name}, "spec": {"policyName": "none", "validationActions": ["Deny"],
                                                 **spec}}


invalid("bindings", VAPB, *[vapb("bad-binding", **s) for s in (
    {"policyName": ""}, {"policyName": "A_"}, {"validationActions": []}, {"validationActions": None},
    {"validationActions": ["Odd"]}, {"validationActions": ["Deny", "Deny"]},
    {"validationActions": ["Deny", "Warn"]}, {"paramRef": {}},
    {"paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"}},
    {"paramRef": {"name": "a/b", "parameterNotFoundAction": "Odd"}},
    {"paramRef": {"selector": {"matchLabels": {"a b": "c"}}, "parameterNotFoundAction": "Allow"}},
    {"matchResources": {"resourceRules": [rule(groups=[])]}})])


def bad_map(name, *specs):
    invalid("map-" + name, MAP, *[{"metadata": {"name": f"bad-{name}"}, "spec": {
        "matchConstraints": {"resourceRules": [rule(groups=["nobody.example.com"])]},
        "failurePolicy": "Fail", "reinvocationPolicy": "Never", **applies("Object{}"), **s}}
        for s in specs])


bad_map("spec", {"mutations": []}, {"reinvocationPolicy": ""}, {"reinvocationPolicy": "Odd"},
        {"failurePolicy": "Odd"}, {"matchConstraints": {"resourceRules": [rule(["DELETE"])]}},
        {"matchConstraints": {}})
bad_map("mutations", *[{"mutations": [m]} for m in (
    {}, {"patchType": "Odd"}, {"patchType": "JSONPatch"}, {"patchType": "ApplyConfiguration"},
    {"patchType": "JSONPatch", "jsonPatch": {"expression": ""}},
    {"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}},
    {"patchType": "JSONPatch", "jsonPatch": {"expression": "Object{}"}},
    {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'a'}]"},
     "applyConfiguration": {"expression": "Object{}"}},
    {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "object"}},
    {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{"}},
    {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object.spec{}"}},
    {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"},
     "jsonPatch": {"expression": "x"}},
    {"patchType": "ApplyConfiguration",
     "applyConfiguration": {"expression": "variables.x == 1 ? Object{} : Object{}"}})])
bad_map("odd-field", {"mutations": [{"patchType": "JSONPatch", "jsonPatch": {
    "expression": "[JSONPatch{op: 'add', nope: 1}]"}}]})
invalid("map-bindings", MAPB, *[{"metadata": {"name": "bad-map"}, "spec": s} for s in (
    {}, {"policyName": "A_"}, {"policyName": "a", "matchResources": {
        "resourceRules": [rule(["DELETE"])]}}, {"policyName": "a", "paramRef": {}})])


def webhook(**more):
    return {"name": "a.b.c", "clientConfig": {"url": "https://h/p"}, "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "rules": [rule(groups=["nobody.example.com"])], **more}


def bad_hooks(kind, path):
    for what, hooks in {
        "name": [webhook(name=""), webhook(name="a.b"), webhook(name="A.b.c"), webhook(name="a..b")],
        "policy": [webhook(failurePolicy="Odd"), webhook(matchPolicy="Odd")],
        "effects": [webhook(sideEffects=None), webhook(sideEffects="Some"),
                    webhook(sideEffects="Odd")],
        "timeout": [webhook(timeoutSeconds=0), webhook(timeoutSeconds=31)],
        "selectors": [webhook(namespaceSelector={"matchLabels": {"a b": "c d"}},
                              objectSelector={"matchExpressions": [
                                  {"key": "a", "operator": "Odd"}]})],
        "client": [webhook(clientConfig={}), webhook(clientConfig={
            "url": "https://h", "service": {"name": "a", "namespace": "b"}}),
            *[webhook(clientConfig={"url": u}) for u in (
                "http://h", "h/p", "https:///p", "https://u:p@h/p", "https://h/p?a=b",
                "https://h/p#f", "")],
            *[webhook(clientConfig={"service": s}) for s in (
                {}, {"name": "a", "namespace": "b", "port": 0, "path": "x"},
                {"name": "a", "namespace": "b", "port": 70000, "path": "/a//b/C"},
                {"name": "a", "namespace": "b", "path": "//"})]],
        "conditions": [webhook(matchConditions=[{"name": "", "expression": ""}]),
                       webhook(matchConditions=[{"name": "a", "expression": "1"},
                                                {"name": "a", "expression": "params == 1"}])],
        "versions": [webhook(admissionReviewVersions=[]), webhook(admissionReviewVersions=["v2"]),
                     webhook(admissionReviewVersions=["v1", "v1"]),
                     webhook(admissionReviewVersions=["V_"])],
        "rules": [webhook(rules=[{}]), webhook(rules=[rule(["ODD"], resources=["a", "*"])])],
    }.items():
        invalid(f"{kind}-{what}", path, *[{"metadata": {"name": "bad-hook"}, "webhooks": [h]}
                                          for h in hooks])
    invalid(kind + "-twice", path, {"metadata": {"name": "bad-hook"},
                                    "webhooks": [webhook(), webhook(timeoutSeconds=99)]})
    invalid(kind + "-update", path,
            {"metadata": {"name": kind + "-up"}, "webhooks": [webhook(matchConditions=[
                {"name": "a", "expression": "true"}])]},
            ("PATCH", path + f"/{kind}-up", {"webhooks": [webhook(timeoutSeconds=40)]}, MERGE),
            ("PATCH", path + f"/{kind}-up", {"webhooks": [webhook(matchConditions=[
                {"name": "a", "expression": "1"}])]}, MERGE))


bad_hooks("validating", GROUP + "validatingwebhookconfigurations")
bad_hooks("mutating", GROUP + "mutatingwebhookconfigurations")
invalid("mutating-again", GROUP + "mutatingwebhookconfigurations",
        {"metadata": {"name": "bad-hook"}, "webhooks": [webhook(reinvocationPolicy="Odd")]})

# ---- custom resources ----

SCHEMA = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {
    "type": "object", "properties": {
        "size": {"type": "integer"}, "color": {"type": "string", "default": "red"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "parts": {"type": "array", "x-kubernetes-list-type": "map",
                  "x-kubernetes-list-map-keys": ["name"], "items": {
                      "type": "object", "required": ["name"], "properties": {
                          "name": {"type": "string"}, "n": {"type": "integer"}}}}}}}}}
OBJECTS.append(("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    "metadata": {"name": "things.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced",
             "names": {"plural": "things", "kind": "Thing"},
             "versions": [{"name": v, "served": True, "storage": v == "v1", "schema": SCHEMA}
                          for v in ("v1", "v1beta1")]}}))
THINGS = {"resourceRules": [rule(groups=["example.com"], resources=["things"])]}


def thing(case, version="v1", name=None, **spec):
    return ("POST", f"/apis/example.com/{version}/namespaces/one/things",
            {"apiVersion": f"example.com/{version}", "kind": "Thing",
             "metadata": {"name": name or case, "labels": {"case": case}}, "spec": spec})


validating("custom", checks({"expression": "object.spec.size < 3", "messageExpression":
                             "object.kind + ' ' + object.apiVersion + ' ' + object.spec.color + ' ' "
                             "+ request.resource.version + ' ' + request.requestKind.version"}),
           [thing("custom", size=2), thing("custom", name="custom-2", size=5),
            thing("custom", "v1beta1", "custom-3", size=6),
            ("PATCH", "/apis/example.com/v1beta1/namespaces/one/things/custom",
             {"spec": {"size": 9}}, MERGE)], match=THINGS)
mutating("custom-apply", applies("Object{spec: Object.spec{size: object.spec.size + 1, parts: ["
                                 "Object.spec.parts{name: 'b', n: 2}]}}"),
         [thing("custom-apply", size=2, parts=[{"name": "a"}, {"name": "b"}])], match=THINGS)
mutating("custom-patch", patches("[JSONPatch{op: 'add', path: '/spec/tags', value: ['x']}]"),
         [thing("custom-patch", size=2)], match=THINGS)
mutating("custom-atomic", applies("Object{spec: Object.spec{tags: ['x']}}"),
         [thing("custom-atomic", size=2)], match=THINGS)
validating("custom-param", {"paramKind": {"apiVersion": "example.com/v1", "kind": "Thing"},
                            **checks("object.data.size() < params.spec.size")},
           [thing("nobody", name="limit", size=2), create("custom-param", a="", b="", c=""),
            ("POST", MAPS, config("custom-param", "custom-param-y", a=""))],
           {"paramRef": {"name": "limit", "parameterNotFoundAction": "Deny"}})
