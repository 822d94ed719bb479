// SPDX-License-Identifier: Apache-2.0

// Command drivers measures a DRA driver as its kubelet sees it: dray's, or the public
// example driver, each beside a dray API server of its own. It prints one line of numbers
// (report), nanoseconds and bytes.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	drav1 "k8s.io/kubelet/pkg/apis/dra/v1"
)

const node = "n1"

type side struct {
	name, driver string
	device       string // a format
	start        func(*bench) *exec.Cmd
}

var sides = []side{
	{"dray", "gpu.example.com", "gpu-%d", (*bench).startDray},
	{"example", "gpu.example.com", "gpu-%d", (*bench).startExample},
}

type bench struct {
	side
	dray, example, dir string
	claims             int
	server, process    *exec.Cmd
	config             *rest.Config
	client             *kubernetes.Clientset
	dra                drav1.DRAPluginClient
	made               []*drav1.Claim
}

func main() {
	b := bench{}
	flag.StringVar(&b.dray, "dray", "build/dray", "the program")
	flag.StringVar(&b.example, "example", "", "the example driver")
	flag.IntVar(&b.claims, "claims", 200, "that are prepared")
	name := flag.String("side", "dray", "dray or example")
	flag.Parse()
	i := slices.IndexFunc(sides, func(s side) bool { return s.name == *name })
	if i < 0 {
		fmt.Fprintln(os.Stderr, "drivers: -side is dray or example")
		os.Exit(2)
	}
	b.side = sides[i]
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "drivers:", err)
		os.Exit(1)
	}
}

func (b *bench) run() (err error) {
	if b.dir, err = os.MkdirTemp("", "dray-b-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	defer func() { kill(b.process); kill(b.server) }()
	if err = b.startServer(); err == nil {
		err = b.makeClaims()
	}
	if err == nil {
		err = b.startDriver()
	}
	if err != nil {
		return err
	}
	return b.report()
}

func kill(c *exec.Cmd) {
	if c != nil && c.Process != nil {
		c.Process.Kill()
		c.Wait()
	}
}

// ---- what is measured ----

type series []time.Duration

func (s series) at(percent int) time.Duration {
	slices.Sort(s)
	return s[min(len(s)-1, len(s)*percent/100)]
}

// report: prepare p50 p99, unprepare p50 p99, GET p50 p99, RssAnon, VmRSS, Pss, recovery.
func (b *bench) report() error {
	prepares, unprepares, gets := make(series, 0), make(series, 0), make(series, 0)
	if err := b.each(b.prepare, &prepares); err != nil {
		return err
	}
	anon, rss, pss, err := memory(b.process.Process.Pid)
	if err != nil {
		return err
	}
	recovery, err := b.recover()
	if err != nil {
		return err
	}
	if err := b.each(b.unprepare, &unprepares); err != nil {
		return err
	}
	if err := b.readClaims(&gets); err != nil {
		return err
	}
	fmt.Println(prepares.at(50).Nanoseconds(), prepares.at(99).Nanoseconds(),
		unprepares.at(50).Nanoseconds(), unprepares.at(99).Nanoseconds(),
		gets.at(50).Nanoseconds(), gets.at(99).Nanoseconds(), anon, rss, pss, recovery.Nanoseconds())
	return nil
}

func (b *bench) each(do func(*drav1.Claim) error, took *series) error {
	for _, c := range b.made {
		start := time.Now()
		if err := do(c); err != nil {
			return err
		}
		*took = append(*took, time.Since(start))
	}
	return nil
}

func (b *bench) prepare(c *drav1.Claim) error {
	ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
	defer cancel()
	answer, err := b.dra.NodePrepareResources(ctx, &drav1.NodePrepareResourcesRequest{Claims: []*drav1.Claim{c}}, grpc.WaitForReady(true))
	if err == nil && answer.Claims[c.Uid].Error != "" {
		err = errors.New(answer.Claims[c.Uid].Error)
	}
	return err
}

func (b *bench) unprepare(c *drav1.Claim) error {
	ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
	defer cancel()
	answer, err := b.dra.NodeUnprepareResources(ctx, &drav1.NodeUnprepareResourcesRequest{Claims: []*drav1.Claim{c}}, grpc.WaitForReady(true))
	if err == nil && answer.Claims[c.Uid].Error != "" {
		err = errors.New(answer.Claims[c.Uid].Error)
	}
	return err
}

// recover is from the start of a process whose predecessor was killed to the first answer
// about a claim that was prepared.
func (b *bench) recover() (time.Duration, error) {
	kill(b.process)
	start := time.Now()
	if err := b.startDriver(); err != nil {
		return 0, err
	}
	return time.Since(start), b.prepare(b.made[0])
}

// readClaims is what the server takes for a driver's GET, without a client that decodes.
func (b *bench) readClaims(took *series) error {
	client, err := rest.HTTPClientFor(b.config)
	if err != nil {
		return err
	}
	for _, c := range b.made {
		start := time.Now()
		answer, err := client.Get(b.config.Host + "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/" + c.Name)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			return fmt.Errorf("get: %s %v", answer.Status, err)
		}
		*took = append(*took, time.Since(start))
	}
	return nil
}

