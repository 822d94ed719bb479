// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
)

// The unmodified kube-controller-manager and kube-scheduler on dray's API server: nodes
// without machines, three of four devices each.
const (
	nodeCount      = 3
	devicesPerNode = 4
	patience       = 60 * time.Second
)

func clusterChecks() []check { return checksOfCluster("cluster/") }

// The same, and what only has a meaning with users that may not do everything.
func strictChecks() []check {
	return append(checksOfCluster("strict/"),
		check{name: "strict/certificate-is-signed", run: certificateSigned})
}

func checksOfCluster(prefix string) []check {
	checks := []check{
		{name: "cronjob-begins", run: cronJobBegins},
		{name: "namespace-gets-account-and-ca", run: namespaceGetsObjects},
		{name: "deployment-with-claims", run: deploymentWithClaims},
		{name: "devices-run-out", run: devicesRunOut},
		{name: "shared-claim", run: sharedClaim},
		{name: "job-gives-devices-back", run: jobGivesBack},
		{name: "statefulset", run: statefulSet},
		{name: "daemonset", run: daemonSet},
		{name: "service-gets-endpoints", run: serviceGetsEndpoints},
		{name: "quota-and-budget-status", run: quotaAndBudget},
		{name: "quota-is-kept", run: quotaIsKept},
		{name: "quota-of-devices", run: quotaOfDevices},
		{name: "foreground-deletion", run: foregroundDeletion},
		{name: "orphans", run: orphans},
		{name: "taint-evicts", run: taintEvicts},
		{name: "namespace-deletion", run: namespaceDeletion},
		{name: "custom-garbage", run: customGarbage},
		{name: "custom-namespace", run: customNamespace},
		{name: "server-killed", run: serverKilled},
		{name: "cronjob", run: cronJobRuns},
	}
	for i := range checks {
		checks[i].name, checks[i].limit = prefix+checks[i].name, 3*time.Minute
	}
	return checks
}

// clusterBegin runs controller manager and scheduler as administrators.
func clusterBegin(e *env) error {
	return e.runControlPlane(e.kubeconfig(), e.kubeconfig(), false, true)
}

// strictBegin runs them as clusters do: each as itself, controllers as service accounts,
// and with leader election.
func strictBegin(e *env) error {
	manager, scheduler, err := e.strictIdentities()
	if err != nil {
		return err
	}
	return e.runControlPlane(manager, scheduler, true, true)
}

func (e *env) strictIdentities() (manager, scheduler string, err error) {
	if err = e.loadAuthority(); err != nil {
		return
	}
	if manager, err = e.identity("manager", "system:kube-controller-manager"); err != nil {
		return
	}
	scheduler, err = e.identity("scheduler", "system:kube-scheduler")
	return
}

func (e *env) runControlPlane(manager, scheduler string, strict, hollow bool) error {
	e.config.ContentType, e.config.AcceptContentTypes = protobuf, protobuf
	if err := e.loadAuthority(); err != nil {
		return err
	}
	ports := make([]string, 2)
	for i := range ports {
		port, err := freePort()
		if err != nil {
			return err
		}
		ports[i] = port
	}
	key, err := e.signingKey()
	if err != nil {
		return err
	}
	as := func(kubeconfig, port string) []string {
		return []string{"--kubeconfig", kubeconfig, "--authentication-kubeconfig", kubeconfig,
			"--authorization-kubeconfig", kubeconfig, "--secure-port", port,
			fmt.Sprintf("--leader-elect=%v", strict), "--kube-api-qps", "1000", "--kube-api-burst", "1000"}
	}
	// The node life cycle controller would miss the heartbeats of nodes without kubelet.
	controllers := "*"
	if hollow {
		controllers += ",-nodelifecycle"
	}
	args := append(as(manager, ports[0]), "--controllers", controllers, "--root-ca-file", e.authority(),
		"--service-account-private-key-file", key, fmt.Sprintf("--use-service-account-credentials=%v", strict))
	if strict {
		args = append(args, "--cluster-signing-cert-file", e.data("ca.crt"), "--cluster-signing-key-file", e.data("ca.key"))
	}
	if _, err = e.runProgram("kube-controller-manager", args...); err != nil {
		return err
	}
	if _, err = e.runProgram("kube-scheduler", as(scheduler, ports[1])...); err != nil {
		return err
	}
	if hollow {
		return e.populate()
	}
	return nil
}

