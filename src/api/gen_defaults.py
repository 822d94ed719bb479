# SPDX-License-Identifier: Apache-2.0
"""Tables of defaults/ (see its README.md) for gen-types.py."""
import json
import re

ROW = re.compile(r'(?:(?P<place>\S+) : )?(?P<field>\S+) (?P<op>=|:=|\+=) (?P<value>.+?)'
                 r'(?: if (?P<when>.+?))?(?: where (?P<where>.+))?$')
CALL = re.compile(r'!([a-z-]+)(?:\((.*)\))?$')
OPS = {'=': 'SET', ':=': 'PUT', '+=': 'MERGE'}


def text(s):
    return '"' + s.replace('\\', '\\\\').replace('"', '\\"') + '"'


def read(path):
    """{type: [line]} of one file."""
    types, rows = {}, None
    for line in path.read_text().splitlines():
        line = line.split('# ')[0].rstrip()
        if line and not line.startswith(' '):
            rows = types.setdefault(line, [])
        elif line:
            rows.append(line.strip())
    return types


def c_doc(value):
    """A C initializer of struct doc."""
    if value is None:
        return '{.type = DOC_NULL, .pos = UINT32_MAX}'
    if isinstance(value, bool):
        return '{.type = DOC_BOOL, .pos = UINT32_MAX, .b = %s}' % str(value).lower()
    if isinstance(value, int):
        s = str(value)
        return '{.type = DOC_NUMBER, .pos = UINT32_MAX, .n = %d, .s = "%s"}' % (len(s), s)
    if isinstance(value, str):
        return '{.type = DOC_STRING, .pos = UINT32_MAX, .n = %d, .s = %s}' % (
            len(value), text(value))
    if isinstance(value, list):
        items = ', '.join(map(c_doc, value))
        return '{.type = DOC_LIST, .pos = UINT32_MAX, .n = %d, .items = (struct doc[]){%s}}' % (
            len(value), items)
    if not value:
        return '{.type = DOC_MAP, .pos = UINT32_MAX}'
    members = ', '.join('{.key = %s, .key_len = %d, .key_pos = UINT32_MAX, .value = %s}' % (
        text(k), len(k), c_doc(v)) for k, v in value.items())
    return ('{.type = DOC_MAP, .pos = UINT32_MAX, .n = %d, .members = '
            '(struct doc_member[]){%s}}' % (len(value), members))


