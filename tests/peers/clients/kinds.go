// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
)

type object interface {
	metav1.Object
	runtime.Object
}

// What the typed clients of all kinds have in common.
type objectClient[O object, L runtime.Object] interface {
	Create(context.Context, O, metav1.CreateOptions) (O, error)
	Update(context.Context, O, metav1.UpdateOptions) (O, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error
	Get(context.Context, string, metav1.GetOptions) (O, error)
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (O, error)
}

// The dynamic client in the shape of a typed one.
type dynamicClient struct{ dynamic.ResourceInterface }

func (c dynamicClient) Create(ctx context.Context, o *unstructured.Unstructured, opts metav1.CreateOptions) (*unstructured.Unstructured, error) {
	return c.ResourceInterface.Create(ctx, o, opts)
}

func (c dynamicClient) Update(ctx context.Context, o *unstructured.Unstructured, opts metav1.UpdateOptions) (*unstructured.Unstructured, error) {
	return c.ResourceInterface.Update(ctx, o, opts)
}

func (c dynamicClient) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return c.ResourceInterface.Delete(ctx, name, opts)
}

func (c dynamicClient) Get(ctx context.Context, name string, opts metav1.GetOptions) (*unstructured.Unstructured, error) {
	return c.ResourceInterface.Get(ctx, name, opts)
}

// A kind that clients are tried with.
type kind struct {
	resource   schema.GroupVersionResource
	namespaced bool
	make       func(name string) object
	typed      func(k kubernetes.Interface, ns string) any // an objectClient
	lifecycle  func(t *T, client any, make func(string) object)
}

func kindOf[O object, L runtime.Object](group, version, resource string, namespaced bool,
	typed func(k kubernetes.Interface, ns string) objectClient[O, L], make func(name string) O) kind {
	return kind{
		resource:   schema.GroupVersionResource{Group: group, Version: version, Resource: resource},
		namespaced: namespaced,
		make:       func(name string) object { return make(name) },
		typed:      func(k kubernetes.Interface, ns string) any { return typed(k, ns) },
		lifecycle: func(t *T, client any, make func(string) object) {
			lifecycle(t, client.(objectClient[O, L]), func(name string) O { return make(name).(O) })
		},
	}
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

func kinds() []kind {
	return []kind{
		kindOf("", "v1", "configmaps", true,
			func(k kubernetes.Interface, ns string) objectClient[*corev1.ConfigMap, *corev1.ConfigMapList] {
				return k.CoreV1().ConfigMaps(ns)
			},
			func(name string) *corev1.ConfigMap {
				return &corev1.ConfigMap{ObjectMeta: meta(name), Data: map[string]string{"a": "1"},
					BinaryData: map[string][]byte{"b": {0, 255}}}
			}),
		kindOf("", "v1", "secrets", true,
			func(k kubernetes.Interface, ns string) objectClient[*corev1.Secret, *corev1.SecretList] {
				return k.CoreV1().Secrets(ns)
			},
			func(name string) *corev1.Secret {
				return &corev1.Secret{ObjectMeta: meta(name), Type: corev1.SecretTypeOpaque,
					Data: map[string][]byte{"key": {1, 2, 3}}}
			}),
		kindOf("", "v1", "pods", true,
			func(k kubernetes.Interface, ns string) objectClient[*corev1.Pod, *corev1.PodList] {
				return k.CoreV1().Pods(ns)
			}, makePod),
		kindOf("apps", "v1", "deployments", true,
			func(k kubernetes.Interface, ns string) objectClient[*appsv1.Deployment, *appsv1.DeploymentList] {
				return k.AppsV1().Deployments(ns)
			},
			func(name string) *appsv1.Deployment {
				labels := map[string]string{"app": name}
				pod := makePod(name)
				return &appsv1.Deployment{ObjectMeta: meta(name), Spec: appsv1.DeploymentSpec{
					Replicas: ptr.To[int32](2), Selector: &metav1.LabelSelector{MatchLabels: labels},
					Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod.Spec}}}
			}),
		kindOf("coordination.k8s.io", "v1", "leases", true,
			func(k kubernetes.Interface, ns string) objectClient[*coordinationv1.Lease, *coordinationv1.LeaseList] {
				return k.CoordinationV1().Leases(ns)
			},
			func(name string) *coordinationv1.Lease {
				return &coordinationv1.Lease{ObjectMeta: meta(name), Spec: coordinationv1.LeaseSpec{
					HolderIdentity: ptr.To("me"), LeaseDurationSeconds: ptr.To[int32](15),
					RenewTime: ptr.To(metav1.NowMicro())}}
			}),
		kindOf("resource.k8s.io", "v1", "resourceclaims", true,
			func(k kubernetes.Interface, ns string) objectClient[*resourcev1.ResourceClaim, *resourcev1.ResourceClaimList] {
				return k.ResourceV1().ResourceClaims(ns)
			},
			func(name string) *resourcev1.ResourceClaim {
				return &resourcev1.ResourceClaim{ObjectMeta: meta(name), Spec: claimSpec()}
			}),
		kindOf("resource.k8s.io", "v1beta2", "resourceclaims", true,
			func(k kubernetes.Interface, ns string) objectClient[*resourcev1beta2.ResourceClaim, *resourcev1beta2.ResourceClaimList] {
				return k.ResourceV1beta2().ResourceClaims(ns)
			},
			func(name string) *resourcev1beta2.ResourceClaim {
				return &resourcev1beta2.ResourceClaim{ObjectMeta: meta(name), Spec: resourcev1beta2.ResourceClaimSpec{
					Devices: resourcev1beta2.DeviceClaim{Requests: []resourcev1beta2.DeviceRequest{{
						Name:    "gpu",
						Exactly: &resourcev1beta2.ExactDeviceRequest{DeviceClassName: "gpu.example.com"}}}}}}
			}),
		kindOf("resource.k8s.io", "v1beta1", "resourceclaims", true,
			func(k kubernetes.Interface, ns string) objectClient[*resourcev1beta1.ResourceClaim, *resourcev1beta1.ResourceClaimList] {
				return k.ResourceV1beta1().ResourceClaims(ns)
			},
			func(name string) *resourcev1beta1.ResourceClaim {
				return &resourcev1beta1.ResourceClaim{ObjectMeta: meta(name), Spec: resourcev1beta1.ResourceClaimSpec{
					Devices: resourcev1beta1.DeviceClaim{Requests: []resourcev1beta1.DeviceRequest{{
						Name: "gpu", DeviceClassName: "gpu.example.com"}}}}}
			}),
		kindOf("resource.k8s.io", "v1", "resourceclaimtemplates", true,
			func(k kubernetes.Interface, ns string) objectClient[*resourcev1.ResourceClaimTemplate, *resourcev1.ResourceClaimTemplateList] {
				return k.ResourceV1().ResourceClaimTemplates(ns)
			},
			func(name string) *resourcev1.ResourceClaimTemplate {
				return &resourcev1.ResourceClaimTemplate{ObjectMeta: meta(name),
					Spec: resourcev1.ResourceClaimTemplateSpec{Spec: claimSpec()}}
			}),
		kindOf("resource.k8s.io", "v1", "deviceclasses", false,
			func(k kubernetes.Interface, ns string) objectClient[*resourcev1.DeviceClass, *resourcev1.DeviceClassList] {
				return k.ResourceV1().DeviceClasses()
			},
			func(name string) *resourcev1.DeviceClass {
				return &resourcev1.DeviceClass{ObjectMeta: meta(name), Spec: resourcev1.DeviceClassSpec{
					Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{
						Expression: `device.driver == "gpu.example.com"`}}}}}
			}),
		kindOf("resource.k8s.io", "v1", "resourceslices", false,
			func(k kubernetes.Interface, ns string) objectClient[*resourcev1.ResourceSlice, *resourcev1.ResourceSliceList] {
				return k.ResourceV1().ResourceSlices()
			},
			func(name string) *resourcev1.ResourceSlice { return makeSlice(name, "node-"+name, 4) }),
		kindOf("resource.k8s.io", "v1", "devicetaintrules", false,
			func(k kubernetes.Interface, ns string) objectClient[*resourcev1.DeviceTaintRule, *resourcev1.DeviceTaintRuleList] {
				return k.ResourceV1().DeviceTaintRules()
			},
			func(name string) *resourcev1.DeviceTaintRule {
				return &resourcev1.DeviceTaintRule{ObjectMeta: meta(name), Spec: resourcev1.DeviceTaintRuleSpec{
					DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: ptr.To("none.example.com")},
					Taint: resourcev1.DeviceTaint{Key: "example.com/broken", Value: "yes",
						Effect: resourcev1.DeviceTaintEffectNoSchedule}}}
			}),
	}
}

