// SPDX-License-Identifier: Apache-2.0

package complaints

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

const stamp = "1130 22:33:10.500000    8207 "

// What is written beside every server, and says nothing of it.
var harmless = []string{
	`I` + stamp + `reflector.go:446] "Failed to watch" err="Internal error occurred: a level that is not an error's"`,
	`W` + stamp + `authentication.go:397] Error looking up in-cluster authentication configuration: Unauthorized`,
	`E` + stamp + `options.go:12] The manifest file is empty, ignoring.`,
	`E` + stamp + `configmap_cafile_content.go:250] "Unhandled Error" err="key failed with : missing content for CA bundle \"client-ca::kube-system::extension-apiserver-authentication::requestheader-client-ca-file\"" logger="UnhandledError"`,
	`E` + stamp + `replica_set.go:639] "Unhandled Error" err="sync \"a/web\" failed with read version: 12 is not as new as written version: 14 for group resource replicasets.apps" logger="UnhandledError"`,
	// Two that write.
	`E` + stamp + `disruption.go:6] "Error syncing PodDisruptionBudget, requeuing" err="Operation cannot be fulfilled on poddisruptionbudgets.policy \"some\": the object has been modified; please apply your changes to the latest version and try again" logger="UnhandledError"`,
	`E` + stamp + `framework.go:1960] "Plugin Failed" err="Operation cannot be fulfilled on pods/binding \"p0\": pod p0 is being deleted, cannot be assigned to a host" pod="cluster-10/p0" plugin="DefaultBinder" node="node-2"`,
	`E` + stamp + `schedule_one.go:1198] "Error scheduling pod; retrying" err="running Bind plugin \"DefaultBinder\": Operation cannot be fulfilled on pods/binding \"p0\": pod p0 is being deleted, cannot be assigned to a host" logger="UnhandledError" pod="cluster-10/p0"`,
	`E` + stamp + `leaderelection.go:436] "Failed to update lock" err="Operation cannot be fulfilled on leases.coordination.k8s.io \"kube-scheduler\": the object has been modified; please apply your changes to the latest version and try again"`,
	`E` + stamp + `controller.go:838] "Work item failed" err="Operation cannot be fulfilled on resourceclaims.resource.k8s.io \"a-b\": StorageError: invalid object, Code: 4, Key: /r/a-b, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: 1, UID in object meta: 2"`,
	// What goes.
	`E` + stamp + `controller.go:838] "Work item failed" err="delete unused generated claim a/b: resourceclaims.resource.k8s.io \"b\" not found" logger="UnhandledError" item="claim:a/b"`,
	`E` + stamp + `publisher.go:176] "Unhandled Error" err="syncing \"a\" failed: configmaps \"kube-root-ca.crt\" already exists" logger="UnhandledError"`,
	`E` + stamp + `framework.go:1960] "Plugin Failed" err="pods \"again\" is forbidden: unable to create new content in namespace a-1 because it is being terminated" pod="a-1/again" plugin="DefaultBinder"`,
	`E` + stamp + `event_broadcaster.go:27] "Server rejected event (will not retry!)" err="events.events.k8s.io \"q.18\" is forbidden: unable to create new content in namespace a-1 because it is being terminated" event="&Event{Note: Internal error occurred, unknown field}"`,
	`E` + stamp + `reflector.go:227] "Failed to watch" err="failed to list *v1.PartialObjectMetadata: the server could not find the requested resource" logger="UnhandledError" type="*v1.PartialObjectMetadata"`,
	`E` + stamp + `reflector.go:227] "Failed to watch" err="the server could not find the requested resource" logger="UnhandledError" reflector="k8s.io/client-go@v0.37.2/tools/cache/reflector.go:343" type="*v1.PartialObjectMetadata"`,
	// What the scenario refuses, or lacks.
	`E` + stamp + `controller.go:838] "Work item failed" err="pod a/quota, PodResourceClaim gpu: create ResourceClaim : resourceclaims.resource.k8s.io \"quota-gpu-kb9zf\" is forbidden: exceeded quota: few, requested: gpu.example.com.deviceclass.resource.k8s.io/devices=1, used: gpu.example.com.deviceclass.resource.k8s.io/devices=2, limited: gpu.example.com.deviceclass.resource.k8s.io/devices=2" logger="UnhandledError" item="pod:a/quota"`,
	`E` + stamp + `horizontal.go:1] "Unhandled Error" err="failed to get cpu utilization: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)"`,
	`E` + stamp + `token.go:1] "Failed" err="serviceaccounts \"default\" is forbidden: User \"system:node:n\" cannot create resource \"serviceaccounts/token\" in API group \"\" in the namespace \"a\": no relationship found between node 'n' and this object"`,
	`Flag --x has been deprecated`,
	``,
}