// signingKey is the server's, for tokens of service accounts, or a new one.
func (e *env) signingKey() (string, error) {
	if _, err := os.Stat(e.data("sa.key")); err == nil {
		return e.data("sa.key"), nil
	}
	key := filepath.Join(e.dir, "sa.key")
	if out, err := exec.Command("openssl", "genrsa", "-out", key, "2048").CombinedOutput(); err != nil {
		return "", fmt.Errorf("openssl: %v: %s", err, out)
	}
	return key, nil
}

// populate makes nodes, devices and their class.
func (e *env) populate() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client := e.client(protobuf)
	e.hollow = startHollow(client)
	for i := range nodeCount {
		if err := makeNode(ctx, client, fmt.Sprintf("node-%d", i), devicesPerNode); err != nil {
			return fmt.Errorf("node: %w", err)
		}
	}
	return e.makeClass()
}

func (e *env) makeClass() error {
	class := &resourcev1.DeviceClass{ObjectMeta: meta("gpu.example.com"), Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}}}}
	_, err := e.client(protobuf).ResourceV1().DeviceClasses().Create(context.Background(), class, metav1.CreateOptions{})
	return err
}

func clusterEnd(e *env) (o outcome) { return e.judgeLogs(e.programs) }

func (e *env) judgeLogs(programs []*program) (o outcome) {
	if e.hollow != nil {
		e.hollow.stop()
	}
	for _, p := range programs {
		name := filepath.Base(e.dir) + "/" + p.name + "-has-no-complaint"
		if e.pattern != "" && !strings.HasPrefix(name, e.pattern) {
			continue
		}
		lines, err := p.complaints(e.killed)
		if !p.running() {
			lines = append(lines, "it has ended")
		}
		if err != nil || len(lines) > 0 {
			o.failed++
			fmt.Printf("not ok - %s\n# %s\n", name, strings.Join(lines, "\n# "))
			continue
		}
		o.passed++
		fmt.Printf("ok - %s\n", name)
	}
	return o
}

// ---- what several checks do ----

func (t *T) client() *kubernetes.Clientset { return t.Env.client(protobuf) }

func claimTemplate(t *T) {
	_, err := t.client().ResourceV1().ResourceClaimTemplates(t.NS).Create(t, &resourcev1.ResourceClaimTemplate{
		ObjectMeta: meta("one-gpu"), Spec: resourcev1.ResourceClaimTemplateSpec{Spec: claimSpec()}}, metav1.CreateOptions{})
	t.OK(err, "template")
}

// podTemplate is a pod that wants a device of the template's, or none.
func podTemplate(app string, device bool) corev1.PodTemplateSpec {
	pod := makePod("")
	pod.Labels = map[string]string{"app": app}
	if device {
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("one-gpu")}}
		pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
	}
	return corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
}

func selects(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func makeDeployment(t *T, app string, replicas int32, device bool) *appsv1.Deployment {
	d, err := t.client().AppsV1().Deployments(t.NS).Create(t, &appsv1.Deployment{ObjectMeta: meta(app),
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: selects(app), Template: podTemplate(app, device)}},
		metav1.CreateOptions{})
	t.OK(err, "deployment")
	return d
}

func scaleDeployment(t *T, app string, replicas int32) {
	scales := t.client().AppsV1().Deployments(t.NS)
	// The controller writes the deployment's status at the same time.
	t.OK(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		scale, err := scales.GetScale(t, app, metav1.GetOptions{})
		t.OK(err, "get scale")
		scale.Spec.Replicas = replicas
		_, err = scales.UpdateScale(t, app, scale, metav1.UpdateOptions{})
		return err
	}), "scale")
}

