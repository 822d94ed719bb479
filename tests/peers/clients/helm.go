// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Helm, command by command: a chart of device objects, a Deployment that uses them, and a
// kind of its own, beside controllers and nodes without machines.
func helmChecks() []check {
	return []check{
		{name: "helm/install", run: helm(
			line{"install shop chart --dry-run=client", `(?s)STATUS: pending-install.*kind: DeviceClass`},
			line{"install shop chart --wait --timeout 60s", `STATUS: deployed\nREVISION: 1`},
			line{"list", `(?m)^shop\s+helm\s+1\s+20\S+ .*\sdeployed\s+shop-1\.0\.0`},
			line{"status shop", `(?s)==> v1/Deployment\nNAME .*web `},
			line{"get manifest shop", `(?s)kind: ResourceClaimTemplate.*kind: Widget`},
			line{"install shop chart", `cannot reuse a name that is still in use`})},
		{name: "helm/upgrade", run: helm(
			line{"upgrade shop chart --set replicas=2 --wait --timeout 60s", `STATUS: deployed\nREVISION: 2`},
			line{"upgrade shop chart --set replicas=2,bogus=true", `unknown field "spec.bogus"|\.spec\.bogus: field not declared in schema`},
			line{"upgrade shop chart --set replicas=6", `spec\.size: Invalid value: 6|spec\.size in body should be less than or equal to 5`},
			line{"history shop", `(?s)1 .*superseded.*2 .*3 .*failed.*4 .*failed`},
			line{"rollback shop 1 --wait --timeout 60s", `Rollback was a success`},
			line{"get values shop --revision 2", `replicas: 2`},
			line{"history shop", `5 .*deployed.*Rollback to 1`})},
		{name: "helm/foreign", run: helm(
			line{"install other chart", `exists and cannot be imported into the current release`})},
		{name: "helm/uninstall", run: helm(
			line{"uninstall shop --wait --timeout 60s", `release "shop" uninstalled`},
			line{"list", `^NAME[^\n]*\n$`})},
	}
}

var helmChart = map[string]string{
	"Chart.yaml":  "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
	"values.yaml": "replicas: 1\nbogus: false\n",
	"templates/class.yaml": `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: helm.example.com}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
`,
	"templates/template.yaml": `
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: helm.example.com}}]}}}
`,
	"crds/widgets.yaml": `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer, default: 3, maximum: 5}}}
`,
	"templates/widget.yaml": `
apiVersion: shop.example.com/v1
kind: Widget
metadata: {name: w}
spec: {size: {{ .Values.replicas }}}
`,
	"templates/web.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: {{ .Values.replicas }}
{{- if .Values.bogus }}
  bogus: true
{{- end }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      containers: [{name: c, image: "localhost/local/busybox:1", resources: {claims: [{name: gpu}]}}]
`,
}

func helmBegin(e *env) error {
	if _, err := os.Stat(filepath.Join(e.bin, "helm")); err != nil {
		return skip{"no helm here"}
	}
	for name, text := range helmChart {
		path := filepath.Join(e.dir, "chart", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if e.external != "" {
		return clusterBegin(e)
	}
	return strictBegin(e)
}

func helm(lines ...line) func(*T) {
	return func(t *T) {
		for _, l := range lines {
			cmd := exec.Command(filepath.Join(t.Env.bin, "helm"), append([]string{"--namespace", "helm"}, strings.Split(l.command, " ")...)...)
			cmd.Dir = t.Env.dir
			cmd.Env = append(os.Environ(), "KUBECONFIG="+t.Env.kubeconfig(), "HOME="+t.Env.dir)
			if strings.HasPrefix(l.command, "install ") {
				cmd.Args = append(cmd.Args, "--create-namespace")
			}
			start := time.Now()
			out, _ := cmd.CombinedOutput()
			want := regexp.MustCompile(l.prints)
			t.Must(want.Match(out), "helm %s: after %v not %q but\n%s", l.command, time.Since(start).Round(time.Millisecond), want, out)
		}
	}
}
