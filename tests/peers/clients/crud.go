// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/ptr"
)

// The life of some objects of each kind, in each client.
func crudChecks() []check {
	var checks []check
	for _, k := range kinds() {
		k := k
		suffix := k.resource.Resource + "." + k.resource.Version
		for name, contentType := range map[string]string{"json": "application/json", "protobuf": protobuf} {
			checks = append(checks, check{name: "typed/" + name + "/" + suffix, run: func(t *T) {
				k.lifecycle(t, k.typed(t.Env.client(contentType), t.NS), k.make)
			}})
		}
		checks = append(checks,
			check{name: "dynamic/" + suffix, run: func(t *T) {
				c := dynamicClient{scoped(dynamic.NewForConfigOrDie(t.Env.config).Resource(k.resource), k.namespaced, t.NS)}
				lifecycle[*unstructured.Unstructured, *unstructured.UnstructuredList](t, c,
					func(name string) *unstructured.Unstructured { return k.untyped(name).(*unstructured.Unstructured) })
			}},
			check{name: "metadata/" + suffix, run: func(t *T) { metadataLife(t, k) }})
	}
	slices.SortFunc(checks, func(a, b check) int { return strings.Compare(a.name, b.name) })
	return checks
}

func scoped(c dynamic.NamespaceableResourceInterface, namespaced bool, ns string) dynamic.ResourceInterface {
	if namespaced {
		return c.Namespace(ns)
	}
	return c
}

const (
	ownLabel = "example.com/check"
	many     = 7
)

