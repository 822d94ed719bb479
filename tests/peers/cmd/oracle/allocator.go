// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	core "k8s.io/api/core/v1"
	api "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// heldDevice is a line of the allocated state.
type heldDevice struct {
	Driver   string                                  `json:"driver"`
	Pool     string                                  `json:"pool"`
	Device   string                                  `json:"device"`
	ShareID  string                                  `json:"shareID"`
	Consumed map[api.QualifiedName]resource.Quantity `json:"consumedCapacity"`
}

// allocatorCase: golden/allocator's two files, input side.
type allocatorCase struct {
	ID                       string               `json:"id"`
	Features                 map[string]bool      `json:"features"` // nil: all on
	Node                     *core.Node           `json:"node"`
	Nodes                    []*core.Node         `json:"nodes"`
	Claims                   []*api.ResourceClaim `json:"claims"`
	Classes                  []*api.DeviceClass   `json:"classes"`
	Slices                   []*api.ResourceSlice `json:"slices"`
	AllocatedDevices         []heldDevice         `json:"allocatedDevices"`
	AllocatedSharedDeviceIDs []heldDevice         `json:"allocatedSharedDeviceIDs"`
	AggregatedCapacity       []heldDevice         `json:"aggregatedCapacity"`
	AllocatedClaims          []*api.ResourceClaim `json:"allocatedClaims"`
	Flavour                  string               `json:"flavour"` // instead of the option
}

type nodeAnswer struct {
	Node         string                 `json:"node"`
	Outcome      string                 `json:"outcome"`
	Results      []api.AllocationResult `json:"results"`
	Error        *string                `json:"error,omitempty"`
	FailedOnNode bool                   `json:"failedOnNode"`
	Steps        int64                  `json:"steps"`
	NS           float64                `json:"ns,omitempty"` // one call of Allocate
}

type allocatorAnswer struct {
	ID        string       `json:"id"`
	Supported bool         `json:"supported"`
	Error     string       `json:"error,omitempty"`
	Upstream  []nodeAnswer `json:"upstream,omitempty"`
	NewNS     float64      `json:"newNs,omitempty"` // one call of NewAllocator
}

type classLister []*api.DeviceClass

func (l classLister) List() ([]*api.DeviceClass, error) { return l, nil }

func (l classLister) Get(name string) (*api.DeviceClass, error) {
	for _, class := range l {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, fmt.Errorf("device class %q not found", name)
}

// features sets the switches by name, so that a renamed one is an error and not ignored.
func (c *allocatorCase) features() (structured.Features, error) {
	var f structured.Features
	v := reflect.ValueOf(&f).Elem()
	for name, on := range c.Features {
		field := v.FieldByName(name)
		if !field.IsValid() {
			return f, fmt.Errorf("no feature %q", name)
		}
		field.SetBool(on)
	}
	for i := 0; c.Features == nil && i < v.NumField(); i++ {
		v.Field(i).SetBool(true)
	}
	return f, nil
}

type state struct {
	structured.AllocatedState
	shares bool // ConsumableCapacity is on
}

func (s *state) hold(d heldDevice) {
	s.AllocatedDevices.Insert(structured.MakeDeviceID(d.Driver, d.Pool, d.Device))
}

func (s *state) share(d heldDevice) {
	uid := types.UID(d.ShareID)
	id := structured.MakeDeviceID(d.Driver, d.Pool, d.Device)
	s.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, &uid))
}

func (s *state) consume(d heldDevice) {
	id := structured.MakeDeviceID(d.Driver, d.Pool, d.Device)
	s.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, d.Consumed))
}

// result charges one device of an allocated claim as the scheduler plugin does.
func (s *state) result(r api.DeviceRequestAllocationResult) {
	d := heldDevice{Driver: r.Driver, Pool: r.Pool, Device: r.Device, Consumed: r.ConsumedCapacity}
	if r.AdminAccess != nil && *r.AdminAccess {
		return
	}
	if !s.shares || r.ShareID == nil {
		s.hold(d)
		return
	}
	d.ShareID = string(*r.ShareID)
	s.share(d)
	if d.Consumed != nil {
		s.consume(d)
	}
}

func (c *allocatorCase) state(f structured.Features) structured.AllocatedState {
	s := state{shares: f.ConsumableCapacity}
	s.AllocatedDevices = sets.New[structured.DeviceID]()
	s.AllocatedSharedDeviceIDs = sets.New[structured.SharedDeviceID]()
	s.AggregatedCapacity = structured.NewConsumedCapacityCollection()
	for _, d := range c.AllocatedDevices {
		s.hold(d)
	}
	for _, d := range c.AllocatedSharedDeviceIDs {
		s.share(d)
	}
	for _, d := range c.AggregatedCapacity {
		s.consume(d)
	}
	for _, claim := range c.AllocatedClaims {
		if a := claim.Status.Allocation; a != nil {
			for _, r := range a.Devices.Results {
				s.result(r)
			}
		}
	}
	return s.AllocatedState
}

