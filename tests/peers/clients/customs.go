// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func customChecks() []check {
	return []check{
		{name: "customs/clientset", run: customClientset},
		{name: "customs/informer", run: customInformer},
		{name: "customs/scale", run: customScale},
		{name: "customs/client", run: customClient},
		{name: "customs/reconciler", run: customReconciler},
		{name: "customs/envtest", run: customEnvtest},
		{name: "customs/definitions-of-others", run: customDefinitions, limit: 3 * time.Minute},
	}
}

const customGroup = "peers.example.com"

// definition is a kind of a check's own: plural in a group that nobody else has.
func definition(plural string, scope apiextensionsv1.ResourceScope) *apiextensionsv1.CustomResourceDefinition {
	properties := func(names ...string) apiextensionsv1.JSONSchemaProps {
		p := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
		for _, n := range names {
			p.Properties[n] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		}
		return p
	}
	spec, status := properties("color"), properties("phase", "selector")
	spec.Properties["size"] = apiextensionsv1.JSONSchemaProps{Type: "integer", Default: &apiextensionsv1.JSON{Raw: []byte("1")}}
	status.Properties["size"] = apiextensionsv1.JSONSchemaProps{Type: "integer"}
	kind := strings.ToUpper(plural[:1]) + plural[1:len(plural)-1]
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + customGroup},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: customGroup, Scope: scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind, ShortNames: []string{plural[:3]}},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type:       "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec, "status": status},
				}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
					Scale: &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.size",
						StatusReplicasPath: ".status.size", LabelSelectorPath: ptr.To(".status.selector")},
				},
			}},
		},
	}
}

func isEstablished(d *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}

// defined makes a kind, which goes with the check, and waits until it is served.
func defined(t *T, plural string, scope apiextensionsv1.ResourceScope) (schema.GroupVersionResource, string) {
	c := apiextensions.NewForConfigOrDie(t.Env.config).ApiextensionsV1().CustomResourceDefinitions()
	d, err := c.Create(t, definition(plural, scope), metav1.CreateOptions{})
	t.OK(err, "create %s", plural)
	t.After(func() { dropDefinition(t, d.Name) })
	t.Wait(patience, "established", func() (bool, string) {
		have, err := c.Get(t, d.Name, metav1.GetOptions{})
		return err == nil && isEstablished(have), fmt.Sprint("established: ", err)
	})
	r := schema.GroupVersionResource{Group: customGroup, Version: "v1", Resource: plural}
	dyn := dynamic.NewForConfigOrDie(t.Env.config)
	t.Wait(patience, "served", func() (bool, string) {
		_, err := dyn.Resource(r).List(t, metav1.ListOptions{})
		return err == nil, fmt.Sprint("served: ", err)
	})
	return r, d.Spec.Names.Kind
}

func dropDefinition(t *T, name string) {
	c := apiextensions.NewForConfigOrDie(t.Env.config).ApiextensionsV1().CustomResourceDefinitions()
	c.Delete(context.Background(), name, metav1.DeleteOptions{})
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := c.Get(context.Background(), name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			return
		}
	}
}

