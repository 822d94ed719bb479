/* SPDX-License-Identifier: Apache-2.0 */
/* dray allocate: which node and which devices every pending pod gets, and why not. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/claimdoc.h"
#include "cli/commands.h"
#include "cli/diag.h"
#include "cli/expand.h"
#include "cli/manifests.h"
#include "cli/place.h"
#include "cli/report.h"

/* clang-format off */
static const char HELP[] =
"usage: dray allocate [-f] FILE|DIR|- ... [OPTION]...\n"
"\n"
"Reads nodes, slices, classes, claims, templates, pods and workloads, and places every\n"
"pod that waits: those that are pending and those that Deployments, ReplicaSets,\n"
"StatefulSets, DaemonSets and Jobs still lack. Prints which node and which devices each\n"
"pod gets and, where none fits, why not and what to change. Nothing is written anywhere.\n"
"\n"
"  -f, --filename PATH   a file, a folder of *.yaml, *.yml and *.json, or - for standard\n"
"                        input; what \"kubectl get -o yaml\" prints, or files of your own\n"
"  -o, --output FORMAT   table (default), wide, name; yaml or json: the ResourceClaims\n"
"                        that change, with their allocation, ready for kubectl\n"
"      --node NAME       place pods on this node alone\n"
"      --gate NAME=BOOL  a feature gate of Kubernetes, such as DRAListTypeAttributes=true\n"
"      --max-steps N     give up a search after N steps (default 1000000)\n"
"      --now TIME        time of allocation in claims, RFC 3339 (default: now)\n"
"      --skip-invalid    leave out what is wrong instead of stopping\n"
"      --explain         every reason why a pod does not fit\n"
"  -q, --quiet           no notes\n"
"  -h, --help            this text\n"
"\n"
"Highest priority first, then in the order of the input. A pod goes to the first node\n"
"that takes it; where a claim lists alternatives (firstAvailable), to the node that\n"
"offers the best one. Taints, node selectors, required node affinity, CPU and memory\n"
"count; host ports, volumes and rules between pods do not.\n"
"\n"
"Exit status: 0 every pod has a place, 1 some pod has none, 2 wrong usage or input.\n"
"\n"
"Examples:\n"
"  What would the cluster do with the pods that wait?\n"
"    kubectl get nodes,resourceslices,deviceclasses,resourceclaims,\\\n"
"resourceclaimtemplates,pods,deployments -A -o yaml | dray allocate -f -\n"
"  Does a new workload fit into it?\n"
"    dray allocate -f cluster.json -f new-pod.yaml\n"
"  The claims as a scheduler would write them:\n"
"    dray allocate -f examples/vllm -o yaml\n";
/* clang-format on */

enum { DEFAULT_STEPS = 1000000 };

struct options {
    VEC(const char *) paths;
    const char *output, *node;
    struct api_gates gates;
    uint64_t max_steps;
    char now[32];
    bool skip_invalid, explain, quiet;
};

/* ---- options ---- */

static bool bad_option(const char *what, const char *value, const char *instead)
{
    fprintf(stderr, "dray allocate: %s \"%s\": %s\n", what, value, instead);
    return false;
}

/* Gates that only other parts of Kubernetes act on would be promises not kept. */
static bool acts(enum api_gate gate)
{
    switch (gate) {
    case API_GATE_DRANodeAllocatableResources:
    case API_GATE_DRAResourceClaimGranularStatusAuthorization:
    case API_GATE_DRAResourcePoolStatus:
    case API_GATE_DRASchedulerFilterTimeout:
    case API_GATE_DRAWorkloadResourceClaims:
    case API_GATE_GenericWorkload:
    case API_GATE_ClusterTrustBundle:
    case API_GATE_PodCertificateRequest:
    case API_GATE_PodTopologyLabelsAdmission:
    case API_GATE_ServiceAccountNodeAudienceRestriction:
    case API_GATE_StorageVersionMigrator:
        return false;
    default:
        return true;
    }
}

static bool set_gate(struct options *o, const char *arg)
{
    const char *eq = strchr(arg, '=');
    struct str name = {arg, eq ? (size_t)(eq - arg) : strlen(arg)};
    enum api_gate gate = api_gate_find(name);
    bool on = eq && strcmp(eq + 1, "true") == 0;
    if (!eq || (!on && strcmp(eq + 1, "false") != 0))
        return bad_option("--gate", arg, "write NAME=true or NAME=false");
    if (gate == API_GATE_COUNT)
        return bad_option("--gate", arg, "Kubernetes 1.37 has no such gate for devices");
    if (!acts(gate))
        return bad_option("--gate", arg, "nothing here depends on this gate");
    if (api_gate_locked(gate) && on != api_gate(&api_gates_default, gate))
        return bad_option("--gate", arg, "Kubernetes 1.37 has locked this gate");
    api_gate_set(&o->gates, gate, on);
    return true;
}