// steps are the calls of the recursive search so far; each flavour counts them, none
// exports the counter's type.
func steps(a structured.Allocator) int64 {
	stats := reflect.ValueOf(a).MethodByName("GetStats")
	if !stats.IsValid() {
		return 0
	}
	return stats.Call(nil)[0].FieldByName("NumAllocateOneInvocations").Int()
}

func outcome(results []api.AllocationResult, err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, structured.ErrFailedAllocationOnNode):
		return "nodeError"
	case err != nil:
		return "error"
	case results == nil:
		return "none"
	}
	return "allocated"
}

// nameShares replaces the random share IDs by their order of appearance.
func nameShares(results []api.AllocationResult) {
	n := 0
	for _, r := range results {
		for i := range r.Devices.Results {
			if r.Devices.Results[i].ShareID != nil {
				n++
				uid := types.UID(fmt.Sprintf("share-%d", n))
				r.Devices.Results[i].ShareID = &uid
			}
		}
	}
}

func allocate(a structured.Allocator, limit time.Duration, node *core.Node, claims []*api.ResourceClaim) (out nodeAnswer) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out.Node = node.Name
	before, start := steps(a), time.Now()
	defer func() {
		out.NS = float64(time.Since(start).Nanoseconds())
		out.Steps = steps(a) - before
		if p := recover(); p != nil {
			message := fmt.Sprint(p)
			out.Outcome, out.Error, out.Results = "panic", &message, nil
		}
	}()
	results, err := a.Allocate(ctx, node, claims)
	out.Outcome, out.Results = outcome(results, err), results
	if err != nil {
		message := err.Error()
		out.Error, out.FailedOnNode = &message, out.Outcome == "nodeError"
	}
	return out
}

// round asks all nodes in turn with one allocator, as one scheduling cycle does.
func (c *allocatorCase) round(s *settings, f structured.Features, cache *dracel.Cache) ([]nodeAnswer, float64, error) {
	held := c.state(f)
	start := time.Now()
	a, err := structured.NewAllocator(context.Background(), f, held, classLister(c.Classes), c.Slices, cache)
	took := float64(time.Since(start).Nanoseconds())
	if err != nil {
		return nil, 0, err
	}
	answers := make([]nodeAnswer, 0, len(c.Nodes))
	for _, node := range c.Nodes {
		answers = append(answers, allocate(a, s.timeout, node, c.Claims))
	}
	return answers, took, nil
}

// repeat times further rounds with compiled selectors at hand. What ran into the limit
// once is not asked again.
func (c *allocatorCase) repeat(s *settings, f structured.Features, cache *dracel.Cache, out *allocatorAnswer) error {
	for _, a := range out.Upstream {
		if a.Outcome == "timeout" {
			return nil
		}
	}
	fresh, times := make([]float64, s.repeat), make([][]float64, len(out.Upstream))
	for i := range s.repeat {
		answers, took, err := c.round(s, f, cache)
		if err != nil {
			return err
		}
		fresh[i] = took
		for j, a := range answers {
			times[j] = append(times[j], a.NS)
		}
	}
	out.NewNS = middle(fresh)
	for j := range out.Upstream {
		out.Upstream[j].NS = middle(times[j])
	}
	return nil
}

func answerAllocator(s *settings, line []byte) (any, error) {
	var c allocatorCase
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	out := allocatorAnswer{ID: c.ID}
	f, err := c.features()
	if err != nil {
		return nil, err
	}
	if c.Flavour == "" {
		c.Flavour = s.flavour
	}
	if structured.EnableAllocators(); c.Flavour != "" {
		structured.EnableAllocators(c.Flavour)
	}
	if c.Node != nil {
		c.Nodes = append(c.Nodes, c.Node)
	}
	cache := dracel.NewCache(1000, dracel.Features{
		EnableConsumableCapacity: f.ConsumableCapacity,
		EnableListTypeAttributes: f.ListTypeAttributes,
	})
	if out.Upstream, _, err = c.round(s, f, cache); err != nil {
		out.Error = err.Error()
		return out, nil
	}
	out.Supported = true
	for i := range out.Upstream {
		nameShares(out.Upstream[i].Results)
		if s.repeat == 0 && out.Upstream[i].Outcome != "timeout" {
			out.Upstream[i].NS = 0
		}
	}
	if s.repeat > 0 {
		err = c.repeat(s, f, cache, &out)
	}
	return out, err
}
