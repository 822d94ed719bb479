// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/utils/ptr"
)

// The unmodified kubelet as a node of dray's API server, with containerd and the example
// driver, beside controller manager and scheduler, each with its own identity. Root's
// work: cgroups, mounts, network namespaces.
const nodeName = "dray-peer"

func nodeChecks() []check {
	checks := []check{
		{name: "node/registers", run: nodeRegisters},
		{name: "node/driver-publishes", run: driverPublishes},
		{name: "node/device-in-container", run: deviceInContainer},
		{name: "node/logs", run: podLogs},
		{name: "node/exec/websocket", run: execWith(webSocket)},
		{name: "node/exec/spdy", run: execWith(spdyStream)},
		{name: "node/attach", run: attachToPod},
		{name: "node/port-forward/spdy", run: forwardWith(spdyDialer)},
		{name: "node/port-forward/websocket", run: forwardWith(webSocketDialer)},
		{name: "node/no-proxy-to-loopback", run: nodeProxy},
		{name: "node/volumes-and-token", run: volumesAndToken},
		{name: "node/job-runs", run: jobRuns},
		{name: "node/server-killed", run: nodeSurvives},
		{name: "node/device-goes-back", run: deviceGoesBack},
	}
	for i := range checks {
		checks[i].limit = 2 * time.Minute
	}
	return checks
}

// beginNode starts controller manager, scheduler and kubelet, each with its own identity.
func (e *env) beginNode() error {
	if err := canRunNode(e); err != nil {
		return err
	}
	manager, scheduler, err := e.strictIdentities()
	if err != nil {
		return err
	}
	kubelet, err := e.identity("kubelet", "system:node:"+nodeName, "system:nodes")
	if err != nil {
		return err
	}
	if err = e.runControlPlane(manager, scheduler, true, false); err != nil {
		return err
	}
	return e.startNode(kubelet)
}

func nodeBegin(e *env) error {
	if err := e.beginNode(); err != nil {
		return err
	}
	os.MkdirAll("/etc/cdi", 0o755)
	_, err := e.runProgram("dra-example-kubeletplugin", "--kubeconfig", e.kubeconfig(), "--node-name", nodeName, "--cdi-root", "/etc/cdi",
		"--kubelet-plugins-directory-path", e.node("kubelet/plugins"),
		"--kubelet-registrar-directory-path", e.node("kubelet/plugins_registry"))
	if err != nil {
		return err
	}
	return e.makeClass()
}

// canRunNode says what is missing.
func canRunNode(e *env) error {
	if os.Getuid() != 0 {
		return skip{"not root"}
	}
	for _, path := range []string{"/usr/sbin/runc", "/usr/lib/cni/bridge", "/bin/busybox", filepath.Join(e.tools, "node.sh"),
		filepath.Join(e.bin, "containerd"), filepath.Join(e.bin, "kubelet"), filepath.Join(e.bin, "dra-example-kubeletplugin")} {
		if _, err := os.Stat(path); err != nil {
			return skip{"no " + path}
		}
	}
	// In some containers a mount or a network is refused: then containerd runs nothing.
	probe := exec.Command("unshare", "--mount", "--net", "mount", "-t", "tmpfs", "none", "/mnt")
	if out, err := probe.CombinedOutput(); err != nil {
		return skip{fmt.Sprintf("no mounts and network namespaces here: %s", bytes.TrimSpace(out))}
	}
	return nil
}

// node is a file of the kubelet's folder, whose sockets must have short names.
func (e *env) node(name string) string { return filepath.Join(e.dir, "n", name) }

// startNode waits for other nodes on this machine to end: kubelets share a folder
// whatever their root.
func (e *env) startNode(kubeconfig string) error { return e.startNodeFrom(e.bin, kubeconfig) }

