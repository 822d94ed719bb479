# SPDX-License-Identifier: Apache-2.0
"""Random device expressions: a typed grammar over the whole dialect, and devices to run
them on. Most compile; some are broken on purpose."""
import re

from questions_num import Mode

DRIVER, OTHER = "gpu.example.com", "other.example.com"
HINT = ". consider using CEL optional chaining"

# ---- The grammar: <T> stands for an expression of type T, <x:T> names a new variable of
# type T that the rest of the row may use, <L T> is a list of T. Leaves come first: they end
# the recursion. ----

LEAVES = {
    "bool": ["true", "false", "device.allowMultipleAllocations", "<attr bool>"],
    "int": ["0", "1", "-3", "7", "9223372036854775807", "-9223372036854775808", "0x1F",
            "<attr int>"],
    "uint": ["0u", "5u", "18446744073709551615u"],
    "double": ["0.0", "1.5", "-2.25", "1e3", ".5", "1e300"],
    "string": ['""', '"a"', '"A100"', "'x y'", '"Zürich"', 'r"\\d"', '"a,b,c"', '"1"',
               '"10.0.0.1"', "device.driver", "<attr string>"],
    "bytes": ["b'abc'", "b'\\xff'", "bytes('é')"],
    "duration": ["duration('1h')", "duration('-90s')", "duration('1.5s')"],
    "timestamp": ["timestamp('2024-02-29T12:00:00Z')", "timestamp(0)"],
    "quantity": ['quantity("1Gi")', 'quantity("1500m")', 'quantity("0")', 'quantity("1k")',
                 "<cap>"],
    "semver": ['semver("1.2.3")', 'semver("1.0.0-rc.1")', 'semver("v1.2", true)',
               "<attr semver>"],
    "ip": ["ip('10.1.2.3')", "ip('::1')", "ip('2001:db8::7')"],
    "cidr": ["cidr('10.0.0.0/8')", "cidr('2001:db8::/32')", "cidr('10.1.2.3/24')"],
    "url": ["url('https://user@h.example:8080/p/a?q=1&q=2')", "url('/only/path')"],
    "type": ["int", "type(1)", "string", "list", "type(device.driver)"],
    "L int": ["[1, 2, 3]", "[]", "[3, 1, 2, 3]", "lists.range(4)", "<attr ints>"],
    "L string": ['["a", "b"]', '["fish"]', '"a,b,c".split(",")', "<attr strings>"],
    "L bool": ["[true, false]"],
    "L double": ["[1.5, -1.0, 2.0]"],
    "M int": ["{'a': 1, 'b': 2}", "{'x': 0}"],
    "M string": ["{'a': 'b'}"],
    "O int": ["optional.none()", "optional.of(3)", "<opt int>"],
    "O string": ["optional.of('z')", "optional.ofNonZeroValue('')", "<opt string>"],
}