// What only a faulty server brings about.
var faulty = []struct{ fault, line string }{
	{"panic", `panic: runtime error: invalid memory address or nil pointer dereference`},
	{"panic", `E` + stamp + `panic.go:115] "Observed a panic" panic="assignment to entry in nil map"`},
	{"decoding", `E` + stamp + `reflector.go:227] "Failed to watch" err="failed to list *v1.Pod: proto: wrong wireType = 2 for field Seconds" logger="UnhandledError"`},
	{"decoding", `W` + stamp + `reflector.go:579] "Warning: watch ended with error" err="unable to decode an event from the watch stream: no kind \"Pd\" is registered for version \"v1\""`},
	{"decoding", `E` + stamp + `controller.go:1] "Failed" err="strict decoding error: unknown field \"spec.x\""`},
	{"decoding", `E` + stamp + `controller.go:1] "Failed" err="json: cannot unmarshal string into Go struct field ObjectMeta.metadata.generation of type int64"`},
	{"unserved", `E` + stamp + `reflector.go:227] "Failed to watch" err="failed to list *v1.ResourceSlice: the server could not find the requested resource" type="*v1.ResourceSlice"`},
	{"unserved", `E` + stamp + `garbagecollector.go:1] "Failed" err="no matches for kind \"Deployment\" in version \"apps/v1\""`},
	{"rights", `E` + stamp + `reflector.go:227] "Failed to watch" err="failed to list *v1.Pod: pods is forbidden: User \"system:kube-scheduler\" cannot list resource \"pods\" in API group \"\" at the cluster scope"`},
	{"rights", `E` + stamp + `leaderelection.go:436] "Error retrieving lease lock" err="Unauthorized"`},
	{"rights", `E` + stamp + `framework.go:1960] "Plugin Failed" err="pods \"p\" is forbidden: pod rejected: by nobody that the checks have set up"`},
	{"refused", `E` + stamp + `replica_set.go:1] "Failed" err="Pod \"web-1\" is invalid: spec.containers[0].image: Required value"`},
	{"refused", `E` + stamp + `controller.go:1] "Failed" err="the resourceVersion should be a number"`},
	{"broken", `E` + stamp + `controller.go:1] "Failed" err="Internal error occurred: the store is gone"`},
	{"broken", `E` + stamp + `controller.go:1] "Failed" err="an error on the server (\"\") has prevented the request from succeeding (get pods)"`},
	{"late", `E` + stamp + `controller.go:1] "Unhandled Error" err="timed out waiting for caches to sync"`},
	{"late", `E` + stamp + `reflector.go:1] "Failed to watch" err="too old resource version: 1 (2)"`},
	{"transport", `E` + stamp + `reflector.go:1] "Failed to watch" err="something that nobody has thought of"`},
	{"transport", `W` + stamp + `streamwatcher.go:1] Unable to do anything: said without quotes`},
	{"not reached", `E` + stamp + `leaderelection.go:4] "Error retrieving lease lock" err="Get \"https://127.0.0.1:1/x\": dial tcp 127.0.0.1:1: connect: connection refused"`},
	// One of two is harmless.
	{"broken", `E` + stamp + `controller.go:1] "Failed" err="[pods \"a\" not found, Internal error occurred: no]"`},
}

func TestHarmless(t *testing.T) {
	for _, line := range harmless {
		if fault, _ := (Judge{}).Line(line); fault != "" {
			t.Errorf("%q is taken for %q", line, fault)
		}
	}
}

func TestFaulty(t *testing.T) {
	for _, c := range faulty {
		fault, text := Judge{}.Line(c.line)
		if fault != c.fault || !strings.HasSuffix(c.line, text) {
			t.Errorf("%q is %q, %q", c.line, fault, text)
		}
	}
}

// A server that was killed is not reached afterwards; before, and with an answer, it counts.
func TestKilled(t *testing.T) {
	refused := `E` + stamp + `reflector.go:4] "Failed to watch" err="Get \"https://h:1/x\": dial tcp 127.0.0.1:1: connect: connection refused"`
	broken := `E` + stamp + `reflector.go:4] "Failed to watch" err="Internal error occurred: no"`
	at := time.Date(2026, 11, 30, 22, 33, 10, 0, time.Local)
	for _, c := range []struct {
		killed      time.Time
		line, fault string
	}{
		{at, refused, ""}, {at.Add(time.Second), refused, "not reached"},
		{time.Time{}, refused, "not reached"}, {at, broken, "broken"},
	} {
		if fault, _ := (Judge{Killed: c.killed}).Line(c.line); fault != c.fault {
			t.Errorf("killed at %v: %q is %q", c.killed, c.line, fault)
		}
	}
}

func TestRead(t *testing.T) {
	log := strings.Join(append(harmless, faulty[0].line, faulty[0].line, faulty[10].line), "\n")
	got, err := Judge{}.Read(strings.NewReader(log))
	if err != nil || len(got) != 2 || got[0] != "panic: "+faulty[0].line+" (2 times)" || !strings.HasSuffix(got[1], "(1 times)") {
		t.Errorf("%q, %v", got, err)
	}
	about := Judge{About: regexp.MustCompile("nothing of this")}
	if got, _ := about.Read(strings.NewReader(faulty[10].line)); len(got) != 0 {
		t.Errorf("%q is about something else", got)
	}
	if _, err := (Judge{}).Read(strings.NewReader(strings.Repeat("x", 2<<20))); err == nil {
		t.Error("a line without end is read")
	}
}