// lifecycle does to a kind what clients do, and looks at every answer and every event.
func lifecycle[O object, L runtime.Object](t *T, c objectClient[O, L], make func(string) O) {
	mine := metav1.ListOptions{LabelSelector: ownLabel + "=" + t.NS}
	made := func(name string) O {
		o := make(t.NS + "-" + name)
		o.SetLabels(map[string]string{ownLabel: t.NS})
		return o
	}
	empty, err := c.List(t, mine)
	t.OK(err, "list of nothing")
	t.Must(apimeta.LenList(empty) == 0, "%d objects that nobody made", apimeta.LenList(empty))
	w, err := c.Watch(t, withVersion(mine, versionOf(empty)))
	t.OK(err, "watch")
	defer w.Stop()

	dry, err := c.Create(t, made("a"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	t.OK(err, "dry run")
	t.Must(dry.GetUID() != "", "a dry run without UID")
	a, err := c.Create(t, made("a"), metav1.CreateOptions{FieldManager: "one"})
	t.OK(err, "create")
	t.Must(a.GetUID() != "" && a.GetResourceVersion() != "" && a.GetCreationTimestamp().Unix() > 0,
		"a new object lacks UID, version or time: %v", a)
	t.Must(len(a.GetManagedFields()) == 1 && a.GetManagedFields()[0].Manager == "one", "managed fields: %v", a.GetManagedFields())
	_, err = c.Create(t, made("a"), metav1.CreateOptions{})
	t.Is(apierrors.IsAlreadyExists, err, "second create")
	got, err := c.Get(t, a.GetName(), metav1.GetOptions{})
	t.OK(err, "get")
	same(t, "what get answers", a, got)
	same(t, "event of a create", a, next(t, w, watch.Added))

	update := func(o O, value string) (O, error) {
		o = o.DeepCopyObject().(O)
		labels := o.GetLabels()
		labels["step"] = value
		o.SetLabels(labels)
		return c.Update(t, o, metav1.UpdateOptions{})
	}
	b, err := update(a, "update")
	t.OK(err, "update")
	t.Must(b.GetLabels()["step"] == "update" && b.GetUID() == a.GetUID(), "update made %v", b)
	same(t, "event of an update", b, next(t, w, watch.Modified))
	_, err = update(a, "stale")
	t.Is(apierrors.IsConflict, err, "update of an old version")
	again, err := update(b, "update")
	t.OK(err, "update without a change")
	t.Must(again.GetResourceVersion() == b.GetResourceVersion(), "an update without a change is a new version")

	for _, p := range patches(b) {
		got, err := c.Patch(t, a.GetName(), p.kind, p.body, p.options)
		t.OK(err, "%s", p.kind)
		t.Must(got.GetAnnotations()[p.mark()] == "yes", "%s made annotations %v", p.kind, got.GetAnnotations())
		same(t, "event of "+string(p.kind), got, next(t, w, watch.Modified))
	}
	_, err = c.Patch(t, a.GetName(), types.JSONPatchType,
		[]byte(`[{"op":"test","path":"/metadata/name","value":"other"}]`), metav1.PatchOptions{})
	t.Is(apierrors.IsInvalid, err, "a JSON patch whose test fails")

	pages(t, c, mine, made, w)

	wrong := metav1.Preconditions{UID: ptr.To(types.UID("00000000-0000-0000-0000-000000000000"))}
	err = c.Delete(t, a.GetName(), metav1.DeleteOptions{Preconditions: &wrong})
	t.Is(apierrors.IsConflict, err, "delete of another UID")
	t.OK(c.Delete(t, a.GetName(), metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}), "delete")
	last := gone(t, w)
	t.Must(last.(object).GetName() == a.GetName(), "another object is gone: %v", last)
	_, err = c.Get(t, a.GetName(), metav1.GetOptions{})
	t.Is(apierrors.IsNotFound, err, "get of what is deleted")
	err = c.Delete(t, a.GetName(), metav1.DeleteOptions{})
	t.Is(apierrors.IsNotFound, err, "second delete")

	t.OK(c.DeleteCollection(t, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, mine), "delete collection")
	for range many {
		gone(t, w)
	}
	rest, err := c.List(t, mine)
	t.OK(err, "last list")
	t.Must(apimeta.LenList(rest) == 0, "%d objects left", apimeta.LenList(rest))
}

// pages lists many objects in pieces, and finds one by its name.
func pages[O object, L runtime.Object](t *T, c objectClient[O, L], mine metav1.ListOptions, made func(string) O, w watch.Interface) {
	names := []string{t.NS + "-a"}
	for i := range many {
		o, err := c.Create(t, made(fmt.Sprintf("m%d", i)), metav1.CreateOptions{})
		t.OK(err, "create %d", i)
		same(t, "event of a create", o, next(t, w, watch.Added))
		names = append(names, o.GetName())
	}
	var found []string
	opts := mine
	opts.Limit = 3
	versions := map[string]bool{}
	for first := true; first || opts.Continue != ""; first = false {
		page, err := c.List(t, opts)
		t.OK(err, "list with limit")
		items, err := apimeta.ExtractList(page)
		t.OK(err, "items")
		for _, item := range items {
			found = append(found, item.(object).GetName())
		}
		list := listOf(page)
		versions[list.GetResourceVersion()] = true
		opts.Continue = list.GetContinue()
		t.Must(len(items) == 3 || opts.Continue == "", "a page of %d", len(items))
	}
	t.Must(slices.Equal(found, names), "pages hold %v, not %v", found, names)
	t.Must(len(versions) == 1, "pages of versions %v", versions)

	one, err := c.List(t, metav1.ListOptions{FieldSelector: "metadata.name=" + names[3]})
	t.OK(err, "list by name")
	t.Must(apimeta.LenList(one) == 1, "%d objects of one name", apimeta.LenList(one))
}

func listOf(l runtime.Object) metav1.ListInterface {
	m, err := apimeta.ListAccessor(l)
	if err != nil {
		panic(err)
	}
	return m
}

func versionOf(l runtime.Object) string { return listOf(l).GetResourceVersion() }

func withVersion(o metav1.ListOptions, version string) metav1.ListOptions {
	o.ResourceVersion = version
	return o
}

// gone is the next DELETED event's object. kube-apiserver first marks pods as being
// deleted, even those without a grace period.
func gone(t *T, w watch.Interface) runtime.Object {
	for {
		select {
		case e, ok := <-w.ResultChan():
			t.Must(ok, "the watch ended")
			if e.Type == watch.Deleted {
				return e.Object
			}
			t.Must(e.Type == watch.Modified && e.Object.(metav1.Object).GetDeletionTimestamp() != nil, "event %s of %v", e.Type, e.Object)
		case <-time.After(10 * time.Second):
			t.Fatalf("no event of a deletion")
		}
	}
}

// next is the next event's object; bookmarks were not asked for.
func next(t *T, w watch.Interface, want watch.EventType) runtime.Object {
	select {
	case e, ok := <-w.ResultChan():
		t.Must(ok, "the watch ended, %s was to come", want)
		t.Must(e.Type == want, "event %s of %v, not %s", e.Type, e.Object, want)
		return e.Object
	case <-time.After(10 * time.Second):
		t.Fatalf("no event %s", want)
	case <-t.Done():
		t.Fatalf("no event %s", want)
	}
	return nil
}

// same compares objects as values. Only some answers say their kind.
func same(t *T, what string, want, got runtime.Object) {
	want, got = want.DeepCopyObject(), got.DeepCopyObject()
	want.GetObjectKind().SetGroupVersionKind(got.GetObjectKind().GroupVersionKind())
	if !apiequality.Semantic.DeepEqual(want, got) {
		t.Fatalf("%s is another object: %s", what, diff.Diff(want, got))
	}
}

type patch struct {
	kind    types.PatchType
	body    []byte
	options metav1.PatchOptions
}

// The annotation that a patch sets.
func (p patch) mark() string { return strings.NewReplacer("/", ".", "+", ".").Replace(string(p.kind)) }

// patches of every sort that built-in kinds take.
func patches(o object) []patch {
	all := []patch{
		{kind: types.MergePatchType}, {kind: types.StrategicMergePatchType}, {kind: types.JSONPatchType},
		{kind: types.ApplyYAMLPatchType, options: metav1.PatchOptions{FieldManager: "applier"}},
	}
	for i := range all {
		p := &all[i]
		switch p.kind {
		case types.JSONPatchType:
			p.body = fmt.Appendf(nil, `[{"op":"test","path":"/metadata/uid","value":%q},`+
				`{"op":"add","path":"/metadata/annotations/%s","value":"yes"}]`, o.GetUID(), p.mark())
		case types.ApplyYAMLPatchType:
			p.body = fmt.Appendf(nil, "%s\nmetadata:\n  name: %s\n  annotations:\n    %s: \"yes\"\n",
				apiVersionAndKind(o), o.GetName(), p.mark())
		default:
			p.body = fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"yes"}}}`, p.mark())
		}
	}
	return all
}

func metadataLife(t *T, k kind) {
	clients := dynamic.NewForConfigOrDie(t.Env.config)
	maker := scoped(clients.Resource(k.resource), k.namespaced, t.NS)
	all := metadata.NewForConfigOrDie(t.Env.config).Resource(k.resource)
	var c metadata.ResourceInterface = all
	if k.namespaced {
		c = all.Namespace(t.NS)
	}
	mine := metav1.ListOptions{LabelSelector: ownLabel + "=" + t.NS}
	w, err := c.Watch(t, mine)
	t.OK(err, "watch")
	defer w.Stop()
	var names []string
	for i := range many {
		o := k.untyped(fmt.Sprintf("%s-%d", t.NS, i)).(*unstructured.Unstructured)
		o.SetLabels(map[string]string{ownLabel: t.NS})
		made, err := maker.Create(t, o, metav1.CreateOptions{})
		t.OK(err, "create")
		seen := next(t, w, watch.Added).(*metav1.PartialObjectMetadata)
		t.Must(seen.UID == made.GetUID() && seen.ResourceVersion == made.GetResourceVersion(), "event of %v, not %v", seen, made)
		names = append(names, made.GetName())
	}
	var found []string
	opts := mine
	opts.Limit = 3
	for first := true; first || opts.Continue != ""; first = false {
		page, err := c.List(t, opts)
		t.OK(err, "list")
		for _, item := range page.Items {
			found = append(found, item.Name)
		}
		opts.Continue = page.Continue
	}
	t.Must(slices.Equal(found, names), "pages hold %v, not %v", found, names)
	got, err := c.Get(t, names[0], metav1.GetOptions{})
	t.OK(err, "get")
	t.Must(got.Name == names[0] && got.Labels[ownLabel] == t.NS, "get answers %v", got)
	got, err = c.Patch(t, names[0], types.MergePatchType, []byte(`{"metadata":{"labels":{"step":"patch"}}}`), metav1.PatchOptions{})
	t.OK(err, "patch")
	t.Must(got.Labels["step"] == "patch", "patch answers %v", got)
	next(t, w, watch.Modified)
	zero := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	t.OK(c.Delete(t, names[0], zero), "delete")
	gone(t, w)
	t.OK(c.DeleteCollection(t, zero, mine), "delete collection")
	for range many - 1 {
		gone(t, w)
	}
	_, err = c.Get(context.Background(), names[1], metav1.GetOptions{})
	t.Is(apierrors.IsNotFound, err, "get of what is deleted")
}
