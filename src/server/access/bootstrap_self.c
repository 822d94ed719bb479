/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/bootstrap_self.h"

static const char CONFIG_MAP[] =
    "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'%s','namespace':"
    "'kube-system'},'data':{}}";

/* The service of the server, the range that its address is the first of, the address. */
static const char SERVICE[] =
    "{'kind':'Service','apiVersion':'v1','metadata':{'name':'kubernetes','namespace':"
    "'default','labels':{'component':'apiserver','provider':'kubernetes'}},'spec':{"
    "'ports':[{'name':'https','protocol':'TCP','port':443,'targetPort':%u}],"
    "'clusterIP':'%s','clusterIPs':['%s'],'type':'ClusterIP','sessionAffinity':'None',"
    "'ipFamilies':['%s'],'ipFamilyPolicy':'SingleStack'}}";
static const char CIDR[] =
    "{'kind':'ServiceCIDR','apiVersion':'networking.k8s.io/v1','metadata':{'name':"
    "'kubernetes'},'spec':{'cidrs':[%s]}}";
static const char ADDRESS[] =
    "{'kind':'IPAddress','apiVersion':'networking.k8s.io/v1','metadata':{'name':'%s',"
    "'labels':{'ipaddress.kubernetes.io/ip-family':'%s',"
    "'ipaddress.kubernetes.io/managed-by':'ipallocator.k8s.io'}},'spec':{'parentRef':{"
    "'resource':'services','namespace':'default','name':'kubernetes'}}}";

static const char ENDPOINTS[] =
    "{'kind':'Endpoints','apiVersion':'v1','metadata':{'name':'kubernetes','namespace':"
    "'default','labels':{'endpointslice.kubernetes.io/skip-mirror':'true'}},'subsets':[{"
    "'addresses':[{'ip':'%.*s'}],'ports':[{'name':'https','port':%u,'protocol':'TCP'}]}]"
    "}";
static const char SLICE[] =
    "{'kind':'EndpointSlice','apiVersion':'discovery.k8s.io/v1','metadata':{'name':"
    "'kubernetes','namespace':'default','labels':{'kubernetes.io/service-name':"
    "'kubernetes'}},'addressType':'%s','endpoints':[{'addresses':['%.*s'],'conditions':{"
    "'ready':true}}],'ports':[{'name':'https','protocol':'TCP','port':%u}]}";

/* JSON with one kind of quote instead of the other. */
static struct doc read(struct arena *a, struct str text)
{
    struct doc_source src = {.name = "bootstrap", .text = text};
    struct doc d = doc_make_map();
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\'')
            ((char *)text.p)[i] = '"';
    doc_read_json(&src, a, &d, NULL);
    return d;
}

static void make_config_map(struct making *m, struct arena *a, const char *name,
                            const char *key, struct str value)
{
    struct doc d = read(a, arena_printf(a, CONFIG_MAP, name)), data = doc_make_map();
    doc_set(a, &data, key, doc_make_string(a, value));
    doc_set(a, &d, "data", data);
    bootstrap_object(m, &d);
}

static void make_service(const struct bootstrap_self *self, struct arena *a,
                         struct making *m)
{
    const struct service_ranges *all = self->services;
    const struct service_range *r = &all->v[0];
    struct str cidrs =
        arena_printf(a, all->n > 1 ? "'%s','%s'" : "'%s'", r->cidr, all->v[1].cidr);
    const char *family = r->six ? "IPv6" : "IPv4";
    struct str texts[] = {
        arena_printf(a, SERVICE, self->port, r->first, r->first, family),
        arena_printf(a, CIDR, cidrs.p), arena_printf(a, ADDRESS, r->first, family)};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct doc d = read(a, texts[i]);
        bootstrap_object(m, &d);
    }
}

void bootstrap_self_make(const struct bootstrap_self *self, struct arena *a,
                         struct making *m)
{
    make_config_map(m, a, "extension-apiserver-authentication", "client-ca-file",
                    self->ca_pem);
    make_config_map(m, a, "kube-apiserver-legacy-service-account-token-tracking", "since",
                    self->today);
    make_service(self, a, m);
    if (self->address.n == 0)
        return;
    bool six = str_find_byte(self->address, ':', 0) != SIZE_MAX;
    struct doc e =
        read(a, arena_printf(a, ENDPOINTS, STR_ARG(self->address), self->port));
    struct doc s = read(a, arena_printf(a, SLICE, six ? "IPv6" : "IPv4",
                                        STR_ARG(self->address), self->port));
    bootstrap_object(m, &e);
    bootstrap_object(m, &s);
}