func podsOf(t *T, app string) []corev1.Pod {
	list, err := t.client().CoreV1().Pods(t.NS).List(t, metav1.ListOptions{LabelSelector: "app=" + app})
	t.OK(err, "pods")
	return list.Items
}

func claimsOf(t *T) []resourcev1.ResourceClaim {
	list, err := t.client().ResourceV1().ResourceClaims(t.NS).List(t, metav1.ListOptions{})
	t.OK(err, "claims")
	return list.Items
}

// devicesUsed is by node and device the claim that has it; one device twice is a failure.
func devicesUsed(t *T) map[string]string {
	list, err := t.client().ResourceV1().ResourceClaims("").List(t, metav1.ListOptions{})
	t.OK(err, "claims")
	used := map[string]string{}
	for _, c := range list.Items {
		if c.Status.Allocation == nil {
			continue
		}
		for _, r := range c.Status.Allocation.Devices.Results {
			device := r.Pool + "/" + r.Device
			if other := used[device]; other != "" {
				t.Fatalf("%s is given to %s and %s", device, other, c.Name)
			}
			used[device] = c.Namespace + "/" + c.Name
		}
	}
	return used
}

// waitRunning waits until exactly n pods of an app run, each where its device is.
func waitRunning(t *T, app string, n int, device bool) {
	t.Wait(patience, fmt.Sprintf("%d pods of %s running", n, app), func() (bool, string) {
		running := 0
		pods := podsOf(t, app)
		for _, p := range pods {
			if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				running++
			}
		}
		return running == n && len(pods) == n, describe(pods)
	})
	if !device {
		return
	}
	claims := map[string]resourcev1.ResourceClaim{}
	for _, c := range claimsOf(t) {
		claims[c.Name] = c
	}
	for _, p := range podsOf(t, app) {
		t.Must(len(p.Status.ResourceClaimStatuses) == 1, "%s has claims %v", p.Name, p.Status.ResourceClaimStatuses)
		name := ptr.Deref(p.Status.ResourceClaimStatuses[0].ResourceClaimName, "")
		c, ok := claims[name]
		t.Must(ok && c.Status.Allocation != nil, "claim %q of %s is not allocated: %v", name, p.Name, c.Status)
		t.Must(c.Status.Allocation.Devices.Results[0].Pool == p.Spec.NodeName, "%s is on %s, its device is %v",
			p.Name, p.Spec.NodeName, c.Status.Allocation.Devices.Results[0])
		t.Must(len(c.Status.ReservedFor) == 1 && c.Status.ReservedFor[0].UID == p.UID, "%s is reserved for %v", c.Name, c.Status.ReservedFor)
		t.Must(len(c.OwnerReferences) == 1 && c.OwnerReferences[0].UID == p.UID, "%s is owned by %v", c.Name, c.OwnerReferences)
	}
	devicesUsed(t)
}

func describe(pods []corev1.Pod) string {
	var b strings.Builder
	for _, p := range pods {
		fmt.Fprintf(&b, "%s: %s on %q, deleted %v", p.Name, p.Status.Phase, p.Spec.NodeName, p.DeletionTimestamp)
		for _, c := range p.Status.Conditions {
			if c.Message != "" {
				fmt.Fprintf(&b, " (%s)", c.Message)
			}
		}
		b.WriteString("; ")
	}
	return b.String()
}

func waitNoClaims(t *T, n int) {
	t.Wait(patience, fmt.Sprintf("%d claims left", n), func() (bool, string) {
		claims := claimsOf(t)
		names := []string{}
		for _, c := range claims {
			names = append(names, fmt.Sprintf("%s (allocated %v, reserved %v, finalizers %v, deleted %v)", c.Name,
				c.Status.Allocation != nil, c.Status.ReservedFor, c.Finalizers, c.DeletionTimestamp))
		}
		return len(claims) == n, strings.Join(names, ", ")
	})
}

func waitGone(t *T, what string, get func() error) {
	t.Wait(patience, "the end of "+what, func() (bool, string) {
		err := get()
		return apierrors.IsNotFound(err), fmt.Sprint("get says ", err)
	})
}