class Defaults:
    def __init__(self, tables, folder):
        self.tables = tables
        self.values = {}  # C initializer -> name
        self.calls = set()
        self.rows = {}  # type index -> [C initializer]
        self.ifs = []
        for path in sorted(folder.glob('*.defaults')):
            for name, lines in read(path).items():
                if (path.stem, name) not in tables.index:
                    raise SystemExit(f'{path}: no type {name}')
                index = tables.index[path.stem, name]
                self.rows[index] = [self.row(index, line) for line in lines]
        for index in range(len(tables.names)):
            declared = self.declared(index)
            if declared:
                self.rows.setdefault(index, []).extend(declared)

    def fields(self, index):
        return {r['field']: r for r in self.tables.types[self.tables.names[index]]}

    def declared(self, index):
        """Rows for the defaults that the types' own tables have."""
        found = []
        for name, row in sorted(self.fields(index).items()):
            value = json.loads(row['default'] or 'null')
            if value is not None and (value or 'pointer' in row['go']):
                found.append(self.row(index, f'{name} = {row["default"]}'))
        return found

    def follow(self, index, path):
        """The last field of a path from a type; whether all structs before it are values."""
        row, always = None, True
        for step in re.findall(r'[^.\[\]]+|\[\]', path):
            if step == '[]':
                continue
            if row is not None:
                always = always and 'pointer' not in row['go'] and row['json'][0] not in '[{'
                form, kind, _ = self.tables.form(self.tables.names[index][0], row)
                if form != 'STRUCT':
                    return row, False
                index = int(kind[len('&types['):-1])
            if step not in self.fields(index):
                raise SystemExit(f'{self.tables.names[index]}: no field {step} ({path})')
            row = self.fields(index)[step]
        return row, always

    def conditions(self, index, place, when, where):
        ifs = []
        for clause, outer in ((when, False), (where, True)):
            for one in (clause or '').split(', '):
                if not one:
                    continue
                path, _, values = one.lstrip('!').partition('=')
                self.follow(index, path if outer or not place else f'{place}.{path}')
                ifs.append('{%s, %s, %s, %s}' % (
                    text(path), text(values) if values else 'NULL',
                    str(one.startswith('!')).lower(), str(outer).lower()))
        if not ifs:
            return 'NULL', 0
        self.ifs.append(', '.join(ifs))
        return f'default_ifs_{len(self.ifs) - 1}', len(ifs)

    def value(self, written):
        c = c_doc(json.loads(written))
        return '&' + self.values.setdefault(c, f'default_value_{len(self.values)}')

    def row(self, index, line):
        call = CALL.match(line)
        if call:
            name = call[1].replace('-', '_')
            self.calls.add(name)
            for field in filter(None, (call[2] or '').split(',')):
                self.follow(index, field)
            return ('{.op = API_DEFAULT_CALL, .place = "", .fn = default_%s, .argument = %s}'
                    % (name, text(call[2] or '')))
        m = ROW.match(line)
        if not m:
            raise SystemExit(f'{self.tables.names[index]}: {line}')
        place, value = m['place'] or '', m['value']
        field, makes = self.follow(index, f'{place}.{m["field"]}')
        if place:
            makes = '.' not in m['field']
        ifs, nifs = self.conditions(index, place, m['when'], m['where'])
        op, what = OPS[m['op']], ''
        if value == 'now':
            op = 'NOW'
        elif value.startswith('@'):
            self.follow(index, f'{place}.{value[1:]}')
            what = f', .from = {text(value[1:])}'
        elif value != 'null':
            what = f', .value = {self.value(value)}'
        return ('{.op = API_DEFAULT_%s, .pointer = %s, .makes = %s, .place = %s, .field = %s, '
                '.ifs = %s, .nifs = %d%s}' % (
                    op, str('pointer' in field['go']).lower(), str(makes).lower(), text(place),
                    text(m['field']), ifs, nifs, what))

    def write(self, out):
        n = len(self.tables.names)
        out('#include "api/defaults_table.h"\n')
        for name in sorted(self.calls):
            out(f'API_DEFAULT({name});')
        for c, name in self.values.items():
            out(f'static const struct doc {name} = {c};')
        for i, c in enumerate(self.ifs):
            out(f'static const struct api_default_if default_ifs_{i}[] = {{{c}}};')
        for i, rows in sorted(self.rows.items()):
            stem, name = self.tables.names[i]
            out(f'static const struct api_default_row default_rows_{i}[] = {{ /* {stem} {name} */')
            for row in rows:
                out(f'    {row},')
            out('};')
        out(f'static const struct api_default_rows default_rows[{n}] = {{')
        for i, rows in sorted(self.rows.items()):
            out(f'    [{i}] = {{default_rows_{i}, {len(rows)}}},')
        out(f'}};\nstatic const bool default_below[{n}] = {{')
        for i in sorted(self.tables.below(self.rows)):
            out(f'    [{i}] = true,')
        out('};\nstruct api_default_rows api_default_rows_of(const struct api_type *t)\n{\n'
            '    static const struct api_default_rows none;\n'
            '    bool built_in = t >= types && t < types + sizeof types / sizeof *types;\n'
            '    return built_in ? default_rows[t - types] : none;\n}\n'
            'bool api_default_rows_below(const struct api_type *t)\n{\n'
            '    bool built_in = t >= types && t < types + sizeof types / sizeof *types;\n'
            '    return built_in && default_below[t - types];\n}\n')
