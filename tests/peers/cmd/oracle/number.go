// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"strconv"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A number question is about one text (s) or about two (a and b).
type numberQuestion struct {
	ID        string  `json:"id,omitempty"`
	S         *string `json:"s"`
	A         string  `json:"a"`
	B         string  `json:"b"`
	Normalize bool    `json:"normalize"`
}

type fields = map[string]any

func answerQuantity(s *settings, line []byte) (any, error) {
	var q numberQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	if q.S == nil {
		return quantityPair(s, q), nil
	}
	out := fields{"id": q.ID, "s": *q.S}
	v, err := resource.ParseQuantity(*q.S)
	if out["ok"] = err == nil; err != nil {
		out["error"] = err.Error()
		return out, nil
	}
	i, fits := v.AsInt64()
	out["canonical"] = v.String()
	out["format"] = string(v.Format)
	out["value"], out["milliValue"], out["scaledNano"] = v.Value(), v.MilliValue(), v.ScaledValue(resource.Nano)
	out["approxFloat"] = strconv.FormatFloat(v.AsApproximateFloat64(), 'g', -1, 64)
	out["sign"] = v.Sign()
	out["asInt64"] = fields{"ok": fits, "v": i}
	copied := v.DeepCopy() // AsDec changes the form
	if exact := copied.AsDec().String(); len(exact) <= 80 {
		out["exact"] = exact
	}
	if s.repeat > 0 {
		out["ns"] = fields{
			"parse": median(s.repeat, func() { _, _ = resource.ParseQuantity(*q.S) }),
			"print": median(s.repeat, func() { _, _ = v.CanonicalizeBytes(nil) }),
		}
	}
	return out, nil
}

func quantityPair(s *settings, q numberQuestion) fields {
	out := fields{"id": q.ID, "a": q.A, "b": q.B}
	a, errA := resource.ParseQuantity(q.A)
	b, errB := resource.ParseQuantity(q.B)
	if out["ok"] = errA == nil && errB == nil; out["ok"] == false {
		return out
	}
	sum, rest := a.DeepCopy(), a.DeepCopy()
	sum.Add(b)
	rest.Sub(b)
	out["cmp"], out["equal"] = a.Cmp(b), a.Equal(b)
	out["add"], out["sub"] = sum.String(), rest.String()
	if s.repeat > 0 {
		out["ns"] = fields{
			"cmp": median(s.repeat, func() { a.Cmp(b) }),
			"add": median(s.repeat, func() { sum := a.DeepCopy(); sum.Add(b) }),
		}
	}
	return out
}

// answerSemver asks the CEL function, which is where normalisation lives.
func answerSemver(s *settings, line []byte) (any, error) {
	var q numberQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	if q.S == nil {
		return semverPair(s, q), nil
	}
	out := fields{"id": q.ID, "s": *q.S, "normalize": q.Normalize}
	v, err := versionOf(*q.S, q.Normalize)
	if out["ok"] = err == nil; err != nil {
		out["error"] = err.Error()
		return out, nil
	}
	out["canonical"] = v.String()
	out["major"], out["minor"], out["patch"] = int64(v.Major), int64(v.Minor), int64(v.Patch)
	if s.repeat > 0 && !q.Normalize {
		out["ns"] = fields{"parse": median(s.repeat, func() { _, _ = semver.Parse(*q.S) })}
	}
	return out, nil
}

func semverPair(s *settings, q numberQuestion) fields {
	out := fields{"id": q.ID, "a": q.A, "b": q.B}
	a, errA := semver.Parse(q.A)
	b, errB := semver.Parse(q.B)
	if out["ok"] = errA == nil && errB == nil; out["ok"] == false {
		return out
	}
	out["cmp"], out["equal"] = a.Compare(b), a.EQ(b)
	if s.repeat > 0 {
		out["ns"] = fields{"cmp": median(s.repeat, func() { a.Compare(b) })}
	}
	return out
}