// ---- checks ----

func namespaceGetsObjects(t *T) {
	t.Wait(patience, "kube-root-ca.crt", func() (bool, string) {
		c, err := t.client().CoreV1().ConfigMaps(t.NS).Get(t, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil && strings.Contains(c.Data["ca.crt"], "BEGIN CERTIFICATE"), fmt.Sprint(err)
	})
	t.Wait(patience, "the account", func() (bool, string) {
		_, err := t.client().CoreV1().ServiceAccounts(t.NS).Get(t, "default", metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
}

func deploymentWithClaims(t *T) {
	claimTemplate(t)
	makeDeployment(t, "web", 3, true)
	waitRunning(t, "web", 3, true)
	scaleDeployment(t, "web", 6)
	waitRunning(t, "web", 6, true)
	t.Wait(patience, "status of the deployment", func() (bool, string) {
		d, err := t.client().AppsV1().Deployments(t.NS).Get(t, "web", metav1.GetOptions{})
		t.OK(err, "get")
		return d.Status.AvailableReplicas == 6 && d.Status.ObservedGeneration == d.Generation, fmt.Sprint(d.Status)
	})
	scaleDeployment(t, "web", 2)
	waitRunning(t, "web", 2, true)
	waitNoClaims(t, 2)

	// A new template rolls out by a second replica set.
	_, err := t.client().AppsV1().Deployments(t.NS).Patch(t, "web", types.StrategicMergePatchType,
		[]byte(`{"spec":{"template":{"metadata":{"labels":{"generation":"2"}}}}}`), metav1.PatchOptions{})
	t.OK(err, "new template")
	t.Wait(patience, "roll-out", func() (bool, string) {
		d, err := t.client().AppsV1().Deployments(t.NS).Get(t, "web", metav1.GetOptions{})
		t.OK(err, "get")
		return d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas == 2 &&
			d.Status.Replicas == 2 && d.Status.AvailableReplicas == 2, fmt.Sprint(d.Status)
	})
	waitRunning(t, "web", 2, true)

	t.OK(t.client().AppsV1().Deployments(t.NS).Delete(t, "web", metav1.DeleteOptions{
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}), "delete")
	waitRunning(t, "web", 0, true)
	waitNoClaims(t, 0)
	t.Wait(patience, "the end of replica sets", func() (bool, string) {
		sets, err := t.client().AppsV1().ReplicaSets(t.NS).List(t, metav1.ListOptions{})
		t.OK(err, "list")
		return len(sets.Items) == 0, fmt.Sprint(len(sets.Items))
	})
	t.Must(len(devicesUsed(t)) == 0, "devices are left behind: %v", devicesUsed(t))
}

func devicesRunOut(t *T) {
	const all = nodeCount * devicesPerNode
	claimTemplate(t)
	makeDeployment(t, "many", all+1, true)
	t.Wait(patience, "all devices taken", func() (bool, string) {
		used := devicesUsed(t)
		return len(used) == all, fmt.Sprint(used)
	})
	waiting := ""
	t.Wait(patience, "a reason for the last pod", func() (bool, string) {
		pods := podsOf(t, "many")
		for _, p := range pods {
			for _, c := range p.Status.Conditions {
				if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
					waiting = p.Name
				}
			}
		}
		return waiting != "" && len(pods) == all+1, describe(pods)
	})
	t.Wait(patience, "an event about it", func() (bool, string) {
		list, err := t.client().CoreV1().Events(t.NS).List(t, metav1.ListOptions{
			FieldSelector: "involvedObject.name=" + waiting + ",reason=FailedScheduling"})
		t.OK(err, "events")
		return len(list.Items) > 0, fmt.Sprint(len(list.Items))
	})
	scaleDeployment(t, "many", all)
	waitRunning(t, "many", all, true)
	t.OK(t.client().AppsV1().Deployments(t.NS).Delete(t, "many", metav1.DeleteOptions{
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}), "delete")
	waitNoClaims(t, 0)
}

// A claim that people make is shared, and stays when its pods go.
func sharedClaim(t *T) {
	_, err := t.client().ResourceV1().ResourceClaims(t.NS).Create(t, &resourcev1.ResourceClaim{
		ObjectMeta: meta("shared"), Spec: claimSpec()}, metav1.CreateOptions{})
	t.OK(err, "claim")
	for _, name := range []string{"one", "two"} {
		pod := makePod(name)
		pod.Labels = map[string]string{"app": "sharing"}
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To("shared")}}
		pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
		_, err := t.client().CoreV1().Pods(t.NS).Create(t, pod, metav1.CreateOptions{})
		t.OK(err, "pod")
	}
	waitRunning(t, "sharing", 2, false)
	reservedFor := func(n int) {
		t.Wait(patience, fmt.Sprintf("%d reservations", n), func() (bool, string) {
			c, err := t.client().ResourceV1().ResourceClaims(t.NS).Get(t, "shared", metav1.GetOptions{})
			t.OK(err, "get")
			return len(c.Status.ReservedFor) == n && (c.Status.Allocation != nil) == (n > 0), fmt.Sprint(c.Status)
		})
	}
	reservedFor(2)
	t.OK(t.client().CoreV1().Pods(t.NS).Delete(t, "one", metav1.DeleteOptions{}), "delete")
	reservedFor(1)
	t.OK(t.client().CoreV1().Pods(t.NS).Delete(t, "two", metav1.DeleteOptions{}), "delete")
	reservedFor(0)
	t.OK(t.client().ResourceV1().ResourceClaims(t.NS).Delete(t, "shared", metav1.DeleteOptions{}), "delete the claim")
	waitNoClaims(t, 0)
}

func jobTemplate(device bool) batchv1.JobSpec {
	template := podTemplate("job", device)
	template.Labels[finishes] = "yes"
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return batchv1.JobSpec{Template: template}
}

func jobGivesBack(t *T) {
	claimTemplate(t)
	spec := jobTemplate(true)
	spec.Completions, spec.Parallelism = ptr.To[int32](4), ptr.To[int32](2)
	jobs := t.client().BatchV1().Jobs(t.NS)
	_, err := jobs.Create(t, &batchv1.Job{ObjectMeta: meta("train"), Spec: spec}, metav1.CreateOptions{})
	t.OK(err, "job")
	t.Wait(patience, "the job's success", func() (bool, string) {
		j, err := jobs.Get(t, "train", metav1.GetOptions{})
		t.OK(err, "get")
		done := slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue
		})
		return done && j.Status.Succeeded == 4, fmt.Sprint(j.Status)
	})
	// Pods that have ended use nothing.
	waitNoClaims(t, 0)
	t.Must(len(podsOf(t, "job")) == 4, "pods of a finished job: %s", describe(podsOf(t, "job")))
	t.OK(jobs.Delete(t, "train", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}), "delete")
	t.Wait(patience, "the end of its pods", func() (bool, string) {
		return len(podsOf(t, "job")) == 0, describe(podsOf(t, "job"))
	})
}

