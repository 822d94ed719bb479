// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Policies and webhooks as client-go makes them, and a webhook of net/http.
var admissionChecks = []check{
	{name: "policy/validates", run: policyValidates},
	{name: "policy/params", run: policyParams},
	{name: "policy/mutates", run: policyMutates},
	{name: "webhook/mutates", run: webhookMutates},
	{name: "webhook/refuses", run: webhookRefuses},
	{name: "webhook/slow", run: func(t *T) { webhookFails(t, slowHook, "context deadline exceeded") }},
	{name: "webhook/dead", run: func(t *T) { webhookFails(t, deadHook, "connect: connection refused") }},
	{name: "webhook/sees", run: webhookSees},
}

// here selects what the check does in its own namespace.
func here(t *T) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": t.NS}}
}

func configMapRule() registration.RuleWithOperations {
	return registration.RuleWithOperations{
		Operations: []registration.OperationType{registration.Create, registration.Update},
		Rule: registration.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
			Resources: []string{"configmaps"}},
	}
}

func matchHere(t *T) *registration.MatchResources {
	return &registration.MatchResources{
		NamespaceSelector: here(t),
		ResourceRules:     []registration.NamedRuleWithOperations{{RuleWithOperations: configMapRule()}},
	}
}

func (t *T) makeMap(name string, data map[string]string) (*corev1.ConfigMap, error) {
	return t.client().CoreV1().ConfigMaps(t.NS).Create(t, &corev1.ConfigMap{
		ObjectMeta: meta(name), Data: data}, metav1.CreateOptions{})
}

// waitFor tries a map that is to be refused, or changed, until the server has heard of it.
func (t *T) waitFor(what string, data map[string]string, seen func(*corev1.ConfigMap, error) bool) {
	n := 0
	t.Wait(patience, what, func() (bool, string) {
		n++
		m, err := t.makeMap(fmt.Sprintf("try-%d", n), data)
		return seen(m, err), fmt.Sprint(err)
	})
}

func refused(_ *corev1.ConfigMap, err error) bool { return err != nil }

func bind(t *T, name string, actions ...registration.ValidationAction) {
	c := t.client().AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	_, err := c.Create(t, &registration.ValidatingAdmissionPolicyBinding{ObjectMeta: meta(name),
		Spec: registration.ValidatingAdmissionPolicyBindingSpec{PolicyName: t.NS, ValidationActions: actions}},
		metav1.CreateOptions{})
	t.OK(err, "binding")
	t.After(func() { c.Delete(t, name, metav1.DeleteOptions{}) })
}

func makePolicy(t *T, spec registration.ValidatingAdmissionPolicySpec) {
	c := t.client().AdmissionregistrationV1().ValidatingAdmissionPolicies()
	_, err := c.Create(t, &registration.ValidatingAdmissionPolicy{ObjectMeta: meta(t.NS), Spec: spec}, metav1.CreateOptions{})
	t.OK(err, "policy")
	t.After(func() { c.Delete(t, t.NS, metav1.DeleteOptions{}) })
}

func policyValidates(t *T) {
	makePolicy(t, registration.ValidatingAdmissionPolicySpec{
		MatchConstraints: matchHere(t),
		Variables:        []registration.Variable{{Name: "n", Expression: "object.data.size()"}},
		Validations: []registration.Validation{{Expression: "variables.n < 3", MessageExpression: "'too many: ' + string(variables.n)",
			Reason: ptr.To(metav1.StatusReasonForbidden)}},
	})
	many := map[string]string{"a": "", "b": "", "c": ""}
	_, err := t.makeMap("before", many)
	t.OK(err, "without a binding")
	bind(t, t.NS, registration.Deny)
	t.waitFor("a refusal", many, refused)
	_, err = t.makeMap("many", many)
	t.Is(apierrors.IsForbidden, err, "three")
	want := fmt.Sprintf("configmaps \"many\" is forbidden: ValidatingAdmissionPolicy '%s' with binding '%s' denied request: too many: 3", t.NS, t.NS)
	t.Must(err.Error() == want, "refused with %q", err)
	few, err := t.makeMap("few", map[string]string{"a": ""})
	t.OK(err, "one")
	few.Data = many
	_, err = t.client().CoreV1().ConfigMaps(t.NS).Update(t, few, metav1.UpdateOptions{})
	t.Is(apierrors.IsForbidden, err, "update")
	t.OK(t.client().AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t, t.NS, metav1.DeleteOptions{}), "delete")
	t.waitFor("no refusal", many, func(_ *corev1.ConfigMap, err error) bool { return err == nil })
}

