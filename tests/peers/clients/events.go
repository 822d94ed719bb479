// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
)

func eventChecks() []check {
	return []check{
		{name: "events/core", run: eventsCore},
		{name: "events/events.k8s.io", run: eventsNew},
		{name: "lease/second-takes-over", run: leaseTakeOver},
		{name: "lease/leader-survives-a-restart", run: leaseRestart},
	}
}

func eventsOf(t *T, name string) []corev1.Event {
	list, err := t.client().CoreV1().Events(t.NS).List(t, metav1.ListOptions{
		FieldSelector: "involvedObject.kind=ConfigMap,involvedObject.name=" + name})
	t.OK(err, "events")
	return list.Items
}

// An event that happens again is counted, by a patch.
func eventsCore(t *T) {
	broadcaster := record.NewBroadcaster()
	t.After(broadcaster.Shutdown)
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: t.client().CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "check"})
	about := makeConfigMap(t, "about")
	for range 3 {
		recorder.Event(about, corev1.EventTypeNormal, "Tested", "something happened")
	}
	recorder.Event(about, corev1.EventTypeWarning, "Failed", "something else")
	t.Wait(10*time.Second, "two events, one of them three times", func() (bool, string) {
		list := eventsOf(t, about.Name)
		counts := map[string]int32{}
		for _, e := range list {
			counts[e.Reason] = e.Count
		}
		return len(list) == 2 && counts["Tested"] == 3 && counts["Failed"] == 1, fmt.Sprint(counts)
	})
	list, err := t.client().CoreV1().Events(t.NS).List(t, metav1.ListOptions{FieldSelector: "type=Warning,reason=Failed"})
	t.OK(err, "events")
	t.Must(len(list.Items) == 1, "%d warnings", len(list.Items))
}

// The same events are seen in both groups.
func eventsNew(t *T) {
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: t.client().EventsV1()})
	t.OK(broadcaster.StartRecordingToSinkWithContext(t), "broadcaster")
	t.After(broadcaster.Shutdown)
	recorder := broadcaster.NewRecorder(scheme.Scheme, "example.com/check")
	about := makeConfigMap(t, "about")
	for range 2 {
		recorder.Eventf(about, nil, corev1.EventTypeNormal, "Tested", "Testing", "something happened")
		time.Sleep(10 * time.Millisecond) // the broadcaster keeps their order
	}
	t.Wait(10*time.Second, "an event with a series", func() (bool, string) {
		list, err := t.client().EventsV1().Events(t.NS).List(t, metav1.ListOptions{})
		t.OK(err, "events")
		return len(list.Items) == 1 && list.Items[0].Series != nil && list.Items[0].Series.Count >= 2 &&
			list.Items[0].Regarding.Name == about.Name && list.Items[0].Note == "something happened", fmt.Sprint(list.Items)
	})
	old := eventsOf(t, about.Name)
	t.Must(len(old) == 1 && old[0].Message == "something happened" && old[0].ReportingController == "example.com/check", "core event %v", old)
}

// candidate runs for the lease until stop; leads says whether it holds it.
type candidate struct {
	leads atomic.Bool
	stop  context.CancelFunc
	ended chan struct{}
}

func runCandidate(t *T, name string) *candidate {
	ctx, stop := context.WithCancel(t)
	c := &candidate{stop: stop, ended: make(chan struct{})}
	client := t.client()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: t.NS, Name: "election"},
			Client: client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: name}},
		LeaseDuration: 6 * time.Second, RenewDeadline: 4 * time.Second, RetryPeriod: 200 * time.Millisecond,
		ReleaseOnCancel: true, Name: name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { c.leads.Store(true) },
			OnStoppedLeading: func() { c.leads.Store(false) }}})
	t.OK(err, "elector")
	go func() { elector.Run(ctx); close(c.ended) }()
	t.After(func() { stop(); <-c.ended })
	return c
}

func holder(t *T) *coordinationv1.Lease {
	l, err := t.client().CoordinationV1().Leases(t.NS).Get(t, "election", metav1.GetOptions{})
	t.OK(err, "lease")
	return l
}

func leads(c *candidate) func() (bool, string) {
	return func() (bool, string) { return c.leads.Load(), "it does not lead" }
}

func leaseTakeOver(t *T) {
	first := runCandidate(t, "first")
	t.Wait(5*time.Second, "the first to lead", leads(first))
	second := runCandidate(t, "second")
	time.Sleep(time.Second) // several tries
	t.Must(first.leads.Load() && !second.leads.Load(), "two leaders, or another one")
	t.Must(ptr.Deref(holder(t).Spec.HolderIdentity, "") == "first", "the lease says %v", holder(t).Spec)
	first.stop()
	t.Wait(5*time.Second, "the second to lead", leads(second))
	t.Must(ptr.Deref(holder(t).Spec.LeaseTransitions, 0) >= 1, "the lease says %v", holder(t).Spec)
}

func leaseRestart(t *T) {
	c := runCandidate(t, "only")
	t.Wait(5*time.Second, "it to lead", leads(c))
	before := holder(t).Spec.RenewTime
	t.Env.restart(t, syscall.SIGKILL)
	t.Wait(5*time.Second, "it to renew", func() (bool, string) {
		now := holder(t).Spec.RenewTime
		return before.Before(now), fmt.Sprint(now)
	})
	t.Must(c.leads.Load(), "it has lost the lease")
}