func statefulSet(t *T) {
	claimTemplate(t)
	sets := t.client().AppsV1().StatefulSets(t.NS)
	_, err := sets.Create(t, &appsv1.StatefulSet{ObjectMeta: meta("db"), Spec: appsv1.StatefulSetSpec{
		Replicas: ptr.To[int32](3), ServiceName: "db", Selector: selects("db"), Template: podTemplate("db", true)}},
		metav1.CreateOptions{})
	t.OK(err, "create")
	waitRunning(t, "db", 3, true)
	names := []string{}
	for _, p := range podsOf(t, "db") {
		names = append(names, p.Name)
	}
	t.Must(slices.Equal(names, []string{"db-0", "db-1", "db-2"}), "pods %v", names)
	_, err = sets.Patch(t, "db", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{})
	t.OK(err, "scale")
	waitRunning(t, "db", 1, true)
	waitNoClaims(t, 1)
	t.OK(t.client().CoreV1().Pods(t.NS).Delete(t, "db-0", metav1.DeleteOptions{}), "delete a pod")
	waitRunning(t, "db", 1, true)
	t.OK(sets.Delete(t, "db", metav1.DeleteOptions{}), "delete")
	waitNoClaims(t, 0)
}

func daemonSet(t *T) {
	sets := t.client().AppsV1().DaemonSets(t.NS)
	_, err := sets.Create(t, &appsv1.DaemonSet{ObjectMeta: meta("agent"), Spec: appsv1.DaemonSetSpec{
		Selector: selects("agent"), Template: podTemplate("agent", false)}}, metav1.CreateOptions{})
	t.OK(err, "create")
	waitRunning(t, "agent", nodeCount, false)
	t.OK(makeNode(t, t.client(), "late", 0), "another node")
	waitRunning(t, "agent", nodeCount+1, false)
	t.Wait(patience, "its status", func() (bool, string) {
		s, err := sets.Get(t, "agent", metav1.GetOptions{})
		t.OK(err, "get")
		return s.Status.NumberReady == nodeCount+1, fmt.Sprint(s.Status)
	})
	t.OK(sets.Delete(t, "agent", metav1.DeleteOptions{}), "delete")
	waitRunning(t, "agent", 0, false)
	t.OK(t.client().CoreV1().Nodes().Delete(t, "late", metav1.DeleteOptions{}), "delete the node")
}

