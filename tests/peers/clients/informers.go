// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	toolswatch "k8s.io/client-go/tools/watch"
)

func informerChecks() []check {
	return []check{
		{name: "informer/watch-list/json", run: informerOf("application/json", true, typedInformer)},
		{name: "informer/watch-list/protobuf", run: informerOf(protobuf, true, typedInformer)},
		{name: "informer/watch-list/dynamic", run: informerOf("application/json", true, dynamicInformer)},
		{name: "informer/watch-list/metadata", run: informerOf(protobuf, true, metadataInformer)},
		{name: "informer/list/json", run: informerOf("application/json", false, typedInformer)},
		{name: "informer/list/protobuf", run: informerOf(protobuf, false, typedInformer)},
		{name: "informer/list/dynamic", run: informerOf("application/json", false, dynamicInformer)},
		{name: "informer/list/metadata", run: informerOf(protobuf, false, metadataInformer)},
		{name: "informer/server-ends", run: func(t *T) { informerOverRestart(t, syscall.SIGTERM) }},
		{name: "informer/server-killed", run: func(t *T) { informerOverRestart(t, syscall.SIGKILL) }},
		{name: "informer/history-is-gone", run: informerAfterGone, limit: 2 * time.Minute},
		{name: "watch/retry-watcher", run: retryWatcher},
		{name: "list/pager", run: pagerUnderWrites},
		{name: "watch/selectors", run: watchSelection},
	}
}

// Gates of the client library that a check may set.
type gates struct {
	features.Gates
	noWatchList atomic.Bool
}

func (g *gates) Enabled(f features.Feature) bool {
	if f == features.WatchListClient {
		return !g.noWatchList.Load()
	}
	return g.Gates.Enabled(f)
}

var clientGates = &gates{Gates: features.FeatureGates()}

func init() { features.ReplaceFeatureGates(clientGates) }

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

func typedInformer(c *rest.Config, ns string) cache.SharedIndexInformer {
	f := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(c), 0, informers.WithNamespace(ns))
	return f.Core().V1().ConfigMaps().Informer()
}

func dynamicInformer(c *rest.Config, ns string) cache.SharedIndexInformer {
	f := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(c), 0, ns, nil)
	return f.ForResource(configMaps).Informer()
}

func metadataInformer(c *rest.Config, ns string) cache.SharedIndexInformer {
	f := metadatainformer.NewFilteredSharedInformerFactory(metadata.NewForConfigOrDie(c), 0, ns, nil)
	return f.ForResource(configMaps).Informer()
}

// seen is what an informer told its handlers.
type seen struct {
	mu                      sync.Mutex
	added, updated, deleted int
}

func (s *seen) counts() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%d added, %d updated, %d deleted", s.added, s.updated, s.deleted)
}

func (s *seen) OnAdd(any, bool) { s.mu.Lock(); s.added++; s.mu.Unlock() }
func (s *seen) OnUpdate(before, now any) {
	if versionOfObject(before) == versionOfObject(now) {
		return // a resynchronisation
	}
	s.mu.Lock()
	s.updated++
	s.mu.Unlock()
}
func (s *seen) OnDelete(any) { s.mu.Lock(); s.deleted++; s.mu.Unlock() }

func versionOfObject(o any) string {
	m, err := apimeta.Accessor(o)
	if err != nil {
		panic(err)
	}
	return m.GetResourceVersion()
}

// start runs an informer until the check ends, and returns when it has synced.
func startInformer(t *T, i cache.SharedIndexInformer) *seen {
	s := &seen{}
	_, err := i.AddEventHandler(s)
	t.OK(err, "handler")
	ctx, stop := context.WithCancel(t)
	done := make(chan struct{})
	go func() { i.RunWithContext(ctx); close(done) }()
	t.After(func() { stop(); <-done })
	t.Wait(20*time.Second, "the informer's first list", func() (bool, string) { return i.HasSynced(), s.counts() })
	return s
}

func makeConfigMap(t *T, name string) *corev1.ConfigMap {
	c, err := t.client().CoreV1().ConfigMaps(t.NS).Create(t, &corev1.ConfigMap{ObjectMeta: meta(name),
		Data: map[string]string{"step": "0"}}, metav1.CreateOptions{})
	t.OK(err, "create %s", name)
	return c
}

