// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	openapicached "k8s.io/client-go/openapi/cached"
	"k8s.io/client-go/openapi3"
	kubeproto "k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

func openapiChecks() []check {
	return []check{
		{name: "openapi/version-3", run: openapiThree},
		{name: "openapi/version-3-in-protobuf", run: openapiThreeProto},
		{name: "openapi/version-2", run: openapiTwo},
		{name: "openapi/cached", run: openapiCached},
		{name: "openapi/typed-converter", run: openapiTyped},
		{name: "openapi/extractor", run: openapiExtract},
		{name: "openapi/strategic-patch", run: openapiPatch},
	}
}

// gvksOf is what a schema's extension says, "GROUP/VERSION/KIND" each.
func gvksOf(t *T, extensions map[string]any) (list []string) {
	all, _ := extensions["x-kubernetes-group-version-kind"].([]any)
	for _, one := range all {
		var get func(string) any
		switch m := one.(type) {
		case map[string]any:
			get = func(key string) any { return m[key] }
		case map[any]any:
			get = func(key string) any { return m[key] }
		default:
			t.Fatalf("an extension is %T", one)
		}
		list = append(list, fmt.Sprintf("%v/%v/%v", get("group"), get("version"), get("kind")))
	}
	return list
}

// servedKinds is "GROUP/VERSION/KIND" of all resources in discovery.
func servedKinds(t *T) map[schema.GroupVersion][]string {
	_, lists, err := t.client().Discovery().ServerGroupsAndResources()
	t.OK(err, "discovery")
	kinds := map[schema.GroupVersion][]string{}
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		t.OK(err, "%s", l.GroupVersion)
		for _, r := range l.APIResources {
			if !strings.Contains(r.Name, "/") {
				kinds[gv] = append(kinds[gv], r.Kind)
			}
		}
	}
	return kinds
}

// Every kind has a schema in the document of its version, as kubectl explain finds it.
func openapiThree(t *T) {
	root := openapi3.NewRoot(t.client().Discovery().OpenAPIV3())
	versions, err := root.GroupVersions()
	t.OK(err, "versions")
	for gv, kinds := range servedKinds(t) {
		t.Must(slices.Contains(versions, gv), "no document of %v", gv)
		doc, err := root.GVSpec(gv)
		t.OK(err, "document of %v", gv)
		t.Must(len(doc.Paths.Paths) > len(kinds), "%v has %d paths", gv, len(doc.Paths.Paths))
		found := map[string]bool{}
		for _, s := range doc.Components.Schemas {
			for _, k := range gvksOf(t, s.Extensions) {
				found[k] = true
			}
		}
		for _, kind := range kinds {
			t.Must(found[gv.Group+"/"+gv.Version+"/"+kind], "%v: no schema of %s", gv, kind)
		}
	}
}

// In protobuf is what gnostic makes of the JSON.
func openapiThreeProto(t *T) {
	paths, err := t.client().Discovery().OpenAPIV3().Paths()
	t.OK(err, "index")
	for name, gv := range paths {
		body, err := gv.Schema("application/json")
		t.OK(err, "%s", name)
		want, err := openapiv3.ParseDocument(body)
		t.OK(err, "%s as gnostic reads it", name)
		body, err = gv.Schema("application/com.github.proto-openapi.spec.v3@v1.0+protobuf")
		t.OK(err, "%s", name)
		var got openapiv3.Document
		t.OK(proto.Unmarshal(body, &got), "%s", name)
		for i, p := range want.GetPaths().GetPath() {
			sameMessage(t, name, p, got.GetPaths().GetPath()[i])
		}
		for i, s := range want.GetComponents().GetSchemas().GetAdditionalProperties() {
			sameMessage(t, name, s, got.GetComponents().GetSchemas().GetAdditionalProperties()[i])
		}
		sameMessage(t, name, want, &got)
	}
}

func sameMessage(t *T, where string, want, got proto.Message) {
	plainYAML(t, want.ProtoReflect())
	plainYAML(t, got.ProtoReflect())
	t.Must(proto.Equal(want, got), "%s: in protobuf\n%v\nis not\n%v", where, got, want)
}

// plainYAML writes values that are told as YAML in one way.
func plainYAML(t *T, m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Name() == "yaml":
			text, err := yaml.YAMLToJSON([]byte(v.String()))
			t.OK(err, "%s", v)
			m.Set(f, protoreflect.ValueOfString(string(text)))
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				plainYAML(t, v.List().Get(i).Message())
			}
		case f.Message() != nil:
			plainYAML(t, v.Message())
		}
		return true
	})
}

// models is version 2 as kubectl and extractors read it: from protobuf.
func models(t *T) (kubeproto.Models, *openapiv2.Document) {
	doc, err := t.client().Discovery().OpenAPISchema()
	t.OK(err, "document")
	m, err := kubeproto.NewOpenAPIData(doc)
	t.OK(err, "models")
	return m, doc
}