func serviceGetsEndpoints(t *T) {
	makeDeployment(t, "served", 2, false)
	_, err := t.client().CoreV1().Services(t.NS).Create(t, &corev1.Service{ObjectMeta: meta("served"),
		Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": "served"},
			Ports: []corev1.ServicePort{{Port: 80}}}}, metav1.CreateOptions{})
	t.OK(err, "service")
	t.Wait(patience, "an endpoint slice", func() (bool, string) {
		list, err := t.client().DiscoveryV1().EndpointSlices(t.NS).List(t, metav1.ListOptions{})
		t.OK(err, "list")
		ready := 0
		for _, s := range list.Items {
			for _, e := range s.Endpoints {
				if ptr.Deref(e.Conditions.Ready, false) {
					ready++
				}
			}
		}
		return ready == 2, fmt.Sprint(list.Items)
	})
	t.OK(t.client().AppsV1().Deployments(t.NS).Delete(t, "served", metav1.DeleteOptions{}), "delete")
}

func quotaAndBudget(t *T) {
	_, err := t.client().CoreV1().ResourceQuotas(t.NS).Create(t, &corev1.ResourceQuota{ObjectMeta: meta("all"),
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: *quantity(10)}}}, metav1.CreateOptions{})
	t.OK(err, "quota")
	_, err = t.client().PolicyV1().PodDisruptionBudgets(t.NS).Create(t, &policyv1.PodDisruptionBudget{ObjectMeta: meta("some"),
		Spec: policyv1.PodDisruptionBudgetSpec{Selector: selects("quota"), MinAvailable: ptr.To(intstr.FromInt32(1))}}, metav1.CreateOptions{})
	t.OK(err, "budget")
	t.Wait(patience, "the quota's status", func() (bool, string) {
		q, err := t.client().CoreV1().ResourceQuotas(t.NS).Get(t, "all", metav1.GetOptions{})
		t.OK(err, "get")
		_, ok := q.Status.Hard[corev1.ResourcePods]
		return ok, fmt.Sprint(q.Status)
	})
	makeDeployment(t, "quota", 2, false)
	waitRunning(t, "quota", 2, false)
	t.Wait(patience, "the budget's status", func() (bool, string) {
		b, err := t.client().PolicyV1().PodDisruptionBudgets(t.NS).Get(t, "some", metav1.GetOptions{})
		t.OK(err, "get")
		return b.Status.DisruptionsAllowed == 1 && b.Status.CurrentHealthy == 2, fmt.Sprint(b.Status)
	})
}