ROWS = {
    "bool": [
        "<bool> && <bool>", "<bool> || <bool>", "!<bool>", "<bool> ? <bool> : <bool>",
        "<int> < <int>", "<int> >= <int>", "<int> == <int>", "<uint> <= <uint>",
        "<double> > <double>", "<int> < <double>", "<uint> != <uint>", "<double> == <double>",
        "<string> == <string>", "<string> != <string>", "<string> < <string>",
        "<bytes> == <bytes>", "<bool> == <bool>", "<duration> < <duration>",
        "<timestamp> <= <timestamp>", "<type> == <type>", "<L int> == <L int>",
        "<L string> != <L string>", "<M int> == <M int>",
        "<string>.startsWith(<string>)", "<string>.endsWith(<string>)",
        "<string>.contains(<string>)", "<string>.matches(<regex>)", "<int> in <L int>",
        "<string> in <L string>", "<string> in <M int>", '"a" in ["a", "b", <string>]',
        "<L int>.exists(<x:int>, <bool>)", "<L int>.all(<x:int>, <bool>)",
        "<L string>.exists_one(<x:string>, <bool>)", "<M int>.all(<x:string>, <bool>)",
        "<L int>.exists(<x:int>, <y:int>, <bool>)", "<M int>.existsOne(<x:string>, <y:int>, <bool>)",
        "cel.bind(<x:int>, <int>, <bool>)", "cel.bind(<x:string>, <string>, <bool>)",
        "has(<attrs>.<name>)", "has(<attrs>.<name>) && <bool>", "<O int>.hasValue()",
        "isQuantity(<string>)", "isSemver(<string>)", "isIP(<string>)", "isCIDR(<string>)",
        "isURL(<string>)", "ip.isCanonical(<string>)", "<quantity>.isGreaterThan(<quantity>)",
        "<quantity>.isLessThan(<quantity>)", "<quantity>.isInteger()",
        "<quantity> == <quantity>", "<semver> == <semver>", "<semver>.isGreaterThan(<semver>)",
        "<ip> == <ip>", "<ip>.isLoopback()", "<ip>.isGlobalUnicast()",
        "<cidr>.containsIP(<ip>)", "<cidr>.containsIP(<string>)", "<cidr>.containsCIDR(<cidr>)",
        "sets.contains(<L int>, <L int>)", "sets.intersects(<L string>, <L string>)",
        "sets.equivalent(<L int>, <L int>)", "<L int>.isSorted()", "<L string>.isSorted()",
        "<attr any>.includes(<string>)", "<attr any>.includes(<int>)",
        "<format>.validate(<string>).hasValue()", "format.named(<string>).hasValue()",
        "<format> == <format>", "<ip>.isLinkLocalUnicast()", "<ip>.isLinkLocalMulticast()",
        "<ip>.isUnspecified()", "<L int> in [<L int>]", "<url> == <url>", "<cidr> == <cidr>", "bool(<string>)", "<attr any> == <string>",
        "<attr any> in <L string>", "<int> in <attr any>", "dyn(<int>) == <double>",
    ],
    "int": [
        "<int> + <int>", "<int> - <int>", "<int> * <int>", "<int> / <int>", "<int> % <int>",
        "-<int>", "size(<string>)", "<string>.size()", "size(<L int>)", "<M int>.size()",
        "<bool> ? <int> : <int>", "int(<double>)", "int(<uint>)", "int(<string>)",
        "int(<timestamp>)", "<L int>[<int>]", "<M int>['a']", "<M int>.a",
        "<L int>.sum()", "<L int>.min()", "<L int>.max()", "<L int>.indexOf(<int>)",
        "<L int>.lastIndexOf(<int>)", "<string>.indexOf(<string>)",
        "<string>.lastIndexOf(<string>)", "<string>.indexOf(<string>, <int>)",
        "<timestamp>.getFullYear()", "<timestamp>.getDayOfWeek()",
        "<timestamp>.getHours('Europe/Zurich')", "<timestamp>.getMonth()",
        "<timestamp>.getDate('+05:30')", "<timestamp>.getDayOfMonth('UTC')",
        "<timestamp>.getDayOfYear()", "<timestamp>.getMinutes()", "<timestamp>.getSeconds()",
        "<timestamp>.getMilliseconds(<string>)", "<duration>.getHours()", "<semver>.patch()", "<duration>.getSeconds()",
        "<duration>.getMilliseconds()", "<semver>.major()", "<semver>.minor()",
        "<semver>.compareTo(<semver>)", "<quantity>.asInteger()", "sign(<quantity>)",
        "<quantity>.compareTo(<quantity>)", "<ip>.family()", "<cidr>.prefixLength()",
        "<O int>.orValue(<int>)", "<O int>.value()", "<attrs>[?<qname>].orValue(<int>)",
        "cel.bind(<x:int>, <int>, <int>)", "<attr any>.size()", "size(<attr any>)",
        "<L int>.first().value()", "<L int>.last().orValue(0)", "size(<bytes>)",
    ],
    "uint": ["<uint> + <uint>", "<uint> - <uint>", "<uint> * <uint>", "<uint> / <uint>",
             "<uint> % <uint>", "uint(<int>)", "uint(<string>)", "<bool> ? <uint> : <uint>"],
    "double": ["<double> + <double>", "<double> - <double>", "<double> * <double>",
               "<double> / <double>", "-<double>", "double(<int>)", "double(<string>)",
               "<quantity>.asApproximateFloat()", "<L double>.sum()", "<L double>.max()"],
    "string": [
        "<string> + <string>", "string(<int>)", "string(<double>)", "string(<bool>)",
        "string(<uint>)", "string(<bytes>)", "string(<duration>)", "string(<timestamp>)",
        "string(<ip>)", "string(<cidr>)", "<bool> ? <string> : <string>",
        "<string>.lowerAscii()", "<string>.upperAscii()", "<string>.trim()",
        "<string>.charAt(<int>)", "<string>.substring(<int>)",
        "<string>.substring(<int>, <int>)", "<string>.replace(<string>, <string>)",
        "<string>.replace(<string>, <string>, <int>)", "<L string>.join(<string>)",
        "<L string>.join()", "<L string>[<int>]", "<M string>['a']", "<string>.find(<regex>)",
        "strings.quote(<string>)", '"%d-%s-%x".format([<int>, <string>, <int>])',
        '"%.2f %e %b".format([<double>, <double>, <int>])', '"%s".format([<L int>])',
        "<url>.getHost()", "<url>.getHostname()", "<url>.getEscapedPath()", "<url>.getPort()",
        "<url>.getScheme()", "<L string>.min()", "<L string>.max()", "<O string>.orValue(<string>)",
        "cel.bind(<x:string>, <string>, <string>)", "<string>.split(<string>)[0]",
    ],
    "bytes": ["bytes(<string>)", "<bytes> + <bytes>"],
    "duration": ["<duration> + <duration>", "<duration> - <duration>",
                 "<timestamp> - <timestamp>", "duration(<string>)"],
    "timestamp": ["<timestamp> + <duration>", "<timestamp> - <duration>", "timestamp(<int>)"],
    "quantity": ["<quantity>.add(<quantity>)", "<quantity>.sub(<quantity>)",
                 "<quantity>.add(<int>)", "<quantity>.sub(<int>)", "quantity(<string>)"],
    "semver": ["semver(<string>)", "semver(<string>, <bool>)"],
    "ip": ["ip(<string>)", "<cidr>.ip()"],
    "cidr": ["cidr(<string>)", "<cidr>.masked()"],
    "url": ["url(<string>)"],
    "type": ["type(<int>)", "type(<L int>)", "type(<quantity>)", "type(<attr any>)"],
    "L int": ["<L int> + <L int>", "<L int>.filter(<x:int>, <bool>)",
              "<L int>.map(<x:int>, <int>)", "<L int>.map(<x:int>, <bool>, <int>)",
              "<L string>.map(<x:string>, <int>)", "<L int>.sort()", "<L int>.distinct()",
              "<L int>.reverse()", "<L int>.slice(<int>, <int>)", "[<L int>, [1]].flatten()",
              "<L int>.transformList(<x:int>, <y:int>, <int>)", "[<int>, <int>]",
              "<L int>.sortBy(<x:int>, <int>)", "optional.unwrap([<O int>, <O int>])",
              "[<O int>].unwrapOpt()", "<L int>.flatten()", "lists.range(<int>)", "[<int>, ?<O int>]"],
    "L string": ["<L string> + <L string>", "<L string>.filter(<x:string>, <bool>)",
                 "<L int>.map(<x:int>, <string>)", "<string>.split(<string>)",
                 "<string>.split(<string>, <int>)", "<string>.findAll(<regex>)",
                 "<string>.findAll(<regex>, <int>)", "<url>.getQuery()['q']",
                 "<L string>.sort()", "<L string>.distinct()", "[<string>, <string>]",
                 "<M int>.map(<x:string>, <string>)"],
    "L bool": ["<L int>.map(<x:int>, <bool>)"],
    "L double": ["<L int>.map(<x:int>, double(x))", "[<double>, <double>]"],
    "M int": ["<M int>.transformMapEntry(<x:string>, <y:int>, {<string>: <int>})",
              "<M int>.transformMap(<x:string>, <y:int>, <int>)", "{'a': <int>, 'k': <int>}",
              "<L int>.transformMap(<x:int>, <y:int>, <int>)", "{'a': <int>, ?'o': <O int>}"],
    "M string": ["{'a': <string>}", "{<string>: <string>}"],
    "O int": ["<O int>.optMap(<x:int>, <int>)", "<L int>[?<int>]", "<M int>[?<string>]",
              "<M int>.?a", "<L int>.first()", "<O int>.or(<O int>)", "optional.of(<int>)"],
    "O string": ["<O string>.optFlatMap(<x:string>, optional.of(<string>))",
                 "<L string>[?0]", "<L string>.last()", "optional.of(<string>)",
                 "format.dns1123Subdomain().validate(<string>).optMap(<x:any>, 'bad')"],
}

