// SPDX-License-Identifier: Apache-2.0

// Package complaints reads the logs of Kubernetes' programs for what they say of the API
// server they run on. What counts is what a faulty server would cause: an answer that
// cannot be read, a kind that is not served, a right that is missing, an object that is
// refused, a request or a watch that breaks. What the asking itself provokes does not:
// conflicts of two writers, objects that go while they are looked at, quotas that are used
// up.
package complaints

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"time"
)

// A Judge knows what is true of one program and its server.
type Judge struct {
	About  *regexp.Regexp // only lines that match; nil: all
	Killed time.Time      // when the server went for the first time; zero: never
}

// Read returns what counts, each text once with its number, in the order of the log.
func (j Judge) Read(log io.Reader) ([]string, error) {
	var order []string
	seen := map[string]int{}
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		kind, text := j.Line(lines.Text())
		if kind == "" {
			continue
		}
		text = kind + ": " + text
		if seen[text]++; seen[text] == 1 {
			order = append(order, text)
		}
	}
	for i, text := range order {
		order[i] = fmt.Sprintf("%s (%d times)", text, seen[text])
	}
	return order, lines.Err()
}

// Line says what fault a line tells of, and its text without time and thread. The fault is
// empty when there is none.
func (j Judge) Line(line string) (fault, text string) {
	if crash.MatchString(line) {
		return "panic", line
	}
	e, ok := parse(line)
	if !ok || j.About != nil && !j.About.MatchString(e.text) {
		return "", ""
	}
	return j.fault(e), e.text
}

var crash = regexp.MustCompile(`^(panic|fatal error): |[Oo]bserved a panic`)

// An entry of klog's: `E1130 22:40:19.123456    8207 reflector.go:12] "Failed" err="..."`.
type entry struct {
	level  string // I, W, E, F
	at     string // month, day and time, as klog writes it: it sorts
	source string // the file that says so
	text   string // all that is said, with the source
	said   string // the message and its error, of transport all; quotes in them not escaped
}

var (
	klogLine = regexp.MustCompile(`^([IWEF])(\d{4} [\d:.]+) +\d+ ((\w+\.go):\d+\] (.*))`)
	errField = regexp.MustCompile(`^("(?:[^"\\]|\\.)*").*? (?:err|error)=("(?:[^"\\]|\\.)*")`)
	escaped  = regexp.MustCompile(`\\+"`)
)

const klogTime = "0102 15:04:05.000000"

func parse(line string) (e entry, ok bool) {
	m := klogLine.FindStringSubmatch(line)
	if m == nil {
		return e, false
	}
	e = entry{level: m[1], at: m[2], text: m[3], source: m[4], said: m[5]}
	if parts := errField.FindStringSubmatch(e.said); parts != nil && !transport[e.source] {
		e.said = parts[1] + " " + parts[2]
	}
	e.said = escaped.ReplaceAllString(e.said, `"`)
	return e, true
}

// fault takes out of what is said the answers that were provoked, and looks in the rest for
// the marks of a fault. Where only the server can be meant, any error is one.
func (j Judge) fault(e entry) string {
	if e.level == "I" || e.level == "W" && !transport[e.source] {
		return ""
	}
	said := e.said
	for _, p := range provoked {
		said = p.ReplaceAllString(said, "")
	}
	if unreached.MatchString(said) {
		if !j.Killed.IsZero() && e.at >= j.Killed.Format(klogTime) {
			return ""
		}
		return "not reached"
	}
	for _, m := range marks {
		if m.text.MatchString(said) {
			return m.fault
		}
	}
	if transport[e.source] && said == e.said {
		return "transport"
	}
	return ""
}

// transport are the files of the client library that speak of nothing but the server.
var transport = map[string]bool{
	"reflector.go": true, "streamwatcher.go": true, "watch.go": true, "leaderelection.go": true,
	"request.go": true, "with_retry.go": true, "shared_informer.go": true, "round_trippers.go": true,
	"retrywatcher.go": true, "metadata.go": true, "cached_discovery.go": true, "memcache.go": true,
}

// provoked are answers that a right server gives to these programs, too.
var provoked = []*regexp.Regexp{
	// Two write the same object, or one writes what goes.
	regexp.MustCompile(`Operation cannot be fulfilled on \S+ "[^"]*": (StorageError: invalid object, .*Precondition failed: )?`),
	regexp.MustCompile(`\S+ "[^"]*" (not found|already exists)`),
	// What admission refuses, on purpose of a check or since the namespace goes.
	regexp.MustCompile(`\S+ "[^"]*" is forbidden: (exceeded quota: |unable to create new content in namespace \S+ because it is being terminated)`),
	// A pod goes while its node asks for what it names.
	regexp.MustCompile(`\S+ "[^"]*" is forbidden: User "[^"]*" cannot .*: no relationship found between node`),
	// Nobody measures pods here.
	regexp.MustCompile(`the server could not find the requested resource \(get \w+\.metrics\.k8s\.io\)`),
	// The collector's informer of a kind whose definition is gone.
	regexp.MustCompile(`the server could not find the requested resource" .*type="\*v1\.PartialObjectMetadata"`),
}

// unreached is said by the network, not by the server.
var unreached = regexp.MustCompile(
	`connection (refused|reset|lost)|\bEOF\b|http2: |broken pipe|GOAWAY|no route to host|i/o timeout|use of closed network connection`)

// marks of a fault, the more particular first.
var marks = []struct {
	fault string
	text  *regexp.Regexp
}{
	{"decoding", regexp.MustCompile(`(?i)\b(decod|unmarshal|deserializ)|unknown field|no kind "|no kind is registered|` +
		`invalid character|unexpected end of JSON|proto: |wire ?type|illegal tag|unexpected (object|type)|cannot parse|unable to parse|convert(ing)? `)},
	{"unserved", regexp.MustCompile(`could not find the requested resource|no matches for kind|[Mm]ethod ?[Nn]ot ?[Aa]llowed|` +
		`does not allow (this|access)|[Nn]ot ?[Aa]cceptable|[Uu]nsupported ?[Mm]edia ?[Tt]ype`)},
	{"rights", regexp.MustCompile(`[Ff]orbidden|[Uu]nauthorized|provide credentials|x509: |certificate (signed|is not)`)},
	{"refused", regexp.MustCompile(`is invalid: |Invalid value|should be|must be|is immutable|field is required|Required value|` +
		`[Bb]ad ?[Rr]equest|rejected our request|could not understand the request`)},
	{"broken", regexp.MustCompile(`[Ii]nternal (server )?error|an error on the server|unable to handle the request|` +
		`unable to return a response|too many requests|Service ?Unavailable|StorageError|unknown \((get|post|put|patch|delete)`)},
	{"late", regexp.MustCompile(`[Ff]ailed to sync|[Tt]imed out waiting|too old resource version|[Cc]lient rate limiter|` +
		`context deadline exceeded|Client\.Timeout|Timeout: `)},
}
