// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	applyresource "k8s.io/client-go/applyconfigurations/resource/v1"
	"k8s.io/client-go/util/csaupgrade"
	"k8s.io/utils/ptr"
)

func applyChecks() []check {
	return []check{
		{name: "apply/conflict-and-force", run: applyConflict},
		{name: "apply/what-is-left-out-goes", run: applyRemoves},
		{name: "apply/keyed-lists", run: applyKeyed},
		{name: "apply/status", run: applyStatus},
		{name: "apply/extract", run: applyExtract},
		{name: "apply/after-client-side-apply", run: applyUpgrade},
		{name: "apply/dry-run", run: applyDryRun},
	}
}

func by(manager string) metav1.ApplyOptions { return metav1.ApplyOptions{FieldManager: manager} }

func byForce(manager string) metav1.ApplyOptions {
	return metav1.ApplyOptions{FieldManager: manager, Force: true}
}

func managers(o metav1.Object) (names []string) {
	for _, m := range o.GetManagedFields() {
		names = append(names, m.Manager)
	}
	slices.Sort(names)
	return names
}

func applyConflict(t *T) {
	maps := t.client().CoreV1().ConfigMaps(t.NS)
	made, err := maps.Apply(t, applycore.ConfigMap("c", t.NS).WithData(map[string]string{"a": "1", "b": "1"}), by("one"))
	t.OK(err, "create")
	same, err := maps.Apply(t, applycore.ConfigMap("c", t.NS).WithData(map[string]string{"a": "1", "b": "1"}), by("one"))
	t.OK(err, "apply again")
	t.Must(same.ResourceVersion == made.ResourceVersion, "the same apply makes a new version")
	_, err = maps.Apply(t, applycore.ConfigMap("c", t.NS).WithData(map[string]string{"a": "2"}), by("two"))
	t.Is(apierrors.IsConflict, err, "apply of another's field")
	status := err.(apierrors.APIStatus).Status()
	t.Must(len(status.Details.Causes) == 1 && status.Details.Causes[0].Type == metav1.CauseTypeFieldManagerConflict &&
		status.Details.Causes[0].Field == ".data.a" && strings.Contains(status.Details.Causes[0].Message, `"one"`),
		"causes: %v", status.Details)
	// The same value is shared.
	shared, err := maps.Apply(t, applycore.ConfigMap("c", t.NS).WithData(map[string]string{"b": "1"}), by("two"))
	t.OK(err, "apply of the same value")
	t.Must(slices.Equal(managers(shared), []string{"one", "two"}), "managers %v", managers(shared))
	forced, err := maps.Apply(t, applycore.ConfigMap("c", t.NS).WithData(map[string]string{"a": "2", "b": "1"}), byForce("two"))
	t.OK(err, "force")
	t.Must(forced.Data["a"] == "2", "data %v", forced.Data)
	_, err = maps.Apply(t, applycore.ConfigMap("c", t.NS).WithData(map[string]string{"a": "1", "b": "1"}), by("one"))
	t.Is(apierrors.IsConflict, err, "apply of a field that was taken away")
	// An update takes fields without asking.
	forced.Data["a"] = "3"
	_, err = maps.Update(t, forced, metav1.UpdateOptions{FieldManager: "three"})
	t.OK(err, "update")
	_, err = maps.Apply(t, applycore.ConfigMap("c", t.NS).WithData(map[string]string{"a": "2", "b": "1"}), by("two"))
	t.Is(apierrors.IsConflict, err, "apply of what an update took")
}

func applyRemoves(t *T) {
	maps := t.client().CoreV1().ConfigMaps(t.NS)
	_, err := maps.Apply(t, applycore.ConfigMap("c", t.NS).WithData(map[string]string{"mine": "1", "ours": "1"}), by("one"))
	t.OK(err, "apply")
	_, err = maps.Apply(t, applycore.ConfigMap("c", t.NS).WithData(map[string]string{"ours": "1"}), by("two"))
	t.OK(err, "apply")
	got, err := maps.Apply(t, applycore.ConfigMap("c", t.NS).WithLabels(map[string]string{"x": "y"}), by("one"))
	t.OK(err, "apply")
	t.Must(len(got.Data) == 1 && got.Data["ours"] == "1" && got.Labels["x"] == "y", "left are %v and %v", got.Data, got.Labels)
}

func applyKeyed(t *T) {
	deployments := t.client().AppsV1().Deployments(t.NS)
	container := func(name string, env ...string) *applycore.ContainerApplyConfiguration {
		c := applycore.Container().WithName(name).WithImage("localhost/local/busybox:1")
		for _, e := range env {
			c.WithEnv(applycore.EnvVar().WithName(e).WithValue("by " + name))
		}
		return c
	}
	deployment := func(containers ...*applycore.ContainerApplyConfiguration) *applyapps.DeploymentApplyConfiguration {
		return applyapps.Deployment("d", t.NS).WithSpec(applyapps.DeploymentSpec().
			WithSelector(applymeta.LabelSelector().WithMatchLabels(map[string]string{"app": "d"})).
			WithTemplate(applycore.PodTemplateSpec().WithLabels(map[string]string{"app": "d"}).
				WithSpec(applycore.PodSpec().WithContainers(containers...))))
	}
	_, err := deployments.Apply(t, deployment(container("main", "A", "B")), by("one"))
	t.OK(err, "apply")
	got, err := deployments.Apply(t, deployment(container("main", "C"), container("side")), by("two"))
	t.OK(err, "apply")
	envOf := func(containers []corev1.Container) (names []string) {
		for _, c := range containers {
			for _, e := range c.Env {
				names = append(names, c.Name+"."+e.Name)
			}
		}
		return names
	}
	t.Must(len(got.Spec.Template.Spec.Containers) == 2 &&
		sets.New(envOf(got.Spec.Template.Spec.Containers)...).Equal(sets.New("main.A", "main.B", "main.C")),
		"containers %v", got.Spec.Template.Spec.Containers)
	got, err = deployments.Apply(t, deployment(container("main", "B")), by("one"))
	t.OK(err, "apply")
	t.Must(sets.New(envOf(got.Spec.Template.Spec.Containers)...).Equal(sets.New("main.B", "main.C")),
		"variables %v", envOf(got.Spec.Template.Spec.Containers))
}