static bool set_steps(struct options *o, const char *arg)
{
    char *end;
    unsigned long long n = strtoull(arg, &end, 10);
    if (*end || end == arg || n == 0 || arg[0] == '-')
        return bad_option("--max-steps", arg, "write a number above 0");
    o->max_steps = n;
    return true;
}

static bool set_now(struct options *o, const char *arg)
{
    struct tm tm = {0};
    const char *end = strptime(arg, "%Y-%m-%dT%H:%M:%SZ", &tm);
    if (!end || *end || strlen(arg) >= sizeof o->now)
        return bad_option("--now", arg, "write a time such as 2026-01-31T12:00:00Z");
    strncpy(o->now, arg, sizeof o->now - 1);
    return true;
}

static bool set_output(struct options *o, const char *arg)
{
    static const char *const FORMATS[] = {"table", "wide", "name", "yaml", "json"};
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (strcmp(arg, FORMATS[i]) == 0) {
            o->output = arg;
            return true;
        }
    return bad_option("--output", arg, "write table, wide, name, yaml or json");
}

enum { OPT_NODE = 256, OPT_GATE, OPT_STEPS, OPT_NOW, OPT_SKIP, OPT_EXPLAIN };

static const struct option LONG[] = {
    {"filename", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"node", required_argument, NULL, OPT_NODE},
    {"gate", required_argument, NULL, OPT_GATE},
    {"max-steps", required_argument, NULL, OPT_STEPS},
    {"now", required_argument, NULL, OPT_NOW},
    {"skip-invalid", no_argument, NULL, OPT_SKIP},
    {"explain", no_argument, NULL, OPT_EXPLAIN},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static bool set_option(struct options *o, int c, const char *arg)
{
    switch (c) {
    case 'f':
        vec_push(&o->paths, arg);
        return true;
    case 'o':
        return set_output(o, arg);
    case 'q':
        o->quiet = true;
        return true;
    case OPT_NODE:
        o->node = arg;
        return true;
    case OPT_GATE:
        return set_gate(o, arg);
    case OPT_STEPS:
        return set_steps(o, arg);
    case OPT_NOW:
        return set_now(o, arg);
    case OPT_SKIP:
        o->skip_invalid = true;
        return true;
    case OPT_EXPLAIN:
        o->explain = true;
        return true;
    default:
        fputs("\"dray allocate --help\" lists the options\n", stderr);
        return false;
    }
}

/* -1: go on. */
static int parse_options(struct options *o, int argc, char **argv)
{
    time_t now = time(NULL);
    struct tm tm;
    o->gates = api_gates_default;
    o->output = "table";
    o->max_steps = DEFAULT_STEPS;
    strftime(o->now, sizeof o->now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
    optind = 1;
    argv[0] = (char *)"dray allocate"; /* what getopt begins its messages with */
    for (int c; (c = getopt_long(argc, argv, "f:o:qh", LONG, NULL)) != -1;) {
        if (c == 'h') {
            fputs(HELP, stdout);
            return EXIT_OK;
        }
        if (!set_option(o, c, optarg))
            return EXIT_INPUT;
    }
    for (; optind < argc; optind++)
        vec_push(&o->paths, argv[optind]);
    if (o->paths.n)
        return -1;
    fputs("dray allocate: nothing to read: give files or folders with -f, or - for "
          "standard "
          "input\n",
          stderr);
    return EXIT_INPUT;
}

/* ---- running ---- */

static void print_names(const struct placement *p)
{
    for (size_t i = 0; i < p->pods.n; i++) {
        const struct placed_pod *pod = &p->pods.v[i];
        printf("%.*s/%.*s %.*s\n", STR_ARG(pod->pod.namespace), STR_ARG(pod->pod.name),
               STR_ARG(pod->node ? pod->node->meta.name : STR("-")));
    }
}

static void print_claims(const struct placement *p, const struct options *o)
{
    struct arena a;
    struct strbuf text = STRBUF_INIT;
    arena_init(&a);
    struct doc list = claim_list_doc(&p->claims, str_from(o->now), &a);
    if (strcmp(o->output, "json") == 0)
        doc_write_json(&list, DOC_JSON_INDENT, &text);
    else
        doc_write_yaml(&list, &text);
    fputs(strbuf_cstr(&text), stdout);
    if (text.n && text.p[text.n - 1] != '\n')
        putchar('\n');
    strbuf_release(&text);
    arena_fini(&a);
}

static void print_placement(struct cluster *c, const struct placement *p,
                            const struct options *o)
{
    struct report_opts ropts = {.wide = strcmp(o->output, "wide") == 0,
                                .explain = o->explain,
                                .max_steps = o->max_steps};
    bool table = ropts.wide || strcmp(o->output, "table") == 0;
    if (table)
        report_table(p, &ropts, stdout);
    else if (strcmp(o->output, "name") == 0)
        print_names(p);
    else
        print_claims(p, o);
    fflush(stdout);
    report_unplaced(c, p, &ropts, table ? stdout : stderr);
}

static void no_pods(const struct cluster *c, const struct options *o)
{
    if (!o->quiet)
        fprintf(
            stderr,
            "no pod waits for a place (pods: %zu, workloads: %zu, nodes: %zu, devices: "
            "%u)\n",
            c->pods.n, c->workloads.n, c->nodes.n, c->ndevices);
}

static bool states(const struct view_node *n, const char *resource)
{
    for (uint32_t i = 0; i < n->nallocatable; i++)
        if (str_is(n->allocatable[i].name, resource))
            return true;
    return false;
}

/* Nodes written by hand often leave out what a kubelet states. */
static void note_unlimited(const struct cluster *c, struct diags *diags)
{
    const struct view_node *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < c->nodes.n; i++) {
        const struct view_node *node = c->nodes.v[i];
        if (states(node, "cpu") && states(node, "memory") && states(node, "pods"))
            continue;
        first = first ? first : node;
        n++;
    }
    if (!first)
        return;
    struct diag d = {0};
    d.text =
        arena_printf(&diags->arena,
                     "%zu node%s, such as %.*s, do not state cpu, memory and pods in "
                     "status.allocatable: taken as without limit",
                     n, n == 1 ? "" : "s", STR_ARG(first->meta.name));
    diags_add(diags, DIAG_NOTE, &d);
}

static bool knows_node(const struct cluster *c, const struct options *o)
{
    return !o->node || cluster_node(c, str_from(o->node)) ||
           bad_option("--node", o->node, "no node of this name is among the input");
}

static int place(struct cluster *c, const struct options *o, struct diags *diags)
{
    struct waiting_pods waiting = {0};
    struct placement placement;
    struct alloc_features features = alloc_features_of(&o->gates);
    struct place_opts popts = {.features = &features,
                               .taint_rules =
                                   api_gate(&o->gates, API_GATE_DRADeviceTaintRules),
                               .max_steps = o->max_steps,
                               .node = str_from(o->node)};
    expand_pods(c, &waiting, diags);
    if (waiting.list.n)
        note_unlimited(c, diags);
    diags_print(diags, stderr, !o->quiet);
    if (waiting.list.n == 0)
        no_pods(c, o);
    place_pods(c, &waiting, &popts, &placement);
    if (waiting.list.n || strcmp(o->output, "table") != 0)
        print_placement(c, &placement, o);
    int status = placement.unplaced ? EXIT_NO : EXIT_OK;
    placement_fini(&placement);
    waiting_pods_release(&waiting);
    return status;
}

static int run(const struct options *o)
{
    struct cluster c;
    struct diags diags;
    const struct manifests_opts mopts = {.gates = &o->gates, .now = str_from(o->now)};
    cluster_init(&c);
    diags_init(&diags);
    for (size_t i = 0; i < o->paths.n; i++)
        manifests_read(&c, o->paths.v[i], &mopts, &diags);
    manifests_finish(&c, &diags);
    int status;
    if (diags.errors && !o->skip_invalid) {
        diags_print(&diags, stderr, !o->quiet);
        fprintf(stderr, "%u mistake%s in the input, nothing was placed\n", diags.errors,
                diags.errors == 1 ? "" : "s");
        status = EXIT_INPUT;
    } else if (!knows_node(&c, o)) {
        status = EXIT_INPUT;
    } else {
        status = place(&c, o, &diags);
    }
    diags_fini(&diags);
    cluster_fini(&c);
    return status;
}

int cmd_allocate(int argc, char **argv)
{
    struct options o = {0};
    int status = parse_options(&o, argc, argv);
    if (status < 0)
        status = run(&o);
    vec_release(&o.paths);
    return status;
}
