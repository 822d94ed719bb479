// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	healthv1 "k8s.io/kubelet/pkg/apis/dra-health/v1"
	healthv1alpha1 "k8s.io/kubelet/pkg/apis/dra-health/v1alpha1"
	drav1 "k8s.io/kubelet/pkg/apis/dra/v1"
	drav1beta1 "k8s.io/kubelet/pkg/apis/dra/v1beta1"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	"k8s.io/utils/ptr"
)

// dray's driver as a kubelet sees it: asked over its sockets by the kubelet's own client
// library, one rule of the protocol a check.
const (
	driverName = "device.dray.dev"
	driverNode = "driver-node"
)

const driverDevices = `
devices:
- name: nil
  path: /dev/null
  attributes: {type: one}
- name: zero
  path: /dev/zero
  attributes: {type: one}
- name: full
  path: /dev/full
  attributes: {type: many}
  shared: true
  env: {FULL: "{path}"}
- name: pluggable
  path: %s
`

func driverChecks() []check {
	return []check{
		{name: "driver/registers", run: driverRegisters},
		{name: "driver/is-refused", run: driverIsRefused},
		{name: "driver/slices", run: driverSlices},
		{name: "driver/slices-come-back", run: driverSlicesComeBack},
		{name: "driver/prepare", run: driverPrepares},
		{name: "driver/prepare/again", run: driverPreparesAgain},
		{name: "driver/prepare/v1beta1", run: driverPreparesV1beta1},
		{name: "driver/prepare/many-claims", run: driverPreparesMany},
		{name: "driver/prepare/nothing", run: driverPreparesNothing},
		{name: "driver/prepare/shares", run: driverShares},
		{name: "driver/prepare/held", run: driverHeld},
		{name: "driver/prepare/admin", run: driverAdmin},
		{name: "driver/prepare/other-drivers", run: driverPassesOver},
		{name: "driver/prepare/no-such-device", run: driverNoDevice},
		{name: "driver/prepare/unfit-claims", run: driverUnfitClaims},
		{name: "driver/unprepare/unknown", run: driverUnpreparesUnknown},
		{name: "driver/unprepare/claim-deleted", run: driverUnpreparesDeleted},
		{name: "driver/unknown-method", run: driverUnknownMethod},
		{name: "driver/large-message", run: driverLargeMessage},
		{name: "driver/health", run: driverHealth},
		{name: "driver/killed", run: driverKilled},
		{name: "driver/rebooted", run: driverRebooted},
		{name: "driver/rolling-update", run: driverRolls},
		{name: "driver/ends", run: driverEnds},
	}
}

// theDriver is the instance that the checks ask, and where it keeps what.
type theDriver struct {
	dir       string // a kubelet's; short, for the sockets
	pluggable string // a device that comes and goes
	process   *exec.Cmd
}

var peerDriver theDriver

func (d *theDriver) cdi() string { return filepath.Join(d.dir, "cdi") }
func (d *theDriver) socket(name string) string {
	return filepath.Join(d.dir, "plugins", driverName, name)
}
func (d *theDriver) registry(name string) string {
	return filepath.Join(d.dir, "plugins_registry", name)
}