func foregroundDeletion(t *T) {
	claimTemplate(t)
	makeDeployment(t, "front", 2, true)
	waitRunning(t, "front", 2, true)
	deployments := t.client().AppsV1().Deployments(t.NS)
	t.OK(deployments.Delete(t, "front", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}), "delete")
	waitGone(t, "the deployment", func() error {
		_, err := deployments.Get(t, "front", metav1.GetOptions{})
		return err
	})
	t.Must(len(podsOf(t, "front")) == 0, "pods outlive the foreground deletion of their owner: %s", describe(podsOf(t, "front")))
	waitNoClaims(t, 0)
}

func orphans(t *T) {
	makeDeployment(t, "parent", 2, false)
	waitRunning(t, "parent", 2, false)
	deployments := t.client().AppsV1().Deployments(t.NS)
	t.OK(deployments.Delete(t, "parent", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationOrphan)}), "delete")
	waitGone(t, "the deployment", func() error {
		_, err := deployments.Get(t, "parent", metav1.GetOptions{})
		return err
	})
	sets, err := t.client().AppsV1().ReplicaSets(t.NS).List(t, metav1.ListOptions{})
	t.OK(err, "list")
	t.Must(len(sets.Items) == 1 && len(sets.Items[0].OwnerReferences) == 0, "replica sets after orphaning: %v", sets.Items)
	waitRunning(t, "parent", 2, false)
	t.OK(t.client().AppsV1().ReplicaSets(t.NS).DeleteCollection(t, metav1.DeleteOptions{
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}, metav1.ListOptions{}), "delete")
	waitRunning(t, "parent", 0, false)
}

func taintEvicts(t *T) {
	claimTemplate(t)
	makeDeployment(t, "victim", 1, true)
	waitRunning(t, "victim", 1, true)
	before := podsOf(t, "victim")[0]
	device := claimsOf(t)[0].Status.Allocation.Devices.Results[0]
	rules := t.client().ResourceV1().DeviceTaintRules()
	_, err := rules.Create(t, &resourcev1.DeviceTaintRule{ObjectMeta: meta(t.NS), Spec: resourcev1.DeviceTaintRuleSpec{
		DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: &device.Driver, Pool: &device.Pool, Device: &device.Device},
		Taint:          resourcev1.DeviceTaint{Key: "example.com/hot", Effect: resourcev1.DeviceTaintEffectNoExecute}}}, metav1.CreateOptions{})
	t.OK(err, "rule")
	t.After(func() { rules.Delete(context.Background(), t.NS, metav1.DeleteOptions{}) })
	t.Wait(patience, "another pod on another device", func() (bool, string) {
		pods := podsOf(t, "victim")
		return len(pods) == 1 && pods[0].UID != before.UID && pods[0].Status.Phase == corev1.PodRunning, describe(pods)
	})
	waitRunning(t, "victim", 1, true)
	_, taken := devicesUsed(t)[device.Pool+"/"+device.Device]
	t.Must(!taken, "the tainted device is used")
	t.OK(t.client().AppsV1().Deployments(t.NS).Delete(t, "victim", metav1.DeleteOptions{}), "delete")
	waitNoClaims(t, 0)
}

func namespaceDeletion(t *T) {
	claimTemplate(t)
	makeDeployment(t, "content", 3, true)
	for _, k := range kinds() {
		if !k.namespaced || k.resource.Version != "v1" {
			continue
		}
		makeUntyped(t, k, "content-"+k.resource.Resource)
	}
	waitRunning(t, "content", 3, true)
	t.OK(t.client().CoreV1().Namespaces().Delete(t, t.NS, metav1.DeleteOptions{}), "delete")
	waitGone(t, "the namespace", func() error {
		ns, err := t.client().CoreV1().Namespaces().Get(t, t.NS, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("%v %v", ns.Status, ns.Spec)
		}
		return err
	})
	t.Must(len(claimsOf(t)) == 0 && len(podsOf(t, "content")) == 0, "something is left in a namespace that is gone")
	for device, claim := range devicesUsed(t) {
		t.Must(!strings.HasPrefix(claim, t.NS+"/"), "%s still belongs to %s", device, claim)
	}
}