func makePod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: meta(name), Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: ptr.To[int64](0),
		Containers: []corev1.Container{{Name: "main", Image: "localhost/local/busybox:1",
			ImagePullPolicy: corev1.PullNever,
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("10m")}}}}}}
}

func claimSpec() resourcev1.ResourceClaimSpec {
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
		Requests: []resourcev1.DeviceRequest{{Name: "gpu",
			Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu.example.com"}}}}}
}

func makeSlice(name, node string, devices int) *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: meta(name), Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: &node,
		Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}}}
	for i := range devices {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{
			Name: "gpu-" + string(rune('a'+i)),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"index": {IntValue: ptr.To(int64(i))}},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
				"memory": {Value: resource.MustParse("80Gi")}}})
	}
	return s
}

// untyped is a maker's object as the dynamic client takes it.
func (k *kind) untyped(name string) object {
	o := k.make(name)
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(err)
	}
	gvks, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil {
		panic(err)
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetGroupVersionKind(gvks[0])
	return u
}

// apiVersionAndKind is the head of an object's YAML.
func apiVersionAndKind(o runtime.Object) string {
	gvk := o.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		gvks, _, err := scheme.Scheme.ObjectKinds(o)
		if err != nil {
			panic(err)
		}
		gvk = gvks[0]
	}
	return "apiVersion: " + gvk.GroupVersion().String() + "\nkind: " + gvk.Kind
}

func makeUntyped(t *T, k kind, name string) {
	c := scoped(dynamic.NewForConfigOrDie(t.Env.speaking("application/json")).Resource(k.resource), k.namespaced, t.NS)
	_, err := c.Create(t, k.untyped(name).(*unstructured.Unstructured), metav1.CreateOptions{})
	t.OK(err, "create %s", k.resource.Resource)
}
