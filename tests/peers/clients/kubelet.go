// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// dray's driver under the unmodified kubelet and containerd, with dray's API server: what
// the driver offers gets into real containers.
const kubeletDevices = `
devices:
- name: fuse
  path: /dev/fuse
  attributes: {type: fuse}
  shares: 10
  env: {FUSE: "{path}"}
- name: plug
  path: %s
  attributes: {type: plug}
  env: {PLUG: "yes"}
`

func kubeletChecks() []check {
	checks := []check{
		{name: "kubelet/registers", run: nodeRegisters},
		{name: "kubelet/slices", run: kubeletSlices},
		{name: "kubelet/device-in-container", run: kubeletDevice},
		{name: "kubelet/shared", run: kubeletShared},
		{name: "kubelet/health", run: kubeletHealth},
		{name: "kubelet/driver-killed", run: kubeletDriverKilled},
		{name: "kubelet/rolling-update", run: kubeletRolls},
		{name: "kubelet/kubelet-restarts", run: kubeletRestarts},
		{name: "kubelet/nothing-left", run: kubeletNothingLeft},
	}
	for i := range checks {
		checks[i].limit = 2 * time.Minute
	}
	return checks
}

// nodeDriver is dray's driver on the node, and the device that is plugged in and out.
type nodeDriver struct {
	process *exec.Cmd
	plug    string
	prior   map[string]bool // CDI files of others

	kubeconfig string
}

var kubeletDriver nodeDriver

const cdiDir = "/var/run/cdi"

func kubeletBegin(e *env) error {
	if _, err := os.Stat("/dev/fuse"); err != nil {
		return skip{"no /dev/fuse"}
	}
	if err := e.beginNode(); err != nil {
		return err
	}
	return kubeletDriver.begin(e)
}

func (d *nodeDriver) begin(e *env) error {
	*d = nodeDriver{plug: filepath.Join(e.dir, "plug"), prior: map[string]bool{}}
	entries, _ := os.ReadDir(cdiDir)
	for _, entry := range entries {
		d.prior[entry.Name()] = true
	}
	text := fmt.Appendf(nil, kubeletDevices, d.plug)
	err := os.WriteFile(filepath.Join(e.dir, "devices.yaml"), text, 0o600)
	if err == nil {
		err = os.Symlink("/dev/null", d.plug)
	}
	if err != nil {
		return err
	}
	for _, kind := range []string{"fuse", "plug"} {
		class := &resourcev1.DeviceClass{ObjectMeta: meta(kind), Spec: resourcev1.DeviceClassSpec{
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf(
				`device.driver == %q && device.attributes[%q].type == %q`, driverName, driverName, kind)}}}}}
		if _, err := e.client(protobuf).ResourceV1().DeviceClasses().Create(context.Background(), class, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if d.kubeconfig, err = e.driverIdentity(); err != nil {
		return err
	}
	process, err := nodeDriverStart(e, "u1")
	d.process = process
	e.atEnd(func() { d.stop(syscall.SIGTERM) })
	return err
}

// driverIdentity may do what the shipped role says, and no more.
func (e *env) driverIdentity() (string, error) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(e.docs), "../examples/driver/rbac.yaml"))
	if err != nil {
		return "", err
	}
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(part), &role); err != nil {
			return "", err
		}
		if role.Kind != "ClusterRole" {
			continue
		}
		roles := e.client(protobuf).RbacV1()
		if _, err := roles.ClusterRoles().Create(context.Background(), &role, metav1.CreateOptions{}); err != nil {
			return "", err
		}
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: meta(role.Name),
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: role.Kind, Name: role.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "driver"}}}
		if _, err := roles.ClusterRoleBindings().Create(context.Background(), binding, metav1.CreateOptions{}); err != nil {
			return "", err
		}
	}
	return e.identity("driver", "driver")
}