FORMATS = ["byte", "date", "datetime", "dns1035Label", "dns1035LabelPrefix", "dns1123Label",
           "dns1123LabelPrefix", "dns1123Subdomain", "dns1123SubdomainPrefix", "labelValue",
           "qualifiedName", "uri", "uuid"]
REGEXES = ["'^a'", "'[0-9]+'", "'(?i)a100'", "'a|b'", "''", "'('", "'x{2,3}'", "'\\\\w+$'"]
NAMES = {"bool": ["healthy"], "int": ["index"], "string": ["model", "empty"],
         "semver": ["driverVersion"], "ints": ["ids"], "strings": ["names"]}
ANY = ["model", "index", "healthy", "driverVersion", "names", "ids", "missing"]
PLACE = re.compile(r"<([^<>]+)>")


class Grammar:
    def __init__(self, random):
        self.random = random

    def expression(self, kind, depth, scope=()):
        r = self.random
        variables = [name for name, type_ in scope if type_ == kind]
        if variables and r.random() < 0.35:
            return r.choice(variables)
        if r.random() < 0.004:   # a type error, most often
            kind = r.choice(list(LEAVES))
        rows = ROWS.get(kind)
        if depth <= 0 or not rows or r.random() < 0.12:
            return self.fill(r.choice(LEAVES[kind]), 0, scope)
        row = self.fill(r.choice(rows), depth - 1, scope)
        return row if r.random() < 0.3 else f"({row})"

    def fill(self, row, depth, scope):
        scope, out, at = list(scope), "", 0
        for place in PLACE.finditer(row):
            out += row[at:place.start()]
            at = place.end()
            what = place.group(1)
            if ":" in what:
                name, kind = what.split(":")
                taken = {n for n, _ in scope}
                while name in taken and self.random.random() < 0.9:
                    name += "1"
                scope.append((name, kind))
                out += name
            else:
                out += self.place(what, depth, scope)
        return out + row[at:]

    def place(self, what, depth, scope):
        r = self.random
        kind, _, of = what.partition(" ")
        if what in LEAVES:
            inner = self.expression(what, depth, scope)
            # An unbracketed operand would change what the row means.
            return inner if re.fullmatch(r'[\w."\[\]\']+|\(.*\)|\[[^]]*\]', inner) else f"({inner})"
        if what == "regex":
            return r.choice(REGEXES)
        if what == "format":
            return f"format.{r.choice(FORMATS)}()"
        if what == "name":
            return r.choice(ANY)
        if what == "qname":
            return f'"{r.choice(ANY)}"'
        if what == "attrs":
            return self.attributes()
        if what == "cap":
            return f'device.capacity["{self.domain()}"].{r.choice(["memory", "cores", "none"])}'
        names = ANY if of == "any" or r.random() < 0.03 else NAMES[of]
        if kind == "opt":
            return f"{self.attributes()}.?{r.choice(names)}"
        name = r.choice(names)
        return f'{self.attributes()}["{name}"]' if r.random() < 0.3 else f"{self.attributes()}.{name}"

    def domain(self):
        return DRIVER if self.random.random() < 0.9 else OTHER

    def attributes(self):
        return f'device.attributes["{self.domain()}"]'