func policyParams(t *T) {
	_, err := t.makeMap("limit", map[string]string{"most": "2"})
	t.OK(err, "parameter")
	makePolicy(t, registration.ValidatingAdmissionPolicySpec{
		ParamKind:        &registration.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
		MatchConstraints: matchHere(t),
		Validations:      []registration.Validation{{Expression: "object.data.size() <= int(params.data.most)"}},
	})
	c := t.client().AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	_, err = c.Create(t, &registration.ValidatingAdmissionPolicyBinding{ObjectMeta: meta(t.NS),
		Spec: registration.ValidatingAdmissionPolicyBindingSpec{PolicyName: t.NS,
			ParamRef:          &registration.ParamRef{Name: "limit", ParameterNotFoundAction: ptr.To(registration.DenyAction)},
			ValidationActions: []registration.ValidationAction{registration.Deny}}}, metav1.CreateOptions{})
	t.OK(err, "binding")
	t.After(func() { c.Delete(t, t.NS, metav1.DeleteOptions{}) })
	t.waitFor("a refusal", map[string]string{"a": "", "b": "", "c": ""}, refused)
	_, err = t.makeMap("two", map[string]string{"a": "", "b": ""})
	t.OK(err, "two")
}

func policyMutates(t *T) {
	policies := t.client().AdmissionregistrationV1().MutatingAdmissionPolicies()
	_, err := policies.Create(t, &registration.MutatingAdmissionPolicy{ObjectMeta: meta(t.NS), Spec: registration.MutatingAdmissionPolicySpec{
		MatchConstraints:   matchHere(t),
		ReinvocationPolicy: registration.NeverReinvocationPolicy,
		Mutations: []registration.Mutation{
			{PatchType: registration.PatchTypeApplyConfiguration, ApplyConfiguration: &registration.ApplyConfiguration{
				Expression: "Object{metadata: Object.metadata{labels: {'size': string(object.data.size())}}}"}},
			{PatchType: registration.PatchTypeJSONPatch, JSONPatch: &registration.JSONPatch{
				Expression: "[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('x.y'), value: object.metadata.labels.size}]"}},
		}}}, metav1.CreateOptions{})
	t.OK(err, "policy")
	t.After(func() { policies.Delete(t, t.NS, metav1.DeleteOptions{}) })
	bindings := t.client().AdmissionregistrationV1().MutatingAdmissionPolicyBindings()
	_, err = bindings.Create(t, &registration.MutatingAdmissionPolicyBinding{ObjectMeta: meta(t.NS),
		Spec: registration.MutatingAdmissionPolicyBindingSpec{PolicyName: t.NS}}, metav1.CreateOptions{})
	t.OK(err, "binding")
	t.After(func() { bindings.Delete(t, t.NS, metav1.DeleteOptions{}) })
	t.waitFor("a change", map[string]string{"a": ""}, func(m *corev1.ConfigMap, err error) bool {
		return err == nil && m.Labels["size"] == "1" && m.Data["x.y"] == "1"
	})
}

// ---- webhooks ----

type hook func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// serveHook answers reviews until the check has ended.
func serveHook(t *T, answer hook) *httptest.Server {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = answer(review.Request)
		review.Response.UID = review.Request.UID
		review.Request = nil
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(&review)
	}))
	t.After(s.Close)
	return s
}

func clientOf(s *httptest.Server) registration.WebhookClientConfig {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return registration.WebhookClientConfig{URL: ptr.To(s.URL + "/hook"), CABundle: ca}
}

func validateBy(t *T, name string, client registration.WebhookClientConfig, policy registration.FailurePolicyType) {
	c := t.client().AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := c.Create(t, &registration.ValidatingWebhookConfiguration{ObjectMeta: meta(name), Webhooks: []registration.ValidatingWebhook{{
		Name: "hook.check.example.com", ClientConfig: client, Rules: []registration.RuleWithOperations{configMapRule()},
		NamespaceSelector: here(t), FailurePolicy: &policy, SideEffects: ptr.To(registration.SideEffectClassNone),
		TimeoutSeconds: ptr.To(int32(1)), AdmissionReviewVersions: []string{"v1"},
	}}}, metav1.CreateOptions{})
	t.OK(err, "configuration")
	t.After(func() { c.Delete(t, name, metav1.DeleteOptions{}) })
}