func custom(kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetAPIVersion(customGroup + "/v1")
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// The typed client of definitions, discovery, a mapper and the dynamic client.
func customClientset(t *T) {
	r, kind := defined(t, "clocks", apiextensionsv1.NamespaceScoped)
	disco := discovery.NewDiscoveryClientForConfigOrDie(t.Env.config)
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco)), disco, nil)
	got, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: "clo"})
	t.OK(err, "map a short name")
	t.Must(got == r, "the short name is %v", got)
	m, err := mapper.RESTMapping(schema.GroupKind{Group: customGroup, Kind: kind})
	t.OK(err, "map a kind")
	t.Must(m.Resource == r && m.Scope.Name() == "namespace", "the kind is %v", m)
	c := dynamic.NewForConfigOrDie(t.Env.config).Resource(r).Namespace(t.NS)
	made, err := c.Create(t, custom(kind, t.NS, "a", map[string]any{"color": "red"}), metav1.CreateOptions{})
	t.OK(err, "create")
	size, _, _ := unstructured.NestedInt64(made.Object, "spec", "size")
	t.Must(size == 1 && made.GetGeneration() == 1, "not as defaults say: %v", made)
	unstructured.SetNestedField(made.Object, "blue", "spec", "color")
	updated, err := c.Update(t, made, metav1.UpdateOptions{})
	t.OK(err, "update")
	_, err = c.Update(t, made, metav1.UpdateOptions{})
	t.Is(apierrors.IsConflict, err, "an old update")
	_, err = c.Patch(t, "a", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	t.Is(apierrors.IsUnsupportedMediaType, err, "a strategic patch")
	unstructured.SetNestedField(updated.Object, "ready", "status", "phase")
	_, err = c.UpdateStatus(t, updated, metav1.UpdateOptions{})
	t.OK(err, "status")
	_, err = c.Apply(t, "b", custom(kind, t.NS, "b", map[string]any{"color": "green"}), metav1.ApplyOptions{FieldManager: "m"})
	t.OK(err, "apply")
	list, err := c.List(t, metav1.ListOptions{})
	t.OK(err, "list")
	t.Must(len(list.Items) == 2 && list.GetKind() == kind+"List", "a list of %d, %s", len(list.Items), list.GetKind())
	t.OK(c.DeleteCollection(t, metav1.DeleteOptions{}, metav1.ListOptions{}), "delete all")
	list, err = c.List(t, metav1.ListOptions{})
	t.OK(err, "list")
	t.Must(len(list.Items) == 0, "%d are left", len(list.Items))
	dropDefinition(t, "clocks."+customGroup)
	_, err = c.List(t, metav1.ListOptions{})
	t.Is(apierrors.IsNotFound, err, "a list of what is gone")
}

// A dynamic informer sees what becomes of objects, and of their definition.
func customInformer(t *T) {
	r, kind := defined(t, "drums", apiextensionsv1.NamespaceScoped)
	dyn := dynamic.NewForConfigOrDie(t.Env.config)
	c := dyn.Resource(r).Namespace(t.NS)
	_, err := c.Create(t, custom(kind, t.NS, "before", nil), metav1.CreateOptions{})
	t.OK(err, "create")
	events := make(chan string, 100)
	tell := func(what string) func(any) {
		return func(o any) { events <- what + " " + o.(*unstructured.Unstructured).GetName() }
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dyn, 0, t.NS, nil)
	informer := factory.ForResource(r).Informer()
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: tell("add"), DeleteFunc: tell("delete"),
		UpdateFunc: func(_, o any) { tell("update")(o) }})
	factory.Start(t.Done())
	t.Must(cache.WaitForCacheSync(t.Done(), informer.HasSynced), "not in step")
	next := func(want string) {
		select {
		case got := <-events:
			t.Must(got == want, "%s, not %s", got, want)
		case <-time.After(patience):
			t.Fatalf("%s is not told", want)
		}
	}
	next("add before")
	made, err := c.Create(t, custom(kind, t.NS, "after", nil), metav1.CreateOptions{})
	t.OK(err, "create")
	next("add after")
	made.SetLabels(map[string]string{"a": "b"})
	_, err = c.Update(t, made, metav1.UpdateOptions{})
	t.OK(err, "update")
	next("update after")
	t.OK(c.Delete(t, "before", metav1.DeleteOptions{}), "delete")
	next("delete before")
	// The informer outlives a change of the definition, which ends its watch.
	definitions := apiextensions.NewForConfigOrDie(t.Env.config).ApiextensionsV1().CustomResourceDefinitions()
	_, err = definitions.Patch(t, "drums."+customGroup, types.MergePatchType, []byte(`{"spec":{"names":{"categories":["x"]}}}`), metav1.PatchOptions{})
	t.OK(err, "change the definition")
	t.Wait(patience, "the informer's kind", func() (bool, string) {
		_, err := c.Create(t, custom(kind, t.NS, "later", nil), metav1.CreateOptions{})
		return err == nil, fmt.Sprint(err)
	})
	for again := true; again; { // what is listed anew counts as updated
		select {
		case got := <-events:
			again = got != "add later"
		case <-time.After(patience):
			t.Fatalf("what came later is not told")
		}
	}
}

