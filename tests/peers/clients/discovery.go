// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/utils/ptr"
)

func discoveryChecks() []check {
	return []check{
		{name: "discovery/aggregated-is-plain", run: discoveryForms},
		{name: "discovery/preferred", run: discoveryPreferred},
		{name: "discovery/cached-on-disk", run: discoveryDisk},
		{name: "discovery/mapper", run: discoveryMapper},
		{name: "discovery/all-can-be-listed-and-watched", run: discoveryAll},
		{name: "discovery/version", run: discoveryVersion},
		{name: "metrics/are-read", run: metricsAreRead},
		{name: "discovery/as-documented", run: asDocumented},
		{name: "scale/kinds", run: scaleKinds},
	}
}

// resourcesOf is "GROUP/VERSION/NAME verbs" of all that discovery says.
func resourcesOf(t *T, c discovery.DiscoveryInterface) (lines []string) {
	_, lists, err := c.ServerGroupsAndResources()
	t.OK(err, "discovery")
	for _, l := range lists {
		for _, r := range l.APIResources {
			if strings.Contains(r.Name, "/") {
				r.SingularName = "" // the library takes its resource's in one of the forms
			}
			lines = append(lines, fmt.Sprintf("%s/%s %s %s %v %v %v %v", l.GroupVersion, r.Name, r.Kind, r.SingularName,
				r.Namespaced, r.Verbs, r.ShortNames, r.Categories))
		}
	}
	slices.Sort(lines)
	return lines
}

func discoveryForms(t *T) {
	var forms [3][]string
	for i, contentType := range []string{"application/json", protobuf, ""} {
		config, sent := observed(t.Env.speaking(contentType))
		if contentType == "" {
			config, sent = observed(t.Env.speaking("application/json"))
		}
		c := discovery.NewDiscoveryClientForConfigOrDie(config)
		c.UseLegacyDiscovery = contentType == ""
		forms[i] = resourcesOf(t, c)
		t.Must((len(sent.lines) == 2) == !c.UseLegacyDiscovery, "%d requests", len(sent.lines))
	}
	for i := range forms[1:] {
		for n, line := range forms[0] {
			t.Must(n < len(forms[i+1]) && forms[i+1][n] == line, "%s is not in form %d", line, i+1)
		}
	}
	claim := slices.IndexFunc(forms[0], func(l string) bool { return strings.HasPrefix(l, "resource.k8s.io/v1/resourceclaims ") })
	t.Must(claim >= 0 && strings.HasSuffix(forms[0][claim],
		" ResourceClaim resourceclaim true [create delete deletecollection get list patch update watch] [] []"), "claims: %v", forms[0])
}

func discoveryPreferred(t *T) {
	lists, err := t.client().Discovery().ServerPreferredResources()
	t.OK(err, "discovery")
	found := map[string]string{}
	for _, l := range lists {
		for _, r := range l.APIResources {
			t.Must(found[l.GroupVersion+r.Name] == "", "%s twice", r.Name)
			found[l.GroupVersion+r.Name] = r.Kind
		}
	}
	t.Must(found["resource.k8s.io/v1resourceclaims"] == "ResourceClaim" && found["resource.k8s.io/v1beta1resourceclaims"] == "", "preferred: %v", found)
}

// What is on disk is asked for again with its ETag, and need not be sent.
func discoveryDisk(t *T) {
	dir := filepath.Join(t.Env.dir, "discovery")
	config, _ := observed(t.Env.speaking("application/json"))
	for range 2 {
		c, err := disk.NewCachedDiscoveryClientForConfig(config, filepath.Join(dir, "a"), filepath.Join(dir, "http"), time.Minute)
		t.OK(err, "client")
		t.Must(len(resourcesOf(t, c)) > 100, "too few resources")
		c.Invalidate()
		t.Must(len(resourcesOf(t, c)) > 100, "too few resources")
	}
}

func discoveryMapper(t *T) {
	cached := memory.NewMemCacheClient(t.client().Discovery())
	deferred := restmapper.NewDeferredDiscoveryRESTMapper(cached)
	mapper := restmapper.NewShortcutExpander(deferred, cached, nil)
	for short, want := range map[string]string{"deploy": "deployments", "po": "pods", "cm": "configmaps", "ns": "namespaces",
		"no": "nodes", "sa": "serviceaccounts", "pdb": "poddisruptionbudgets", "resourceclaim": "resourceclaims", "ev": "events"} {
		gvr, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: short})
		t.OK(err, "%s", short)
		t.Must(gvr.Resource == want, "%s is %v", short, gvr)
	}
	m, err := mapper.RESTMapping(schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceSlice"})
	t.OK(err, "mapping")
	t.Must(m.Resource.Resource == "resourceslices" && m.Resource.Version == "v1" && m.Scope.Name() == apimeta.RESTScopeNameRoot, "mapping %v", m)
	all, ok := restmapper.NewDiscoveryCategoryExpander(cached).Expand("all")
	t.Must(ok && slices.Contains(all, schema.GroupResource{Group: "apps", Resource: "deployments"}), "all is %v", all)
}