func nodeDriverStart(e *env, uid string) (*exec.Cmd, error) {
	log, err := os.OpenFile(filepath.Join(e.dir, "driver.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(e.dray, "driver", "--kubeconfig", kubeletDriver.kubeconfig, "--node", nodeName, "--kubelet-dir", e.node("kubelet"),
		"--cdi-dir", cdiDir, "--devices", filepath.Join(e.dir, "devices.yaml"), "--discover-interval", "1s", "--pod-uid", uid)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, cmd.Start()
}

func (d *nodeDriver) stop(s syscall.Signal) {
	if d.process == nil {
		return
	}
	d.process.Process.Signal(s)
	d.process.Wait()
	d.process = nil
}

func kubeletSlices(t *T) {
	t.Wait(patience, "slices of the driver", func() (bool, string) {
		list, err := t.client().ResourceV1().ResourceSlices().List(t, metav1.ListOptions{
			FieldSelector: "spec.nodeName=" + nodeName + ",spec.driver=" + driverName})
		t.OK(err, "list")
		return len(list.Items) == 1 && len(list.Items[0].Spec.Devices) == 2, fmt.Sprint(list.Items)
	})
	waitForRegistrations(t, 1)
}

// waitForRegistrations: a kubelet that was told of a driver before may ask the one that is
// gone, and then waits a minute.
func waitForRegistrations(t *T, n int) {
	t.Wait(patience, "the registration", func() (bool, string) {
		text, err := os.ReadFile(filepath.Join(t.Env.dir, "driver.log"))
		t.OK(err, "log")
		return strings.Count(string(text), "registered with the kubelet") >= n, string(text)
	})
}

const kubeletNamespace = "driver-pods"

// devicePod is a pod with a device of a class, from a template.
func devicePod(t *T, name, class, script string) *corev1.Pod {
	t.NS = kubeletNamespace
	client := t.client()
	if _, err := client.CoreV1().Namespaces().Get(t, kubeletNamespace, metav1.GetOptions{}); err != nil {
		_, err = client.CoreV1().Namespaces().Create(t, &corev1.Namespace{ObjectMeta: meta(kubeletNamespace)}, metav1.CreateOptions{})
		t.OK(err, "namespace")
	}
	if _, err := client.ResourceV1().ResourceClaimTemplates(t.NS).Get(t, class, metav1.GetOptions{}); err != nil {
		_, err = client.ResourceV1().ResourceClaimTemplates(t.NS).Create(t, &resourcev1.ResourceClaimTemplate{ObjectMeta: meta(class),
			Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
				Requests: []resourcev1.DeviceRequest{{Name: "it", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class}}}}}}}, metav1.CreateOptions{})
		t.OK(err, "template")
	}
	pod := shellPod(name, script)
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device", ResourceClaimTemplateName: ptr.To(class)}}
	pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "device"}}
	return runPod(t, t.NS, pod)
}

func deletePod(t *T, name string) {
	t.OK(t.client().CoreV1().Pods(kubeletNamespace).Delete(t, name, metav1.DeleteOptions{}), "delete")
	waitGone(t, "the pod", func() error {
		_, err := t.client().CoreV1().Pods(kubeletNamespace).Get(t, name, metav1.GetOptions{})
		return err
	})
}

func waitForLog(t *T, pod, want string) {
	t.Wait(patience, "the log of "+pod, func() (bool, string) {
		raw, err := t.client().CoreV1().Pods(kubeletNamespace).GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(t)
		return err == nil && strings.Contains(string(raw), want), fmt.Sprint(string(raw), err)
	})
}

const tellFuse = `test -c /dev/fuse && echo device $FUSE; sleep 1000000`

func kubeletDevice(t *T) {
	devicePod(t, "one", "fuse", tellFuse)
	waitForLog(t, "one", "device /dev/fuse")
	claims := claimsOf(t)
	t.Must(len(claims) == 1 && len(claims[0].Status.Allocation.Devices.Results) == 1, "claims %v", claims)
}

func kubeletShared(t *T) {
	devicePod(t, "two", "fuse", tellFuse)
	waitForLog(t, "two", "device /dev/fuse")
	deletePod(t, "two")
}

