/* SPDX-License-Identifier: Apache-2.0 */
/* golden/grpc: the messages of the node's protocols, written and read. JSON and messages
 * are turned into one another by the messages' descriptors. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "doc/build.h"
#include "golden/golden.h"
#include "grpc/dra.pb-c.h"
#include "grpc/dra_v1beta1.pb-c.h"
#include "grpc/health.pb-c.h"
#include "grpc/message.h"
#include "grpc/podresources.pb-c.h"
#include "grpc/registration.pb-c.h"

/* ---- which message ---- */

static const struct {
    const char *package; /* on the wire */
    const ProtobufCMessageDescriptor *type;
} TYPES[] = {
#define DRA(name)                                                                        \
    {"k8s.io.kubelet.pkg.apis.dra.v1.", &dra__##name##__descriptor},                     \
    {                                                                                    \
        "k8s.io.kubelet.pkg.apis.dra.v1beta1.", &dra__##name##__descriptor               \
    }
#define DRA_V1(name)                                                                     \
    {                                                                                    \
        "k8s.io.kubelet.pkg.apis.dra.v1.", &dra__##name##__descriptor                    \
    }
#define DRA_BETA(name)                                                                   \
    {                                                                                    \
        "k8s.io.kubelet.pkg.apis.dra.v1beta1.", &dra_v1beta1__##name##__descriptor       \
    }
#define HEALTH(name)                                                                     \
    {"v1.", &health__##name##__descriptor},                                              \
    {                                                                                    \
        "v1alpha1.", &health__##name##__descriptor                                       \
    }
#define PODS(name)                                                                       \
    {                                                                                    \
        "v1.", &podresources__##name##__descriptor                                       \
    }
#define PODS_ALPHA(name)                                                                 \
    PODS(name),                                                                          \
    {                                                                                    \
        "v1alpha1.", &podresources__##name##__descriptor                                 \
    }
#define REGISTRATION(name)                                                               \
    {                                                                                    \
        "pluginregistration.", &registration__##name##__descriptor                       \
    }
    DRA(claim),
    DRA(node_prepare_resources_request),
    DRA(node_unprepare_resources_request),
    DRA(node_unprepare_resources_response),
    DRA(node_unprepare_resource_response),
    DRA_V1(device),
    DRA_V1(node_prepare_resources_response),
    DRA_V1(node_prepare_resource_response),
    DRA_BETA(device),
    DRA_BETA(node_prepare_resources_response),
    DRA_BETA(node_prepare_resource_response),
    HEALTH(node_watch_resources_request),
    HEALTH(node_watch_resources_response),
    HEALTH(device_health),
    HEALTH(device_identifier),
    PODS_ALPHA(list_pod_resources_request),
    PODS_ALPHA(list_pod_resources_response),
    PODS_ALPHA(pod_resources),
    PODS_ALPHA(container_resources),
    PODS_ALPHA(container_devices),
    PODS(allocatable_resources_request),
    PODS(allocatable_resources_response),
    PODS(get_pod_resources_request),
    PODS(get_pod_resources_response),
    PODS(container_memory),
    PODS(topology_info),
    PODS(numanode),
    PODS(dynamic_resource),
    PODS(claim_resource),
    PODS(cdidevice),
    REGISTRATION(info_request),
    REGISTRATION(plugin_info),
    REGISTRATION(registration_status),
    REGISTRATION(registration_status_response),
};

static const ProtobufCMessageDescriptor *type_find(struct str name)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        struct str package = str_from(TYPES[i].package);
        if (str_starts(name, package) &&
            str_is(str_sub(name, package.n, SIZE_MAX), TYPES[i].type->short_name))
            return TYPES[i].type;
    }
    return NULL;
}

/* ---- fields of a message in memory ---- */

typedef const ProtobufCFieldDescriptor field;

static void *at(const ProtobufCMessage *m, unsigned offset)
{
    return (char *)m + offset;
}

static size_t width(field *f)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        return 8;
    default: /* enum and bool */
        return sizeof(int);
    }
}

/* Lists of messages whose items are keys with values. */
static bool is_map(field *f)
{
    if (f->type != PROTOBUF_C_TYPE_MESSAGE || f->label != PROTOBUF_C_LABEL_REPEATED)
        return false;
    struct str name = str_from(((ProtobufCMessageDescriptor *)f->descriptor)->short_name);
    return name.n > 5 && str_is(str_sub(name, name.n - 5, SIZE_MAX), "Entry");
}

/* ---- JSON to message, in the arena ---- */

