"""Finds the constructs in the text of a program, and counts which of them reached which engine,
back end or tool.

A search counts with `Reached` and prints the counters before its last line. scripts/soak stores
them in reached.txt, from which the table of tests/coverage.md and its lint are made.
"""
import collections
import os
import re
import subprocess

DTYPES = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"]
CONSTRUCTS = ["instance", "nested instance", "feedback", "map with memory", "fold", "scan", "sampled clock", "look-ahead",
              "two ends", "shared parameter", "own parameter", "dealt", "random", "assertion", "text operator", "size 0",
              "size 1", *DTYPES]
COLUMNS = ["reference", "-O0", "-O1", "-O2", "-O3", "channels", "C", "lanes", "--key", "ranks", "demand", "save and load",
           "first derivative", "second derivative", "export", "diff pasted back", "fmt"]
WORD = r"[A-Za-z_][A-Za-z_0-9]*"


class Node:
    def __init__(self, name, head, body):
        self.name, self.head, self.body = name, head, body
        self.equations = []  # equations, as (names, right-hand side)
        for statement in body.split(";\n"):
            match = re.match(rf"\s*((?:{WORD})(?:: [^=]*?)?(?:, {WORD})*) = (.*)", statement, re.S)
            if match:
                self.equations.append((re.findall(WORD, match[1].split(":")[0]), match[2]))

    def calls(self, names):
        """The nodes of these names that it calls or iterates."""
        return {n for n in names if re.search(rf"\b{n}\(", self.body)}


def parse(text):
    text = re.sub(r"--[^\n]*|\(\*.*?\*\)", "", text, flags=re.S)
    nodes = {}
    for part in re.split(r"^node ", text, flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        if body.lstrip().startswith("->"):
            more, _, body = body.partition("\n")
            head += more
        nodes[head.split("(")[0]] = Node(head.split("(")[0], head, body)
    return nodes


def feeds_itself(node, names):
    """True if an argument of a call depends, within the cycle, on a result of the same call."""
    needs = collections.defaultdict(set)
    for results, right in node.equations:
        now = re.sub(r"\b(fby|post)\w*\b.*", "", right, flags=re.S)
        for r in results:
            needs[r] |= set(re.findall(WORD, now))
    for results, right in node.equations:
        if any(f"{n}(" in right for n in names):
            seen, rest = set(), set().union(*(needs[r] for r in results))
            while rest:
                v = rest.pop()
                if v in results:
                    return True
                if v not in seen:
                    seen.add(v)
                    rest |= needs.get(v, set())
    return False


def remembers(node, nodes):
    """True if an instance has memory or parameters, including those of the nodes that it
    calls."""
    seen, rest = set(), {node.name}
    while rest:
        n = nodes[rest.pop()]
        if re.search(r"\b(fby|fby_end|post|post_end|param)\b", n.body):
            return True
        seen.add(n.name)
        rest |= n.calls(nodes) - seen
    return False


def shared_parameter(node):
    """True if a parameter is an argument of two calls, or of an iteration."""
    for results, right in node.equations:
        if "param" in right and not re.search(r"\bmap\b", right):
            uses = sum(bool(re.search(rf"\w+\(.*\b{results[0]}\b", other)) for _, other in node.equations if other != right)
            if uses > 1:
                return True
    return False


def constructs_of(text):
    nodes = parse(text)
    bodies = "".join(n.body for n in nodes.values())
    has = {word: bool(re.search(pattern, bodies)) for word, pattern in {
        "fold": r"\bfold\b", "scan": r"\bscan\b", "sampled clock": r"\bwhen\b",
        "look-ahead": r"\b(post|post_end|backfill)\b", "assertion": r"\bassert\b",
        "random": r"\b(uniform|normal|bernoulli|glorot_uniform|he_uniform|dropout|permutation|categorical)\(",
        "text operator": r'\w\("|\w=\s*"'}.items()}
    calls = {name: node.calls(nodes) for name, node in nodes.items()}
    has["instance"] = any(calls.values())
    has["nested instance"] = any(calls[g] for called in calls.values() for g in called)
    has["feedback"] = any(feeds_itself(n, calls[n.name]) for n in nodes.values())
    mapped = {m for n in nodes.values() for m in re.findall(rf"\bmap ({WORD})\(", n.body)} & set(nodes)
    has["map with memory"] = any(remembers(nodes[m], nodes) for m in mapped)
    ends = [{e for e in re.findall(rf"\b(?:fby|post|param)_end\(({WORD})", n.body)} for n in nodes.values()]
    has["two ends"] = any(len(e) > 1 for e in ends)
    has["shared parameter"] = any(shared_parameter(n) for n in nodes.values()) or \
        any("param" in nodes[m].body for m in mapped)
    has["own parameter"] = any("param(" in nodes[g].body for called in calls.values() for g in called)
    everything = "".join(n.head + "\n" + n.body for n in nodes.values())
    has["dealt"] = bool(re.search(r"\bdealt\b", everything))
    for size in "01":
        has[f"size {size}"] = bool(re.search(rf"(?:{'|'.join(DTYPES)})\[(?:\d+, )*{size}\b|\b(?:full|zeros)\(\[(?:\d+, )*{size}\b",
                                             everything))
    for dtype in DTYPES:
        has[dtype] = bool(re.search(rf"\b{dtype}\b", everything))
    return {c for c in CONSTRUCTS if has[c]}


class Reached:
    """Counts the programs with each construct that reached each column."""

    def __init__(self):
        self.counts = {column: collections.Counter() for column in COLUMNS}

    def note_seeds(self, columns, build, mode, first, count):
        """Notes the programs of a mode of differential_fuzz: only the first hundred seeds,
        because there are many."""
        for seed in range(first, first + min(count, 100)):
            done = subprocess.run([os.path.join(build, "bin/differential_fuzz"), *mode.split(), "--print", str(seed)],
                                  capture_output=True, text=True, check=True)
            self.note(columns, done.stdout)

    def note(self, columns, text):
        found = constructs_of(text)
        for column in columns:
            self.counts[column].update(found)

    def tell(self):
        for column in COLUMNS:
            if self.counts[column]:
                counts = ", ".join(f"{c} {self.counts[column][c]}" for c in CONSTRUCTS if self.counts[column][c])
                print(f"reached {column}: {counts}")
