// SPDX-License-Identifier: Apache-2.0

// Command oracle asks the real Kubernetes 1.37.2: JSON lines in, JSON lines out, one
// answer a question and in the same order. README.md beside go.mod explains the modes;
// questions and answers have the shapes of the golden cases.
//
//	oracle [options] MODE < questions > answers
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"
)

// settings are the options that modes share.
type settings struct {
	repeat  int           // timed batches a case; 0: no times in the answers
	flavour string        // of the allocator; "": the one that upstream would pick
	timeout time.Duration // of one allocation on one node
	devices map[string]device
}

// A mode turns one question into one answer.
type mode func(s *settings, question []byte) (any, error)

var modes = map[string]mode{
	"quantity":    answerQuantity,
	"semver":      answerSemver,
	"cel":         answerCEL,
	"cel-match":   timeMatch,
	"cel-bare":    timeBare,
	"cel-compile": timeCompile,
	"allocator":   answerAllocator,
	"load":        answerLoad,
	"patch":       answerPatch,
	"schema":      answerSchema,
}

func modeNames() string {
	names := make([]string, 0, len(modes))
	for name := range modes {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

func fatal(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "oracle: "+format+"\n", args...)
	os.Exit(2)
}

// survive gives a panic of upstream's as the answer: its caller has more to ask.
func survive(s *settings, answer mode, line []byte) (reply any, err error) {
	defer func() {
		if p := recover(); p != nil {
			var q struct {
				ID any `json:"id"`
			}
			_ = json.Unmarshal(line, &q)
			reply, err = fields{"id": q.ID, "panic": fmt.Sprint(p)}, nil
		}
	}()
	return answer(s, line)
}

func serve(s *settings, answer mode) error {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for n := 1; ; n++ {
		line, readErr := in.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			reply, err := survive(s, answer, line)
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			if err := enc.Encode(reply); err != nil {
				return err
			}
			// A caller may wait for this answer before it asks the next question.
			if err := out.Flush(); err != nil {
				return err
			}
		}
		if readErr != nil {
			return nil
		}
	}
}

func main() {
	var s settings
	devices := flag.String("devices", "", "file of named devices (golden/cel/devices.jsonl) to evaluate every expression on")
	flag.IntVar(&s.repeat, "repeat", 0, "measure so many times and put the median into the answers (ns)")
	flag.StringVar(&s.flavour, "flavour", "", "allocator: stable, incubating or experimental")
	flag.DurationVar(&s.timeout, "timeout", 10*time.Second, "allocator: limit of one call")
	flag.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: oracle [options] MODE\nmodes: %s\n", modeNames())
		flag.PrintDefaults()
	}
	flag.Parse()
	answer, known := modes[flag.Arg(0)]
	if flag.NArg() != 1 || !known {
		flag.Usage()
		os.Exit(2)
	}
	if *devices != "" {
		var err error
		if s.devices, err = readDevices(*devices); err != nil {
			fatal("%v", err)
		}
	}
	if err := serve(&s, answer); err != nil {
		fatal("%v", err)
	}
}