func driverBegin(e *env) error {
	d := &peerDriver
	dir, err := os.MkdirTemp("", "dray-k-")
	if err != nil {
		return err
	}
	e.atEnd(func() { os.RemoveAll(dir) })
	*d = theDriver{dir: dir, pluggable: filepath.Join(dir, "pluggable")}
	if err := os.WriteFile(filepath.Join(dir, "devices.yaml"), fmt.Appendf(nil, driverDevices, d.pluggable), 0o600); err != nil {
		return err
	}
	node := &corev1.Node{ObjectMeta: meta(driverNode)}
	if _, err := e.client(protobuf).CoreV1().Nodes().Create(context.Background(), node, metav1.CreateOptions{}); err != nil {
		return err
	}
	e.atEnd(func() { d.stop(syscall.SIGTERM) })
	if err := d.start(e); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(d.registry(driverName + "-reg.sock")); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

func (d *theDriver) command(e *env, args ...string) (*exec.Cmd, error) {
	log, err := os.OpenFile(filepath.Join(e.dir, "driver.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(e.dray, append([]string{"driver", "--kubeconfig", e.kubeconfig(), "--node", driverNode,
		"--kubelet-dir", d.dir, "--cdi-dir", d.cdi(), "--devices", filepath.Join(d.dir, "devices.yaml"),
		"--discover-interval", "1s"}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, cmd.Start()
}

func (d *theDriver) start(e *env) (err error) {
	d.process, err = d.command(e)
	return err
}

func (d *theDriver) stop(s syscall.Signal) {
	if d.process == nil {
		return
	}
	d.process.Process.Signal(s)
	d.process.Wait()
	d.process = nil
}

// dial waits until somebody listens.
func dial(t *T, path string) *grpc.ClientConn {
	c, err := grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	t.OK(err, "dial")
	t.After(func() { c.Close() })
	return c
}

func patiently(t *T) (context.Context, grpc.CallOption) {
	ctx, cancel := context.WithTimeout(t, 45*time.Second)
	t.After(cancel)
	return ctx, grpc.WaitForReady(true)
}

func draClient(t *T) drav1.DRAPluginClient {
	return drav1.NewDRAPluginClient(dial(t, peerDriver.socket("dra.sock")))
}

// ---- claims ----

func result(device string) resourcev1.DeviceRequestAllocationResult {
	return resourcev1.DeviceRequestAllocationResult{Request: "gpu", Driver: driverName, Pool: driverNode, Device: device}
}

// allocatedClaim is a claim that somebody has given devices to.
func allocatedClaim(t *T, name string, results ...resourcev1.DeviceRequestAllocationResult) *drav1.Claim {
	claims := t.client().ResourceV1().ResourceClaims(t.NS)
	spec := claimSpec()
	for i, r := range results {
		if i > 0 {
			more := spec.Devices.Requests[0].DeepCopy()
			more.Name = r.Request
			spec.Devices.Requests = append(spec.Devices.Requests, *more)
		} else {
			spec.Devices.Requests[0].Name = r.Request
		}
		if ptr.Deref(r.AdminAccess, false) {
			spec.Devices.Requests[i].Exactly.AdminAccess = ptr.To(true)
		}
	}
	c, err := claims.Create(t, &resourcev1.ResourceClaim{ObjectMeta: meta(name), Spec: spec}, metav1.CreateOptions{})
	t.OK(err, "claim")
	if len(results) > 0 {
		c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: results}}
		c, err = claims.UpdateStatus(t, c, metav1.UpdateOptions{})
		t.OK(err, "allocation")
	}
	return &drav1.Claim{Namespace: t.NS, Name: name, Uid: string(c.UID)}
}

func prepare(t *T, claims ...*drav1.Claim) map[string]*drav1.NodePrepareResourceResponse {
	ctx, wait := patiently(t)
	answer, err := draClient(t).NodePrepareResources(ctx, &drav1.NodePrepareResourcesRequest{Claims: claims}, wait)
	t.OK(err, "prepare")
	t.Must(len(answer.Claims) == len(claims), "%d answers for %d claims", len(answer.Claims), len(claims))
	for _, c := range claims {
		t.Must(answer.Claims[c.Uid] != nil, "no answer for %s", c.Name)
	}
	return answer.Claims
}

// prepared is the devices of a claim that can be prepared.
func prepared(t *T, c *drav1.Claim) []*drav1.Device {
	answer := prepare(t, c)[c.Uid]
	t.Must(answer.Error == "", "prepare %s: %s", c.Name, answer.Error)
	t.After(func() { unprepareQuietly(c) })
	return answer.Devices
}