func applyStatus(t *T) {
	claims := t.client().ResourceV1().ResourceClaims(t.NS)
	_, err := claims.Apply(t, applyresource.ResourceClaim("c", t.NS).WithSpec(applyresource.ResourceClaimSpec().
		WithDevices(applyresource.DeviceClaim().WithRequests(applyresource.DeviceRequest().WithName("gpu").
			WithExactly(applyresource.ExactDeviceRequest().WithDeviceClassName("gpu.example.com"))))), by("user"))
	t.OK(err, "apply")
	got, err := claims.ApplyStatus(t, applyresource.ResourceClaim("c", t.NS).WithStatus(applyresource.ResourceClaimStatus().
		WithAllocation(applyresource.AllocationResult().WithDevices(applyresource.DeviceAllocationResult().
			WithResults(applyresource.DeviceRequestAllocationResult().WithRequest("gpu").WithDriver("gpu.example.com").
				WithPool("p").WithDevice("d"))))), by("scheduler"))
	t.OK(err, "apply of the status")
	t.Must(got.Status.Allocation != nil && len(got.Status.Allocation.Devices.Results) == 1, "status %v", got.Status)
	t.Must(slices.ContainsFunc(got.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == "scheduler" && m.Subresource == "status" && m.Operation == metav1.ManagedFieldsOperationApply
	}), "managed fields %v", got.ManagedFields)
	ready := applymeta.Condition().WithType("Ready").WithStatus(metav1.ConditionTrue).WithReason("Up").
		WithMessage("").WithLastTransitionTime(metav1.Now())
	got, err = claims.ApplyStatus(t, applyresource.ResourceClaim("c", t.NS).WithStatus(applyresource.ResourceClaimStatus().
		WithDevices(applyresource.AllocatedDeviceStatus().WithDriver("gpu.example.com").WithPool("p").WithDevice("d").
			WithConditions(ready))), by("driver"))
	t.OK(err, "apply of a device's status")
	t.Must(got.Status.Allocation != nil && len(got.Status.Devices) == 1 && len(got.Status.Devices[0].Conditions) == 1, "status %v", got.Status)
}

func applyExtract(t *T) {
	deployments := t.client().AppsV1().Deployments(t.NS)
	made := makeDeployment(t, "d", 1, false)
	_, err := deployments.Apply(t, applyapps.Deployment("d", t.NS).WithSpec(applyapps.DeploymentSpec().WithReplicas(4)), byForce("scaler"))
	t.OK(err, "apply")
	now, err := deployments.Get(t, "d", metav1.GetOptions{})
	t.OK(err, "get")
	mine, err := applyapps.ExtractDeployment(now, "scaler")
	t.OK(err, "extract")
	t.Must(ptr.Deref(mine.Spec.Replicas, 0) == 4 && mine.Spec.Template == nil, "extracted is %v of %v", mine, made)
	_, err = deployments.Apply(t, mine.WithSpec(mine.Spec.WithReplicas(5)), by("scaler"))
	t.OK(err, "apply what was extracted")
}

// What kubectl does to objects that it once applied by itself.
func applyUpgrade(t *T) {
	maps := t.client().CoreV1().ConfigMaps(t.NS)
	made, err := maps.Create(t, &corev1.ConfigMap{ObjectMeta: meta("c"), Data: map[string]string{"a": "1"}},
		metav1.CreateOptions{FieldManager: "kubectl-client-side-apply"})
	t.OK(err, "create")
	body, err := csaupgrade.UpgradeManagedFieldsPatch(made, sets.New("kubectl-client-side-apply"), "kubectl")
	t.OK(err, "upgrade")
	got, err := maps.Patch(t, "c", types.JSONPatchType, body, metav1.PatchOptions{})
	t.OK(err, "patch of managed fields")
	t.Must(len(got.ManagedFields) == 1 && got.ManagedFields[0].Manager == "kubectl" &&
		got.ManagedFields[0].Operation == metav1.ManagedFieldsOperationApply, "managed fields %v", got.ManagedFields)
	got, err = maps.Apply(t, applycore.ConfigMap("c", t.NS).WithData(map[string]string{"b": "1"}), by("kubectl"))
	t.OK(err, "apply")
	t.Must(len(got.Data) == 1 && got.Data["b"] == "1", "data %v", got.Data)
}

func applyDryRun(t *T) {
	maps := t.client().CoreV1().ConfigMaps(t.NS)
	opts := by("one")
	opts.DryRun = []string{metav1.DryRunAll}
	got, err := maps.Apply(t, applycore.ConfigMap("c", t.NS).WithData(map[string]string{"a": "1"}), opts)
	t.OK(err, "apply")
	t.Must(got.Data["a"] == "1", "data %v", got.Data)
	_, err = maps.Get(t, "c", metav1.GetOptions{})
	t.Is(apierrors.IsNotFound, err, "get after a dry run")
}
