# SPDX-License-Identifier: Apache-2.0
"""What the tests of admission have in common that compare with recorded answers."""
import json
import re
import ssl

from apiserver import Server

DROPPED = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation")

COUNTERS = re.compile(
    r"^(apiserver_(?:admission_webhook_(?:request_total|rejection_count|fail_open_count)"
    r"|admission_match_condition_exclusions_total|validating_admission_policy_check_total"
    r"|mutating_admission_policy_check_total|conversion_webhook_request_total))\{(.*)\} (\S+)$")


class Peer(Server):
    """A server that is there already."""

    def __init__(self, address, folder):
        self.port = int(address.split(":")[1])
        self.tls = ssl.create_default_context(cafile=folder + "/ca.crt")
        self.tls.load_cert_chain(folder + "/admin.crt", folder + "/admin.key")


def plain(text):
    """An answer without what differs from run to run."""
    text = re.sub(r"gen-[a-z0-9]{5}", "gen-xxxxx", text)
    text = re.sub(r'response.uid=\\"[0-9a-f-]*\\"', "response.uid=UID", text)
    try:
        d = json.loads(text)
    except ValueError:
        return text
    for key in DROPPED:
        d.get("metadata", {}).pop(key, None)
    d.get("details", {}).pop("uid", None)
    return d


def answer_of(server, step):
    method, path, body, *kind = step
    status, text, head = server.ask(method, path, body, *kind)
    return {"status": status, "warnings": head.get_all("warning") or [], "body": plain(text)}


def without_words(answer):
    """What the answer says without its texts."""
    body = {k: v for k, v in answer["body"].items() if k not in ("message", "details")}
    return {**answer, "body": body}


def difference(name, want, got, own_words, on_purpose):
    """Empty: none that counts. own_words: cases whose texts are dray's; on_purpose: the status
    that dray answers with in a case where kube-apiserver cannot do better."""
    case = name.split()[0]
    if case in own_words:
        want, got = without_words(want), without_words(got)
    if want == got:
        return ""
    if case in on_purpose:
        return "" if got["status"] == on_purpose[case] else got
    return "\n".join(f"{key}: want {json.dumps(want[key], sort_keys=True)}\n"
                     f"{key}: have {json.dumps(got[key], sort_keys=True)}"
                     for key in want if want[key] != got[key])


def counted(server):
    """What a server has counted of webhooks and policies."""
    found = {}
    for line in server.ask("GET", "/metrics")[1].splitlines():
        if m := COUNTERS.match(line):
            labels = sorted(re.findall(r'\w+="(?:[^"\\]|\\.)*"', m[2]))
            found[f"{m[1]}{{{','.join(labels)}}}"] = int(float(m[3]))
    return found


def compare_counted(report, server, recorded, on_purpose=()):
    want = {k: v for k, v in json.loads(recorded.read_text()).items()
            if not any(f'"{name}' in k for name in on_purpose)}
    got = counted(server)
    wrong = {k: (v, got.get(k)) for k, v in want.items() if got.get(k) != v}
    report.line(not wrong, "metrics are those of kube-apiserver", wrong)
