// SPDX-License-Identifier: Apache-2.0

// Command clients holds dray's API server against the clients of the real Kubernetes
// (README.md). It prints a line for each check, and a sum.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"k8s.io/klog/v2"
)

// Suites of checks, in the order in which they run.
var suites = []struct {
	name   string
	checks func() []check
}{
	{"crud", crudChecks},
}

func main() {
	dray := flag.String("dray", "build/dray", "the program")
	pattern := flag.String("run", "", "only checks whose names begin so or match")
	external := flag.String("kubeconfig", "", "ask this server instead of starting one")
	keep := flag.Bool("keep", false, "leave the server's folder behind")
	verbose := flag.Bool("v", false, "show what the client library logs")
	flag.Parse()
	if !*verbose {
		klog.SetLogger(klog.Logger{})
	}
	o, err := run(*dray, *external, *pattern, *keep, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		o.failed++
	}
	fmt.Println(&o)
	if o.failed > 0 {
		os.Exit(1)
	}
}

func run(dray, external, pattern string, keep bool, names []string) (o outcome, err error) {
	dir, err := os.MkdirTemp("", "dray-peers-")
	if err != nil {
		return o, err
	}
	if keep {
		fmt.Println("# in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	for _, s := range suites {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		sub := filepath.Join(dir, s.name)
		if err := os.Mkdir(sub, 0o700); err != nil {
			return o, err
		}
		e, err := newEnv(dray, sub, external)
		if err != nil {
			return o, err
		}
		one := runChecks(e, s.checks(), pattern)
		if err := e.stop(syscall.SIGTERM); err != nil {
			fmt.Println("not ok - the server ends\n#", err)
			one.failed++
		}
		o.passed, o.failed, o.skipped = o.passed+one.passed, o.failed+one.failed, o.skipped+one.skipped
	}
	return o, nil
}
