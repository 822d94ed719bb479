// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
)

// A check is one line of the output. It gets a namespace of its own, and ends at its
// first failure.
type check struct {
	name  string
	run   func(t *T)
	limit time.Duration // a minute unless said otherwise
}

// T is what a running check knows and reports to.
type T struct {
	context.Context
	Name string
	Env  *env
	NS   string // made before the check, deleted after it

	after []func()
}

type failure struct{ text string }
type skip struct{ text string }

func (t *T) Fatalf(format string, args ...any) { panic(failure{fmt.Sprintf(format, args...)}) }
func (t *T) Skipf(format string, args ...any)  { panic(skip{fmt.Sprintf(format, args...)}) }

// OK ends the check unless err is nil.
func (t *T) OK(err error, format string, args ...any) {
	if err != nil {
		t.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// Is ends the check unless err is of a class, apierrors.IsNotFound for example.
func (t *T) Is(class func(error) bool, err error, format string, args ...any) {
	if err == nil || !class(err) {
		t.Fatalf("%s: not the error that was expected, but %v", fmt.Sprintf(format, args...), err)
	}
}

// Must ends the check unless ok.
func (t *T) Must(ok bool, format string, args ...any) {
	if !ok {
		t.Fatalf(format, args...)
	}
}

// After is run when the check has ended, the last one first.
func (t *T) After(f func()) { t.after = append(t.after, f) }

// Wait polls until done says true. What it says last is the failure's text.
func (t *T) Wait(limit time.Duration, what string, done func() (bool, string)) {
	deadline := time.Now().Add(limit)
	last := ""
	for pause := 5 * time.Millisecond; ; pause = min(pause*2, 250*time.Millisecond) {
		ok, state := done()
		if ok {
			return
		}
		last = state
		for _, p := range t.Env.programs {
			t.Must(p.running(), "%s has ended", p.name)
		}
		if t.Err() != nil || time.Now().After(deadline) {
			t.Fatalf("%s did not happen within %v: %s", what, limit, last)
		}
		time.Sleep(pause)
	}
}

// A suite is checks that share a server.
type suite struct {
	name   string
	checks func() []check
	flags  []string           // of the server
	begin  func(*env) error   // after the server's start; a skip is not an error
	end    func(*env) outcome // before the server's end
}

type outcome struct{ passed, failed, skipped int }

func (o *outcome) add(x outcome) {
	o.passed, o.failed, o.skipped = o.passed+x.passed, o.failed+x.failed, o.skipped+x.skipped
}

func (o *outcome) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", o.passed, o.failed, o.skipped)
}

// runChecks prints a line for each check whose name matches the pattern.
func runChecks(e *env, checks []check, pattern string) outcome {
	var o outcome
	for i, c := range checks {
		if ok, _ := path.Match(pattern, c.name); pattern != "" && !ok && !strings.HasPrefix(c.name, pattern) {
			continue
		}
		start := time.Now()
		err := runCheck(e, c, i)
		took := time.Since(start).Round(time.Millisecond)
		switch v := err.(type) {
		case nil:
			o.passed++
			fmt.Printf("ok - %s (%v)\n", c.name, took)
		case skip:
			o.skipped++
			fmt.Printf("ok - %s # SKIP %s\n", c.name, v.text)
		default:
			o.failed++
			fmt.Printf("not ok - %s (%v)\n# %s\n", c.name, took,
				strings.ReplaceAll(fmt.Sprint(v), "\n", "\n# "))
		}
	}
	return o
}

func (f failure) String() string { return f.text }
func (s skip) Error() string     { return s.text }

func runCheck(e *env, c check, number int) (result any) {
	limit := c.limit
	if limit == 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t := &T{Context: ctx, Name: c.name, Env: e, NS: fmt.Sprintf("%s-%d", filepath.Base(e.dir), number)}
	defer func() {
		result = recover()
		switch result.(type) {
		case nil, failure, skip:
		default:
			result = fmt.Sprintf("%v\n%s", result, debug.Stack())
		}
		cancel()
		for i := len(t.after) - 1; i >= 0; i-- {
			t.after[i]()
		}
	}()
	e.makeNamespace(t)
	c.run(t)
	return nil
}