// startNodeFrom takes the programs from a folder.
func (e *env) startNodeFrom(bin, kubeconfig string) error {
	lock, err := os.OpenFile("/run/lock/dray-peer-node", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(3 * time.Minute); syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil; {
		if time.Now().After(deadline) {
			return skip{"another node runs on this machine"}
		}
		time.Sleep(time.Second)
	}
	e.atEnd(func() { lock.Close() })
	ports := make([]string, 2)
	for i := range ports {
		if ports[i], err = freePort(); err != nil {
			return err
		}
	}
	script := func(args ...string) error {
		ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, filepath.Join(e.tools, "node.sh"), args...)
		cmd.Env = append(os.Environ(), "KPORT="+ports[0], "HPORT="+ports[1])
		log, err := os.OpenFile(filepath.Join(e.dir, "node.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
		return cmd.Run()
	}
	e.atEnd(func() { script("stop", e.node("")) })
	return script(bin, e.node(""), kubeconfig, nodeName)
}

// nodeEnd looks at what the kubelet says of the server. Of itself it says more: of
// machines that are no nodes else.
func nodeEnd(e *env) outcome {
	kubelet := &program{name: "kubelet", log: e.node("kubelet.log"), about: regexp.MustCompile(
		`(?i)forbidden|unauthorized|reflector|failed to (watch|list|patch|update)|the server|is invalid|no kind|decode|cannot (get|list|watch|create|update|patch|delete) `)}
	return e.judgeLogs(append(slices.Clone(e.programs), kubelet))
}

// ---- checks ----

func nodeRegisters(t *T) {
	t.Wait(patience, "the node to be ready", func() (bool, string) {
		n, err := t.client().CoreV1().Nodes().Get(t, nodeName, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				return len(n.Spec.Taints) == 0, fmt.Sprint("taints ", n.Spec.Taints)
			}
		}
		return false, fmt.Sprint(n.Status.Conditions)
	})
	t.Wait(patience, "its lease", func() (bool, string) {
		_, err := t.client().CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(t, nodeName, metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
	t.Wait(patience, "its CSINode", func() (bool, string) {
		_, err := t.client().StorageV1().CSINodes().Get(t, nodeName, metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
}

func driverPublishes(t *T) {
	t.Wait(patience, "slices of the driver", func() (bool, string) {
		list, err := t.client().ResourceV1().ResourceSlices().List(t, metav1.ListOptions{
			FieldSelector: "spec.nodeName=" + nodeName + ",spec.driver=gpu.example.com"})
		t.OK(err, "list")
		return len(list.Items) > 0 && len(list.Items[0].Spec.Devices) > 0, fmt.Sprint(len(list.Items))
	})
}

// The pod that the checks after this one use.
const gpuNamespace, gpuPod = "gpu", "worker"

// runPod makes a pod and waits until it runs.
func runPod(t *T, ns string, pod *corev1.Pod) *corev1.Pod {
	pods := t.client().CoreV1().Pods(ns)
	t.Wait(patience, "the account of pods", func() (bool, string) {
		_, err := t.client().CoreV1().ServiceAccounts(ns).Get(t, "default", metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
	_, err := pods.Create(t, pod, metav1.CreateOptions{})
	t.OK(err, "create")
	var got *corev1.Pod
	t.Wait(patience, "the pod to be ready", func() (bool, string) {
		got, err = pods.Get(t, pod.Name, metav1.GetOptions{})
		t.OK(err, "get")
		for _, c := range got.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				return true, ""
			}
		}
		return false, describe([]corev1.Pod{*got}) + fmt.Sprint(got.Status.ContainerStatuses)
	})
	return got
}

func shellPod(name, script string) *corev1.Pod {
	pod := makePod(name)
	pod.Spec.Containers[0].Command = []string{"sh", "-c", script}
	pod.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1)
	return pod
}

func deviceInContainer(t *T) {
	_, err := t.client().CoreV1().Namespaces().Create(t, &corev1.Namespace{ObjectMeta: meta(gpuNamespace)}, metav1.CreateOptions{})
	t.OK(err, "namespace")
	t.NS = gpuNamespace
	claimTemplate(t)
	pod := shellPod(gpuPod, "env; echo ready; busybox httpd -p 8080 -h /etc; echo served > /etc/page; while read line; do echo heard $line; done; sleep 1000000")
	pod.Spec.Containers[0].Stdin = true
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("one-gpu")}}
	pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
	got := runPod(t, gpuNamespace, pod)
	t.Must(got.Spec.NodeName == nodeName && got.Status.PodIP != "", "the pod is on %q", got.Spec.NodeName)
	claims := claimsOf(t)
	t.Must(len(claims) == 1 && len(claims[0].Status.ReservedFor) == 1 && claims[0].Status.ReservedFor[0].UID == got.UID, "claims %v", claims)
}

func podLogs(t *T) {
	pods := t.client().CoreV1().Pods(gpuNamespace)
	var text string
	t.Wait(patience, "all of the log", func() (bool, string) {
		raw, err := pods.GetLogs(gpuPod, &corev1.PodLogOptions{}).DoRaw(t)
		t.OK(err, "logs")
		text = string(raw)
		return strings.Contains(text, "ready\n"), text
	})
	t.Must(strings.Contains(text, "GPU_DEVICE_0"), "the device's variables are not in the log: %s", text)
	raw, err := pods.GetLogs(gpuPod, &corev1.PodLogOptions{TailLines: ptr.To[int64](1)}).DoRaw(t)
	t.OK(err, "tail")
	t.Must(string(raw) == "ready\n", "the last line is %q", raw)
	ctx, cancel := context.WithCancel(t)
	defer cancel()
	stream, err := pods.GetLogs(gpuPod, &corev1.PodLogOptions{Follow: true}).Stream(ctx)
	t.OK(err, "follow")
	defer stream.Close()
	_, err = io.ReadFull(stream, make([]byte, len(text)))
	t.OK(err, "stream")
	_, err = pods.GetLogs("nobody", &corev1.PodLogOptions{}).DoRaw(t)
	t.Is(apierrors.IsNotFound, err, "logs of no pod")
}

type newExecutor func(t *T, path []string, options runtime.Object) (remotecommand.Executor, error)

func webSocket(t *T, path []string, options runtime.Object) (remotecommand.Executor, error) {
	r := t.client().CoreV1().RESTClient().Get().AbsPath(path...).VersionedParams(options, scheme.ParameterCodec)
	return remotecommand.NewWebSocketExecutor(t.Env.config, "GET", r.URL().String())
}

func spdyStream(t *T, path []string, options runtime.Object) (remotecommand.Executor, error) {
	r := t.client().CoreV1().RESTClient().Post().AbsPath(path...).VersionedParams(options, scheme.ParameterCodec)
	return remotecommand.NewSPDYExecutor(t.Env.config, "POST", r.URL())
}

func podPath(subresource string) []string {
	return []string{"/api/v1/namespaces", gpuNamespace, "pods", gpuPod, subresource}
}

func execWith(executor newExecutor) func(*T) {
	return func(t *T) {
		try := func(input string, command ...string) (string, string, error) {
			e, err := executor(t, podPath("exec"), &corev1.PodExecOptions{Command: command, Stdin: input != "", Stdout: true, Stderr: true})
			t.OK(err, "executor")
			var out, errs bytes.Buffer
			streams := remotecommand.StreamOptions{Stdout: &out, Stderr: &errs}
			if input != "" {
				streams.Stdin = strings.NewReader(input)
			}
			err = e.StreamWithContext(t, streams)
			return out.String(), errs.String(), err
		}
		out, _, err := try("", "env")
		t.OK(err, "exec")
		t.Must(strings.Contains(out, "GPU_DEVICE_0"), "the environment is %s", out)
		big := strings.Repeat("0123456789abcdef", 16384)
		out, errs, err := try(big, "sh", "-c", "busybox tee /dev/stderr | cat")
		t.OK(err, "exec with input")
		t.Must(out == big && errs == big, "%d bytes of %d came back, and %d", len(out), len(big), len(errs))
		_, _, err = try("", "sh", "-c", "exit 7")
		code, ok := err.(interface{ ExitStatus() int })
		t.Must(ok && code.ExitStatus() == 7, "exit status: %v", err)
		_, _, err = try("", "no-such-program")
		t.Must(err != nil, "a program that is not there runs")
	}
}

// What is written to the container comes back in its output.
func attachToPod(t *T) {
	e, err := webSocket(t, podPath("attach"), &corev1.PodAttachOptions{Stdin: true, Stdout: true, Stderr: true})
	t.OK(err, "executor")
	in, input := io.Pipe()
	output, out := io.Pipe()
	ctx, cancel := context.WithCancel(t)
	var running sync.WaitGroup
	running.Go(func() {
		e.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: out, Stderr: io.Discard})
		out.Close()
	})
	t.After(func() { cancel(); input.Close(); output.Close(); running.Wait() })
	go input.Write([]byte("you\n"))
	line := make([]byte, len("heard you\n"))
	_, err = io.ReadFull(output, line)
	t.OK(err, "answer")
	t.Must(string(line) == "heard you\n", "the answer is %q", line)
}

func spdyDialer(t *T) (httpstream.Dialer, error) {
	transport, upgrader, err := spdy.RoundTripperFor(t.Env.config)
	if err != nil {
		return nil, err
	}
	u := t.client().CoreV1().RESTClient().Post().AbsPath(podPath("portforward")...).URL()
	return spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", u), nil
}

func webSocketDialer(t *T) (httpstream.Dialer, error) {
	u := t.client().CoreV1().RESTClient().Get().AbsPath(podPath("portforward")...).URL()
	return portforward.NewSPDYOverWebsocketDialer(u, t.Env.config)
}

func forwardWith(dial func(*T) (httpstream.Dialer, error)) func(*T) {
	return func(t *T) {
		d, err := dial(t)
		t.OK(err, "dialer")
		stop, ready := make(chan struct{}), make(chan struct{})
		var errs bytes.Buffer
		f, err := portforward.NewOnAddresses(d, []string{"127.0.0.1"}, []string{"0:8080"}, stop, ready, io.Discard, &errs)
		t.OK(err, "forwarder")
		ended := make(chan error, 1)
		go func() { ended <- f.ForwardPorts() }()
		t.After(func() { close(stop); <-ended })
		select {
		case <-ready:
		case err := <-ended:
			ended <- err
			t.Fatalf("forward: %v", err)
		case <-time.After(20 * time.Second):
			t.Fatalf("the ports are not ready")
		}
		ports, err := f.GetPorts()
		t.OK(err, "ports")
		for range 3 {
			page := get(t, fmt.Sprintf("http://127.0.0.1:%d/page", ports[0].Local))
			t.Must(page == "served\n", "the page says %q (%s)", page, errs.String())
		}
	}
}

func get(t *T, url string) string {
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(url)
	t.OK(err, "get")
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	t.OK(err, "get")
	return string(body)
}

// The kubelet listens on the loopback, where a proxy leads nobody; the pod has an
// address.
// The kubelet listens on the loopback, where a proxy leads nobody.
func nodeProxy(t *T) {
	err := t.client().CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes", nodeName, "proxy/healthz").Do(t).Error()
	t.Is(apierrors.IsBadRequest, err, "proxy to the loopback")
	t.Must(strings.Contains(err.Error(), "address not allowed"), "the refusal says %v", err)
}

func volumesAndToken(t *T) {
	client := t.client()
	makeConfigMap(t, "settings")
	_, err := client.CoreV1().Secrets(t.NS).Create(t, &corev1.Secret{ObjectMeta: meta("hidden"), StringData: map[string]string{"word": "xyzzy"}}, metav1.CreateOptions{})
	t.OK(err, "secret")
	pod := shellPod("reader", "cat /settings/step /hidden/word; echo; cat /var/run/secrets/kubernetes.io/serviceaccount/token; echo; sleep 1000000")
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}},
		{Name: "hidden", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "hidden"}}}}
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "settings", MountPath: "/settings"}, {Name: "hidden", MountPath: "/hidden"}}
	runPod(t, t.NS, pod)
	var lines []string
	t.Wait(patience, "its output", func() (bool, string) {
		raw, err := client.CoreV1().Pods(t.NS).GetLogs("reader", &corev1.PodLogOptions{}).DoRaw(t)
		t.OK(err, "logs")
		lines = strings.Split(string(raw), "\n")
		return len(lines) == 3, string(raw)
	})
	t.Must(lines[0] == "0xyzzy", "the volumes hold %q", lines[0])
	review, err := client.AuthenticationV1().TokenReviews().Create(t, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: lines[1]}}, metav1.CreateOptions{})
	t.OK(err, "token review")
	t.Must(review.Status.Authenticated && review.Status.User.Username == "system:serviceaccount:"+t.NS+":default", "the token is %v", review.Status)
	t.OK(client.CoreV1().Pods(t.NS).Delete(t, "reader", metav1.DeleteOptions{}), "delete")
}

