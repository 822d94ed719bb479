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

// kubectl, command by command, beside controllers and nodes without machines. What prints
// the same each time is in recorded sessions (run-sessions).
func kubectlChecks() []check {
	return []check{
		{name: "kubectl/apply-and-get", run: kubectl(
			line{"apply -f objects.yaml", `deviceclass.resource.k8s.io/sim.example.com created\n(.*\n)*deployment.apps/web created`},
			line{"apply -f objects.yaml", `deployment.apps/web (unchanged|configured)`},
			line{"rollout status deployment/web --timeout=60s", `"web" successfully rolled out`},
			line{"get deployment web", `NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +2/2 +2 +2 +\d+s`},
			line{"get pods -l app=web -o wide", `web-\w+-\w+ +1/1 +Running +0 .* node-\d`},
			line{"get pods -o name -l app=web", `^(pod/web-\w+-\w+\n){2}$`},
			line{"get deployment web -o jsonpath={.status.readyReplicas}", `^2$`},
			line{"get resourceclaims,deviceclasses,resourceslices -o wide", `sim.example.com`},
			line{"get all", `replicaset.apps/web`},
			line{"get deployment web -o yaml --show-managed-fields", `manager: kubectl-client-side-apply`},
			line{"apply --server-side --force-conflicts -f objects.yaml", `deployment.apps/web serverside-applied`},
			line{"diff -f objects.yaml", ``})},
		{name: "kubectl/validate", run: kubectl(
			line{"create --validate=strict -f wrong.yaml", `strict decoding error: unknown field "spec.replica", unknown field "spec.template.spec.containers\[0\].img"`},
			line{"apply --validate=strict -f wrong.yaml", `strict decoding error: unknown field "spec.replica"`},
			line{"apply --validate=warn --dry-run=server -f wrong.yaml", `Warning: unknown field "spec.replica"`},
			line{"apply --validate=ignore --dry-run=server -f wrong.yaml", `deployment.apps/wrong created \(server dry run\)`},
			line{"apply --validate=strict --dry-run=client -f objects.yaml", `deployment.apps/web configured \(dry run\)`},
			line{"diff -f changed.yaml", `(?m)^-  replicas: 2\n\+  replicas: 3$`},
			line{"patch deployment web --dry-run=server -p {\"spec\":{\"replica\":3}}", `Warning: unknown field "spec.replica"`})},
		{name: "kubectl/explain", run: kubectl(
			line{"explain pods", `KIND: +Pod\nVERSION: +v1\n(.*\n)*FIELDS:\n +apiVersion\t<string>`},
			line{"explain deployments.spec.strategy.rollingUpdate.maxSurge", `GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n\nFIELD: maxSurge <IntOrString>`},
			line{"explain pod.spec.restartPolicy", `(?s)FIELD: restartPolicy <string>\nENUM:\n +Always\n +Never\n +OnFailure`},
			line{"explain pod.spec.containers --recursive", `(?m)^  ports\t<\[\]ContainerPort>\n    containerPort\t<integer> -required-`},
			line{"explain horizontalpodautoscalers.spec --api-version=autoscaling/v1", `VERSION: +v1\n(.*\n)*  targetCPUUtilizationPercentage\t<integer>`},
			line{"explain resourceclaims.spec --output=plaintext-openapiv2", `RESOURCE: spec <Object>`},
			line{"explain pod.spec.nonsense", `error: field "nonsense" does not exist`},
			line{"explain nonsense", `the server doesn't have a resource type "nonsense"`})},
		{name: "kubectl/times", run: kubectl(
			line{"run sleeper --image=localhost/local/busybox:1 --restart=Never", `pod/sleeper created`},
			line{"wait --for=condition=Ready pod/sleeper --timeout=60s", `condition met`},
			line{"get pod sleeper", `sleeper +1/1 +Running +0 +\d+s`},
			line{"describe pod sleeper", `Started: +\w{3}, \d\d \w{3} 20\d\d`},
			line{"get events --field-selector involvedObject.name=sleeper", `LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n\d+s +Normal +Scheduled +pod/sleeper`},
			line{"events --for pod/sleeper", `\d+s +Normal +Scheduled +Pod/sleeper`},
			line{"get pods --sort-by=.metadata.creationTimestamp -o custom-columns=A:.metadata.name", `(?m)^sleeper\s*$`},
			line{"delete pod sleeper --force", `"sleeper" force deleted`},
			line{"wait --for=delete pod/sleeper --timeout=30s", `^(pod/sleeper condition met\n)?$`},
			line{"rollout pause deployment/web", `paused`},
			line{"rollout resume deployment/web", `resumed`},
			line{"set image deployment/web c=localhost/local/busybox:2", `image updated`},
			line{"rollout status deployment/web --timeout=60s", `successfully rolled out`},
			line{"cordon node-0", `cordoned`},
			line{"uncordon node-0", `uncordoned`},
			line{"replace --dry-run=server -f changed.yaml", `deployment.apps/web replaced \(server dry run\)`})},
		{name: "kubectl/describe", run: kubectl(
			line{"describe deployment web", `Replicas: +2 desired \| 2 updated \| 2 total \| 2 available`},
			line{"describe pods -l app=web --show-events", `Node: +node-\d(.*\n)*Events:(.*\n)* +Normal +Scheduled`},
			line{"describe node node-0", `(?m)^Non-terminated Pods:`},
			line{"describe resourceslice node-0-gpus", `Driver: +gpu.example.com`})},
		{name: "kubectl/scale-and-roll", run: kubectl(
			line{"scale deployment web --replicas=3", `deployment.apps/web scaled`},
			line{"wait --for=jsonpath={.status.readyReplicas}=3 deployment/web --timeout=60s", `condition met`},
			line{"set env deployment/web A=B", `deployment.apps/web env updated`},
			line{"rollout status deployment/web --timeout=60s", `successfully rolled out`},
			line{"rollout history deployment/web", `(?m)^2 `},
			line{"rollout undo deployment/web", `rolled back`},
			line{"rollout restart deployment/web", `restarted`},
			line{"rollout status deployment/web --timeout=60s", `successfully rolled out`},
			line{"autoscale deployment web --min=1 --max=5 --cpu=80%", `horizontalpodautoscaler.autoscaling/web autoscaled`},
			line{"delete horizontalpodautoscaler web", `deleted`})},
		{name: "kubectl/change", run: kubectl(
			line{"label deployment web x=y", `labeled`},
			line{"annotate deployment web a=b", `annotated`},
			line{"patch deployment web -p {\"spec\":{\"paused\":true}}", `patched`},
			line{"patch deployment web --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/paused\"}]", `patched`},
			line{"create configmap c --from-literal=a=b", `configmap/c created`},
			line{"create configmap c --from-literal=a=b", `configmaps "c" already exists`},
			line{"get configmap c --watch -o name --request-timeout=2s", `configmap/c`},
			line{"create secret generic s --from-literal=a=b --dry-run=server -o yaml", `a: Yg==`},
			line{"get configmaps,secrets", `configmap/c`},
			line{"get nonsense", `the server doesn't have a resource type "nonsense"`},
			line{"get pods nobody", `Error from server \(NotFound\): pods "nobody" not found`})},
		{name: "kubectl/users", run: kubectl(
			line{"auth can-i create pods", `^yes`},
			line{"auth can-i --list", `\*\.\* +\[\] +\[\] +\[\*\]`},
			line{"auth whoami", `Groups +\[system:masters`},
			line{"create serviceaccount bob", `created`},
			line{"create role reads --verb=get --resource=pods", `created`},
			line{"create rolebinding reads --role=reads --serviceaccount=NAMESPACE:bob", `created`},
			line{"auth can-i get pods --as=system:serviceaccount:NAMESPACE:bob", `^yes`},
			line{"auth can-i get secrets --as=system:serviceaccount:NAMESPACE:bob", `^no`},
			line{"get secrets --as=system:serviceaccount:NAMESPACE:bob", `Error from server \(Forbidden\): secrets is forbidden: User "system:serviceaccount:NAMESPACE:bob" cannot list resource "secrets"`},
			line{"create token bob --duration=10m", `^ey[\w-]+\.[\w-]+\.[\w-]+`})},
		{name: "kubectl/nodes", run: kubectl(
			line{"drain node-1 --ignore-daemonsets --force --timeout=60s", `node/node-1 drained`},
			line{"get nodes", `node-1 +Ready,SchedulingDisabled`},
			line{"uncordon node-1", `uncordoned`},
			line{"taint nodes node-2 k=v:NoSchedule", `tainted`},
			line{"taint nodes node-2 k-", `untainted`})},
		{name: "kubectl/discovery", run: kubectl(
			line{"version", `Server Version: v1.37`},
			line{"api-resources --api-group=resource.k8s.io", `resourceclaims +resource.k8s.io/v1 +true +ResourceClaim`},
			line{"api-versions", `resource.k8s.io/v1\n`},
			line{"cluster-info", `control plane.* is running at .*https://`},
			line{"get --raw /readyz", `^ok$`})},
		{name: "kubectl/delete", run: kubectl(
			line{"delete deployment web --cascade=foreground --timeout=60s", `"web" deleted`},
			line{"get pods", `No resources found`},
			line{"delete --ignore-not-found -f objects.yaml --timeout=60s", `deleted`},
			line{"get deviceclass sim.example.com", `NotFound`})},
	}
}