func customScale(t *T) {
	r, kind := defined(t, "engines", apiextensionsv1.NamespaceScoped)
	c := dynamic.NewForConfigOrDie(t.Env.config).Resource(r).Namespace(t.NS)
	made, err := c.Create(t, custom(kind, t.NS, "a", map[string]any{"size": int64(2)}), metav1.CreateOptions{})
	t.OK(err, "create")
	unstructured.SetNestedField(made.Object, "x=y", "status", "selector")
	_, err = c.UpdateStatus(t, made, metav1.UpdateOptions{})
	t.OK(err, "status")
	disco := memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(t.Env.config))
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(disco)
	scales, err := scale.NewForConfig(t.Env.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(disco))
	t.OK(err, "a client of scales")
	s, err := scales.Scales(t.NS).Get(t, r.GroupResource(), "a", metav1.GetOptions{})
	t.OK(err, "get")
	t.Must(s.Spec.Replicas == 2 && s.Status.Selector == "x=y", "a scale of %d, %s", s.Spec.Replicas, s.Status.Selector)
	s.Spec.Replicas = 5
	_, err = scales.Scales(t.NS).Update(t, r.GroupResource(), s, metav1.UpdateOptions{})
	t.OK(err, "update")
	got, err := c.Get(t, "a", metav1.GetOptions{})
	t.OK(err, "get")
	size, _, _ := unstructured.NestedInt64(got.Object, "spec", "size")
	t.Must(size == 5, "the size is %d", size)
}

// ---- controller-runtime ----

// Fan is a custom resource as a controller's author writes it.
type Fan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FanSpec   `json:"spec,omitempty"`
	Status            FanStatus `json:"status,omitempty"`
}
type FanSpec struct {
	Color string `json:"color,omitempty"`
	Size  int64  `json:"size,omitempty"`
}
type FanStatus struct {
	Phase string `json:"phase,omitempty"`
	Size  int64  `json:"size,omitempty"`
}
type FanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Fan `json:"items"`
}

func (f *Fan) DeepCopyObject() runtime.Object {
	c := *f
	f.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

func (l *FanList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = make([]Fan, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*Fan)
	}
	return &c
}

func fanScheme() *runtime.Scheme {
	s, gv := runtime.NewScheme(), schema.GroupVersion{Group: customGroup, Version: "v1"}
	s.AddKnownTypes(gv, &Fan{}, &FanList{})
	metav1.AddToGroupVersion(s, gv)
	corev1.AddToScheme(s)
	return s
}

func customClient(t *T) {
	defined(t, "fans", apiextensionsv1.NamespaceScoped)
	c, err := client.New(t.Env.config, client.Options{Scheme: fanScheme()})
	t.OK(err, "a client")
	f := &Fan{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: t.NS}, Spec: FanSpec{Color: "red"}}
	t.OK(c.Create(t, f), "create")
	t.Must(f.Spec.Size == 1 && f.UID != "", "not complete: %v", f)
	base := client.MergeFrom(f.DeepCopyObject().(*Fan))
	f.Spec.Color = "blue"
	t.OK(c.Patch(t, f, base), "merge")
	f.Status.Phase = "on"
	t.OK(c.Status().Update(t, f), "status")
	key := client.ObjectKeyFromObject(f)
	got := &Fan{}
	t.OK(c.Get(t, key, got), "get")
	t.Must(got.Spec.Color == "blue" && got.Status.Phase == "on" && got.Generation == 2, "got %v", got)
	u := custom("Fan", t.NS, "a", map[string]any{"size": int64(7)})
	t.OK(c.Apply(t, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("owner"), client.ForceOwnership), "apply")
	all := &FanList{}
	t.OK(c.List(t, all, client.InNamespace(t.NS)), "list")
	t.Must(len(all.Items) == 1 && all.Items[0].Spec.Size == 7, "listed %v", all.Items)
	t.Is(apierrors.IsInvalid, c.Create(t, custom("Fan", t.NS, "bad", map[string]any{"size": "x"})), "a bad size")
	strict := client.WithFieldValidation(c, metav1.FieldValidationStrict)
	t.Is(apierrors.IsBadRequest, strict.Create(t, custom("Fan", t.NS, "bad", map[string]any{"x": "x"})), "an unknown field")
	t.OK(c.DeleteAllOf(t, &Fan{}, client.InNamespace(t.NS)), "delete all")
	t.Is(apierrors.IsNotFound, c.Get(t, key, got), "get what is gone")
}

