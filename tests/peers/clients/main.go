// SPDX-License-Identifier: Apache-2.0

// Command clients holds dray's API server against the clients of the real Kubernetes
// (README.md). It prints a line for each check, and a sum.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"k8s.io/klog/v2"
)

var allKinds = []string{"--runtime-config", "api/all=true"}

// Suites of checks, in the order in which they run.
var suites = []suite{
	{name: "crud", checks: crudChecks, flags: allKinds},
	{name: "informers", checks: informerChecks},
	{name: "apply", checks: applyChecks},
	{name: "events", checks: eventChecks},
	{name: "admission", checks: func() []check { return admissionChecks }},
	{name: "discovery", checks: discoveryChecks, flags: allKinds},
	{name: "openapi", checks: openapiChecks, flags: allKinds},
	{name: "customs", checks: customChecks},
	{name: "cluster", checks: clusterChecks, begin: clusterBegin, end: clusterEnd},
	{name: "strict", checks: strictChecks, begin: strictBegin, end: clusterEnd,
		flags: []string{"--enable-admission-plugins", "NodeRestriction"}},
	{name: "kubectl", checks: kubectlChecks, begin: kubectlBegin, end: clusterEnd},
	{name: "helm", checks: helmChecks, begin: helmBegin, end: clusterEnd},
	{name: "driver", checks: driverChecks, begin: driverBegin},
	{name: "kubelet", checks: kubeletChecks, begin: kubeletBegin, end: nodeEnd,
		flags: []string{"--enable-admission-plugins", "NodeRestriction", "--kubelet-preferred-address-types", "Hostname"}},
	{name: "node", checks: nodeChecks, begin: nodeBegin, end: nodeEnd,
		flags: []string{"--enable-admission-plugins", "NodeRestriction", "--kubelet-preferred-address-types", "Hostname"}},
	{name: "join", checks: joinChecks, begin: joinBegin, end: nodeEnd,
		flags: []string{"--enable-admission-plugins", "NodeRestriction", "--enable-bootstrap-token-auth"}},
}

type options struct {
	dray, bin, tools, docs, external, pattern, definitions string
	keep                                                   bool
}

func main() {
	var opts options
	// Libraries have put flags of theirs into the usual set.
	flags := flag.NewFlagSet(os.Args[0], flag.ExitOnError)
	flags.StringVar(&opts.dray, "dray", "build/dray", "the program")
	flags.StringVar(&opts.bin, "bin", "", "folder of Kubernetes' own programs")
	flags.StringVar(&opts.tools, "tools", "", "folder of the script that starts a node")
	flags.StringVar(&opts.definitions, "definitions", "", "folders of CustomResourceDefinitions, with colons between")
	flags.StringVar(&opts.docs, "docs", "", "the table of what is served (docs/served.md)")
	flags.StringVar(&opts.pattern, "run", "", "only checks whose names begin so or match")
	flags.StringVar(&opts.external, "kubeconfig", "", "ask this server instead of starting one")
	flags.BoolVar(&opts.keep, "keep", false, "leave the folder of servers and logs behind")
	verbose := flags.Bool("v", false, "show what the client library logs")
	flags.Parse(os.Args[1:])
	if !*verbose {
		klog.SetLogger(klog.Logger{})
	}
	o, err := runSuites(&opts, flags.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		o.failed++
	}
	fmt.Println(&o)
	if o.failed > 0 {
		os.Exit(1)
	}
}

func runSuites(opts *options, names []string) (o outcome, err error) {
	dir, err := os.MkdirTemp("", "dray-peers-")
	if err != nil {
		return o, err
	}
	if opts.keep {
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
		one, err := runSuite(opts, s, sub)
		o.add(one)
		if err != nil {
			return o, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return o, nil
}

func runSuite(opts *options, s suite, dir string) (o outcome, err error) {
	e, err := newEnv(opts, dir, s.flags...)
	if err != nil {
		return o, err
	}
	if s.begin != nil {
		err = s.begin(e)
	}
	var why skip
	switch {
	case errors.As(err, &why):
		fmt.Printf("ok - %s # SKIP %s\n", s.name, why.text)
		o.skipped += len(s.checks())
	case err != nil:
		fmt.Printf("not ok - %s begins\n# %v\n", s.name, err)
		o.failed++
	default:
		o.add(runChecks(e, s.checks(), opts.pattern))
		if s.end != nil {
			o.add(s.end(e))
		}
	}
	e.stopAll()
	if err := e.stop(syscall.SIGTERM); err != nil {
		fmt.Printf("not ok - %s: the server ends\n# %v\n", s.name, err)
		o.failed++
	}
	return o, nil
}
