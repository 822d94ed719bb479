// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	api "k8s.io/api/resource/v1"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apicel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// celQuestion: the fields of golden/cel. Gates that are not mentioned are on.
type celQuestion struct {
	ID                 string            `json:"id"`
	Expression         string            `json:"expression"`
	Mode               string            `json:"mode"` // "" (selector), derived, value
	Env                string            `json:"env"`  // new or stored
	ConsumableCapacity *bool             `json:"consumableCapacity"`
	ListAttributes     *bool             `json:"listAttributes"`
	Device             *device           `json:"device"`
	Devices            map[string]device `json:"devices"`
}

type celResult struct {
	Match     *bool     `json:"match,omitempty"`
	Value     *celValue `json:"value,omitempty"`
	Attribute any       `json:"attribute,omitempty"`
	Error     string    `json:"error,omitempty"`
	Cost      *cost     `json:"cost,omitempty"`
	NS        float64   `json:"ns,omitempty"` // binding and evaluation
}

type celAnswer struct {
	ID               string               `json:"id"`
	Compiles         bool                 `json:"compiles"`
	CompileError     string               `json:"compileError,omitempty"`
	CompileErrorType string               `json:"compileErrorType,omitempty"`
	OutputType       string               `json:"outputType,omitempty"`
	EstimateMin      *cost                `json:"estimateMin,omitempty"`
	Estimate         *cost                `json:"estimate,omitempty"`
	Result           *celResult           `json:"result,omitempty"`
	Results          map[string]celResult `json:"results,omitempty"`
}

// cost is written so that readers with 64-bit signed integers can take it.
type cost uint64

func (c cost) MarshalJSON() ([]byte, error) {
	digits := strconv.FormatUint(uint64(c), 10)
	switch {
	case c == math.MaxUint64:
		return []byte(`"max"`), nil
	case c > math.MaxInt64:
		return []byte(`"` + digits + `"`), nil
	}
	return []byte(digits), nil
}

func off(gate *bool) bool { return gate != nil && !*gate }

func (q *celQuestion) features() dracel.Features {
	return dracel.Features{
		EnableConsumableCapacity: !off(q.ConsumableCapacity),
		EnableListTypeAttributes: !off(q.ListAttributes),
	}
}

func (q *celQuestion) options() dracel.Options {
	env := environment.StoredExpressions
	if q.Env == "new" {
		env = environment.NewExpressions
	}
	return dracel.Options{EnvType: &env, DerivedAttribute: q.Mode == "derived"}
}

// compiled is an expression ready to run; program is nil unless the mode is "value",
// where upstream's own compiler would refuse the result type.
type compiled struct {
	result  dracel.CompilationResult
	program cel.Program
	ast     *cel.Ast
	failure *apicel.Error
}

func compile(q *celQuestion) (c compiled) {
	compiler := dracel.GetCompiler(q.features())
	if q.Mode == "value" {
		c.result = compiler.CompileCELExpression("true", q.options())
		c.program, c.ast, c.failure = compileValue(c.result.Environment, q.Expression)
		return c
	}
	c.result = compiler.CompileCELExpression(q.Expression, q.options())
	if c.failure = c.result.Error; c.failure == nil {
		c.ast, _ = c.result.Environment.Compile(q.Expression)
	}
	return c
}

func compileValue(env *cel.Env, text string) (cel.Program, *cel.Ast, *apicel.Error) {
	ast, issues := env.Compile(text)
	if issues != nil {
		return nil, nil, &apicel.Error{Type: apicel.ErrorTypeInvalid, Detail: "compilation failed: " + issues.String()}
	}
	program, err := env.Program(ast, cel.CostLimit(api.CELSelectorExpressionMaxCost),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		return nil, nil, &apicel.Error{Type: apicel.ErrorTypeInternal, Detail: "program instantiation failed: " + err.Error()}
	}
	return program, ast, nil
}

func actual(details *cel.EvalDetails) *cost {
	if details == nil || details.ActualCost() == nil {
		return nil
	}
	c := cost(*details.ActualCost())
	return &c
}

