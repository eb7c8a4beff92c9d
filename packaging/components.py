#!/usr/bin/env python3
"""Lists the third-party components of rmlc and of the programs that it makes. All output is made from components.json.

  components.py notice > NOTICE
  components.py sbom VERSION     prints an SPDX 2.3 document of this build, with the versions of the installed packages
  components.py texts FOLDER     copies the copyright file of each installed package to FOLDER/PACKAGE

The fields of components.json:

  links  a pattern of the archives that are linked; null if only headers are used
  files  the package that contains the files, if the installed package only depends on it
  in     the parts that contain the component: rmlc; programs (the programs that rmlc makes); fibers (a library for C++);
         loaded (a library that both load on request); mpi (a library that programs of `rmlc build --mpi` use)

Tests compare the list with the build and with docs/dependencies.md.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

COMPONENTS = json.loads((pathlib.Path(__file__).resolve().parent / "components.json").read_text())
LICENSE = "Apache-2.0 WITH LLVM-exception"
COPYRIGHT = "Copyright 2026 the authors of rmlc"
PARTS = {"rmlc": ("rmlc itself contains", "STATIC_LINK"),
         "programs": ("Programs that rmlc makes contain, as does the part of rmlc that they are made of", "STATIC_LINK"),
         "fibers": ("Programs in C++ that use librml_fibers.a are linked with", "STATIC_LINK"),
         "loaded": ("MQTT streams load, where it is installed", "DYNAMIC_LINK"),
         "mpi": ("Programs of `rmlc build --mpi` are linked with one of", "DYNAMIC_LINK")}
GLIBC = """Programs of `rmlc build` contain the GNU C Library in static form. Its license, the LGPL, lets you give them away under
terms of your own, if those who get them can link them with another version of that library. Give them the object file
(`rmlc build --emit obj`) or the source: with librmlrt.a and zlib it links to the program, statically or with the shared
C library. Objects of `--emit lib` contain nothing but your program; what they call, and of whom, is yours to link.
"""


def notice():
    text = f"""rmlc, the compiler of R(ML)2
{COPYRIGHT}

Licensed under the Apache License 2.0 with the LLVM exception (LICENSE): programs that rmlc makes may be given away
under any terms, without this license and this notice, as far as they contain parts of rmlc. They also contain parts of
others, below, whose licenses ask that their texts go with copies of a program.
"""
    for part, (title, _) in PARTS.items():
        text += f"\n{title}:\n\n"
        for c in COMPONENTS:
            if part in c["in"]:
                when = f" ({c['when']})" if "when" in c else ""
                text += f"  {c['name']}{when}\n    {c['license']}, {c['home']}, package {c['package']}\n"
    return (text + "\n" + GLIBC + "\nThe texts of the licenses are in packages of rmlc under share/doc/rmlc/third-party, "
            "and on Debian in\n/usr/share/doc/PACKAGE/copyright.\n")


def files_of(component):
    return component.get("files", component["package"])


def installed_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stdout:
        sys.exit(f"components.py: package {package} is not installed: scripts/setup installs it")
    return done.stdout


def package(identifier, name, version, license_id, **more):
    return {"SPDXID": identifier, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": license_id, "licenseDeclared": license_id,
            "copyrightText": "NOASSERTION", **more}


def sbom(version):
    packages = [package("SPDXRef-rmlc", "rmlc", version, LICENSE, copyrightText=COPYRIGHT),
                package("SPDXRef-programs", "rmlc-runtime", version, LICENSE, copyrightText=COPYRIGHT,
                        comment="what programs that rmlc makes are linked with"),
                package("SPDXRef-fibers", "librml_fibers", version, LICENSE, copyrightText=COPYRIGHT)]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-rmlc"), ("SPDXRef-rmlc", "CONTAINS", "SPDXRef-programs"),
                 ("SPDXRef-rmlc", "CONTAINS", "SPDXRef-fibers")]
    for c in COMPONENTS:
        identifier = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", c["package"])
        installed = installed_version(files_of(c))
        locator = f"pkg:deb/debian/{files_of(c)}@{installed.replace('+', '%2B').replace(':', '%3A')}"
        packages.append(package(identifier, c["name"], installed, c["license"], homepage=c["home"], externalRefs=[
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}]))
        for part in c["in"]:
            of = {"loaded": "SPDXRef-rmlc", "mpi": "SPDXRef-programs"}.get(part, f"SPDXRef-{part}")
            relations.append((of, PARTS[part][1], identifier))
    listed = json.dumps([packages, relations], sort_keys=True)
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"rmlc-{version}",
        "documentNamespace": f"https://rmlc.example.org/spdx/rmlc-{version}-{hashlib.sha256(listed.encode()).hexdigest()}",
        "creationInfo": {"created": created, "creators": [f"Tool: rmlc-components-{version}"]},
        "packages": packages,
        "relationships": [{"spdxElementId": a, "relationshipType": how, "relatedSpdxElement": b}
                          for a, how, b in relations]}, indent=1, ensure_ascii=False) + "\n"


def texts(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for c in COMPONENTS:
        installed_version(files_of(c))
        shutil.copyfile(pathlib.Path("/usr/share/doc", files_of(c), "copyright").resolve(), folder / c["package"])


def main(what=None, *more):
    if what == "notice" and not more:
        sys.stdout.write(notice())
    elif what == "sbom" and len(more) == 1:
        sys.stdout.write(sbom(*more))
    elif what == "texts" and len(more) == 1:
        texts(pathlib.Path(*more))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