func unprepareQuietly(c *drav1.Claim) {
	conn, err := grpc.NewClient("unix:"+peerDriver.socket("dra.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	drav1.NewDRAPluginClient(conn).NodeUnprepareResources(ctx, &drav1.NodeUnprepareResourcesRequest{Claims: []*drav1.Claim{c}}, grpc.WaitForReady(true))
}

func unprepare(t *T, claims ...*drav1.Claim) {
	ctx, wait := patiently(t)
	answer, err := draClient(t).NodeUnprepareResources(ctx, &drav1.NodeUnprepareResourcesRequest{Claims: claims}, wait)
	t.OK(err, "unprepare")
	t.Must(len(answer.Claims) == len(claims), "%d answers for %d claims", len(answer.Claims), len(claims))
	for _, c := range claims {
		t.Must(answer.Claims[c.Uid] != nil && answer.Claims[c.Uid].Error == "", "unprepare %s: %v", c.Name, answer.Claims[c.Uid])
	}
}

// cdiFiles are those that speak of the claim.
func cdiFiles(t *T, c *drav1.Claim) map[string]string {
	files := map[string]string{}
	entries, err := os.ReadDir(peerDriver.cdi())
	t.OK(err, "CDI directory")
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(peerDriver.cdi(), entry.Name()))
		t.OK(err, "CDI file")
		if strings.Contains(string(text), c.Uid) {
			files[entry.Name()] = string(text)
		}
	}
	return files
}

// ---- registration ----

func driverRegisters(t *T) {
	c := registration.NewRegistrationClient(dial(t, peerDriver.registry(driverName+"-reg.sock")))
	for range 3 {
		ctx, wait := patiently(t)
		info, err := c.GetInfo(ctx, &registration.InfoRequest{}, wait)
		t.OK(err, "info")
		t.Must(info.Type == registration.DRAPlugin && info.Name == driverName, "%v", info)
		t.Must(info.Endpoint == peerDriver.socket("dra.sock"), "endpoint %s", info.Endpoint)
		t.Must(slices.Equal(info.SupportedVersions, []string{drav1.DRAPluginService, drav1beta1.DRAPluginService,
			"v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth"}), "%v", info.SupportedVersions)
	}
	_, err := c.NotifyRegistrationStatus(t, &registration.RegistrationStatus{PluginRegistered: true})
	t.OK(err, "notify")
}

func driverIsRefused(t *T) {
	c := registration.NewRegistrationClient(dial(t, peerDriver.registry(driverName+"-reg.sock")))
	ctx, wait := patiently(t)
	_, err := c.NotifyRegistrationStatus(ctx, &registration.RegistrationStatus{Error: "not you"}, wait)
	t.Must(status.Code(err) == codes.Unknown && strings.Contains(err.Error(), "not you"), "the driver says %v", err)
}

// ---- slices ----

func ownSlices(t *T) []resourcev1.ResourceSlice {
	list, err := t.client().ResourceV1().ResourceSlices().List(t, metav1.ListOptions{
		FieldSelector: "spec.nodeName=" + driverNode + ",spec.driver=" + driverName})
	t.OK(err, "list")
	return list.Items
}

func waitForDevices(t *T, n int) resourcev1.ResourceSlice {
	var all []resourcev1.ResourceSlice
	t.Wait(patience, "the slices", func() (bool, string) {
		all = ownSlices(t)
		return len(all) == 1 && len(all[0].Spec.Devices) == n, fmt.Sprintf("%d slices: %v", len(all), all)
	})
	return all[0]
}

func driverSlices(t *T) {
	s := waitForDevices(t, 4)
	t.Must(s.Spec.Pool.Name == driverNode && s.Spec.Pool.ResourceSliceCount == 1 && s.Spec.Pool.Generation >= 1, "pool %v", s.Spec.Pool)
	t.Must(len(s.OwnerReferences) == 1 && s.OwnerReferences[0].Kind == "Node" && s.OwnerReferences[0].Name == driverNode &&
		ptr.Deref(s.OwnerReferences[0].Controller, false), "owners %v", s.OwnerReferences)
	t.Must(s.Spec.Devices[0].Name == "nil" && *s.Spec.Devices[0].Attributes["type"].StringValue == "one", "the first is %v", s.Spec.Devices[0])
	t.Must(ptr.Deref(s.Spec.Devices[2].AllowMultipleAllocations, false), "the third is %v", s.Spec.Devices[2])
	t.Must(len(s.Spec.Devices[3].Taints) == 1, "a device that is not there has taints %v", s.Spec.Devices[3].Taints)
}