// A command, words apart by one space, and what it prints.
type line struct{ command, prints string }

const kubectlNamespace = "kubectl"

const kubectlObjects = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: sim.example.com}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: sim.example.com}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
      containers: [{name: c, image: "localhost/local/busybox:1", resources: {claims: [{name: gpu}]}}]
`

const kubectlWrong = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: wrong}
spec:
  replica: 2
  selector: {matchLabels: {app: wrong}}
  template:
    metadata: {labels: {app: wrong}}
    spec: {containers: [{name: c, image: a, img: b}]}
`

func kubectlBegin(e *env) error {
	deployment := kubectlObjects[strings.LastIndex(kubectlObjects, "---"):]
	files := map[string]string{"objects.yaml": kubectlObjects, "wrong.yaml": kubectlWrong,
		"changed.yaml": strings.Replace(deployment, "replicas: 2", "replicas: 3", 1)}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(e.bin, "kubectl")); err != nil {
		return skip{"no kubectl here"}
	}
	begin := strictBegin
	if e.external != "" {
		begin = clusterBegin
	}
	if err := begin(e); err != nil {
		return err
	}
	out, err := e.kubectl("create", "namespace", kubectlNamespace)
	if err != nil {
		return skip{out}
	}
	return nil
}

func (e *env) kubectl(args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(e.bin, "kubectl"), args...)
	cmd.Dir = e.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+e.kubeconfig(), "KUBECACHEDIR="+filepath.Join(e.dir, "cache"), "HOME="+e.dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func kubectl(lines ...line) func(*T) {
	return func(t *T) {
		for _, l := range lines {
			text := strings.ReplaceAll(l.command, "NAMESPACE", kubectlNamespace)
			start := time.Now()
			out, _ := t.Env.kubectl(append([]string{"--namespace", kubectlNamespace}, strings.Split(text, " ")...)...)
			want := regexp.MustCompile(strings.ReplaceAll(l.prints, "NAMESPACE", kubectlNamespace))
			t.Must(want.MatchString(out), "kubectl %s: after %v not %q but\n%s", text, time.Since(start).Round(time.Millisecond), want, out)
		}
	}
}
