/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of limits: what their numbers say of one another. */
#include "api/rules_pod.h"
#include "api/rules_text.h"
#include "base/map.h"
#include "num/quantity.h"

/* ---- items ---- */

API_RULE(limit_types)
{
    struct strmap seen = STRMAP_INIT;
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        const struct doc *type = api_member(&at->value->items[i], "type");
        bool made;
        strmap_put(&seen, api_text(type), &made);
        if (!made)
            api_report_at(at, arena_printf(at->w->a, "[%u].type", i).p, type,
                          API_ERROR_DUPLICATE, "%s", "");
    }
    strmap_release(&seen);
    return true;
}

static void check_type(struct api_at *at, const struct doc *type)
{
    struct str s = api_text(type);
    if (rules_name_at(at, ".type", type, NAME_LABEL_KEY) &&
        str_find_byte(s, '/', 0) == SIZE_MAX &&
        !rules_among(s, "Container|PersistentVolumeClaim|Pod"))
        api_report_at(at, ".type", type, API_ERROR_INVALID,
                      "must be a standard limit type or fully qualified");
}

static void check_names(struct api_at *at, const char *map, bool of_containers)
{
    const struct doc *amounts = api_member(at->value, map);
    for (uint32_t i = 0; amounts && i < amounts->n; i++) {
        struct str name = doc_key(&amounts->members[i]);
        struct doc d = doc_make_string(at->w->a, name);
        const char *path = arena_printf(at->w->a, ".%s[%.*s]", map, STR_ARG(name)).p;
        if (of_containers)
            rules_container_resource(at, path, &d);
        else
            rules_resource(at, path, &d);
    }
}

/* ---- numbers ---- */

enum { MIN, MAX, DEFAULT, REQUEST, RATIO, NMAPS };
static const char *const MAPS[NMAPS] = {"min", "max", "default", "defaultRequest",
                                        "maxLimitRequestRatio"};

struct amounts { /* of one resource */
    struct api_at *at;
    struct str name;
    struct quantity q[NMAPS];
    bool has[NMAPS];
};

static const char *print(const struct amounts *x, int map)
{
    return arena_printf(x->at->w->a, "%.*s",
                        STR_ARG(quantity_print(&x->q[map], x->at->w->a)))
        .p;
}

static void refuse(const struct amounts *x, int map, int shown, const char *text)
{
    struct arena *a = x->at->w->a;
    api_report_shown(x->at, arena_printf(a, ".%s[%.*s]", MAPS[map], STR_ARG(x->name)).p,
                     api_shown_text(a, quantity_print(&x->q[shown], a)),
                     API_ERROR_INVALID, "%s", text);
}

/* Pairs of which the first must not be above the second; the place of the error, the
 * value that is shown there, and what is said of it. */
static const struct pair {
    int low, high, place, shown;
    const char *low_name, *high_name;
} PAIRS[] = {
    {MIN, MAX, MIN, MIN, "min value", "max value"},
    {MIN, REQUEST, REQUEST, REQUEST, "min value", "default request value"},
    {REQUEST, MAX, REQUEST, REQUEST, "default request value", "max value"},
    {REQUEST, DEFAULT, REQUEST, REQUEST, "default request value", "default limit value"},
    {MIN, DEFAULT, DEFAULT, MIN, "min value", "default value"},
    {DEFAULT, MAX, DEFAULT, MAX, "default value", "max value"},
};

static void check_pairs(const struct amounts *x)
{
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++) {
        const struct pair *p = &PAIRS[i];
        if (x->has[p->low] && x->has[p->high] &&
            quantity_cmp(&x->q[p->low], &x->q[p->high]) > 0)
            refuse(x, p->place, p->shown,
                   arena_printf(x->at->w->a, "%s %s is greater than %s %s", p->low_name,
                                print(x, p->low), p->high_name, print(x, p->high))
                       .p);
    }
}