// As at a kubelet's start, which removes them all.
func driverSlicesComeBack(t *T) {
	before := waitForDevices(t, 4)
	t.OK(t.client().ResourceV1().ResourceSlices().DeleteCollection(t, metav1.DeleteOptions{}, metav1.ListOptions{
		FieldSelector: "spec.nodeName=" + driverNode}), "delete")
	t.Wait(patience, "the slices", func() (bool, string) {
		all := ownSlices(t)
		return len(all) == 1 && all[0].UID != before.UID && len(all[0].Spec.Devices) == 4, fmt.Sprint(all)
	})
}

// ---- prepare ----

func driverPrepares(t *T) {
	c := allocatedClaim(t, "one", result("nil"))
	d := prepared(t, c)
	t.Must(len(d) == 1 && d[0].PoolName == driverNode && d[0].DeviceName == "nil" && d[0].ShareId == nil, "devices %v", d)
	t.Must(slices.Equal(d[0].RequestNames, []string{"gpu"}) && len(d[0].CdiDeviceIds) == 1, "devices %v", d)
	id := d[0].CdiDeviceIds[0]
	files := cdiFiles(t, c)
	t.Must(len(files) == 1, "CDI files %v", slices.Collect(maps.Keys(files)))
	for _, text := range files {
		kind, name, _ := strings.Cut(id, "=")
		t.Must(strings.Contains(text, kind) && strings.Contains(text, name) && strings.Contains(text, "/dev/null"), "%s has not %s", text, id)
	}
	unprepare(t, c)
	t.Must(len(cdiFiles(t, c)) == 0, "a CDI file is left behind")
}

func driverPreparesAgain(t *T) {
	c := allocatedClaim(t, "again", result("nil"))
	first, files := prepared(t, c), cdiFiles(t, c)
	second := prepared(t, c)
	t.Must(fmt.Sprint(first) == fmt.Sprint(second), "first %v, then %v", first, second)
	t.Must(maps.Equal(files, cdiFiles(t, c)), "the CDI files differ")
	unprepare(t, c)
	unprepare(t, c)
}

func driverPreparesV1beta1(t *T) {
	c := allocatedClaim(t, "old", result("nil"))
	t.After(func() { unprepareQuietly(c) })
	client := drav1beta1.NewDRAPluginClient(dial(t, peerDriver.socket("dra.sock")))
	ctx, wait := patiently(t)
	claim := &drav1beta1.Claim{Namespace: c.Namespace, Name: c.Name, Uid: c.Uid}
	answer, err := client.NodePrepareResources(ctx, &drav1beta1.NodePrepareResourcesRequest{Claims: []*drav1beta1.Claim{claim}}, wait)
	t.OK(err, "prepare")
	d := answer.Claims[c.Uid]
	t.Must(d != nil && d.Error == "" && len(d.Devices) == 1 && len(d.Devices[0].CdiDeviceIds) == 1, "answer %v", answer)
	done, err := client.NodeUnprepareResources(ctx, &drav1beta1.NodeUnprepareResourcesRequest{Claims: []*drav1beta1.Claim{claim}})
	t.OK(err, "unprepare")
	t.Must(done.Claims[c.Uid] != nil && done.Claims[c.Uid].Error == "", "answer %v", done)
}

func driverPreparesMany(t *T) {
	a := allocatedClaim(t, "a", result("nil"))
	b := allocatedClaim(t, "b", result("zero"))
	both := resourcev1.DeviceRequestAllocationResult{Request: "more", Driver: driverName, Pool: driverNode, Device: "full", ShareID: ptr.To(types.UID("3a7d4be2-9c3e-4f0a-8d63-0a2c1b9a0001"))}
	c := allocatedClaim(t, "c", result("gone"), both)
	for _, claim := range []*drav1.Claim{a, b, c} {
		t.After(func() { unprepareQuietly(claim) })
	}
	answer := prepare(t, a, b, c)
	t.Must(answer[a.Uid].Error == "" && answer[b.Uid].Error == "", "answer %v", answer)
	t.Must(strings.Contains(answer[c.Uid].Error, "gone") && len(answer[c.Uid].Devices) == 0, "answer %v", answer[c.Uid])
	t.Must(len(cdiFiles(t, c)) == 0, "a claim that failed has a CDI file")
	unprepare(t, a, b, c)
}