class Cel(Mode):
    name = "cel"
    batch = 500

    def questions(self):
        """By the gates that choose upstream's compiler: it keeps only the last one."""
        return sorted(super().questions(), key=lambda q: [
            q.get(gate, True) for gate in ("consumableCapacity", "listAttributes")])

    def attribute(self):
        r = self.random
        return r.choice([
            {"int": r.choice([0, 1, -7, 2**63 - 1])}, {"bool": r.random() < 0.5},
            {"string": r.choice(["", "A100", "fish", "Zürich"])},
            {"version": r.choice(["1.2.3", "535.104.5", "1.0.0-rc.1", "v1", "1.2"])},
            {"ints": [1, 2, 2]}, {"strings": ["a", "fish"]}, {"bools": [True]},
            {"versions": ["1.0.0"]}])

    def device(self):
        r = self.random
        typical = {"model": {"string": r.choice(["A100", "H100", ""])},
                   "index": {"int": r.randint(-1, 9)}, "healthy": {"bool": r.random() < 0.5},
                   "driverVersion": {"version": r.choice(["1.2.3", "560.0.0-rc.1+b"])},
                   "empty": {"string": ""}, "ids": {"ints": [3, 1, 2]},
                   "names": {"strings": ["fish", "bird"]}}
        attributes = {k: v for k, v in typical.items() if r.random() < 0.85}
        if r.random() < 0.1:
            attributes[r.choice(ANY)] = self.attribute()
        if r.random() < 0.2:
            attributes[f"{OTHER}/{r.choice(ANY)}"] = self.attribute()
        return {"driver": DRIVER if r.random() < 0.9 else OTHER,
                "allowMultipleAllocations": r.random() < 0.5, "attributes": attributes,
                "capacity": {"memory": {"value": r.choice(["80Gi", "1.5Gi", "0"])},
                             "cores": {"value": r.choice(["108", "1500m"])}}}

    def question(self):
        r = self.random
        grammar = Grammar(r)
        mode = r.choice(["selector", "selector", "selector", "derived", "value"])
        kind = {"selector": "bool",
                "derived": r.choice(["bool", "int", "string", "semver", "L int", "L string"]),
                "value": r.choice(list(LEAVES))}[mode]
        text = grammar.expression(kind, r.randint(1, 5))
        if r.random() < 0.03:
            text = self.mutate(text, "()[]{}.,?:+-*/%!=<>&|\"'\\0a_ \n")
        q = {"expression": text, "mode": mode, "env": r.choice(["stored", "new"]),
             "devices": {f"d{i}": self.device() for i in range(2)}}
        for gate in ("consumableCapacity", "listAttributes"):
            if r.random() < 0.02:
                q[gate] = False
        return q

    # ---- Making smaller ----

    @staticmethod
    def groups(text):
        """(start, end) of what stands in brackets, the brackets included."""
        stack, out = [], []
        for i, c in enumerate(text):
            if c in "([{":
                stack.append(i)
            elif c in ")]}" and stack:
                out.append((stack.pop(), i + 1))
        return sorted(out, key=lambda g: g[0] - g[1])

    def smaller(self, question):
        text, devices = question["expression"], question["devices"]
        for name in devices if len(devices) > 1 else ():
            yield {**question, "devices": {k: v for k, v in devices.items() if k != name}}
        groups = self.groups(text)
        for start, end in groups:
            if text[start] == "(" and end - start < len(text):
                yield {**question, "expression": text[start + 1:end - 1]}
        for start, end in groups:
            for leaf in ("true", "1", '"a"', "[1]", ""):
                put = f"({leaf})" if text[start] == "(" else leaf
                if len(put) < end - start:
                    yield {**question, "expression": text[:start] + put + text[end:]}
        for start, end in groups:
            if text[start] == "(" and (start == 0 or not text[start - 1].isalnum()):
                yield {**question, "expression": text[:start] + text[start + 1:end - 1] + text[end:]}
        for name, d in devices.items():
            for part in ("attributes", "capacity"):
                for key in d[part]:
                    less = {k: v for k, v in d[part].items() if k != key}
                    yield {**question, "devices": {**devices, name: {**d, part: less}}}

    # ---- Comparing ----

    @staticmethod
    def comparable(text, mode):
        """What golden/cel's README takes out: the parser's texts and its recovery, the
        names of Go's types, and the hint where only selectors get it."""
        if text is None:
            return None
        syntax = re.search(r"<input>:(-?\d+:\d+): Syntax error", text)
        if syntax:
            return "Syntax error at " + syntax.group(1)
        if mode != "selector":
            text = text.partition(HINT)[0]
        return re.sub(r"(map\[[\w.]+\]|\[\])[\w.]+", "GOTYPE", text)

    def settle(self, question, theirs, ours, oracle):
        """Upstream iterates maps in random order, a device's attributes as well (and takes
        one of two spellings of a name): any of its answers will do."""
        for _ in range(40):
            if not any(True for _ in self.compare(question, theirs, ours)):
                break
            theirs = oracle.ask([question])[0] or theirs
        return theirs

    def compare(self, question, theirs, ours):
        mode = question["mode"]
        if "reference to undefined type: " in theirs.get("compileError", ""):
            yield "loop over types", theirs["compileError"]
            return
        for field in ("compiles", "compileErrorType", "outputType", "estimate", "estimateMin"):
            if theirs.get(field) != ours.get(field):
                yield field, f"upstream {theirs.get(field)!r}, dray {ours.get(field)!r}"
        if not theirs["compiles"] and not ours["compiles"]:
            mine, yours = (self.comparable(x["compileError"], mode) for x in (theirs, ours))
            if mine != yours:
                kind = self.undeclared_here(mine, yours)
                yield kind or "compileError", f"\n  upstream {mine}\n  dray     {yours}"
        if theirs["compiles"] and ours["compiles"]:
            for name, result in theirs["results"].items():
                yield from self.result(name, result, ours["results"][name], question)

    def result(self, device, theirs, ours, question):
        mode = question["mode"]
        for field in ("match", "value", "attribute", "error"):
            mine, yours = theirs.get(field), ours.get(field)
            if field == "error":
                mine, yours = self.comparable(mine, mode), self.comparable(yours, mode)
            if mine != yours:
                kind = self.defect(question["expression"], theirs) or field
                if field == "attribute" and self.same_items(mine, yours):
                    kind = "order of a map"
                if ours.get("error", "").startswith("insert failed: key ["):
                    kind = "list as a key"
                if self.versions_compared(question):
                    kind = "comparison of a list of versions"
                yield kind, f"{device}: upstream {theirs}, dray {ours}"
                return
        if "cost" in theirs and theirs["cost"] != ours.get("cost"):
            if "transformMapEntry(" in question["expression"] and "quantity(" in question["expression"]:
                yield "quantity as a key", f"{device}: upstream {theirs}, dray {ours}"
                return
            kind = self.defect(question["expression"], theirs) or "cost"
            yield kind, f"{device}: upstream {theirs['cost']}, dray {ours.get('cost')}"

    @staticmethod
    def undeclared_here(mine, yours):
        """Names that upstream knows in texts of errors only: two types, and the functions
        of a library whose values no device expression can get at."""
        if "type(duration)" in mine or "type(timestamp)" in mine:
            return "type as a name"
        name = re.search(r"undeclared reference to '(\w+)'", yours)
        known = ("path", "group", "serviceAccount", "resource", "subresource", "namespace", "name",
                 "check", "allowed", "errored", "error", "reason", "fieldSelector",
                 "labelSelector")
        return "function of authorizers" if name and name.group(1) in known else None

    @staticmethod
    def versions_compared(question):
        """Upstream takes a version for equal to anything else in lists."""
        lists = any("versions" in a for d in question["devices"].values()
                    for a in d["attributes"].values())
        return lists and re.search(r"[!=]=| in |\.(exists|indexOf|includes|distinct)",
                                   question["expression"])

    @staticmethod
    def same_items(mine, yours):
        a, b = (list(x.values())[0] if x else None for x in (mine, yours))
        return isinstance(a, list) and isinstance(b, list) and sorted(a) == sorted(b)

    @staticmethod
    def defect(expression, theirs):
        """Upstream's mistakes that spec 4.5 names, recognised by what they look like."""
        if theirs.get("error", "").startswith("internal error: "):
            return "internal error"
        if theirs.get("error") == "is a directory":
            return "folder as a time zone"
        if "isQuantity(" in expression and re.search(r"1e300|double|asApproximateFloat", expression):
            return "exponent beyond all amounts"
        if re.search(r"\.(add|sub)\(", expression):
            if "-9223372036854775808" in expression and ".sub(" in expression:
                return "least int subtracted"
            if re.search(r"==|!=| in |\.(exists|indexOf|lastIndexOf|includes|distinct)", expression):
                return "comparison with a sum of quantities"
        return None