func webhookMutates(t *T) {
	s := serveHook(t, func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: true, PatchType: ptr.To(admissionv1.PatchTypeJSONPatch),
			Warnings: []string{"changed"},
			Patch:    []byte(`[{"op": "add", "path": "/data/by", "value": "` + r.UserInfo.Groups[0] + `"}]`)}
	})
	c := t.client().AdmissionregistrationV1().MutatingWebhookConfigurations()
	_, err := c.Create(t, &registration.MutatingWebhookConfiguration{ObjectMeta: meta(t.NS), Webhooks: []registration.MutatingWebhook{{
		Name: "hook.check.example.com", ClientConfig: clientOf(s), Rules: []registration.RuleWithOperations{configMapRule()},
		NamespaceSelector: here(t), SideEffects: ptr.To(registration.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"},
	}}}, metav1.CreateOptions{})
	t.OK(err, "configuration")
	t.After(func() { c.Delete(t, t.NS, metav1.DeleteOptions{}) })
	t.waitFor("a change", map[string]string{"a": ""}, func(m *corev1.ConfigMap, err error) bool {
		return err == nil && m.Data["by"] == "system:masters"
	})
	m, err := t.client().CoreV1().ConfigMaps(t.NS).Create(t, &corev1.ConfigMap{ObjectMeta: meta("dry"),
		Data: map[string]string{"a": ""}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	t.Must(err == nil && m.Data["by"] != "", "a dry run gave %v, %v", m, err)
}

func webhookRefuses(t *T) {
	s := serveHook(t, func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: "not today"}}
	})
	validateBy(t, t.NS, clientOf(s), registration.Ignore)
	t.waitFor("a refusal", nil, refused)
	_, err := t.makeMap("refused", nil)
	t.Is(apierrors.IsForbidden, err, "create")
	t.Must(err.Error() == `admission webhook "hook.check.example.com" denied the request: not today`, "refused with %q", err)
}

func slowHook(t *T) registration.WebhookClientConfig {
	return clientOf(serveHook(t, func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		time.Sleep(3 * time.Second)
		return &admissionv1.AdmissionResponse{Allowed: true}
	}))
}

func deadHook(t *T) registration.WebhookClientConfig {
	s := serveHook(t, nil)
	client := clientOf(s)
	s.Close()
	return client
}

// webhookFails: who does not answer stops what must be asked about, and nothing else.
func webhookFails(t *T, make func(*T) registration.WebhookClientConfig, text string) {
	client := make(t)
	validateBy(t, t.NS, client, registration.Fail)
	t.waitFor("a failure", nil, refused)
	began := time.Now()
	_, err := t.makeMap("fails", nil)
	t.Is(apierrors.IsInternalError, err, "create")
	t.Must(strings.Contains(err.Error(), `failed calling webhook "hook.check.example.com": failed to call webhook: Post `) &&
		strings.Contains(err.Error(), text), "failed with %q", err)
	t.Must(time.Since(began) < 3*time.Second, "it took %v", time.Since(began))
	c := t.client().AdmissionregistrationV1().ValidatingWebhookConfigurations()
	have, err := c.Get(t, t.NS, metav1.GetOptions{})
	t.OK(err, "get")
	have.Webhooks[0].FailurePolicy = ptr.To(registration.Ignore)
	_, err = c.Update(t, have, metav1.UpdateOptions{})
	t.OK(err, "update")
	t.waitFor("no failure", nil, func(_ *corev1.ConfigMap, err error) bool { return err == nil })
}

// webhookSees: the request as it is, before anything is stored, and while others go on.
func webhookSees(t *T) {
	var asked atomic.Int32
	seen := make(chan *admissionv1.AdmissionRequest, 64)
	s := serveHook(t, func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		asked.Add(1)
		_, err := t.client().CoreV1().ConfigMaps(t.NS).Get(t, r.Name, metav1.GetOptions{})
		allowed := apierrors.IsNotFound(err) || r.Operation != admissionv1.Create
		seen <- r
		return &admissionv1.AdmissionResponse{Allowed: allowed, Result: &metav1.Status{Message: fmt.Sprint(err)}}
	})
	validateBy(t, t.NS, clientOf(s), registration.Fail)
	t.waitFor("a question", nil, func(*corev1.ConfigMap, error) bool { return asked.Load() > 0 })
	for len(seen) > 0 {
		<-seen
	}
	_, err := t.makeMap("sees", map[string]string{"k": "v"})
	t.OK(err, "create")
	r := <-seen
	var m corev1.ConfigMap
	t.OK(json.Unmarshal(r.Object.Raw, &m), "object")
	t.Must(r.Operation == admissionv1.Create && r.Namespace == t.NS && r.Name == "sees" && m.Data["k"] == "v" &&
		m.UID != "" && len(r.OldObject.Raw) == 0 && !*r.DryRun && r.Kind.Kind == "ConfigMap",
		"asked about %v", r)
	t.Must(strings.Contains(string(r.Options.Raw), `"kind":"CreateOptions"`), "options %s", r.Options.Raw)
}