func driverPreparesNothing(t *T) {
	t.Must(len(prepare(t)) == 0, "an answer about nothing")
}

func driverShares(t *T) {
	share := func(n int) resourcev1.DeviceRequestAllocationResult {
		r := result("full")
		r.ShareID = ptr.To(types.UID(fmt.Sprintf("3a7d4be2-9c3e-4f0a-8d63-0a2c1b9a%04d", n)))
		return r
	}
	a, b := allocatedClaim(t, "a", share(1)), allocatedClaim(t, "b", share(2))
	x, y := prepared(t, a), prepared(t, b)
	t.Must(ptr.Deref(x[0].ShareId, "") == string(*share(1).ShareID) && ptr.Deref(y[0].ShareId, "") == string(*share(2).ShareID), "shares %v and %v", x, y)
	t.Must(x[0].CdiDeviceIds[0] != y[0].CdiDeviceIds[0], "two claims have the CDI device %s", x[0].CdiDeviceIds[0])
}

func driverHeld(t *T) {
	a, b := allocatedClaim(t, "a", result("zero")), allocatedClaim(t, "b", result("zero"))
	prepared(t, a)
	answer := prepare(t, b)[b.Uid]
	t.Must(strings.Contains(answer.Error, a.Name) && strings.Contains(answer.Error, "zero"), "the refusal says %q", answer.Error)
	unprepare(t, b)
	unprepare(t, a)
	prepared(t, b)
}

func driverAdmin(t *T) {
	ns, err := t.client().CoreV1().Namespaces().Get(t, t.NS, metav1.GetOptions{})
	t.OK(err, "namespace")
	ns.Labels["resource.kubernetes.io/admin-access"] = "true"
	_, err = t.client().CoreV1().Namespaces().Update(t, ns, metav1.UpdateOptions{})
	t.OK(err, "label")
	a := allocatedClaim(t, "a", result("zero"))
	r := result("zero")
	r.AdminAccess = ptr.To(true)
	b := allocatedClaim(t, "b", r)
	prepared(t, a)
	prepared(t, b)
}

func driverPassesOver(t *T) {
	other := resourcev1.DeviceRequestAllocationResult{Request: "other", Driver: "other.example.com", Pool: "p", Device: "d"}
	c := allocatedClaim(t, "mixed", result("nil"), other)
	d := prepared(t, c)
	t.Must(len(d) == 1 && d[0].DeviceName == "nil", "devices %v", d)
}

func driverNoDevice(t *T) {
	for _, name := range []string{"gone", "pluggable"} {
		c := allocatedClaim(t, name, result(name))
		t.After(func() { unprepareQuietly(c) })
		answer := prepare(t, c)[c.Uid]
		t.Must(strings.Contains(answer.Error, name), "%s: the refusal says %q", name, answer.Error)
		unprepare(t, c)
	}
}

func driverUnfitClaims(t *T) {
	free := allocatedClaim(t, "free")
	replaced := allocatedClaim(t, "replaced", result("nil"))
	replaced.Uid = "3a7d4be2-9c3e-4f0a-8d63-0a2c1b9a0b7d"
	gone := &drav1.Claim{Namespace: t.NS, Name: "gone", Uid: replaced.Uid}
	for _, x := range []struct {
		claim *drav1.Claim
		says  string
	}{{free, "not allocated"}, {replaced, "got replaced"}, {gone, "retrieve claim"}} {
		ctx, wait := patiently(t)
		_, err := draClient(t).NodePrepareResources(ctx, &drav1.NodePrepareResourcesRequest{Claims: []*drav1.Claim{x.claim}}, wait)
		t.Must(status.Code(err) == codes.Unknown && strings.Contains(err.Error(), x.says) &&
			strings.Contains(err.Error(), t.NS+"/"+x.claim.Name), "%s: %v", x.claim.Name, err)
	}
}

