// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
)

// documented is what docs/served.md says that kube-apiserver serves: "GROUP/VERSION/NAME" and
// its verbs.
func documented(t *T) map[string][]string {
	f, err := os.Open(t.Env.docs)
	t.OK(err, "docs/served.md")
	defer f.Close()
	all, section := map[string][]string{}, ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = name
		}
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.HasPrefix(cells[1], "--") || strings.TrimSpace(cells[1]) == "resource" {
			continue
		}
		var verbs []string
		for _, v := range strings.Fields(cells[4]) {
			if !strings.HasPrefix(v, "+") {
				verbs = append(verbs, strings.TrimPrefix(v, "-"))
			}
		}
		slices.Sort(verbs)
		all[section+"/"+strings.TrimSpace(cells[1])] = verbs
	}
	return all
}

// asDocumented holds the table against a server: of kube-apiserver every row, as far as its
// gates let it serve them, and nothing besides; of dray's, that it serves nothing else.
func asDocumented(t *T) {
	if t.Env.docs == "" {
		t.Skipf("no docs here")
	}
	want := documented(t)
	_, lists, err := t.client().Discovery().ServerGroupsAndResources()
	t.OK(err, "discovery")
	var wrong []string
	for _, l := range lists {
		for _, r := range l.APIResources {
			name := l.GroupVersion + "/" + r.Name
			verbs, known := want[name]
			have := slices.Sorted(slices.Values(r.Verbs))
			if !known {
				wrong = append(wrong, "not in the table: "+name)
			} else if t.Env.external != "" && !slices.Equal(verbs, have) {
				wrong = append(wrong, fmt.Sprintf("%s: %v, not %v", name, have, verbs))
			} else if !sets.New(verbs...).HasAll(have...) {
				wrong = append(wrong, fmt.Sprintf("%s: more than %v: %v", name, verbs, have))
			}
		}
	}
	t.Must(len(wrong) == 0, "%s", strings.Join(wrong, "\n"))
	t.Must(len(want) > 100, "only %d rows", len(want))
}
