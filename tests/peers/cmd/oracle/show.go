// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apicel "k8s.io/apiserver/pkg/cel"
)

// celValue is any CEL value as golden/cel writes it.
type celValue struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func show(v ref.Val) *celValue {
	return &celValue{Type: v.Type().TypeName(), Text: text(v)}
}

func text(v ref.Val) string {
	switch x := v.(type) {
	case types.String:
		quoted, _ := json.Marshal(string(x))
		return string(quoted)
	case types.Bytes:
		return "bytes:" + hex.EncodeToString(x)
	case types.Double:
		return strconv.FormatFloat(float64(x), 'g', -1, 64)
	case types.Uint:
		return strconv.FormatUint(uint64(x), 10) + "u"
	case types.Null:
		return "null"
	case types.Duration, types.Timestamp:
		return string(x.ConvertToType(types.StringType).(types.String))
	case *types.Optional:
		if x.HasValue() {
			return "optional.of(" + text(x.GetValue()) + ")"
		}
		return "optional.none()"
	case *types.Type:
		return x.String()
	case apicel.Quantity:
		return x.Quantity.String()
	case *apicel.Quantity:
		return x.Quantity.String()
	case apicel.Semver:
		return x.Version.String()
	case apicel.IP:
		return x.Addr.String()
	case apicel.CIDR:
		return x.Prefix.String()
	case apicel.URL:
		return x.URL.String()
	case apicel.Format:
		return x.Name
	case traits.Mapper:
		return "{" + strings.Join(entries(x), ", ") + "}"
	case traits.Lister:
		return "[" + strings.Join(items(x), ", ") + "]"
	}
	return fmt.Sprint(v.Value())
}

func items(list traits.Lister) (out []string) {
	for i := list.Iterator(); i.HasNext() == types.True; {
		out = append(out, text(i.Next()))
	}
	return out
}

func entries(m traits.Mapper) (out []string) {
	for i := m.Iterator(); i.HasNext() == types.True; {
		key := i.Next()
		out = append(out, text(key)+": "+text(m.Get(key)))
	}
	sort.Strings(out)
	return out
}

// versionOf is the CEL function semver(text, normalize).
func versionOf(s string, normalize bool) (semver.Version, error) {
	quoted, _ := json.Marshal(s)
	call := fmt.Sprintf("semver(%s, %v)", quoted, normalize)
	c := compile(&celQuestion{Mode: "value", Expression: call})
	if c.failure != nil {
		return semver.Version{}, fmt.Errorf("%s", c.failure.Detail)
	}
	p, err := intercept(c.result, c.program, device{})
	if err == nil {
		err = p.err
	}
	if err != nil {
		return semver.Version{}, err
	}
	return p.value.(apicel.Semver).Version, nil
}
