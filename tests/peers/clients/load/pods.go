// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/utils/ptr"
)

const poll = 100 * time.Millisecond

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "load"}},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example.com/job:1",
				Resources: corev1.ResourceRequirements{
					Claims:   []corev1.ResourceClaim{{Name: "gpu"}},
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
				},
			}},
			ResourceClaims: []corev1.PodResourceClaim{
				{Name: "gpu", ResourceClaimTemplateName: ptr.To("one-gpu")},
			},
		},
	}
}

// warmUp has one pod scheduled, so that whoever takes part is seen to be there, and waits
// until nothing is left of it.
func warmUp(ctx context.Context, c kubernetes.Interface) error {
	pods := c.CoreV1().Pods(space)
	if _, err := pods.Create(ctx, pod("warm-up"), metav1.CreateOptions{}); err != nil {
		return err
	}
	err := wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		p, err := pods.Get(ctx, "warm-up", metav1.GetOptions{})
		return err == nil && p.Spec.NodeName != "", err
	})
	if err != nil {
		return err
	}
	if err := pods.Delete(ctx, "warm-up", metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}); err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		claims, err := c.ResourceV1().ResourceClaims(space).List(ctx, metav1.ListOptions{})
		return err == nil && len(claims.Items) == 0, err
	})
}

// countBound reads the watch until n pods are there; it shows those with a node alone.
func countBound(ctx context.Context, w watch.Interface, n int) error {
	for n > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d pods have no node: %w", n, ctx.Err())
		case e, open := <-w.ResultChan():
			if !open {
				return fmt.Errorf("the watch ended, %d pods before the end", n)
			}
			if e.Type == watch.Error {
				return apierrors.FromObject(e.Object)
			}
			if e.Type == watch.Added {
				n--
			}
		}
	}
	return nil
}

// watchBound shows each pod when it has got its node. kube-apiserver ends watches that
// fall behind: it goes on where that one ended.
func watchBound(ctx context.Context, c kubernetes.Interface) (watch.Interface, error) {
	now, err := c.CoreV1().Pods(space).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return watchtools.NewRetryWatcherWithContext(ctx, now.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = "spec.nodeName!="
			return c.CoreV1().Pods(space).Watch(ctx, o)
		},
	})
}

// burst makes all pods and returns how many got a node in a second.
func burst(ctx context.Context, clients []kubernetes.Interface, o options) (float64, error) {
	w, err := watchBound(ctx, clients[0])
	if err != nil {
		return 0, err
	}
	defer w.Stop()
	made := make(chan error, 1)
	start := time.Now()
	go func() {
		made <- each(clients, o.pods, func(c kubernetes.Interface, i int) error {
			_, err := c.CoreV1().Pods(space).Create(ctx, pod(fmt.Sprintf("job-%05d", i)), metav1.CreateOptions{})
			return err
		})
	}()
	if err := countBound(ctx, w, o.pods); err != nil {
		select {
		case failed := <-made:
			if failed != nil {
				return 0, failed
			}
		default:
		}
		return 0, err
	}
	return float64(o.pods) / time.Since(start).Seconds(), <-made
}