func openapiTwo(t *T) {
	m, doc := models(t)
	found := map[string]bool{}
	for _, name := range m.ListModels() {
		s := m.LookupModel(name)
		t.Must(s != nil, "no model %s", name)
		for _, k := range gvksOf(t, s.GetExtensions()) {
			found[k] = true
		}
	}
	for gv, kinds := range servedKinds(t) {
		for _, kind := range kinds {
			t.Must(found[gv.Group+"/"+gv.Version+"/"+kind], "%v: no model of %s", gv, kind)
		}
	}
	body, err := t.client().Discovery().RESTClient().Get().AbsPath("/openapi/v2").SetHeader("Accept", "application/json").Do(t).Raw()
	t.OK(err, "as JSON")
	parsed, err := openapiv2.ParseDocument(body)
	t.OK(err, "as gnostic reads it")
	for i, d := range parsed.Definitions.AdditionalProperties {
		sameMessage(t, "version 2", d, doc.Definitions.AdditionalProperties[i])
	}
	sameMessage(t, "version 2", parsed, doc)
}

// An address of the index is asked for once.
func openapiCached(t *T) {
	config, sent := observed(t.Env.speaking("application/json"))
	root := openapi3.NewRoot(openapicached.NewClient(discovery.NewDiscoveryClientForConfigOrDie(config).OpenAPIV3()))
	for range 2 {
		_, err := root.GVSpec(schema.GroupVersion{Group: "apps", Version: "v1"})
		t.OK(err, "document")
	}
	t.Must(sent.count("/openapi/v3/apis/apps/v1?hash=") == 1 && sent.count("/openapi/v3") == 2, "requests %v", sent.lines)
}

// Objects are typed by the schemas of their version.
func openapiTyped(t *T) {
	doc, err := openapi3.NewRoot(t.client().Discovery().OpenAPIV3()).GVSpec(schema.GroupVersion{Version: "v1"})
	t.OK(err, "document")
	schemas := map[string]*spec.Schema{}
	for name, s := range doc.Components.Schemas {
		schemas[name] = s
	}
	converter, err := managedfields.NewTypeConverter(schemas, false)
	t.OK(err, "converter")
	pod := makePod("typed")
	pod.APIVersion, pod.Kind = "v1", "Pod"
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod)
	t.OK(err, "object")
	u := &unstructured.Unstructured{Object: object}
	typed, err := converter.ObjectToTyped(u)
	t.OK(err, "typed")
	set, err := typed.ToFieldSet()
	t.OK(err, "fields")
	t.Must(strings.Contains(set.String(), `.spec.containers[name="main"].image`), "fields %s", set)
	u.Object["spec"].(map[string]any)["bogus"] = "x"
	_, err = converter.ObjectToTyped(u)
	t.Must(err != nil && strings.Contains(err.Error(), ".spec.bogus"), "an unknown field: %v", err)
}

// What a manager owns is taken out of an object by the models of version 2.
func openapiExtract(t *T) {
	extractor, err := applymeta.NewUnstructuredExtractor(t.client().Discovery())
	t.OK(err, "extractor")
	claims := dynamic.NewForConfigOrDie(t.Env.speaking("application/json")).Resource(schema.GroupVersionResource{
		Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaims"}).Namespace(t.NS)
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": map[string]any{"name": "c", "labels": map[string]any{"a": "b"}},
		"spec": map[string]any{"devices": map[string]any{"requests": []any{map[string]any{"name": "r",
			"exactly": map[string]any{"deviceClassName": "d"}}}}}}}
	got, err := claims.Apply(t, "c", u, metav1.ApplyOptions{FieldManager: "me"})
	t.OK(err, "apply")
	own, err := extractor.Extract(got, "me")
	t.OK(err, "extract")
	name, _, _ := unstructured.NestedString(own.Object, "metadata", "labels", "a")
	requests, _, _ := unstructured.NestedSlice(own.Object, "spec", "devices", "requests")
	t.Must(name == "b" && len(requests) == 1 && fmt.Sprint(requests[0]) == "map[exactly:map[allocationMode:ExactCount count:1 deviceClassName:d] name:r]", "mine is %v", own.Object)
	again, err := claims.Apply(t, "c", own, metav1.ApplyOptions{FieldManager: "me"})
	t.OK(err, "apply again")
	t.Must(again.GetResourceVersion() == got.GetResourceVersion(), "it was written again")
}

// Patches are made by the merge keys that the models have.
func openapiPatch(t *T) {
	m, _ := models(t)
	pod := m.LookupModel("io.k8s.api.core.v1.Pod")
	t.Must(pod != nil, "no model of pods")
	was, now := makePod("p"), makePod("p")
	was.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}}
	now.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "b", Value: "3"}, {Name: "c", Value: "4"}}
	before, err := json.Marshal(was)
	t.OK(err, "before")
	after, err := json.Marshal(now)
	t.OK(err, "after")
	patch, err := strategicpatch.CreateThreeWayMergePatch(before, after, before, strategicpatch.NewPatchMetaFromOpenAPI(pod), true)
	t.OK(err, "patch")
	t.Must(strings.Contains(string(patch), `{"$patch":"delete","name":"a"}`), "patch %s", patch)
	merged, err := strategicpatch.StrategicMergePatchUsingLookupPatchMeta(before, patch, strategicpatch.NewPatchMetaFromOpenAPI(pod))
	t.OK(err, "merge")
	var got corev1.Pod
	t.OK(json.Unmarshal(merged, &got), "merged")
	t.Must(fmt.Sprint(got.Spec.Containers[0].Env) == fmt.Sprint(now.Spec.Containers[0].Env), "merged: %v", got.Spec.Containers[0].Env)
}