func touchConfigMap(t *T, name, step string) {
	_, err := t.client().CoreV1().ConfigMaps(t.NS).Patch(t, name, types.MergePatchType,
		fmt.Appendf(nil, `{"data":{"step":%q}}`, step), metav1.PatchOptions{})
	t.OK(err, "touch %s", name)
}

func deleteConfigMap(t *T, name string) {
	t.OK(t.client().CoreV1().ConfigMaps(t.NS).Delete(t, name, metav1.DeleteOptions{}), "delete %s", name)
}

// waitCounts waits for what the handlers were told, then compares the informer's store
// with a list of the server's.
func waitCounts(t *T, i cache.SharedIndexInformer, s *seen, added, updated, deleted int) {
	want := fmt.Sprintf("%d added, %d updated, %d deleted", added, updated, deleted)
	t.Wait(20*time.Second, want, func() (bool, string) { return s.counts() == want, s.counts() })
	list, err := t.client().CoreV1().ConfigMaps(t.NS).List(t, metav1.ListOptions{})
	t.OK(err, "list")
	t.Must(len(i.GetStore().List()) == len(list.Items), "the informer has %d objects, the server %d", len(i.GetStore().List()), len(list.Items))
	for _, c := range list.Items {
		o, ok, err := i.GetStore().GetByKey(c.Namespace + "/" + c.Name)
		t.OK(err, "store")
		t.Must(ok && versionOfObject(o) == c.ResourceVersion, "the informer has another %s", c.Name)
	}
}

func informerOf(contentType string, watchList bool, make func(*rest.Config, string) cache.SharedIndexInformer) func(*T) {
	return func(t *T) {
		clientGates.noWatchList.Store(!watchList)
		t.After(func() { clientGates.noWatchList.Store(false) })
		for n := range 5 {
			makeConfigMap(t, fmt.Sprintf("before-%d", n))
		}
		config, sent := observed(t.Env.speaking(contentType))
		i := make(config, t.NS)
		s := startInformer(t, i)
		waitCounts(t, i, s, 5, 0, 0)
		makeConfigMap(t, "after")
		touchConfigMap(t, "before-0", "1")
		touchConfigMap(t, "before-0", "2")
		deleteConfigMap(t, "before-1")
		waitCounts(t, i, s, 6, 2, 1)
		lists := len(sent.lines) - sent.count("watch=true")
		if watchList {
			t.Must(lists == 0 && sent.count("sendInitialEvents=true") == 1, "requests: %v", sent.lines)
		} else {
			t.Must(lists == 1 && sent.count("sendInitialEvents") == 0, "requests: %v", sent.lines)
		}
	}
}

func informerOverRestart(t *T, signal syscall.Signal) {
	makeConfigMap(t, "kept")
	makeConfigMap(t, "deleted")
	config, sent := observed(t.Env.speaking(protobuf))
	i := typedInformer(config, t.NS)
	s := startInformer(t, i)
	touchConfigMap(t, "kept", "before")
	t.Env.restart(t, signal)
	touchConfigMap(t, "kept", "after")
	deleteConfigMap(t, "deleted")
	makeConfigMap(t, "new")
	waitCounts(t, i, s, 3, 2, 1)
	t.Must(sent.count("sendInitialEvents=true") == 1, "the informer lists again after a restart: %v", sent.lines)
}

// A watch whose revision the server no longer knows makes the informer list again.
func informerAfterGone(t *T) {
	const more = 4200 // than the server remembers of a resource
	makeConfigMap(t, "kept")
	makeConfigMap(t, "deleted")
	config, sent := observed(t.Env.speaking(protobuf))
	i := typedInformer(config, t.NS)
	s := startInformer(t, i)
	touchConfigMap(t, "kept", "seen") // a watch that saw nothing would begin again with a list
	waitCounts(t, i, s, 2, 1, 0)
	sent.mu.Lock()
	sent.refuse = func(r *http.Request) error {
		if strings.Contains(r.URL.RawQuery, "watch=true") {
			return syscall.ECONNREFUSED // the one error after which a watch is tried again as it was
		}
		return nil
	}
	sent.mu.Unlock()
	t.Env.restart(t, syscall.SIGTERM)
	deleteConfigMap(t, "deleted")
	makeConfigMap(t, "new")
	manyChanges(t, more)
	sent.mu.Lock()
	sent.refuse = nil
	sent.mu.Unlock()
	waitCounts(t, i, s, 3, 1, 1)
	t.Must(sent.count("sendInitialEvents=true") == 2 && sent.count("watch=true") > 2,
		"the requests are not a list, watches and a list: %v", sent.lines)
}