// What becomes of a device is seen in the status of the pod that has it.
func kubeletHealth(t *T) {
	devicePod(t, "plugged", "plug", "echo $PLUG; sleep 1000000")
	waitForLog(t, "plugged", "yes")
	health := func(want corev1.ResourceHealthStatus) {
		t.Wait(patience, "the status "+string(want), func() (bool, string) {
			pod, err := t.client().CoreV1().Pods(kubeletNamespace).Get(t, "plugged", metav1.GetOptions{})
			t.OK(err, "get")
			all := pod.Status.ContainerStatuses[0].AllocatedResourcesStatus
			return len(all) == 1 && len(all[0].Resources) == 1 && all[0].Resources[0].Health == want, fmt.Sprint(all)
		})
	}
	health(corev1.ResourceHealthStatusHealthy)
	t.OK(os.Remove(kubeletDriver.plug), "unplug")
	health(corev1.ResourceHealthStatusUnhealthy)
	t.OK(os.Symlink("/dev/null", kubeletDriver.plug), "plug in")
	health(corev1.ResourceHealthStatusHealthy)
	deletePod(t, "plugged")
}

func stillRuns(t *T, name string) {
	pod, err := t.client().CoreV1().Pods(kubeletNamespace).Get(t, name, metav1.GetOptions{})
	t.OK(err, "get")
	t.Must(pod.Status.Phase == corev1.PodRunning && pod.Status.ContainerStatuses[0].RestartCount == 0, "the pod is %v", pod.Status)
}

func kubeletDriverKilled(t *T) {
	kubeletDriver.stop(syscall.SIGKILL)
	process, err := nodeDriverStart(t.Env, "u1")
	t.OK(err, "start")
	kubeletDriver.process = process
	waitForRegistrations(t, 2)
	devicePod(t, "after-kill", "fuse", tellFuse)
	waitForLog(t, "after-kill", "device /dev/fuse")
	deletePod(t, "after-kill")
	stillRuns(t, "one")
}

// The next instance comes before this one goes; it unprepares what this one prepared.
func kubeletRolls(t *T) {
	devicePod(t, "before", "fuse", tellFuse)
	process, err := nodeDriverStart(t.Env, "u2")
	t.OK(err, "start")
	waitForRegistrations(t, 3)
	kubeletDriver.stop(syscall.SIGTERM)
	kubeletDriver.process = process
	devicePod(t, "after-roll", "fuse", tellFuse)
	deletePod(t, "before")
	deletePod(t, "after-roll")
	stillRuns(t, "one")
}

// A kubelet removes all slices of its node as it starts; the driver brings them back.
func kubeletRestarts(t *T) {
	text, err := os.ReadFile(t.Env.node("kubelet.pid"))
	t.OK(err, "pid")
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	t.OK(err, "pid")
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	t.OK(err, "command")
	words := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	t.OK(syscall.Kill(pid, syscall.SIGTERM), "kill")
	t.Wait(patience, "the kubelet's end", func() (bool, string) {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(state), ") Z "), string(state)
	})
	log, err := os.OpenFile(t.Env.node("kubelet.log"), os.O_WRONLY|os.O_APPEND, 0o600)
	t.OK(err, "log")
	defer log.Close()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.Env.node(""), log, log
	t.OK(cmd.Start(), "start")
	t.OK(os.WriteFile(t.Env.node("kubelet.pid"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600), "pid")
	go cmd.Wait()
	kubeletSlices(t)
	devicePod(t, "after-restart", "fuse", tellFuse)
	waitForLog(t, "after-restart", "device /dev/fuse")
	deletePod(t, "after-restart")
	stillRuns(t, "one")
}

func kubeletNothingLeft(t *T) {
	t.NS = kubeletNamespace
	deletePod(t, "one")
	waitNoClaims(t, 0)
	entries, err := os.ReadDir(cdiDir)
	t.OK(err, "CDI directory")
	for _, entry := range entries {
		t.Must(kubeletDriver.prior[entry.Name()], "%s is left behind", entry.Name())
	}
	t.OK(t.client().CoreV1().Namespaces().Delete(t, kubeletNamespace, metav1.DeleteOptions{}), "delete the namespace")
	waitGone(t, "the namespace", func() error {
		_, err := t.client().CoreV1().Namespaces().Get(t, kubeletNamespace, metav1.GetOptions{})
		return err
	})
}