// Controllers and scheduler go on where they were when the server comes back.
func serverKilled(t *T) {
	claimTemplate(t)
	makeDeployment(t, "survivor", 2, true)
	waitRunning(t, "survivor", 2, true)
	t.Env.restart(t, syscall.SIGKILL)
	waitRunning(t, "survivor", 2, true)
	scaleDeployment(t, "survivor", 5)
	waitRunning(t, "survivor", 5, true)
	t.OK(t.client().AppsV1().Deployments(t.NS).Delete(t, "survivor", metav1.DeleteOptions{}), "delete")
	waitNoClaims(t, 0)
}

// A CronJob runs at full minutes: made first, looked at last.
func cronJobBegins(t *T) {
	client := t.client()
	_, err := client.CoreV1().Namespaces().Create(t, &corev1.Namespace{ObjectMeta: meta("cron")}, metav1.CreateOptions{})
	t.OK(err, "namespace")
	_, err = client.BatchV1().CronJobs("cron").Create(t, &batchv1.CronJob{ObjectMeta: meta("every-minute"),
		Spec: batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: jobTemplate(false)}}},
		metav1.CreateOptions{})
	t.OK(err, "cron job")
}

func cronJobRuns(t *T) {
	client := t.client()
	t.Wait(100*time.Second, "a job's success", func() (bool, string) {
		c, err := client.BatchV1().CronJobs("cron").Get(t, "every-minute", metav1.GetOptions{})
		t.OK(err, "get")
		return c.Status.LastSuccessfulTime != nil, fmt.Sprint(c.Status)
	})
	t.OK(client.BatchV1().CronJobs("cron").Delete(t, "every-minute", metav1.DeleteOptions{}), "delete")
	t.Wait(patience, "the end of its jobs", func() (bool, string) {
		jobs, err := client.BatchV1().Jobs("cron").List(t, metav1.ListOptions{})
		t.OK(err, "list")
		return len(jobs.Items) == 0, fmt.Sprint(len(jobs.Items))
	})
}

// A user's request, approved, becomes a certificate that the server knows him by.
func certificateSigned(t *T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	t.OK(err, "key")
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "jane", Organization: []string{"people"}}}, key)
	t.OK(err, "request")
	requests := t.client().CertificatesV1().CertificateSigningRequests()
	r, err := requests.Create(t, &certificatesv1.CertificateSigningRequest{ObjectMeta: meta("jane"),
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: certificatesv1.KubeAPIServerClientSignerName,
			Username:   "somebody else", Groups: []string{"system:masters"},
			Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth}}}, metav1.CreateOptions{})
	t.OK(err, "create")
	t.Must(r.Spec.Username != "somebody else" && r.Spec.Username != "" && slices.Contains(r.Spec.Groups, "system:authenticated"),
		"who asks is %q of %v", r.Spec.Username, r.Spec.Groups)
	r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved,
		Status: corev1.ConditionTrue, Reason: "Checked"}}
	_, err = requests.UpdateApproval(t, "jane", r, metav1.UpdateOptions{})
	t.OK(err, "approve")
	t.Wait(patience, "the certificate", func() (bool, string) {
		r, err = requests.Get(t, "jane", metav1.GetOptions{})
		t.OK(err, "get")
		return len(r.Status.Certificate) > 0, fmt.Sprint(r.Status)
	})
	secret, err := keyutil.MarshalPrivateKeyToPEM(key)
	t.OK(err, "key")
	config := rest.AnonymousClientConfig(t.Env.config)
	config.CertData, config.KeyData = r.Status.Certificate, secret
	review, err := kubernetes.NewForConfigOrDie(config).AuthenticationV1().SelfSubjectReviews().Create(t,
		&authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	t.OK(err, "who am I")
	t.Must(review.Status.UserInfo.Username == "jane" && slices.Contains(review.Status.UserInfo.Groups, "people"), "I am %v", review.Status.UserInfo)
}
