#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes types.gen.c from the tables in types/ (columns: types/README.md)."""
import csv
import pathlib
import sys

FORMS = {
    ('string', ''): 'STRING', ('string', 'byte'): 'BYTES', ('boolean', ''): 'BOOL',
    ('integer', 'int32'): 'INT32', ('integer', 'int64'): 'INT64', ('integer', ''): 'INT64',
    ('number', 'double'): 'DOUBLE', ('number', ''): 'DOUBLE', ('object', ''): 'OBJECT',
    ('any', ''): 'ANY', ('time', ''): 'TIME', ('microTime', ''): 'MICRO_TIME',
    ('duration', ''): 'DURATION', ('quantity', ''): 'QUANTITY',
    ('intOrString', ''): 'INT_OR_STRING', ('rawExtension', ''): 'RAW',
    ('fieldsV1', ''): 'FIELDS_V1',
}
CONTAINERS = [('{}[]', 'MAP_OF_LISTS'), ('[]', 'LIST'), ('{}', 'MAP')]
# Names of group and version of each file: <group's first label>_<version>.tsv.
SHORT_GROUPS = {'core': '', 'meta': 'meta', 'apps': 'apps', 'batch': 'batch',
                'autoscaling': 'autoscaling', 'policy': 'policy'}


def read(path):
    with open(path, newline='') as f:
        return list(csv.DictReader(f, delimiter='\t', quoting=csv.QUOTE_NONE))


def group_of(label, kinds):
    if label in SHORT_GROUPS:
        return SHORT_GROUPS[label]
    for row in kinds:
        if row['group'].split('.')[0] == label:
            return row['group']
    return label


def text(s):
    """A C string literal, NULL for nothing."""
    if not s:
        return 'NULL'
    return '"' + s.replace('\\', '\\\\').replace('"', '\\"') + '"'


class Tables:
    def __init__(self, folder):
        self.kinds = read(folder / 'kinds.tsv')
        self.types = {}  # (label_version, name) -> rows
        self.names = []
        for path in sorted(folder.glob('*_*.tsv')):
            for row in read(path):
                key = (path.stem, row['type'])
                if key not in self.types:
                    self.types[key] = []
                    self.names.append(key)
                self.types[key].append(row)
        self.index = {key: i for i, key in enumerate(self.names)}

    def resolve(self, stem, name):
        """Index of a named type: the own file first, then meta, core, then anywhere."""
        for where in (stem, 'meta_v1', 'core_v1'):
            if (where, name) in self.index:
                return self.index[where, name]
        found = [i for (_, n), i in self.index.items() if n == name]
        if len(found) != 1:
            raise SystemExit(f'{stem}: type {name}: {len(found)} candidates')
        return found[0]

    def form(self, stem, row):
        base, container = row['json'], 'ONE'
        for prefix, name in CONTAINERS:
            if base.startswith(prefix):
                base, container = base[len(prefix):], name
                break
        form = FORMS.get((base, row['format'])) or FORMS.get((base, ''))
        if form:
            return form, 'NULL', container
        return 'STRUCT', f'&types[{self.resolve(stem, base)}]', container

    def field(self, stem, row):
        form, kind, container = self.form(stem, row)
        outer, number = 0, row['number'] or 0
        if '.' in str(number):
            outer, number = number.split('.')
        strategies = row['patchStrategy'].split(',')
        flags = [flag for on, flag in [
            (row['required'] == 'y', 'API_REQUIRED'),
            (row['mapType'] == 'atomic', 'API_MAP_ATOMIC'),
            ('merge' in strategies, 'API_PATCH_MERGE'),
            ('retainKeys' in strategies, 'API_PATCH_RETAIN'),
            ('replace' in strategies, 'API_PATCH_REPLACE')] if on]
        list_type = {'map': 'MAP', 'set': 'SET'}.get(row['listType'], 'ATOMIC')
        return ('    {%s, %s, %s, %s, %s, %s, %s, %s, API_%s, API_%s, API_LIST_%s, %s},' % (
            text(row['field']), kind, text(row['default']), text(row['listMapKeys']),
            text(row['patchMergeKey']), text(row['proto']), number, outer, form, container,
            list_type, ' | '.join(flags) or '0'))

    def write(self, out):
        out('/* Made from types/ by gen-types.py. */')
        out('#include "api/schema.h"\n')
        out(f'static const struct api_type types[{len(self.names)}];\n')
        for i, (stem, name) in enumerate(self.names):
            rows = [r for r in self.types[stem, name] if r['field']]
            if rows:
                out(f'static const struct api_field fields_{i}[] = {{ /* {stem} {name} */')
                for row in sorted(rows, key=lambda r: r['field'].encode()):
                    out(self.field(stem, row))
                out('};')
        out(f'\nstatic const struct api_type types[{len(self.names)}] = {{')
        for i, (stem, name) in enumerate(self.names):
            self.write_type(out, i, stem, name)
        out('};\n\nconst struct api_type *const api_types[] = {')
        for i in range(len(self.names)):
            out(f'    &types[{i}],')
        out(f'}};\nconst uint32_t api_ntypes = {len(self.names)};\n')
        self.write_kinds(out)

    def write_type(self, out, i, stem, name):
        label, version = stem.rsplit('_', 1)
        rows = self.types[stem, name]
        n = sum(1 for r in rows if r['field'])
        form = 'STRUCT' if n else FORMS[rows[0]['json'], '']
        out('    {%s, "%s", "%s", %s, %d, API_%s},' % (
            text(name), group_of(label, self.kinds), version,
            f'fields_{i}' if n else 'NULL', n, form))

    def body(self, row):
        """The type of a (sub)resource's body, NULL when it is none of the tables'."""
        group, version, name = row['group'], row['version'], row['kind']
        if '/' in name:
            group, version, name = ([''] + name.split('/'))[-3:]
        for (stem, n), i in self.index.items():
            label, v = stem.rsplit('_', 1)
            if n == name and v == version and group_of(label, self.kinds) == group:
                return f'&types[{i}]'
        return 'NULL'

    def write_kinds(self, out):
        out('const struct api_kind api_kinds[] = {')
        for row in self.kinds:
            out('    {"%s", "%s", "%s", "%s", "%s", "%s", "%s", "%s", %s, %s},' % (
                row['group'], row['version'], row['resource'], row['singular'], row['kind'],
                row['shortNames'], row['categories'], row['verbs'], self.body(row),
                'true' if row['namespaced'] == 'y' else 'false'))
        out(f'}};\nconst uint32_t api_nkinds = {len(self.kinds)};')


def main():
    folder, target = pathlib.Path(sys.argv[1]), sys.argv[2]
    with open(target, 'w') as f:
        f.write('/* SPDX-License-Identifier: Apache-2.0 */\n')
        Tables(folder).write(lambda line: f.write(line + '\n'))


main()
