# SPDX-License-Identifier: Apache-2.0
"""Random quantities and versions, and what must agree about them."""
import random
from fractions import Fraction

EXPONENT = 1000   # dray's limit; upstream hangs far beyond it
INT64 = range(-2**63, 2**63)


class Mode:
    """name: of the mode on both sides. settle: a chance to ask upstream again."""
    SKIP = "skip"
    program = "oracle"   # upstream's side: build-oracle PROGRAM
    oracle_options = []
    batch = 2000   # questions asked at once

    def __init__(self, seed):
        self.random = random.Random(f"{self.name} {seed}")
        self.count = 0

    def next_id(self):
        self.count += 1
        return f"{self.name}/{self.count}"

    def questions(self):
        return [{**self.question(), "id": self.next_id()} for _ in range(self.batch)]

    def settle(self, question, theirs, ours, oracle):
        return theirs

    def smaller(self, question):
        """Questions that are a little less than this one."""
        for field in ("s", "a", "b"):
            text = question.get(field, "")
            for i in range(len(text)):
                yield {**question, field: text[:i] + text[i + 1:]}

    def mutate(self, text, alphabet):
        """Texts that are nearly right."""
        for _ in range(self.random.randint(1, 2)):
            at = self.random.randint(0, len(text))
            cut = self.random.randint(0, 1)
            insert = self.random.choice(["", self.random.choice(alphabet)])
            text = text[:at] + insert + text[at + cut:]
        return text


def plain_differences(theirs, ours, but=()):
    for field in sorted(set(theirs) | set(ours)):
        if field not in but and theirs.get(field) != ours.get(field):
            yield field, f"upstream {theirs.get(field)!r}, dray {ours.get(field)!r}"


class Quantity(Mode):
    name = "quantity"
    SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E",
                "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
    EDGES = ["9223372036854775807", "9223372036854775808", "18446744073709551615",
             "999999999999999999", "1000000000000000000000", "1024", "1000", "8", "0"]

    def digits(self, most):
        n = self.random.randint(0, most)
        if self.random.random() < 0.3:
            return self.random.choice("0123456789") * (n > 0) + "0" * max(0, n - 1)
        return "".join(self.random.choice("0123456789") for _ in range(n))

    def text(self):
        r = self.random
        long = r.random() < 0.15
        number = r.choice(self.EDGES) if r.random() < 0.1 else self.digits(25 if long else 6)
        if r.random() < 0.35:
            number += "." + self.digits(14 if long else 4)
        suffix = r.choice(self.SUFFIXES)
        if r.random() < 0.2:
            reach = EXPONENT if r.random() < 0.05 else 22
            suffix = r.choice("eE") + r.choice(["", "", "+", "00"]) + str(r.randint(0, reach))
            if r.random() < 0.4:
                suffix = r.choice("eE") + str(r.randint(-reach, 0))
        text = r.choice(["", "", "", "-", "+"]) + number + suffix
        return self.mutate(text, "0159.eEinumkKMGTP+-x \u00e9") if r.random() < 0.15 else text

    def safe_text(self):
        """Mutations can make exponents that upstream does not survive."""
        while True:
            text = self.text()
            tail = text.lower().rpartition("e")[2].lstrip("+-0")
            if not (tail.isdigit() and len(tail) > 3 and int(tail[:6]) > EXPONENT):
                return text

    def question(self):
        if self.random.random() < 0.5:
            return {"s": self.safe_text()}
        return {"a": self.safe_text(), "b": self.safe_text()}

    def compare(self, question, theirs, ours):
        special = {"canonical", "add", "sub", "approxFloat", "value", "milliValue",
                   "scaledNano", "asInt64"}
        yield from plain_differences(theirs, ours, special)
        for field in ("canonical", "add", "sub"):
            if theirs.get(field) != ours.get(field):
                yield self.text_kind(field, theirs.get(field), ours.get(field))
        if theirs.get("ok") and ours.get("ok") and "s" in question:
            yield from self.numbers(theirs, ours)

    @staticmethod
    def text_kind(field, theirs, ours):
        """Where upstream runs out of suffixes it prints the digits alone."""
        lost = (theirs or "").lstrip("-").isdigit() and (ours or "").endswith(("E", "Ei"))
        return (f"{field} loses its suffix" if lost else field,
                f"upstream {theirs!r}, dray {ours!r}")

    @staticmethod
    def numbers(theirs, ours):
        if theirs["asInt64"] != ours["asInt64"] and (theirs["asInt64"]["ok"] or
                                                     ours["asInt64"]["ok"]):
            yield "asInt64", f"upstream {theirs['asInt64']}, dray {ours['asInt64']}"
        mine, yours = float(theirs["approxFloat"]), float(ours["approxFloat"])
        if mine != yours:
            nan = mine != mine and yours == 0
            yield ("approxFloat is not a number" if nan else "approxFloat",
                   f"upstream {theirs['approxFloat']}, dray {ours['approxFloat']}")
        exact = Fraction(theirs["exact"]) if "exact" in theirs else None
        for field, digits in (("value", 0), ("milliValue", 3), ("scaledNano", 9)):
            if theirs[field] == ours[field]:
                continue
            right = None
            if exact is not None:
                v = exact * 10**digits
                right = -(-v // 1) if v > 0 else v // 1
                right = int(right) if int(right) in INT64 else None
            meant = ours[field] == right and (right is None or theirs["sign"] < 0)
            yield (f"{field} wraps or misrounds" if meant else field,
                   f"upstream {theirs[field]}, dray {ours[field]}, right {right}")


class Semver(Mode):
    name = "semver"

    def number(self):
        return self.random.choice(["0", "1", "2", "10", "01", "007", "18446744073709551615",
                                   "18446744073709551616", "9223372036854775808"]
                                  if self.random.random() < 0.2 else ["0", "1", "2", "10"])

    def identifiers(self, lead):
        words = ["alpha", "beta", "rc", "0", "1", "2", "11", "a-b", "A", "z9", "-", "01", "0a",
                 "18446744073709551616"]
        return lead + ".".join(self.random.choice(words)
                               for _ in range(self.random.randint(1, 3)))

    def text(self):
        r = self.random
        parts = 3 if r.random() < 0.8 else r.randint(1, 4)
        text = ".".join(self.number() for _ in range(parts))
        if r.random() < 0.1:
            text = "v" + text
        if r.random() < 0.5:
            text += self.identifiers("-")
        if r.random() < 0.25:
            text += self.identifiers("+")
        return self.mutate(text, "019.-+vaZ \t\u00e9\u200b\"\\") if r.random() < 0.2 else text

    def question(self):
        if self.random.random() < 0.5:
            return {"s": self.text(), "normalize": self.random.random() < 0.5}
        return {"a": self.text(), "b": self.text()}

    def compare(self, question, theirs, ours):
        yield from plain_differences(theirs, ours)
