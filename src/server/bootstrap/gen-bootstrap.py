# SPDX-License-Identifier: Apache-2.0
"""C tables of the objects that a new cluster holds.

    gen-bootstrap.py ROLES FLOWS OUT

ROLES says at its top how it is written; FLOWS holds an object as JSON on each line."""
import json
import sys

RBAC = 'rbac.authorization.k8s.io'


def words(s):
    return ['' if w == 'core' else w for w in s.split(',')]


def meta(name):
    namespace, _, short = name.rpartition('/')
    m = {'name': short, **({'namespace': namespace} if namespace else {})}
    m['labels'] = {'kubernetes.io/bootstrapping': 'rbac-defaults'}
    m['annotations'] = {RBAC.replace('k8s.io', 'kubernetes.io') + '/autoupdate': 'true'}
    return m


def start(line):
    kind, name, *more = line.split()
    o = {'kind': kind, 'apiVersion': RBAC + '/v1', 'metadata': meta(name)}
    pairs = list(zip(more[::2], more[1::2]))
    if kind.endswith('Role'):
        for word, role in pairs:
            label = {RBAC + '/aggregate-to-' + role: 'true'}
            if word == 'in':
                o['metadata']['labels'].update(label)
            else:
                o['aggregationRule'] = {'clusterRoleSelectors': [{'matchLabels': label}]}
        o['rules'] = [] if 'aggregationRule' not in o else None
        return o
    role = dict(pairs).get('to', o['metadata']['name'])
    o['roleRef'] = {'apiGroup': RBAC, 'kind': kind[:-len('Binding')], 'name': role}
    return o


def rule(fields):
    verbs, *rest = map(words, fields)
    if len(rest) == 1:
        return {'verbs': verbs, 'nonResourceURLs': rest[0]}
    names = {'resourceNames': rest[2]} if len(rest) > 2 else {}
    return {'verbs': verbs, 'apiGroups': rest[0], 'resources': rest[1], **names}


def subject(kind, name):
    if kind != 'ServiceAccount':
        return {'kind': kind, 'apiGroup': RBAC, 'name': name}
    namespace, _, short = name.partition('/')
    return {'kind': kind, 'name': short, 'namespace': namespace}


def read_roles(path):
    objects = []
    for line in open(path):
        line = line.rstrip()
        if not line or line.startswith('#'):
            continue
        line, _, gate = line.partition(' if ')
        gate = {'if': gate} if gate else {}
        if not line.startswith(' '):
            objects.append({**start(line), **gate})
            continue
        o, fields = objects[-1], line.split()
        if 'rules' in o:
            o['rules'].append({**rule(fields), **gate})
        else:
            o.setdefault('subjects', []).append(subject(*fields))
    return objects


def read_flows(path):
    for line in open(path):
        o = json.loads(line)
        if o['apiVersion'].startswith('flowcontrol'):
            o['metadata']['annotations'] = {'apf.kubernetes.io/autoupdate-spec': 'true'}
        yield o


def text(s):
    s = s.replace('\\', '\\\\').replace('"', '\\"')
    return '\n     '.join('"%s"' % s[i:i + 2000] for i in range(0, len(s), 2000))


def main():
    roles, flows, out = sys.argv[1:]
    with open(out, 'w') as f:
        f.write('#include "server/access/bootstrap.h"\n\n'
                'const struct bootstrap_row bootstrap_rows[] = {\n')
        for o in read_roles(roles) + list(read_flows(flows)):
            m = o['metadata']
            f.write('    {"%s", "%s", "%s",\n     %s},\n' % (
                o['kind'], m.get('namespace', ''), m['name'],
                text(json.dumps(o, separators=(',', ':')))))
        f.write('};\nconst uint32_t bootstrap_nrows =\n'
                '    sizeof bootstrap_rows / sizeof *bootstrap_rows;\n')


main()