func jobRuns(t *T) {
	job := &batchv1.Job{ObjectMeta: meta("sum"), Spec: batchv1.JobSpec{Completions: ptr.To[int32](2), Parallelism: ptr.To[int32](2),
		Template: corev1.PodTemplateSpec{Spec: shellPod("", "echo $((6 * 7))").Spec}}}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	_, err := t.client().BatchV1().Jobs(t.NS).Create(t, job, metav1.CreateOptions{})
	t.OK(err, "job")
	t.Wait(patience, "the job's success", func() (bool, string) {
		j, err := t.client().BatchV1().Jobs(t.NS).Get(t, "sum", metav1.GetOptions{})
		t.OK(err, "get")
		return j.Status.CompletionTime != nil && j.Status.Succeeded == 2, fmt.Sprint(j.Status)
	})
}

// The kubelet goes on where it was.
func nodeSurvives(t *T) {
	before, err := t.client().CoreV1().Pods(gpuNamespace).Get(t, gpuPod, metav1.GetOptions{})
	t.OK(err, "get")
	t.Env.restart(t, syscall.SIGKILL)
	runPod(t, t.NS, shellPod("after", "sleep 1000000"))
	now, err := t.client().CoreV1().Pods(gpuNamespace).Get(t, gpuPod, metav1.GetOptions{})
	t.OK(err, "get")
	t.Must(now.UID == before.UID && now.Status.Phase == corev1.PodRunning && now.Status.ContainerStatuses[0].RestartCount == 0, "the pod is %v", now.Status)
	t.OK(t.client().CoreV1().Pods(t.NS).Delete(t, "after", metav1.DeleteOptions{}), "delete")
}

func deviceGoesBack(t *T) {
	t.NS = gpuNamespace
	t.OK(t.client().CoreV1().Pods(gpuNamespace).Delete(t, gpuPod, metav1.DeleteOptions{}), "delete")
	waitGone(t, "the pod", func() error {
		_, err := t.client().CoreV1().Pods(gpuNamespace).Get(t, gpuPod, metav1.GetOptions{})
		return err
	})
	waitNoClaims(t, 0)
	t.Must(len(devicesUsed(t)) == 0, "devices are left behind: %v", devicesUsed(t))
	t.OK(t.client().CoreV1().Namespaces().Delete(t, gpuNamespace, metav1.DeleteOptions{}), "delete the namespace")
	waitGone(t, "the namespace", func() error {
		_, err := t.client().CoreV1().Namespaces().Get(t, gpuNamespace, metav1.GetOptions{})
		return err
	})
}
