// SPDX-License-Identifier: Apache-2.0

// Prints src/control/template_shape.inc: what Go's reflection says of PodTemplateSpec, for
// the hash of a pod template (src/control/template_hash.h). With a file of pod templates,
// one as JSON a line, it prints each one's hash instead.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/dump"
	"k8s.io/apimachinery/pkg/util/rand"
)

var special = map[string]string{
	"resource.Quantity":  "SHAPE_QUANTITY",
	"intstr.IntOrString": "SHAPE_INT_OR_STRING",
	"v1.Time":            "SHAPE_TIME",
	"v1.FieldsV1":        "SHAPE_OTHER",
}

var names = map[reflect.Type]string{}
var order []reflect.Type

func visit(t reflect.Type) {
	for t.Kind() == reflect.Ptr || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || special[t.String()] != "" {
		return
	}
	if _, seen := names[t]; seen {
		return
	}
	names[t] = t.Name()
	for i := 0; i < t.NumField(); i++ {
		visit(t.Field(i).Type)
	}
	order = append(order, t)
}

func form(t reflect.Type) (string, string) {
	if s := special[t.String()]; s != "" {
		return s, "NULL"
	}
	switch t.Kind() {
	case reflect.String:
		return "SHAPE_STRING", "NULL"
	case reflect.Bool:
		return "SHAPE_BOOL", "NULL"
	case reflect.Int32, reflect.Int64:
		return "SHAPE_INT", "NULL"
	case reflect.Struct:
		return "SHAPE_STRUCT", "&" + names[t]
	}
	return "SHAPE_OTHER", "NULL"
}

func row(f reflect.StructField) string {
	t, box := f.Type, "SHAPE_ONE"
	if t.Kind() == reflect.Ptr {
		t, box = t.Elem(), "SHAPE_POINTER"
	}
	if t.Kind() == reflect.Slice {
		t, box = t.Elem(), "SHAPE_LIST"
	} else if t.Kind() == reflect.Map {
		t, box = t.Elem(), "SHAPE_MAP"
	}
	kind, of := form(t)
	tag := strings.Split(f.Tag.Get("json"), ",")[0]
	return fmt.Sprintf("    {%q, %q, %q, %s, %s, %s},\n", f.Name, tag, f.Type.String(), box, kind, of)
}

func shape() {
	root := reflect.TypeOf(v1.PodTemplateSpec{})
	visit(root)
	fmt.Println("/* SPDX-License-Identifier: Apache-2.0 */\n/* clang-format off */")
	for _, t := range order {
		fmt.Printf("static const struct shape_field %s_fields[] = {\n", t.Name())
		for i := 0; i < t.NumField(); i++ {
			fmt.Print(row(t.Field(i)))
		}
		fmt.Printf("};\nstatic const struct shape %s = {%s_fields, %d};\n", t.Name(), t.Name(), t.NumField())
	}
}

func hashes(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var template v1.PodTemplateSpec
		if err := json.Unmarshal(lines.Bytes(), &template); err != nil {
			return err
		}
		// As kube-controller-manager has it: read from protobuf.
		wire, err := template.Marshal()
		if err != nil {
			return err
		}
		read := v1.PodTemplateSpec{}
		if err := read.Unmarshal(wire); err != nil {
			return err
		}
		h := fnv.New32a()
		fmt.Fprintf(h, "%v", dump.ForHash(read))
		fmt.Println(rand.SafeEncodeString(fmt.Sprint(h.Sum32())))
		if os.Getenv("SHOW") != "" {
			fmt.Fprintln(os.Stderr, dump.ForHash(read))
		}
	}
	return lines.Err()
}

func main() {
	if len(os.Args) < 2 {
		shape()
	} else if err := hashes(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
