// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const quotaDevices = "gpu.example.com.deviceclass.resource.k8s.io/devices"

func makeQuota(t *T, hard map[corev1.ResourceName]int64) {
	list := corev1.ResourceList{}
	for name, n := range hard {
		list[name] = *quantity(n)
	}
	_, err := t.client().CoreV1().ResourceQuotas(t.NS).Create(t, &corev1.ResourceQuota{
		ObjectMeta: meta("few"), Spec: corev1.ResourceQuotaSpec{Hard: list}}, metav1.CreateOptions{})
	t.OK(err, "quota")
	for name := range hard {
		waitUsed(t, name, 0)
	}
}

func waitUsed(t *T, name corev1.ResourceName, n int64) {
	t.Wait(patience, fmt.Sprintf("%d of %s used", n, name), func() (bool, string) {
		q, err := t.client().CoreV1().ResourceQuotas(t.NS).Get(t, "few", metav1.GetOptions{})
		t.OK(err, "get")
		used, ok := q.Status.Used[name]
		return ok && used.Value() == n, fmt.Sprint(q.Status)
	})
}

// quotaIsKept: many at once get no more than there is, and what is given back can be had again.
func quotaIsKept(t *T) {
	makeQuota(t, map[corev1.ResourceName]int64{corev1.ResourcePods: 3})
	var group sync.WaitGroup
	errs := make([]error, 32)
	for i := range errs {
		group.Go(func() {
			pod := makePod(fmt.Sprintf("p%d", i))
			_, errs[i] = t.client().CoreV1().Pods(t.NS).Create(t, pod, metav1.CreateOptions{})
		})
	}
	group.Wait()
	made := ""
	for i, err := range errs {
		if err == nil {
			made += fmt.Sprintf(" p%d", i)
		} else {
			t.Must(apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3"),
				"refused otherwise: %v", err)
		}
	}
	names := strings.Fields(made)
	t.Must(len(names) == 3, "3 pods fit, these were made:%s", made)
	t.OK(t.client().CoreV1().Pods(t.NS).Delete(t, names[0], metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}), "delete")
	waitUsed(t, corev1.ResourcePods, 2)
	_, err := t.client().CoreV1().Pods(t.NS).Create(t, makePod("again"), metav1.CreateOptions{})
	t.OK(err, "a pod in the place of another")
}

// quotaOfDevices: claims, and the pods of a controller that cannot have theirs.
func quotaOfDevices(t *T) {
	makeQuota(t, map[corev1.ResourceName]int64{quotaDevices: 2})
	claims := t.client().ResourceV1().ResourceClaims(t.NS)
	for i := range 3 {
		_, err := claims.Create(t, &resourcev1.ResourceClaim{ObjectMeta: meta(fmt.Sprintf("c%d", i)), Spec: claimSpec()}, metav1.CreateOptions{})
		if i < 2 {
			t.OK(err, "claim")
		} else {
			t.Is(apierrors.IsForbidden, err, "one claim too many")
		}
	}
	t.OK(claims.Delete(t, "c0", metav1.DeleteOptions{}), "delete")
	waitUsed(t, quotaDevices, 1)
	claimTemplate(t)
	makeDeployment(t, "quota", 2, true)
	t.Wait(patience, "one pod with its claim", func() (bool, string) {
		pods := podsOf(t, "quota")
		return len(claimsOf(t)) == 2 && len(pods) == 2, describe(pods)
	})
	waitUsed(t, quotaDevices, 2)
}