static ProtobufCMessage *from_doc(const ProtobufCMessageDescriptor *type,
                                  const struct doc *d, struct arena *a);

static int64_t number_of(const struct doc *d)
{
    return strtoll(d->s, NULL, 10);
}

static void value_from_doc(field *f, const struct doc *d, void *to, struct arena *a)
{
    const ProtobufCEnumValue *value;
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
        *(char **)to = (char *)arena_str(a, doc_str(d)).p;
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)to = from_doc(f->descriptor, d, a);
        break;
    case PROTOBUF_C_TYPE_INT64:
        *(int64_t *)to = number_of(d);
        break;
    case PROTOBUF_C_TYPE_UINT64:
        *(uint64_t *)to = strtoull(d->s, NULL, 10);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)to = d->b;
        break;
    default:
        value = d->type == DOC_STRING
                    ? protobuf_c_enum_descriptor_get_value_by_name(f->descriptor, d->s)
                    : NULL;
        *(int *)to = value ? value->value : (int)number_of(d);
    }
}

static int by_key(const void *a, const void *b)
{
    const struct doc_member *x = a, *y = b;
    return str_cmp(doc_key(x), doc_key(y));
}

static ProtobufCMessage *entry_from_doc(const ProtobufCMessageDescriptor *type,
                                        const struct doc_member *m, struct arena *a)
{
    ProtobufCMessage *entry = arena_alloc(a, type->sizeof_message);
    protobuf_c_message_init(type, entry);
    *(char **)at(entry, type->fields[0].offset) = (char *)arena_str(a, doc_key(m)).p;
    value_from_doc(&type->fields[1], &m->value, at(entry, type->fields[1].offset), a);
    return entry;
}

static void map_from_doc(field *f, const struct doc *d, ProtobufCMessage *m,
                         struct arena *a)
{
    ProtobufCMessage **entries = ARENA_ARRAY(a, ProtobufCMessage *, d->n);
    struct doc_member *sorted = ARENA_ARRAY(a, struct doc_member, d->n);
    memcpy(sorted, d->members, d->n * sizeof *sorted);
    qsort(sorted, d->n, sizeof *sorted, by_key);
    for (uint32_t i = 0; i < d->n; i++)
        entries[i] = entry_from_doc(f->descriptor, &sorted[i], a);
    *(ProtobufCMessage ***)at(m, f->offset) = entries;
    *(size_t *)at(m, f->quantifier_offset) = d->n;
}

static void list_from_doc(field *f, const struct doc *d, ProtobufCMessage *m,
                          struct arena *a)
{
    char *items = arena_alloc(a, d->n * width(f) + 1);
    for (uint32_t i = 0; i < d->n; i++)
        value_from_doc(f, &d->items[i], items + i * width(f), a);
    *(char **)at(m, f->offset) = items;
    *(size_t *)at(m, f->quantifier_offset) = d->n;
}

static void field_from_doc(field *f, const struct doc *d, ProtobufCMessage *m,
                           struct arena *a)
{
    if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        *(uint32_t *)at(m, f->quantifier_offset) = f->id;
    if (is_map(f))
        map_from_doc(f, d, m, a);
    else if (f->label == PROTOBUF_C_LABEL_REPEATED)
        list_from_doc(f, d, m, a);
    else
        value_from_doc(f, d, at(m, f->offset), a);
}

static ProtobufCMessage *from_doc(const ProtobufCMessageDescriptor *type,
                                  const struct doc *d, struct arena *a)
{
    ProtobufCMessage *m = arena_alloc(a, type->sizeof_message);
    protobuf_c_message_init(type, m);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const struct doc *value = doc_get(d, type->fields[i].name);
        if (value && value->type != DOC_NULL)
            field_from_doc(&type->fields[i], value, m, a);
    }
    return m;
}

/* ---- message to JSON ---- */

static struct doc to_doc(const ProtobufCMessage *m, struct arena *a);

static struct doc number_doc(struct arena *a, const char *format, long long n)
{
    return doc_make_string(a, arena_printf(a, format, n));
}

static struct doc enum_doc(field *f, int n, struct arena *a)
{
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(f->descriptor, n);
    return value ? doc_make_string(a, str_from(value->name)) : doc_make_int(a, n);
}