func driverUnpreparesUnknown(t *T) {
	unprepare(t, &drav1.Claim{Namespace: t.NS, Name: "nobody", Uid: "3a7d4be2-9c3e-4f0a-8d63-0a2c1b9affff"})
}

func driverUnpreparesDeleted(t *T) {
	c := allocatedClaim(t, "gone", result("nil"))
	prepared(t, c)
	t.OK(t.client().ResourceV1().ResourceClaims(t.NS).Delete(t, c.Name, metav1.DeleteOptions{}), "delete")
	unprepare(t, c)
	t.Must(len(cdiFiles(t, c)) == 0, "a CDI file is left behind")
}

func driverUnknownMethod(t *T) {
	c := dial(t, peerDriver.socket("dra.sock"))
	ctx, wait := patiently(t)
	err := c.Invoke(ctx, "/k8s.io.kubelet.pkg.apis.dra.v2.DRAPlugin/NodePrepareResources", &drav1.NodePrepareResourcesRequest{},
		&drav1.NodePrepareResourcesResponse{}, wait)
	t.Must(status.Code(err) == codes.Unimplemented, "the driver says %v", err)
}

// A large answer is possible, a message above 4 MiB is not taken.
func driverLargeMessage(t *T) {
	claims := make([]*drav1.Claim, 4096)
	for i := range claims {
		claims[i] = &drav1.Claim{Namespace: t.NS, Name: strings.Repeat("n", 200), Uid: fmt.Sprintf("3a7d4be2-9c3e-4f0a-8d63-0a2c1b9a%04x", i)}
	}
	unprepare(t, claims...)
	claims[0].Name = strings.Repeat("n", 4<<20)
	ctx, wait := patiently(t)
	_, err := draClient(t).NodeUnprepareResources(ctx, &drav1.NodeUnprepareResourcesRequest{Claims: claims}, wait)
	t.Must(err != nil, "a message above 4 MiB is taken")
	unprepare(t, claims[1])
}

// ---- health ----

func healthOf(devices []*healthv1.DeviceHealth, name string) string {
	for _, d := range devices {
		if d.Device.DeviceName == name && d.Device.PoolName == driverNode {
			return d.Health.String()
		}
	}
	return "absent"
}

func driverHealth(t *T) {
	conn := dial(t, peerDriver.socket("dra.sock"))
	ctx, wait := patiently(t)
	stream, err := healthv1.NewDRAResourceHealthClient(conn).NodeWatchResources(ctx, &healthv1.NodeWatchResourcesRequest{}, wait)
	t.OK(err, "watch")
	old, err := healthv1alpha1.NewDRAResourceHealthClient(conn).NodeWatchResources(ctx, &healthv1alpha1.NodeWatchResourcesRequest{}, wait)
	t.OK(err, "watch, v1alpha1")
	report, err := old.Recv()
	t.OK(err, "receive, v1alpha1")
	t.Must(len(report.Devices) == 4, "the older report is %v", report)
	until := func(want string) {
		for {
			report, err := stream.Recv()
			t.OK(err, "receive, waiting for %s", want)
			t.Must(healthOf(report.Devices, "nil") == "HEALTHY", "report %v", report)
			if healthOf(report.Devices, "pluggable") == want {
				return
			}
		}
	}
	until("UNHEALTHY")
	t.OK(os.Symlink("/dev/null", peerDriver.pluggable), "plug in")
	until("HEALTHY")
	waitForTaints(t, 0)
	t.OK(os.Remove(peerDriver.pluggable), "unplug")
	until("UNHEALTHY")
	waitForTaints(t, 1)
}

func waitForTaints(t *T, n int) {
	t.Wait(patience, fmt.Sprintf("%d taints", n), func() (bool, string) {
		all := ownSlices(t)
		return len(all) == 1 && len(all[0].Spec.Devices) == 4 && len(all[0].Spec.Devices[3].Taints) == n, fmt.Sprint(all)
	})
}

