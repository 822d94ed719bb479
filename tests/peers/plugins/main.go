// SPDX-License-Identifier: Apache-2.0

// Upstream's admission plugins as a program: JSON lines, an answer a question, as the oracle.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	resourcequotaapi "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1conv "k8s.io/kubernetes/pkg/apis/core/v1"
	quotacore "k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	testclock "k8s.io/utils/clock/testing"
)

type fields map[string]any

type question struct {
	ID       string          `json:"id,omitempty"`
	Level    string          `json:"level"`
	Version  string          `json:"version"`
	Resource string          `json:"resource"`
	Sub      string          `json:"sub"`
	Object   json.RawMessage `json:"object"`
	Old      json.RawMessage `json:"old"`
	Range    json.RawMessage `json:"range"`

	Quotas  []corev1.ResourceQuota             `json:"quotas"`
	Limited []resourcequotaapi.LimitedResource `json:"limited"`
	Now     string                             `json:"now"`
}

// ---- PodSecurity ----

var evaluator = func() policy.Evaluator {
	e, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(err)
	}
	return e
}()

func answerPodSecurity(q *question) (fields, error) {
	var pod corev1.Pod
	if err := json.Unmarshal(q.Object, &pod); err != nil {
		return nil, err
	}
	version, err := api.ParseVersion(q.Version)
	if err != nil {
		return nil, err
	}
	at := api.LevelVersion{Level: api.Level(q.Level), Version: version}
	result := policy.AggregateCheckResults(evaluator.EvaluatePod(at, &pod.ObjectMeta, &pod.Spec))
	return fields{"allowed": result.Allowed, "detail": result.ForbiddenDetail(),
		"reasons": result.ForbiddenReason()}, nil
}

// ---- LimitRanger ----

// messages of an error, each once and sorted: upstream's order is that of Go's maps.
func messages(err error) []string {
	out := []string{}
	if all, ok := err.(utilerrors.Aggregate); ok {
		for _, e := range all.Errors() {
			out = append(out, e.Error())
		}
	} else if err != nil {
		out = append(out, err.Error())
	}
	sort.Strings(out)
	once := out[:0]
	for i, m := range out {
		if i == 0 || m != out[i-1] {
			once = append(once, m)
		}
	}
	return once
}

func answerLimits(q *question) (fields, error) {
	var limits corev1.LimitRange
	if err := json.Unmarshal(q.Range, &limits); err != nil {
		return nil, err
	}
	if q.Resource != "pods" {
		claim, err := read(q.Resource, q.Object)
		if err != nil {
			return nil, err
		}
		err = limitranger.PersistentVolumeClaimValidateLimitFunc(&limits, claim.(*core.PersistentVolumeClaim))
		return fields{"problems": messages(err)}, nil
	}
	object, err := read(q.Resource, q.Object)
	if err != nil {
		return nil, err
	}
	pod := object.(*core.Pod)
	if err := limitranger.PodMutateLimitFunc(&limits, pod); err != nil {
		return nil, err
	}
	problems := messages(limitranger.PodValidateLimitFunc(&limits, pod))
	var out corev1.Pod
	if err := corev1conv.Convert_core_Pod_To_v1_Pod(pod, &out, nil); err != nil {
		return nil, err
	}
	resources := []corev1.ResourceRequirements{}
	for _, c := range append(out.Spec.Containers, out.Spec.InitContainers...) {
		resources = append(resources, c.Resources)
	}
	return fields{"problems": problems, "resources": resources,
		"note": out.Annotations["kubernetes.io/limit-ranger"]}, nil
}

// ---- ResourceQuota ----

func read(resource string, text json.RawMessage) (runtime.Object, error) {
	var err error
	switch resource {
	case "pods":
		var in corev1.Pod
		out := &core.Pod{}
		if err = json.Unmarshal(text, &in); err == nil {
			err = corev1conv.Convert_v1_Pod_To_core_Pod(&in, out, nil)
		}
		return out, err
	case "services":
		var in corev1.Service
		out := &core.Service{}
		if err = json.Unmarshal(text, &in); err == nil {
			err = corev1conv.Convert_v1_Service_To_core_Service(&in, out, nil)
		}
		return out, err
	case "persistentvolumeclaims":
		var in corev1.PersistentVolumeClaim
		out := &core.PersistentVolumeClaim{}
		if err = json.Unmarshal(text, &in); err == nil {
			err = corev1conv.Convert_v1_PersistentVolumeClaim_To_core_PersistentVolumeClaim(&in, out, nil)
		}
		return out, err
	}
	return nil, fmt.Errorf("no objects %q", resource)
}

func evaluatorOf(q *question) (quota.Evaluator, error) {
	now, err := time.Parse(time.RFC3339, q.Now)
	switch q.Resource {
	case "pods":
		return quotacore.NewPodEvaluator(nil, testclock.NewFakeClock(now)), err
	case "services":
		return quotacore.NewServiceEvaluator(nil), nil
	case "persistentvolumeclaims":
		return quotacore.NewPersistentVolumeClaimEvaluator(nil), nil
	}
	return generic.NewObjectCountEvaluator(schema.GroupResource{Resource: q.Resource}, nil, ""), nil
}

func answerQuota(q *question) (fields, error) {
	object, err := read(q.Resource, q.Object)
	if err != nil {
		return nil, err
	}
	var old runtime.Object
	verb := admission.Create
	if len(q.Old) > 0 {
		verb = admission.Update
		if old, err = read(q.Resource, q.Old); err != nil {
			return nil, err
		}
	}
	e, err := evaluatorOf(q)
	if err != nil {
		return nil, err
	}
	a := admission.NewAttributesRecord(object, old, schema.GroupVersionKind{Version: "v1", Kind: "Thing"},
		"ns", "name", schema.GroupVersionResource{Version: "v1", Resource: q.Resource}, q.Sub, verb, nil,
		false, nil)
	quotas, err := resourcequota.CheckRequest(q.Quotas, a, e, q.Limited)
	if err != nil {
		return fields{"error": err.Error()}, nil
	}
	used := []corev1.ResourceList{}
	for i := range quotas {
		used = append(used, quotas[i].Status.Used)
	}
	return fields{"used": used}, nil
}

// ---- the program ----

var modes = map[string]func(*question) (fields, error){
	"podsecurity": answerPodSecurity, "limits": answerLimits, "quota": answerQuota,
}

func answer(mode func(*question) (fields, error), line []byte) (out fields, err error) {
	var q question
	defer func() {
		if p := recover(); p != nil {
			out, err = fields{"id": q.ID, "panic": fmt.Sprint(p)}, nil
		}
	}()
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	if out, err = mode(&q); err == nil {
		out["id"] = q.ID
	}
	return out, err
}

func main() {
	mode := modes[strings.Join(os.Args[1:], " ")]
	if mode == nil {
		fmt.Fprintln(os.Stderr, "usage: plugins podsecurity|limits|quota < questions > answers")
		os.Exit(2)
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for {
		line, readErr := in.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			reply, err := answer(mode, line)
			if err == nil {
				err = enc.Encode(reply)
			}
			if err != nil {
				fmt.Fprintf(os.Stderr, "plugins: %v\n", err)
				os.Exit(1)
			}
			out.Flush()
		}
		if readErr != nil {
			return
		}
	}
}
