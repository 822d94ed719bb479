// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// hollowKubelet does what the kubelets of nodes without machines would: pods that are
// bound become running and ready, those labelled finishes succeed, and those that are
// deleted go.
type hollowKubelet struct {
	client kubernetes.Interface
	stop   context.CancelFunc
}

const finishes = "example.com/finishes"

func startHollow(client kubernetes.Interface) *hollowKubelet {
	ctx, stop := context.WithCancel(context.Background())
	h := &hollowKubelet{client: client, stop: stop}
	factory := informers.NewSharedInformerFactory(client, 0)
	factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { h.see(ctx, o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) { h.see(ctx, o.(*corev1.Pod)) },
	})
	factory.Start(ctx.Done())
	return h
}

// see does one step; the step's event brings the pod again. Errors are those of pods
// that change under it, which bring them again too.
func (h *hollowKubelet) see(ctx context.Context, p *corev1.Pod) {
	if p.Spec.NodeName == "" {
		return
	}
	pods := h.client.CoreV1().Pods(p.Namespace)
	switch {
	case p.DeletionTimestamp != nil:
		pods.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0),
			Preconditions: &metav1.Preconditions{UID: &p.UID}})
	case p.Status.Phase == corev1.PodPending:
		h.setStatus(ctx, p, corev1.PodRunning)
	case p.Status.Phase == corev1.PodRunning && p.Labels[finishes] != "":
		h.setStatus(ctx, p, corev1.PodSucceeded)
	}
}

func (h *hollowKubelet) setStatus(ctx context.Context, p *corev1.Pod, phase corev1.PodPhase) {
	now, ready := metav1.NewTime(time.Now()), corev1.ConditionTrue
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	if phase == corev1.PodSucceeded {
		ready = corev1.ConditionFalse
		state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: now}}
	}
	status := map[string]any{"phase": phase, "podIP": "10.1.2.3", "podIPs": []corev1.PodIP{{IP: "10.1.2.3"}},
		"conditions": []corev1.PodCondition{
			{Type: corev1.PodReady, Status: ready, LastTransitionTime: now},
			{Type: corev1.ContainersReady, Status: ready, LastTransitionTime: now}},
		"containerStatuses": []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, State: state,
			Ready: ready == corev1.ConditionTrue, Image: p.Spec.Containers[0].Image}}}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.UID}, "status": status})
	if err != nil {
		panic(err)
	}
	h.client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status")
}

// makeNode is a node that is ready, with room for pods and some devices.
func makeNode(ctx context.Context, client kubernetes.Interface, name string, devices int) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
	node, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16"),
		corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110")}
	now := metav1.Now()
	status := corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: now, LastTransitionTime: now}}}
	body, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	if _, err = client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status"); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	// The taint of new nodes is lifted by the node life cycle controller, which would
	// miss the heartbeats of these.
	if _, err = client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("taints: %w", err)
	}
	if devices == 0 {
		return nil
	}
	slice := makeSlice(name+"-gpus", name, devices)
	slice.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: name, UID: node.UID}}
	_, err = client.ResourceV1().ResourceSlices().Create(ctx, slice, metav1.CreateOptions{})
	return err
}

func quantity(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.DecimalSI) }
