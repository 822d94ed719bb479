#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes types.gen.c from the tables in types/, the rules in rules/ and the defaults in
defaults/ (see their README.md)."""
import csv
import pathlib
import re
import sys

import gen_defaults

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


def read_rules(path):
    """{type: [(field, flags, [(rule, argument, "!" if declared)])]} of one file."""
    rules, rows = {}, None
    for number, line in enumerate(open(path), 1):
        line = line.split('#')[0].rstrip()
        if not line:
            continue
        if not line.startswith(' '):
            name, _, like = line.partition(' like ')
            rows = rules.setdefault(name, [])
            rows.extend(rules[like] if like else [])
            continue
        left, colon, right = line.partition(':')
        if not colon:
            raise SystemExit(f'{path}:{number}: no colon')
        field, *flags = left.split()
        checks = re.findall(r'([a-z0-9-]+)(?:\(([^)]*)\))?(!{0,2})', right)
        rows.append((field, flags, checks))
    return rules


STAGES = {'': 'API_HANDWRITTEN', '!': 'API_BOTH', '!!': 'API_DECLARED'}


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
        self.told = {}  # ((label_version, name), field, what) -> text
        for row in read(folder / 'schemas.tsv'):
            key = (row['table'], row['type'])
            if key not in self.index or row['field'] not in (
                    r['field'] for r in self.types[key] + [{'field': ''}]):
                raise SystemExit(f'schemas.tsv: no {key} {row["field"]}')
            self.told[key, row['field'], row['what']] = row['value']
        self.rules = {}  # type index -> rows
        for path in sorted((folder.parent / 'rules').glob('*.rules')):
            for name, rows in read_rules(path).items():
                if (path.stem, name) not in self.index:
                    raise SystemExit(f'{path}: no type {name}')
                self.rules[self.index[path.stem, name]] = rows

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
        if form == 'STRING' and re.search(r'\bbytes$', row['proto']):
            form = 'BYTES'
        if form:
            return form, 'NULL', container
        return 'STRUCT', f'&types[{self.resolve(stem, base)}]', container

    def field(self, stem, row):
        form, kind, container = self.form(stem, row)
        *outer, number = (row['number'] or '0').split('.')
        outer = '{%s}' % ', '.join(outer or ['0'])
        strategies = row['patchStrategy'].split(',')
        flags = [flag for on, flag in [
            (row['required'] == 'y', 'API_REQUIRED'),
            (row['mapType'] == 'atomic', 'API_MAP_ATOMIC'),
            ('merge' in strategies, 'API_PATCH_MERGE'),
            ('retainKeys' in strategies, 'API_PATCH_RETAIN'),
            ('replace' in strategies, 'API_PATCH_REPLACE'),
            ('pointer' in row['go'], 'API_POINTER'),
            ('omit' in row['go'], 'API_OMIT'),
            ('omitzero' in row['go'], 'API_OMIT_ZERO'),
            (row['listType'] != '', 'API_LIST_TOLD'),
            (row['mapType'] == 'granular', 'API_MAP_GRANULAR')] if on]
        list_type = {'map': 'MAP', 'set': 'SET'}.get(row['listType'], 'ATOMIC')
        values = self.told.get(((stem, row['type']), row['field'], 'enum'))
        values = 'NULL' if values is None else f'"{values}"'
        return ('    {%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, API_%s, API_%s, API_LIST_%s, %d},'
                % (text(row['field']), kind, text(row['default']), text(row['listMapKeys']),
                   text(row['patchMergeKey']), text(row['proto']), values, number,
                   ' | '.join(flags) or '0', outer, form, container, list_type,
                   len(row['field'])))

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
                self.write_order(out, i, rows)
        out(f'\nstatic const struct api_type types[{len(self.names)}] = {{')
        for i, (stem, name) in enumerate(self.names):
            self.write_type(out, i, stem, name)
        out('};\n\nconst struct api_type *const api_types[] = {')
        for i in range(len(self.names)):
            out(f'    &types[{i}],')
        out(f'}};\nconst uint32_t api_ntypes = {len(self.names)};\n')
        self.write_rules(out)
        self.write_kinds(out)

    def write_rules(self, out):
        out('#include "api/rules.h"\n')
        used = {check for rows in self.rules.values() for _, _, checks in rows
                for check, _, _ in checks}
        for name in sorted(used):
            out(f'API_RULE({name.replace("-", "_")});')
        for i, rows in sorted(self.rules.items()):
            self.write_rows(out, i, rows)
        out(f'static const struct api_rules rules[{len(self.names)}] = {{')
        for i, rows in sorted(self.rules.items()):
            out(f'    [{i}] = {{rows_{i}, {len(rows)}}},')
        out('};\n')
        below = self.below(self.rules)
        out(f'static const bool below[{len(self.names)}] = {{')
        for i in sorted(below):
            out(f'    [{i}] = true,')
        out('};\n')
        out('const struct api_rules *api_rules_of(const struct api_type *t)\n{\n'
            '    bool built_in = t >= types && t < types + sizeof types / sizeof *types;\n'
            '    const struct api_rules *r = built_in ? &rules[t - types] : NULL;\n'
            '    return r && r->nrows ? r : NULL;\n}\n')
        out('bool api_rules_below(const struct api_type *t)\n{\n'
            '    bool built_in = t >= types && t < types + sizeof types / sizeof *types;\n'
            '    return built_in && below[t - types];\n}\n')

    def write_rows(self, out, i, rows):
        stem, name = self.names[i]
        fields = sorted((r['field'] for r in self.types[stem, name] if r['field']),
                        key=str.encode)
        for k, (_, _, checks) in enumerate(rows):
            if checks:
                out('static const struct api_rule rules_%d_%d[] = {%s};' % (i, k, ', '.join(
                    '{rule_%s, %s, %s}' % (c.replace('-', '_'), text(a) if a else '""',
                                           STAGES[mark])
                    for c, a, mark in checks)))
        out(f'static const struct api_row rows_{i}[] = {{ /* {stem} {name} */')
        for k, (field, flags, checks) in enumerate(rows):
            if field != '*' and field not in fields:
                raise SystemExit(f'{stem} {name}: no field {field}')
            shown = [f[3:] for f in flags if f.startswith('as=')]
            flags = [f for f in flags if not f.startswith('as=')]
            out('    {%s, %s, %s, %d, %s},' % (
                'NULL' if field == '*' else f'&fields_{i}[{fields.index(field)}]',
                f'rules_{i}_{k}' if checks else 'NULL',
                f'"{shown[0]}"' if shown else 'NULL', len(checks),
                ' | '.join('API_ROW_' + f.upper() for f in flags) or '0'))
        out('};')

    def below(self, having):
        """Types among those that have something or contain, at any depth, one that has."""
        contains = {i: set() for i in range(len(self.names))}
        for i, (stem, name) in enumerate(self.names):
            for row in self.types[stem, name]:
                form, kind, _ = self.form(stem, row) if row['field'] else ('', '', '')
                if form == 'STRUCT':
                    contains[i].add(int(kind[len('&types['):-1]))
        found = set(having)
        while True:
            more = {i for i, c in contains.items() if i not in found and c & found}
            if not more:
                return found
            found |= more

    @staticmethod
    def write_order(out, i, rows):
        """Indexes of the fields in the order of their numbers in protobuf."""
        fields = sorted(rows, key=lambda r: r['field'].encode())
        order = sorted((tuple(map(int, r['number'].split('.'))), k)
                       for k, r in enumerate(fields) if r['number'])
        out('static const uint16_t order_%d[] = {%s};' % (
            i, ', '.join(str(k) for _, k in order) or '0'))

    def write_type(self, out, i, stem, name):
        label, version = stem.rsplit('_', 1)
        rows = self.types[stem, name]
        n = sum(1 for r in rows if r['field'])
        form = 'STRUCT' if n else FORMS[rows[0]['json'], '']
        numbered = sum(1 for r in rows if r['field'] and r['number'])
        out('    {%s, "%s", "%s", %s, %s, %s, %d, %d, API_%s, %s},' % (
            text(name), group_of(label, self.kinds), version,
            f'fields_{i}' if n else 'NULL', f'order_{i}' if n else 'NULL',
            text(self.told.get(((stem, name), '', 'union'))), n, numbered, form,
            'true' if ((stem, name), '', 'mapType') in self.told else 'false'))

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
        def out(line):
            f.write(line + '\n')
        tables = Tables(folder)
        tables.write(out)
        gen_defaults.Defaults(tables, folder.parent / 'defaults').write(out)


main()
