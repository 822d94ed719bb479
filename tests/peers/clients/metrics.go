// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What dashboards and alerts are made of: metrics with their labels, as kube-apiserver has them.
var metricLabels = []struct {
	name   string
	kind   dto.MetricType
	labels string
}{
	{"apiserver_request_total", dto.MetricType_COUNTER, "code component dry_run group resource scope subresource verb version"},
	{"apiserver_request_duration_seconds", dto.MetricType_HISTOGRAM, "component dry_run group resource scope subresource verb version"},
	{"apiserver_request_sli_duration_seconds", dto.MetricType_HISTOGRAM, "component group resource scope subresource verb version"},
	{"apiserver_response_sizes", dto.MetricType_HISTOGRAM, "component group resource scope subresource verb version"},
	{"apiserver_longrunning_requests", dto.MetricType_GAUGE, "component group resource scope subresource verb version"},
	{"apiserver_current_inflight_requests", dto.MetricType_GAUGE, "request_kind"},
	{"apiserver_watch_events_total", dto.MetricType_COUNTER, "group resource version"},
	{"apiserver_watch_events_sizes", dto.MetricType_HISTOGRAM, "group resource version"},
	{"apiserver_resource_objects", dto.MetricType_GAUGE, "group resource"},
	{"apiserver_admission_controller_admission_duration_seconds", dto.MetricType_HISTOGRAM, "name operation rejected type"},
	{"apiserver_admission_step_admission_duration_seconds", dto.MetricType_HISTOGRAM, "operation rejected type"},
	{"authentication_attempts", dto.MetricType_COUNTER, "result"},
	{"authentication_duration_seconds", dto.MetricType_HISTOGRAM, "result"},
	{"authorization_attempts_total", dto.MetricType_COUNTER, "result"},
	{"authorization_duration_seconds", dto.MetricType_HISTOGRAM, "result"},
	{"authenticated_user_requests", dto.MetricType_COUNTER, "username"},
	{"etcd_requests_total", dto.MetricType_COUNTER, "group operation resource"},
	{"etcd_request_duration_seconds", dto.MetricType_HISTOGRAM, "group operation resource"},
	{"pod_security_evaluations_total", dto.MetricType_COUNTER, "decision mode policy_level policy_version request_operation resource subresource"},
	{"kubernetes_build_info", dto.MetricType_GAUGE, "build_date compiler git_commit git_tree_state git_version go_version major minor platform"},
	{"kubernetes_feature_enabled", dto.MetricType_GAUGE, "name stage"},
	{"process_cpu_seconds_total", dto.MetricType_COUNTER, ""},
	{"process_max_fds", dto.MetricType_GAUGE, ""},
	{"process_open_fds", dto.MetricType_GAUGE, ""},
	{"process_resident_memory_bytes", dto.MetricType_GAUGE, ""},
	{"process_virtual_memory_bytes", dto.MetricType_GAUGE, ""},
	{"process_start_time_seconds", dto.MetricType_GAUGE, ""},
}

func scrape(t *T) map[string]*dto.MetricFamily {
	text, err := t.client().Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t)
	t.OK(err, "metrics")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	t.OK(err, "what Prometheus reads of them")
	return families
}

func labelsOf(m *dto.Metric) string {
	names := []string{}
	for _, l := range m.Label {
		names = append(names, l.GetName())
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// answered is how many of a verb and resource were answered with a code.
func answered(families map[string]*dto.MetricFamily, code, verb, resource string) (n float64) {
	for _, m := range families["apiserver_request_total"].GetMetric() {
		have := map[string]string{}
		for _, l := range m.Label {
			have[l.GetName()] = l.GetValue()
		}
		if have["code"] == code && have["verb"] == verb && have["resource"] == resource {
			n += m.Counter.GetValue()
		}
	}
	return n
}

func metricsAreRead(t *T) {
	configs := t.client().CoreV1().ConfigMaps(t.NS)
	w, err := configs.Watch(t, metav1.ListOptions{})
	t.OK(err, "watch")
	defer w.Stop()
	_, err = t.client().CoreV1().Pods(t.NS).Create(t, makePod("measured"), metav1.CreateOptions{})
	t.OK(err, "pod")
	before := answered(scrape(t), "404", "GET", "configmaps")
	_, err = configs.Create(t, &corev1.ConfigMap{ObjectMeta: meta("measured")}, metav1.CreateOptions{})
	t.OK(err, "create")
	<-w.ResultChan()
	for range 3 {
		_, _ = configs.Get(t, "nobody", metav1.GetOptions{})
	}
	families := scrape(t)
	t.Must(answered(families, "404", "GET", "configmaps") == before+3, "three requests more are not counted as such")
	for _, want := range metricLabels {
		f := families[want.name]
		t.Must(f != nil && len(f.Metric) > 0, "there is no %s", want.name)
		t.Must(f.GetType() == want.kind, "%s is a %v", want.name, f.GetType())
		t.Must(labelsOf(f.Metric[0]) == want.labels, "%s has labels %q", want.name, labelsOf(f.Metric[0]))
	}
	for _, f := range families {
		for _, m := range f.Metric {
			if h := m.Histogram; h != nil {
				last := uint64(0)
				for _, b := range h.Bucket {
					t.Must(b.GetCumulativeCount() >= last, "buckets of %s fall", f.GetName())
					last = b.GetCumulativeCount()
				}
				t.Must(last == h.GetSampleCount(), "%s counts %d in buckets and %d in all", f.GetName(), last, h.GetSampleCount())
			}
		}
	}
}
