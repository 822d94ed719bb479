// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	api "k8s.io/api/resource/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// speedQuestion: an expression, and devices or plain variables to run it on.
type speedQuestion struct {
	celQuestion
	Devices   []device       `json:"devices"`
	Variables map[string]any `json:"variables"`
}

func (s *settings) runs() int { return max(s.repeat, 1) }

func parseSpeed(line []byte) (*speedQuestion, error) {
	var q speedQuestion
	decoder := json.NewDecoder(strings.NewReader(string(line)))
	decoder.UseNumber()
	if err := decoder.Decode(&q); err != nil {
		return nil, err
	}
	if q.Device != nil {
		q.Devices = append(q.Devices, *q.Device)
	}
	return &q, nil
}

// timeMatch: upstream's DeviceMatches, binding of the device included, per device.
func timeMatch(s *settings, line []byte) (any, error) {
	q, err := parseSpeed(line)
	if err != nil {
		return nil, err
	}
	c := compile(&q.celQuestion)
	if c.failure != nil {
		return fields{"id": q.ID, "error": c.failure.Detail}, nil
	}
	inputs := make([]dracel.Device, len(q.Devices))
	for i, d := range q.Devices {
		inputs[i] = d.input()
	}
	matches, failures := 0, 0
	ctx := context.Background()
	ns := median(s.runs(), func() {
		matches, failures = 0, 0
		for _, input := range inputs {
			match, _, err := c.result.DeviceMatches(ctx, input)
			if match {
				matches++
			}
			if err != nil {
				failures++
			}
		}
	})
	return fields{"id": q.ID, "devices": len(inputs), "matches": matches, "errors": failures,
		"ns": ns / float64(max(len(inputs), 1))}, nil
}

// timeBare: cel-go alone on values that are ready, with cost tracking (as DRA always runs
// it) and without. With a device the values are those that a selector gets, with variables
// they are plain CEL values in an environment of their own.
func timeBare(s *settings, line []byte) (any, error) {
	q, err := parseSpeed(line)
	if err != nil {
		return nil, err
	}
	env, vars, err := q.bareInput()
	if err != nil {
		return fields{"id": q.ID, "error": err.Error()}, nil
	}
	ast, issues := env.Compile(q.Expression)
	if issues.Err() != nil {
		return fields{"id": q.ID, "error": issues.String()}, nil
	}
	out := fields{"id": q.ID}
	for name, options := range map[string]cel.EvalOption{
		"ns":      cel.OptOptimize,
		"nsCosts": cel.OptOptimize | cel.OptTrackCost,
	} {
		program, err := env.Program(ast, cel.EvalOptions(options))
		if err != nil {
			return nil, err
		}
		value, _, err := program.Eval(vars)
		if err != nil {
			return fields{"id": q.ID, "error": err.Error()}, nil
		}
		out["value"] = show(value)
		out[name] = median(s.runs(), func() { _, _, _ = program.Eval(vars) })
	}
	return out, nil
}

func (q *speedQuestion) bareInput() (*cel.Env, any, error) {
	if len(q.Devices) > 0 {
		r := dracel.GetCompiler(q.features()).CompileCELExpression("true", q.options())
		p, err := intercept(r, nil, q.Devices[0])
		return r.Environment, p.vars, err
	}
	options := []cel.EnvOption{cel.OptionalTypes(), ext.Strings()}
	vars := map[string]any{}
	for name, v := range q.Variables {
		value, kind := plain(v)
		vars[name] = value
		options = append(options, cel.Variable(name, kind))
	}
	env, err := cel.NewEnv(options...)
	return env, vars, err
}

// plain turns a JSON value into what CEL takes, with its type.
func plain(v any) (any, *cel.Type) {
	switch x := v.(type) {
	case bool:
		return x, cel.BoolType
	case string:
		return x, cel.StringType
	case json.Number:
		if i, err := x.Int64(); err == nil {
			return i, cel.IntType
		}
		f, _ := x.Float64()
		return f, cel.DoubleType
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i], _ = plain(x[i])
		}
		return out, cel.ListType(cel.DynType)
	case map[string]any:
		out := make(map[string]any, len(x))
		for key := range x {
			out[key], _ = plain(x[key])
		}
		return out, cel.MapType(cel.StringType, cel.DynType)
	}
	return nil, cel.NullType
}

// timeCompile: parse, check and plan, as a consumer of stored selectors does ("ns"), and
// with the estimate that the API server adds ("nsEstimate").
func timeCompile(s *settings, line []byte) (any, error) {
	q, err := parseSpeed(line)
	if err != nil {
		return nil, err
	}
	compiler := dracel.GetCompiler(q.features())
	options := q.options()
	if r := compiler.CompileCELExpression(q.Expression, options); r.Error != nil {
		return fields{"id": q.ID, "error": r.Error.Detail}, nil
	}
	cheap := options
	cheap.DisableCostEstimation = true
	return fields{
		"id":         q.ID,
		"ns":         median(s.runs(), func() { compiler.CompileCELExpression(q.Expression, cheap) }),
		"nsEstimate": median(s.runs(), func() { compiler.CompileCELExpression(q.Expression, options) }),
	}, nil
}

// answerLoad reads a file of {"id", "file"} that holds a ResourceSliceList in JSON into
// the API's types, with the decoder of client-go. The peak of memory is the process's.
func answerLoad(s *settings, line []byte) (any, error) {
	var q struct {
		ID   string `json:"id"`
		File string `json:"file"`
	}
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	scheme := k8sruntime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		return nil, err
	}
	decoder := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme, scheme, serializer.SerializerOptions{})
	times := make([]float64, s.runs())
	slices, devices := 0, 0
	for i := range times {
		start := time.Now()
		list, err := readSlices(decoder, q.File)
		if err != nil {
			return nil, err
		}
		times[i] = float64(time.Since(start).Nanoseconds())
		slices, devices = len(list.Items), 0
		for _, slice := range list.Items {
			devices += len(slice.Spec.Devices)
		}
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return nil, err
	}
	return fields{"id": q.ID, "slices": slices, "devices": devices, "ms": middle(times) / 1e6, "maxRssKiB": usage.Maxrss}, nil
}

func readSlices(decoder k8sruntime.Decoder, path string) (*api.ResourceSliceList, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	object, kind, err := decoder.Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	list, ok := object.(*api.ResourceSliceList)
	if !ok {
		return nil, fmt.Errorf("%s holds a %s, not a ResourceSliceList", path, kind)
	}
	return list, nil
}
