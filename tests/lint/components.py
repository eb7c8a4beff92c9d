"""packaging/components.json must list the linked components: components.py REPOSITORY BUILD.

The archives are those in the build's links, and the headers those that the compiler read, as
ninja recorded them. Skipped (77) if ninja did not build, or if the packages are not those of
Debian 12, on which releases are made.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(ROOT / "packaging"))
import components  # noqa: E402

# Packages that every C program needs, or the interface to the kernel; libm and others belong to
# the C library's package.
SYSTEM = r"libc6-dev|linux-libc-dev|libstdc\+\+-\d+-dev|libgcc-\d+-dev|libcrypt-dev|libclang-common-19-dev"
OURS = r"(tests|benchmarks|examples)/"
wrong = []


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=BUILD).stdout


def linked_archives():
    """The archives of rmlc, of the runner, and of the linear algebra archive."""
    text = (BUILD / "build.ninja").read_text()
    found = set()
    for target in ("bin/rmlc", "runtime/runner"):
        rule = re.search(rf"^build {re.escape(target)}: .*\n(?:  .*\n)*", text, re.M)
        if rule:
            libraries = re.search(r"^  LINK_LIBRARIES = (.*)$", rule[0], re.M)[1].split()
            found |= {path for path in libraries if path.startswith("/") and path.endswith(".a")}
    merge = (BUILD / "runtime/lapack/merge.mri").read_text()
    found |= set(re.findall(r"^ADDLIB (/\S+\.a)$", merge, re.M))
    return sorted(pathlib.Path(path).name for path in found if not path.startswith((str(BUILD), str(ROOT))))


def packages_of_headers():
    headers, ours = set(), True
    for line in output("ninja", "-t", "deps").split("\n"):
        if line and not line.startswith(" "):
            ours = not re.match(OURS, line)
        elif ours and line.strip().startswith("/usr/"):
            headers.add(os.path.normpath(line.strip()))
    done = subprocess.run(["dpkg", "-S", *sorted(headers)], capture_output=True, text=True, check=False)
    return {name.split(":")[0] for line in done.stdout.split("\n") if ": /" in line
            for name in line.split(": /")[0].split(", ") if not name.startswith("diversion")}


def check_links():
    archives = linked_archives()
    for name in archives:
        fits = [c for c in components.COMPONENTS if c["links"] and re.fullmatch(c["links"], name)]
        if len(fits) != 1:
            wrong.append(f"{name} is linked, but components.json has {len(fits)} components for it, not 1")
    for c in components.COMPONENTS:
        # The compiler driver links the compiler's own libraries.
        if c["links"] and not re.fullmatch(SYSTEM, c["package"]) and not any(re.fullmatch(c["links"], a) for a in archives):
            wrong.append(f"{c['name']} is in components.json, but no program links it")


def check_headers():
    listed = {c["package"] for c in components.COMPONENTS}
    for name in sorted(packages_of_headers()):
        # Boost's headers are one package, required by the package of the context archive.
        if name not in listed and not re.fullmatch(SYSTEM + r"|libboost1\.\d+-dev", name):
            wrong.append(f"headers of {name} are included, but components.json does not have it")


def check_texts():
    if (ROOT / "NOTICE").read_text() != components.notice():
        wrong.append("NOTICE differs from the output of packaging/components.py notice")
    pages = (ROOT / "docs/dependencies.md").read_text()
    for c in components.COMPONENTS:
        if not re.fullmatch(SYSTEM, c["package"]) and not re.search(rf"\b{re.escape(c['package'])}\b", pages):
            wrong.append(f"docs/dependencies.md does not say why {c['package']} is needed")
    for part in {part for c in components.COMPONENTS for part in c["in"]} - set(components.PARTS):
        wrong.append(f"components.json: '{part}' is not a part of rmlc")


def check_document():
    os.environ["SOURCE_DATE_EPOCH"] = "86400"
    text = components.sbom("1.2.3")
    if text != components.sbom("1.2.3"):
        wrong.append("two SPDX documents of one build differ")
    document = json.loads(text)
    named = {p["SPDXID"] for p in document["packages"]}
    if document["creationInfo"]["created"] != "1970-01-02T00:00:00Z" or len(named) != len(document["packages"]):
        wrong.append("the SPDX document has a wrong time, or contains a name twice")
    related = {r[end] for r in document["relationships"] for end in ("spdxElementId", "relatedSpdxElement")}
    if related != named | {"SPDXRef-DOCUMENT"}:
        wrong.append(f"the relations of the SPDX document and its names differ in {sorted(related ^ named)}")


if not (BUILD / "build.ninja").is_file() or "bookworm" not in pathlib.Path("/etc/os-release").read_text():
    sys.exit(77)
check_texts()
check_links()
check_headers()
check_document()
print("\n".join(wrong))
sys.exit(bool(wrong))