// ---- ends and beginnings ----

// What was prepared is prepared for the next instance, and its CDI files are there.
func driverKilled(t *T) {
	a, b := allocatedClaim(t, "a", result("zero")), allocatedClaim(t, "b", result("zero"))
	before, files := prepared(t, a), cdiFiles(t, a)
	peerDriver.stop(syscall.SIGKILL)
	t.OK(peerDriver.start(t.Env), "start")
	answer := prepare(t, b)[b.Uid]
	t.Must(strings.Contains(answer.Error, a.Name), "the device is given to another claim: %v", answer)
	t.Must(fmt.Sprint(before) == fmt.Sprint(prepared(t, a)) && maps.Equal(files, cdiFiles(t, a)), "the claim is prepared otherwise")
	unprepare(t, b)
}

func driverRebooted(t *T) {
	c := allocatedClaim(t, "one", result("zero"))
	before, files := prepared(t, c), cdiFiles(t, c)
	peerDriver.stop(syscall.SIGKILL)
	t.OK(os.RemoveAll(peerDriver.cdi()), "empty")
	t.OK(peerDriver.start(t.Env), "start")
	t.Must(fmt.Sprint(before) == fmt.Sprint(prepared(t, c)) && maps.Equal(files, cdiFiles(t, c)), "the claim is prepared otherwise")
}

// The next instance starts before this one ends, and unprepares what this one prepared.
func driverRolls(t *T) {
	e := t.Env
	peerDriver.stop(syscall.SIGTERM)
	t.After(func() { t.OK(peerDriver.start(e), "start") })
	instances := map[string]*exec.Cmd{}
	for _, uid := range []string{"3a7d4be2-0000-4f0a-8d63-0a2c1b9a0001", "3a7d4be2-0000-4f0a-8d63-0a2c1b9a0002"} {
		cmd, err := peerDriver.command(e, "--pod-uid", uid)
		t.OK(err, "start")
		t.After(func() { cmd.Process.Kill(); cmd.Wait() })
		instances[uid] = cmd
	}
	c := allocatedClaim(t, "one", result("zero"))
	i := 0
	for uid := range instances {
		client := drav1.NewDRAPluginClient(dial(t, peerDriver.socket("dra-"+uid+".sock")))
		ctx, wait := patiently(t)
		if i == 0 {
			answer, err := client.NodePrepareResources(ctx, &drav1.NodePrepareResourcesRequest{Claims: []*drav1.Claim{c}}, wait)
			t.OK(err, "prepare")
			t.Must(answer.Claims[c.Uid].Error == "", "prepare: %v", answer)
		} else {
			answer, err := client.NodeUnprepareResources(ctx, &drav1.NodeUnprepareResourcesRequest{Claims: []*drav1.Claim{c}}, wait)
			t.OK(err, "unprepare")
			t.Must(answer.Claims[c.Uid].Error == "" && len(cdiFiles(t, c)) == 0, "unprepare: %v", answer)
		}
		i++
	}
	for uid, cmd := range instances {
		_, err := os.Stat(peerDriver.registry(driverName + "-" + uid + "-reg.sock"))
		t.OK(err, "registration socket")
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		_, err = os.Stat(peerDriver.registry(driverName + "-" + uid + "-reg.sock"))
		t.Must(os.IsNotExist(err), "the registration socket is left behind")
	}
}

func driverEnds(t *T) {
	e := t.Env
	dial(t, peerDriver.socket("dra.sock")).Connect()
	unprepare(t, &drav1.Claim{Namespace: t.NS, Name: "nobody", Uid: "3a7d4be2-9c3e-4f0a-8d63-0a2c1b9affff"})
	peerDriver.stop(syscall.SIGTERM)
	t.After(func() { t.OK(peerDriver.start(e), "start") })
	for _, path := range []string{peerDriver.socket("dra.sock"), peerDriver.registry(driverName + "-reg.sock")} {
		_, err := os.Stat(path)
		t.Must(os.IsNotExist(err), "%s is left behind", path)
	}
	t.Must(len(ownSlices(t)) == 1, "the slices are gone")
}