// A kind in discovery that cannot be watched holds up the controllers (spec 8.3.4).
func discoveryAll(t *T) {
	lists, err := t.client().Discovery().ServerPreferredResources()
	t.OK(err, "discovery")
	dynamics, metadatas := dynamic.NewForConfigOrDie(t.Env.speaking("application/json")), metadata.NewForConfigOrDie(t.Env.config)
	var running sync.WaitGroup
	failures := make(chan string, 1000)
	n := 0
	for _, l := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "watch"}}, lists) {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		t.OK(err, "%s", l.GroupVersion)
		for _, r := range l.APIResources {
			n++
			gvr := gv.WithResource(r.Name)
			opts := metav1.ListOptions{SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true,
				ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, TimeoutSeconds: ptr.To[int64](20)}
			running.Go(func() {
				if _, err := dynamics.Resource(gvr).List(t, metav1.ListOptions{}); err != nil {
					failures <- fmt.Sprintf("list of %v: %v", gvr, err)
				}
				if _, err := metadatas.Resource(gvr).List(t, metav1.ListOptions{}); err != nil {
					failures <- fmt.Sprintf("metadata of %v: %v", gvr, err)
				}
				w, err := metadatas.Resource(gvr).Watch(t, opts)
				if err != nil {
					failures <- fmt.Sprintf("watch of %v: %v", gvr, err)
					return
				}
				defer w.Stop()
				for e := range w.ResultChan() {
					if m, err := apimeta.Accessor(e.Object); err == nil && e.Type == watch.Bookmark &&
						m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
						return
					}
				}
				failures <- fmt.Sprintf("watch of %v: no end of the initial events", gvr)
			})
		}
	}
	running.Wait()
	close(failures)
	all := []string{}
	for f := range failures {
		all = append(all, f)
	}
	t.Must(len(all) == 0 && n > 50, "%d kinds; %s", n, strings.Join(all, "\n"))
}

func discoveryVersion(t *T) {
	v, err := t.Env.client("application/json").Discovery().ServerVersion()
	t.OK(err, "version")
	t.Must(v.Major == "1" && v.Minor == "37", "version %v", v)
}

// The scale client finds out by discovery which kind of scale each resource has.
func scaleKinds(t *T) {
	cached := memory.NewMemCacheClient(t.client().Discovery())
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(cached)
	scales, err := scale.NewForConfig(t.Env.speaking("application/json"), mapper, dynamic.LegacyAPIPathResolverFunc,
		scale.NewDiscoveryScaleKindResolver(cached))
	t.OK(err, "scale client")
	client := dynamic.NewForConfigOrDie(t.Env.speaking("application/json"))
	for _, kind := range []string{"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"} {
		gk := schema.GroupKind{Group: "apps", Kind: kind}
		if kind == "ReplicationController" {
			gk.Group = ""
		}
		m, err := mapper.RESTMapping(gk)
		t.OK(err, "mapping of %s", kind)
		_, err = client.Resource(m.Resource).Namespace(t.NS).Create(t, workload(kind, m.GroupVersionKind), metav1.CreateOptions{})
		t.OK(err, "create %s", kind)
		s := scales.Scales(t.NS)
		got, err := s.Get(t, m.Resource.GroupResource(), "w", metav1.GetOptions{})
		t.OK(err, "scale of %s", kind)
		t.Must(got.Spec.Replicas == 2 && got.Status.Selector == "app=w", "scale of %s is %v", kind, got)
		got.Spec.Replicas = 3
		got, err = s.Update(t, m.Resource.GroupResource(), got, metav1.UpdateOptions{})
		t.OK(err, "scale %s", kind)
		t.Must(got.Spec.Replicas == 3, "%s has %d", kind, got.Spec.Replicas)
		got, err = s.Patch(t, m.Resource, "w", types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), metav1.PatchOptions{})
		t.OK(err, "patch the scale of %s", kind)
		t.Must(got.Spec.Replicas == 4, "%s has %d", kind, got.Spec.Replicas)
	}
	// As typed clients see it.
	typed, err := t.client().AppsV1().Deployments(t.NS).GetScale(t, "w", metav1.GetOptions{})
	t.OK(err, "typed scale")
	t.Must(typed.Spec.Replicas == 4 && typed.APIVersion == "" || typed.APIVersion == autoscalingv1.SchemeGroupVersion.String(), "typed scale %v", typed)
}

func workload(kind string, gvk schema.GroupVersionKind) *unstructured.Unstructured {
	labels := map[string]any{"app": "w"}
	selector := any(map[string]any{"matchLabels": labels})
	if kind == "ReplicationController" {
		selector = labels
	}
	spec := map[string]any{"replicas": int64(2), "selector": selector, "template": map[string]any{
		"metadata": map[string]any{"labels": labels},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "localhost/local/busybox:1"}},
			"restartPolicy": string(corev1.RestartPolicyAlways)}}}
	if kind == "StatefulSet" {
		spec["serviceName"] = "w"
	}
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "w"}, "spec": spec}}
	u.SetGroupVersionKind(gvk)
	return u
}
