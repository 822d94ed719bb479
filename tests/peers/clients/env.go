// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const protobuf = "application/vnd.kubernetes.protobuf"

// env is a server of dray's in a folder of its own, and who asks it.
type env struct {
	*options
	dir    string // of data and logs
	flags  []string
	listen string
	config *rest.Config
	server *exec.Cmd
	ended  chan error // the server's
	output *os.File
	killed time.Time // when the server was stopped for the first time, to start again

	programs []*program
	ends     []func() // run when the suite has ended, the last one first
	hollow   *hollowKubelet
}

// newEnv starts the server, or takes the external one.
func newEnv(opts *options, dir string, flags ...string) (*env, error) {
	e := &env{options: opts, dir: dir, flags: flags, listen: "127.0.0.1:0"}
	var err error
	if opts.external != "" {
		e.config, err = clientcmd.BuildConfigFromFlags("", opts.external)
		return e, e.unlimited(err)
	}
	if e.output, err = os.Create(filepath.Join(dir, "apiserver.log")); err != nil {
		return nil, err
	}
	if err = e.start(); err != nil {
		return nil, err
	}
	e.config, err = clientcmd.BuildConfigFromFlags("", e.kubeconfig())
	return e, e.unlimited(err)
}

func (e *env) unlimited(err error) error {
	if err == nil {
		e.config.QPS = -1
	}
	return err
}

func (e *env) kubeconfig() string {
	if e.external != "" {
		return e.external
	}
	return filepath.Join(e.dir, "data", "admin.kubeconfig")
}

// authority is a file of the certificates that clients trust.
func (e *env) authority() string { return filepath.Join(e.dir, "authority.crt") }

func (e *env) loadAuthority() error {
	if err := rest.LoadTLSFiles(e.config); err != nil {
		return err
	}
	return os.WriteFile(e.authority(), e.config.CAData, 0o600)
}

// start returns when the server has said that it is ready. A later start takes the port
// of the first.
func (e *env) start() error {
	args := append([]string{"apiserver", "--data", filepath.Join(e.dir, "data"), "--listen", e.listen}, e.flags...)
	e.server = exec.Command(e.dray, args...)
	e.server.Stderr = e.output
	out, err := e.server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := e.server.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		e.server.Wait()
		return fmt.Errorf("the server does not start: see %s", e.output.Name())
	}
	if at := strings.Index(line, "https://"); at >= 0 {
		e.listen = strings.Fields(line[at+len("https://"):])[0]
	}
	e.ended = make(chan error, 1)
	go func(cmd *exec.Cmd, ended chan error) {
		lines.WriteTo(e.output)
		ended <- cmd.Wait()
	}(e.server, e.ended)
	return nil
}

// stop ends the server with a signal and waits for it.
func (e *env) stop(s syscall.Signal) error {
	if e.server == nil {
		return nil
	}
	e.server.Process.Signal(s)
	select {
	case err := <-e.ended:
		e.server = nil
		if s == syscall.SIGKILL {
			return nil
		}
		return err
	case <-time.After(15 * time.Second):
		e.server.Process.Kill()
		e.server = nil
		return fmt.Errorf("the server does not end")
	}
}

// restart is a crash or an orderly end, and a new start on the same port.
func (e *env) restart(t *T, s syscall.Signal) {
	if e.server == nil {
		t.Skipf("the server is not ours to restart")
	}
	if e.killed.IsZero() {
		e.killed = time.Now()
	}
	t.OK(e.stop(s), "stop")
	t.OK(e.start(), "start")
}

// client is a typed client that speaks a content type, with requests seen by watch.
func (e *env) client(contentType string) *kubernetes.Clientset {
	return kubernetes.NewForConfigOrDie(e.speaking(contentType))
}

func (e *env) speaking(contentType string) *rest.Config {
	c := rest.CopyConfig(e.config)
	c.ContentType = contentType
	c.AcceptContentTypes = contentType
	return c
}

func (e *env) makeNamespace(t *T) {
	namespaces := e.client("application/json").CoreV1().Namespaces()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t.NS}}
	_, err := namespaces.Create(t, ns, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("no namespace: %v", err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	_, err = e.client("application/json").CoreV1().ServiceAccounts(t.NS).Create(t, account, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("no account: %v", err)
	}
	name := t.NS
	t.After(func() { namespaces.Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

// requests are those that a client has sent, "GET /api/v1/pods?watch=true".
type requests struct {
	mu    sync.Mutex
	lines []string
	// When set, decides whether a request may leave.
	refuse func(*http.Request) error
}

func (q *requests) RoundTrip(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	q.mu.Lock()
	q.lines = append(q.lines, r.Method+" "+r.URL.RequestURI())
	refuse := q.refuse
	q.mu.Unlock()
	if refuse != nil {
		if err := refuse(r); err != nil {
			return nil, err
		}
	}
	return next.RoundTrip(r)
}

func (q *requests) count(parts ...string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, line := range q.lines {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(line, part)
		}
		if all {
			n++
		}
	}
	return n
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// observed is a configuration whose requests are kept.
func observed(c *rest.Config) (*rest.Config, *requests) {
	q := &requests{}
	c = rest.CopyConfig(c)
	c.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return q.RoundTrip(next, r) })
	})
	return c, q
}
