// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
)

const (
	space  = "load"
	driver = "gpu.example.com"
	class  = "load-gpu"
)

// connect returns clients that share no connection.
func connect(kubeconfig string, n int) ([]kubernetes.Interface, error) {
	var all []kubernetes.Interface
	for range n {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return nil, err
		}
		config.QPS = -1
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.Dial = (&net.Dialer{}).DialContext // a transport of its own
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		all = append(all, client)
	}
	return all, nil
}

// each calls do for 0 … n-1, shared out among the clients; an error ends a client's share.
func each(clients []kubernetes.Interface, n int, do func(kubernetes.Interface, int) error) error {
	var wait sync.WaitGroup
	failed := make(chan error, len(clients))
	for k, client := range clients {
		wait.Go(func() {
			for i := k; i < n; i += len(clients) {
				if err := do(client, i); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wait.Wait()
	close(failed)
	return <-failed
}

func nodeName(i int) string { return fmt.Sprintf("load-%05d", i) }

func node(i int) *corev1.Node {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("128"),
		corev1.ResourceMemory: resource.MustParse("1056Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), Labels: map[string]string{
			"kubernetes.io/hostname": nodeName(i),
			"kubernetes.io/os":       "linux",
		}},
		Status: corev1.NodeStatus{
			Capacity:    room,
			Allocatable: room,
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue,
				Reason: "KubeletReady", LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
			}},
		},
	}
}

func attributes(node, i int) map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
	text := func(s string) resourcev1.DeviceAttribute {
		return resourcev1.DeviceAttribute{StringValue: &s}
	}
	return map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"architecture":                    text("Hopper"),
		"brand":                           text("Nvidia"),
		"cudaComputeCapability":           {VersionValue: ptr.To("9.0.0")},
		"driverVersion":                   {VersionValue: ptr.To("580.65.6")},
		"index":                           {IntValue: ptr.To(int64(i))},
		"productName":                     text("NVIDIA H100 80GB HBM3"),
		"resource.kubernetes.io/pcieRoot": text(fmt.Sprintf("pci0000:%02x", 16*i%256)),
		"type":                            text("gpu"),
		"uuid":                            text(fmt.Sprintf("GPU-%08d-0000-4000-8000-%012d", node, i)),
	}
}

func slice(node, devices int) *resourcev1.ResourceSlice {
	var all []resourcev1.Device
	for i := range devices {
		all = append(all, resourcev1.Device{
			Name:       fmt.Sprintf("gpu-%d", i),
			Attributes: attributes(node, i),
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
				"memory": {Value: resource.MustParse("81559Mi")},
			},
		})
	}
	return &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: nodeName(node) + "-" + driver},
		Spec: resourcev1.ResourceSliceSpec{
			Driver:   driver,
			NodeName: ptr.To(nodeName(node)),
			Pool:     resourcev1.ResourcePool{Name: nodeName(node), Generation: 1, ResourceSliceCount: 1},
			Devices:  all,
		},
	}
}

// makeNode makes a node, lifts the taint that every new node gets, and publishes its devices.
func makeNode(ctx context.Context, c kubernetes.Interface, i, devices int) error {
	if _, err := c.CoreV1().Nodes().Create(ctx, node(i), metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := c.CoreV1().Nodes().Patch(ctx, nodeName(i), types.MergePatchType,
		[]byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	_, err = c.ResourceV1().ResourceSlices().Create(ctx, slice(i, devices), metav1.CreateOptions{})
	return err
}

func makeClass(ctx context.Context, c kubernetes.Interface) error {
	expression := fmt.Sprintf("device.driver == %q", driver)
	_, err := c.ResourceV1().DeviceClasses().Create(ctx, &resourcev1.DeviceClass{
		ObjectMeta: metav1.ObjectMeta{Name: class},
		Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{
			{CEL: &resourcev1.CELDeviceSelector{Expression: expression}},
		}},
	}, metav1.CreateOptions{})
	return err
}

func makeTemplate(ctx context.Context, c kubernetes.Interface) error {
	_, err := c.ResourceV1().ResourceClaimTemplates(space).Create(ctx, &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: "one-gpu"},
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{
			Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
				{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class}},
			}},
		}},
	}, metav1.CreateOptions{})
	return err
}

func makeCluster(ctx context.Context, clients []kubernetes.Interface, o options) error {
	first := clients[0]
	_, err := first.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := makeClass(ctx, first); err != nil {
		return err
	}
	if err := makeTemplate(ctx, first); err != nil {
		return err
	}
	return each(clients, o.nodes, func(c kubernetes.Interface, i int) error {
		return makeNode(ctx, c, i, o.devices)
	})
}