// manyChanges are made to configmaps of another namespace, by many writers at once.
func manyChanges(t *T, n int) {
	const writers = 32
	client := t.client().CoreV1().ConfigMaps(metav1.NamespaceDefault)
	var running sync.WaitGroup
	failures := make(chan error, writers)
	for w := range writers {
		running.Go(func() {
			name := fmt.Sprintf("%s-%d", t.NS, w)
			_, err := client.Create(t, &corev1.ConfigMap{ObjectMeta: meta(name)}, metav1.CreateOptions{})
			for i := 0; err == nil && i < n/writers; i++ {
				_, err = client.Patch(t, name, types.MergePatchType, fmt.Appendf(nil, `{"data":{"n":"%d"}}`, i), metav1.PatchOptions{})
			}
			if err == nil {
				err = client.Delete(t, name, metav1.DeleteOptions{})
			}
			failures <- err
		})
	}
	running.Wait()
	for range writers {
		t.OK(<-failures, "write")
	}
}

func retryWatcher(t *T) {
	client := t.client().CoreV1().ConfigMaps(t.NS)
	first := makeConfigMap(t, "one")
	w, err := toolswatch.NewRetryWatcherWithContext(t, first.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return client.Watch(ctx, o) }})
	t.OK(err, "watcher")
	defer w.Stop()
	makeConfigMap(t, "two")
	next(t, w, watch.Added)
	t.Env.restart(t, syscall.SIGTERM)
	makeConfigMap(t, "three")
	got := next(t, w, watch.Added).(*corev1.ConfigMap)
	t.Must(got.Name == "three", "the next event is of %s", got.Name)
}

// A list in pages is of one revision, whatever is written meanwhile.
func pagerUnderWrites(t *T) {
	const objects = 60
	client := t.client().CoreV1().ConfigMaps(t.NS)
	for n := range objects {
		makeConfigMap(t, fmt.Sprintf("c-%03d", n))
	}
	p := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		list, err := client.List(ctx, o)
		deleteConfigMap(t, fmt.Sprintf("c-%03d", objects-1-10*len(list.Items)/100))
		makeConfigMap(t, fmt.Sprintf("c-%03d", objects-1-10*len(list.Items)/100))
		return list, err
	})
	p.PageSize = 7
	names := map[string]string{}
	t.OK(p.EachListItem(t, metav1.ListOptions{}, func(o runtime.Object) error {
		c := o.(*corev1.ConfigMap)
		if names[c.Name] != "" {
			return fmt.Errorf("%s comes twice", c.Name)
		}
		names[c.Name] = c.ResourceVersion
		return nil
	}), "pages")
	t.Must(len(names) == objects, "%d of %d objects", len(names), objects)
}

// An object that leaves a selection is deleted to whoever watches that selection.
func watchSelection(t *T) {
	client := t.client().CoreV1().ConfigMaps(t.NS)
	w, err := client.Watch(t, metav1.ListOptions{LabelSelector: "in=yes"})
	t.OK(err, "watch")
	defer w.Stop()
	label := func(body string) {
		_, err := client.Patch(t, "moving", types.MergePatchType, []byte(body), metav1.PatchOptions{})
		t.OK(err, "patch")
	}
	makeConfigMap(t, "moving")
	label(`{"metadata":{"labels":{"in":"yes"}}}`)
	next(t, w, watch.Added)
	label(`{"data":{"step":"1"}}`)
	next(t, w, watch.Modified)
	label(`{"metadata":{"labels":{"in":"no"}}}`)
	gone := next(t, w, watch.Deleted).(*corev1.ConfigMap)
	t.Must(gone.Labels["in"] == "yes", "what has left is shown as %v", gone.Labels)
	label(`{"metadata":{"labels":{"in":"yes"}}}`)
	next(t, w, watch.Added)
	deleteConfigMap(t, "moving")
	next(t, w, watch.Deleted)
}