static struct doc value_doc(field *f, const void *from, struct arena *a)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
        return doc_make_string(a, str_from(*(char *const *)from));
    case PROTOBUF_C_TYPE_MESSAGE:
        return *(void *const *)from ? to_doc(*(ProtobufCMessage *const *)from, a)
                                    : doc_make_map();
    case PROTOBUF_C_TYPE_INT64:
        return number_doc(a, "%lld", *(const int64_t *)from);
    case PROTOBUF_C_TYPE_UINT64:
        return number_doc(a, "%llu", (long long)*(const uint64_t *)from);
    case PROTOBUF_C_TYPE_BOOL:
        return doc_make_bool(*(const protobuf_c_boolean *)from);
    default:
        return enum_doc(f, *(const int *)from, a);
    }
}

/* Of two entries with one key the last counts. */
static struct doc list_doc(field *f, const ProtobufCMessage *m, struct arena *a)
{
    size_t n = *(size_t *)at(m, f->quantifier_offset);
    const char *items = *(char **)at(m, f->offset);
    struct doc out = is_map(f) ? doc_make_map() : doc_make_list();
    for (size_t i = 0; i < n; i++) {
        const void *item = items + i * width(f);
        if (!is_map(f)) {
            doc_append(a, &out, value_doc(f, item, a));
            continue;
        }
        const ProtobufCMessage *entry = *(ProtobufCMessage *const *)item;
        field *fields = entry->descriptor->fields;
        doc_set_str(a, &out,
                    arena_str(a, str_from(*(char **)at(entry, fields[0].offset))),
                    value_doc(&fields[1], at(entry, fields[1].offset), a));
    }
    return out;
}

/* proto3: a value that is the default is not there, unless presence is tracked. */
static bool is_there(field *f, const ProtobufCMessage *m)
{
    const void *value = at(m, f->offset);
    if (f->label == PROTOBUF_C_LABEL_REPEATED)
        return *(size_t *)at(m, f->quantifier_offset) > 0;
    if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        return *(uint32_t *)at(m, f->quantifier_offset) == f->id;
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
        return **(char *const *)value != '\0';
    case PROTOBUF_C_TYPE_MESSAGE:
        return *(void *const *)value != NULL;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        return *(const int64_t *)value != 0;
    default:
        return *(const int *)value != 0;
    }
}

static struct doc to_doc(const ProtobufCMessage *m, struct arena *a)
{
    struct doc out = doc_make_map();
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        field *f = &m->descriptor->fields[i];
        if (!is_there(f, m))
            continue;
        doc_set_str(a, &out, str_from(f->name),
                    f->label == PROTOBUF_C_LABEL_REPEATED
                        ? list_doc(f, m, a)
                        : value_doc(f, at(m, f->offset), a));
    }
    return out;
}

/* ---- cases ---- */

static struct str from_hex(struct str hex, struct arena *a)
{
    char *out = arena_alloc(a, hex.n / 2 + 1);
    for (size_t i = 0; i + 1 < hex.n; i += 2)
        out[i / 2] = (char)(str_hex_digit(hex.p[i]) << 4 | str_hex_digit(hex.p[i + 1]));
    return (struct str){out, hex.n / 2};
}

static struct str to_hex(const uint8_t *p, size_t n, struct arena *a)
{
    char *out = arena_alloc(a, 2 * n + 1);
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", p[i]);
    return (struct str){out, 2 * n};
}

static void check_written(struct golden_case *c, const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *m = from_doc(type, doc_get(c->doc, "json"), c->arena);
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *bytes = arena_alloc(c->arena, n + 1);
    protobuf_c_message_pack(m, bytes);
    golden_check_str(c, "hex", doc_get_text(c->doc, "hex"), to_hex(bytes, n, c->arena));
}

static void check_read(struct golden_case *c, const ProtobufCMessageDescriptor *type)
{
    bool error = false;
    doc_get_bool(c->doc, "error", &error);
    struct str bytes = from_hex(doc_get_text(c->doc, "hex"), c->arena);
    ProtobufCMessage *m = grpc_message_read(type, bytes, NULL);
    if (golden_check_bool(c, "error", error, !m) && m) {
        struct doc got = to_doc(m, c->arena);
        golden_check_doc(c, "json", doc_get(c->doc, "json"), &got);
    }
    if (m)
        protobuf_c_message_free_unpacked(m, NULL);
}

static void run_case(struct golden *g, struct golden_case *c)
{
    bool encode = false;
    const ProtobufCMessageDescriptor *type = type_find(doc_get_text(c->doc, "message"));
    (void)g;
    if (!type) {
        golden_fail(c, "no such message is known");
        return;
    }
    doc_get_bool(c->doc, "encode", &encode);
    if (encode)
        check_written(c, type);
    check_read(c, type);
}

const struct golden_runner golden_grpc = {.folder = "grpc", .run_case = run_case};