func (c *compiled) run(mode string, d device) (out celResult) {
	var err error
	var details *cel.EvalDetails
	switch mode {
	case "value":
		var p *interceptor
		if p, err = intercept(c.result, c.program, d); err == nil {
			details, err = p.details, p.err
		}
		if err == nil {
			out.Value = show(p.value)
		}
	case "derived":
		var attribute *api.DeviceAttribute
		attribute, details, err = c.result.EvaluateDerivedAttribute(context.Background(), d.input())
		if err == nil {
			out.Attribute = shownAttribute(attribute)
		}
	default:
		var match bool
		match, details, err = c.result.DeviceMatches(context.Background(), d.input())
		if err == nil {
			out.Match = &match
		}
	}
	if err != nil {
		out.Error = dracel.EnhanceRuntimeError(err).Error()
	}
	out.Cost = actual(details)
	return out
}

// shownAttribute keeps an empty list visible, which the API type would leave out.
func shownAttribute(a *api.DeviceAttribute) any {
	if a.StringValues != nil && len(a.StringValues) == 0 {
		return fields{"strings": []string{}}
	}
	return a
}

func answerCEL(s *settings, line []byte) (any, error) {
	var q celQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	a := celAnswer{ID: q.ID}
	c := compile(&q)
	if c.failure != nil {
		a.CompileError, a.CompileErrorType = c.failure.Detail, string(c.failure.Type)
		return a, nil
	}
	a.Compiles, a.OutputType = true, c.ast.OutputType().String()
	if err := a.estimate(&c, q.Mode); err != nil {
		return nil, err
	}
	ask := func(d device) celResult {
		r := c.run(q.Mode, d)
		if s.repeat > 0 {
			r.NS = median(s.repeat, func() { c.run(q.Mode, d) })
		}
		return r
	}
	if q.Device != nil {
		r := ask(*q.Device)
		a.Result = &r
	}
	devices := q.Devices
	if devices == nil && q.Device == nil {
		devices = s.devices
	}
	if devices != nil {
		a.Results = map[string]celResult{}
	}
	for name, d := range devices {
		a.Results[name] = ask(d)
	}
	return a, nil
}

func (a *celAnswer) estimate(c *compiled, mode string) error {
	estimate, err := c.result.Environment.EstimateCost(c.ast, &library.CostEstimator{SizeEstimator: bounds{}})
	if err != nil {
		return err
	}
	low, high := cost(estimate.Min), cost(estimate.Max)
	if mode != "value" {
		high = cost(c.result.MaxCost)
	}
	a.EstimateMin, a.Estimate = &low, &high
	return nil
}

// bounds are the sizes of what device leads to. The compiler has the same ones inside, but
// tells only the upper end of its estimate.
type bounds struct{}

const anyName = "*"

var boundRows = []struct {
	path []string
	size uint64
}{
	{[]string{"device"}, 0},
	{[]string{"device", "driver"}, api.DriverNameMaxLength},
	{[]string{"device", "allowMultipleAllocations"}, 1},
	{[]string{"device", "attributes"}, api.ResourceSliceMaxAttributesAndCapacitiesPerDevice},
	{[]string{"device", "attributes", "@keys"}, api.DeviceMaxDomainLength},
	{[]string{"device", "attributes", "@values"}, api.ResourceSliceMaxAttributesAndCapacitiesPerDevice},
	{[]string{"device", "attributes", "@values", "@keys"}, api.DeviceMaxIDLength},
	{[]string{"device", "attributes", "@values", anyName}, api.DeviceAttributeMaxValueLength},
	{[]string{"device", "capacity"}, api.ResourceSliceMaxAttributesAndCapacitiesPerDevice},
	{[]string{"device", "capacity", "@keys"}, api.DeviceMaxDomainLength},
	{[]string{"device", "capacity", "@values"}, api.ResourceSliceMaxAttributesAndCapacitiesPerDevice},
	{[]string{"device", "capacity", "@values", "@keys"}, api.DeviceMaxIDLength},
	{[]string{"device", "capacity", "@values", "@values"}, 0},
}

func samePath(row, path []string) bool {
	return slices.EqualFunc(row, path, func(want, got string) bool {
		return want == got || want == anyName || (want == "@values" && got == "@items")
	})
}

func (bounds) EstimateSize(n checker.AstNode) *checker.SizeEstimate {
	for _, row := range boundRows {
		if samePath(row.path, n.Path()) {
			return &checker.SizeEstimate{Max: row.size}
		}
	}
	return nil
}

func (bounds) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}