// A manager with a reconciler: a Fan that is on has a ConfigMap.
func customReconciler(t *T) {
	defined(t, "fans", apiextensionsv1.NamespaceScoped)
	ctx, cancel := context.WithCancel(t)
	defer cancel()
	m, err := ctrl.NewManager(t.Env.config, ctrl.Options{Scheme: fanScheme(), Metrics: server.Options{BindAddress: "0"}})
	t.OK(err, "a manager")
	err = ctrl.NewControllerManagedBy(m).For(&Fan{}).Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{SkipNameValidation: ptr.To(true)}).
		Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			f := &Fan{}
			if err := m.GetClient().Get(ctx, r.NamespacedName, f); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: f.Name, Namespace: f.Namespace}}
			_, err := ctrl.CreateOrUpdate(ctx, m.GetClient(), config, func() error {
				config.Data = map[string]string{"color": f.Spec.Color}
				return ctrl.SetControllerReference(f, config, m.GetScheme())
			})
			if err != nil {
				return reconcile.Result{}, err
			}
			f.Status.Phase = f.Spec.Color
			return reconcile.Result{}, m.GetClient().Status().Update(ctx, f)
		}))
	t.OK(err, "a controller")
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	c := m.GetClient()
	t.OK(c.Create(t, &Fan{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: t.NS}, Spec: FanSpec{Color: "red"}}), "create")
	key := types.NamespacedName{Namespace: t.NS, Name: "a"}
	f, config := &Fan{}, &corev1.ConfigMap{}
	follows := func(color string) {
		t.Wait(patience, "a ConfigMap", func() (bool, string) {
			c.Get(t, key, f)
			c.Get(t, key, config)
			return f.Status.Phase == color && config.Data["color"] == color, fmt.Sprint(f.Status, config.Data)
		})
	}
	follows("red")
	t.Must(metav1.IsControlledBy(config, f), "nobody controls %v", config.OwnerReferences)
	f.Spec.Color = "blue"
	t.OK(c.Update(t, f), "update")
	follows("blue")
	cancel()
	t.OK(<-ended, "the manager")
}

