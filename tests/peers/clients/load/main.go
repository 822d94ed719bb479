// SPDX-License-Identifier: Apache-2.0

// Load asks of a cluster what a burst of jobs does: nodes with devices, one claim template,
// and pods made by many clients at once, each with a device, until every pod has its node.
// It prints pods per second, from the first create to the last binding seen.
//
//	load -kubeconfig FILE -nodes 100 -pods 800
//
// What it makes goes into the namespace "load" and onto nodes "load-N"; a cluster serves for one run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"
)

type options struct {
	kubeconfig                    string
	nodes, devices, pods, clients int
	limit                         time.Duration
}

func read() options {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "whom to ask")
	flag.IntVar(&o.nodes, "nodes", 100, "nodes")
	flag.IntVar(&o.devices, "devices", 8, "devices of a node")
	flag.IntVar(&o.pods, "pods", 800, "pods, each with one device")
	flag.IntVar(&o.clients, "clients", 32, "clients that make them, each with a connection of its own")
	flag.DurationVar(&o.limit, "limit", 10*time.Minute, "when to give up")
	flag.Parse()
	return o
}

func run(o options) (float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), o.limit)
	defer cancel()
	clients, err := connect(o.kubeconfig, o.clients)
	if err != nil {
		return 0, err
	}
	if err := makeCluster(ctx, clients, o); err != nil {
		return 0, fmt.Errorf("the cluster: %w", err)
	}
	if err := warmUp(ctx, clients[0]); err != nil {
		return 0, fmt.Errorf("one pod, to see that all is there: %w", err)
	}
	return burst(ctx, clients, o)
}

func main() {
	rate, err := run(read())
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
	fmt.Printf("%.1f\n", rate)
}
