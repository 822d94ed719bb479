// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// A patch question is about an object, a Pod where the patch is a strategic one.
type patchQuestion struct {
	ID     string          `json:"id,omitempty"`
	Kind   string          `json:"kind"`
	Object json.RawMessage `json:"object"`
	Patch  json.RawMessage `json:"patch"`
}

func answerPatch(s *settings, line []byte) (any, error) {
	var q patchQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	out := fields{"id": q.ID}
	result, err := applyPatch(&q)
	if out["ok"] = err == nil; err != nil {
		out["error"] = err.Error()
		return out, nil
	}
	out["result"] = json.RawMessage(result)
	return out, nil
}

func applyPatch(q *patchQuestion) ([]byte, error) {
	switch q.Kind {
	case "json":
		p, err := jsonpatch.DecodePatch(q.Patch)
		if err != nil {
			return nil, err
		}
		return p.Apply(q.Object)
	case "merge":
		return jsonpatch.MergePatch(q.Object, q.Patch)
	case "strategic":
		return strategicpatch.StrategicMergePatch(q.Object, q.Patch, corev1.Pod{})
	}
	return nil, fmt.Errorf("no patch %q", q.Kind)
}