func customEnvtest(t *T) {
	d := definition("gears", apiextensionsv1.ClusterScoped)
	e := &envtest.Environment{UseExistingCluster: ptr.To(true), Config: t.Env.config,
		CRDs:              []*apiextensionsv1.CustomResourceDefinition{d},
		CRDInstallOptions: envtest.CRDInstallOptions{CleanUpAfterUse: true}}
	config, err := e.Start()
	t.OK(err, "start")
	t.After(func() { dropDefinition(t, d.Name) })
	c, err := client.New(config, client.Options{})
	t.OK(err, "a client")
	t.OK(c.Create(t, custom("Gear", "", "a", map[string]any{"color": "red"})), "create")
	t.OK(e.Stop(), "stop")
	t.Wait(patience, "clean", func() (bool, string) {
		err := c.List(t, &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": customGroup + "/v1", "kind": "GearList"}})
		return apierrors.IsNotFound(err), fmt.Sprint("clean: ", err)
	})
}

// Definitions that others publish are taken as they are, served, and go again.
func customDefinitions(t *T) {
	var paths []string
	for _, folder := range filepath.SplitList(t.Env.definitions) {
		found, _ := filepath.Glob(filepath.Join(folder, "*.yaml"))
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		t.Skipf("no folder of definitions is given")
	}
	all, err := envtest.InstallCRDs(t.Env.config, envtest.CRDInstallOptions{Paths: paths, ErrorIfPathMissing: true})
	t.OK(err, "install")
	t.After(func() { envtest.UninstallCRDs(t.Env.config, envtest.CRDInstallOptions{CRDs: all}) })
	dyn := dynamic.NewForConfigOrDie(t.Env.config)
	for _, d := range all {
		for _, v := range d.Spec.Versions {
			if !v.Served {
				continue
			}
			r := schema.GroupVersionResource{Group: d.Spec.Group, Version: v.Name, Resource: d.Spec.Names.Plural}
			_, err := dyn.Resource(r).List(t, metav1.ListOptions{})
			t.OK(err, "list %v", r)
		}
	}
	t.Must(len(all) > 3, "only %d", len(all))
	_, err = discovery.NewDiscoveryClientForConfigOrDie(t.Env.config).OpenAPIV3().Paths()
	t.OK(err, "OpenAPI")
	t.OK(envtest.UninstallCRDs(t.Env.config, envtest.CRDInstallOptions{CRDs: all}), "uninstall")
	definitions := apiextensions.NewForConfigOrDie(t.Env.config).ApiextensionsV1().CustomResourceDefinitions()
	t.Wait(patience, "all gone", func() (bool, string) {
		list, err := definitions.List(t, metav1.ListOptions{})
		t.OK(err, "list")
		return len(list.Items) == 0, fmt.Sprintf("%d are left", len(list.Items))
	})
}

// ---- with Kubernetes' own controllers (cluster.go) ----

// The garbage collector follows owners into custom kinds and out of them.
func customGarbage(t *T) {
	r, kind := defined(t, "horns", apiextensionsv1.NamespaceScoped)
	c := dynamic.NewForConfigOrDie(t.Env.config).Resource(r).Namespace(t.NS)
	configs := t.Env.client("application/json").CoreV1().ConfigMaps(t.NS)
	owner, err := c.Create(t, custom(kind, t.NS, "owner", nil), metav1.CreateOptions{})
	t.OK(err, "create the owner")
	reference := []metav1.OwnerReference{{APIVersion: customGroup + "/v1", Kind: kind, Name: "owner", UID: owner.GetUID()}}
	child := custom(kind, t.NS, "child", nil)
	child.SetOwnerReferences(reference)
	_, err = c.Create(t, child, metav1.CreateOptions{})
	t.OK(err, "create a child")
	_, err = configs.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "child", OwnerReferences: reference}}, metav1.CreateOptions{})
	t.OK(err, "create another")
	t.OK(c.Delete(t, "owner", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}), "delete the owner")
	// The collector looks for new kinds every 30 seconds.
	t.Wait(2*patience, "collected", func() (bool, string) {
		_, one := c.Get(t, "child", metav1.GetOptions{})
		_, two := configs.Get(t, "child", metav1.GetOptions{})
		return apierrors.IsNotFound(one) && apierrors.IsNotFound(two), fmt.Sprint(one, two)
	})
}

// A namespace takes the custom resources in it along.
func customNamespace(t *T) {
	r, kind := defined(t, "irons", apiextensionsv1.NamespaceScoped)
	namespaces := t.Env.client("application/json").CoreV1().Namespaces()
	name := t.NS + "-goes"
	_, err := namespaces.Create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	t.OK(err, "create a namespace")
	c := dynamic.NewForConfigOrDie(t.Env.config).Resource(r).Namespace(name)
	_, err = c.Create(t, custom(kind, name, "a", nil), metav1.CreateOptions{})
	t.OK(err, "create")
	t.OK(namespaces.Delete(t, name, metav1.DeleteOptions{}), "delete the namespace")
	t.Wait(2*patience, "the namespace's end", func() (bool, string) {
		ns, err := namespaces.Get(t, name, metav1.GetOptions{})
		text, _ := json.Marshal(ns.Status)
		return apierrors.IsNotFound(err), string(text)
	})
	_, err = c.Get(t, "a", metav1.GetOptions{})
	t.Is(apierrors.IsNotFound, err, "what was in it")
}