func memory(pid int) (anon, rss, pss int64, err error) {
	if anon, err = field(pid, "status", "RssAnon:"); err == nil {
		rss, err = field(pid, "status", "VmRSS:")
	}
	if err == nil {
		pss, err = field(pid, "smaps_rollup", "Pss:")
	}
	return anon, rss, pss, err
}

func field(pid int, file, name string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == name {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n * 1024, err
		}
	}
	return 0, fmt.Errorf("%s has no %s", file, name)
}

// ---- who is asked ----

func (b *bench) startServer() error {
	data := filepath.Join(b.dir, "data")
	b.server = exec.Command(b.dray, "apiserver", "--data", data, "--listen", "127.0.0.1:0")
	b.server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := b.server.StdoutPipe()
	if err == nil {
		err = b.server.Start()
	}
	if err != nil {
		return err
	}
	if _, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		return err
	}
	if b.config, err = clientcmd.BuildConfigFromFlags("", b.kubeconfig()); err != nil {
		return err
	}
	b.config.QPS = -1
	b.client, err = kubernetes.NewForConfig(b.config)
	return err
}

func (b *bench) kubeconfig() string { return filepath.Join(b.dir, "data", "admin.kubeconfig") }

// makeClaims gives each claim a device of its own.
func (b *bench) makeClaims() error {
	ctx := context.Background()
	_, err := b.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	claims := b.client.ResourceV1().ResourceClaims("default")
	for i := range b.claims {
		c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("claim-%d", i)},
			Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
				{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu.example.com"}}}}}}
		if c, err = claims.Create(ctx, c, metav1.CreateOptions{}); err != nil {
			return err
		}
		c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
			Results: []resourcev1.DeviceRequestAllocationResult{{Request: "gpu", Driver: b.driver, Pool: node, Device: fmt.Sprintf(b.device, i)}}}}
		if c, err = claims.UpdateStatus(ctx, c, metav1.UpdateOptions{}); err != nil {
			return err
		}
		b.made = append(b.made, &drav1.Claim{Namespace: "default", Name: c.Name, Uid: string(c.UID)})
	}
	return nil
}

func (b *bench) path(names ...string) string {
	return filepath.Join(append([]string{b.dir}, names...)...)
}

// startDriver returns when the driver listens.
func (b *bench) startDriver() error {
	for _, dir := range []string{"k/plugins/" + b.driver, "k/plugins_registry", "cdi"} {
		if err := os.MkdirAll(b.path(dir), 0o755); err != nil {
			return err
		}
	}
	b.process = b.start(b)
	log, err := os.Create(b.path("driver.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	b.process.Stdout, b.process.Stderr = log, log
	b.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := b.process.Start(); err != nil {
		return err
	}
	conn, err := grpc.NewClient("unix:"+b.path("k/plugins", b.driver, "dra.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: time.Second}))
	if err != nil {
		return err
	}
	b.dra = drav1.NewDRAPluginClient(conn)
	return b.waitForAnswer()
}

func (b *bench) waitForAnswer() error {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err := b.dra.NodePrepareResources(ctx, &drav1.NodePrepareResourcesRequest{})
		cancel()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		// A new connection each time: gRPC would wait longer and longer.
		conn, err := grpc.NewClient("unix:"+b.path("k/plugins", b.driver, "dra.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return err
		}
		b.dra = drav1.NewDRAPluginClient(conn)
	}
}

func (b *bench) startDray() *exec.Cmd {
	var text strings.Builder
	text.WriteString("devices:\n")
	for i := range b.claims {
		fmt.Fprintf(&text, "- {name: gpu-%d, env: {GPU: gpu-%d}}\n", i, i)
	}
	os.WriteFile(b.path("devices.yaml"), []byte(text.String()), 0o600)
	return exec.Command(b.dray, "driver", "--kubeconfig", b.kubeconfig(), "--driver", b.driver, "--node", node,
		"--kubelet-dir", b.path("k"), "--cdi-dir", b.path("cdi"), "--devices", b.path("devices.yaml"))
}

func (b *bench) startExample() *exec.Cmd {
	return exec.Command(b.example, "--kubeconfig", b.kubeconfig(), "--node-name", node, "--cdi-root", b.path("cdi"),
		"--kubelet-plugins-directory-path", b.path("k/plugins"), "--kubelet-registrar-directory-path", b.path("k/plugins_registry"),
		"--num-devices", strconv.Itoa(b.claims), "--kube-api-qps", "100000", "--kube-api-burst", "100000")
}
