// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	api "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// device is a Device of the API with the driver of its slice.
type device struct {
	Name                     string                                    `json:"name,omitempty"`
	Driver                   string                                    `json:"driver"`
	AllowMultipleAllocations *bool                                     `json:"allowMultipleAllocations,omitempty"`
	Attributes               map[api.QualifiedName]api.DeviceAttribute `json:"attributes,omitempty"`
	Capacity                 map[api.QualifiedName]api.DeviceCapacity  `json:"capacity,omitempty"`
}

func (d device) input() dracel.Device {
	return dracel.Device{
		Driver:                   d.Driver,
		AllowMultipleAllocations: d.AllowMultipleAllocations,
		Attributes:               d.Attributes,
		Capacity:                 d.Capacity,
	}
}

func readDevices(path string) (map[string]device, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := map[string]device{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var d device
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out[d.Name] = d
	}
	return out, lines.Err()
}

// interceptor stands in for a compiled selector's program. Upstream's DeviceMatches binds
// the device and calls it; what it was called with, and what the wanted program answers,
// stay here. So the bindings are upstream's own even where its API has no way to see them.
type interceptor struct {
	cel.Program
	wanted  cel.Program // nil: do not evaluate
	vars    any
	value   ref.Val
	details *cel.EvalDetails
	err     error
}

func (p *interceptor) ContextEval(ctx context.Context, vars any) (ref.Val, *cel.EvalDetails, error) {
	p.vars = vars
	if p.wanted != nil {
		p.value, p.details, p.err = p.wanted.ContextEval(ctx, vars)
	}
	return types.True, nil, nil
}

// intercept binds d as a selector in r's environment would see it. The error is the
// device's: a version that is none, an attribute without value.
func intercept(r dracel.CompilationResult, wanted cel.Program, d device) (*interceptor, error) {
	p := &interceptor{wanted: wanted}
	r.Program = p
	_, _, err := r.DeviceMatches(context.Background(), d.input())
	return p, err
}