/* As upstream divides: by thousandths where those are small enough. */
static void check_ratio(const struct amounts *x)
{
    static const int64_t MAX_MILLI = INT64_MAX / 1000;
    struct quantity one = quantity_from_int64(1, x->q[RATIO].format);
    int64_t v[NMAPS] = {0};
    static const int USED[] = {MIN, MAX, RATIO};
    bool small = true;
    if (quantity_cmp(&x->q[RATIO], &one) < 0)
        refuse(x, RATIO, RATIO,
               arena_printf(x->at->w->a, "ratio %s is less than 1", print(x, RATIO)).p);
    if (!x->has[MIN] || !x->has[MAX])
        return;
    for (size_t i = 0; i < 3; i++)
        small = quantity_scaled(&x->q[USED[i]], 0, &v[USED[i]]) &&
                v[USED[i]] < MAX_MILLI && small;
    for (size_t i = 0; small && i < 3; i++)
        quantity_scaled(&x->q[USED[i]], 3, &v[USED[i]]);
    double most = (double)v[MAX] / (double)v[MIN];
    if ((double)v[RATIO] / (small ? 1000 : 1) > most)
        refuse(x, RATIO, RATIO,
               arena_printf(x->at->w->a, "ratio %s is greater than max/min = %f",
                            print(x, RATIO), most)
                   .p);
}

static void check_amounts(const struct amounts *x)
{
    check_pairs(x);
    if (x->has[RATIO])
        check_ratio(x);
    if (x->has[DEFAULT] && x->has[REQUEST] &&
        (!rules_native_resource(x->name) || str_starts(x->name, STR("hugepages-"))) &&
        quantity_cmp(&x->q[DEFAULT], &x->q[REQUEST]) != 0)
        refuse(x, REQUEST, REQUEST,
               arena_printf(x->at->w->a,
                            "default value %s must equal to defaultRequest value %s in "
                            "%.*s",
                            print(x, DEFAULT), print(x, REQUEST), STR_ARG(x->name))
                   .p);
}

static void read_amounts(struct amounts *x, bool pod)
{
    for (int m = 0; m < NMAPS; m++) {
        const struct doc *d = doc_get_str(api_member(x->at->value, MAPS[m]), x->name);
        bool counts = !pod || (m != DEFAULT && m != REQUEST);
        x->has[m] = d && counts && (d->type == DOC_STRING || d->type == DOC_NUMBER) &&
                    quantity_parse(doc_str(d), x->at->w->a, &x->q[m], NULL);
    }
}

/* Each resource that any of the maps names, once. */
static void check_resources(struct api_at *at, bool pod)
{
    struct strmap seen = STRMAP_INIT;
    for (int m = 0; m < NMAPS; m++) {
        const struct doc *map = api_member(at->value, MAPS[m]);
        for (uint32_t i = 0; map && i < map->n; i++) {
            struct amounts x = {.at = at, .name = doc_key(&map->members[i])};
            bool made;
            strmap_put(&seen, x.name, &made);
            if (!made)
                continue;
            read_amounts(&x, pod);
            check_amounts(&x);
        }
    }
    strmap_release(&seen);
}

API_RULE(limit_item)
{
    const struct doc *type = api_member(at->value, "type");
    bool pod = doc_is_string(type, "Pod"),
         of_containers = pod || doc_is_string(type, "Container");
    check_type(at, type);
    for (int m = 0; m < NMAPS; m++) {
        bool barred = pod && (m == DEFAULT || m == REQUEST);
        if (!barred)
            check_names(at, MAPS[m], of_containers);
        else if (!api_empty(api_member(at->value, MAPS[m])))
            api_report_at(at, arena_printf(at->w->a, ".%s", MAPS[m]).p, NULL,
                          API_ERROR_FORBIDDEN,
                          "may not be specified when `type` is 'Pod'");
    }
    if (doc_is_string(type, "PersistentVolumeClaim") &&
        !doc_get(api_member(at->value, "min"), "storage") &&
        !doc_get(api_member(at->value, "max"), "storage"))
        api_report_at(at, ".limits", NULL, API_ERROR_REQUIRED,
                      "either minimum or maximum storage value is required, but neither "
                      "was provided");
    check_resources(at, pod);
    return true;
}
