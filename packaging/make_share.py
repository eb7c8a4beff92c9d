#!/usr/bin/env python3
"""Makes the files of an installation other than programs and libraries: manual pages, completions, documents, examples.

  make_share.py RMLC REPOSITORY FOLDER

help2man makes the manual pages from --help. The output depends only on the sources and on SOURCE_DATE_EPOCH.
"""
import email.utils
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys

RMLC, ROOT, SHARE = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
COMPONENTS = ROOT / "packaging/components.py"
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
COMPLETIONS = {"bash": "bash-completion/completions/rmlc", "zsh": "zsh/vendor-completions/_rmlc",
               "fish": "fish/vendor_completions.d/rmlc.fish"}
MAINTAINER = "The authors of rmlc <rmlc@example.org>"
# The findings of lintian that are intended.
OVERRIDES = """# Programs and rmlc itself run where nothing but the C library is installed.
rmlc: embedded-library zlib *
# A program without shared libraries at an address of the system's choice.
rmlc: shared-library-lacks-prerequisites *
"""
CHANGES = """rmlc ({version}) unstable; urgency=medium

  * What changed is in /usr/share/doc/rmlc/CHANGELOG.md.

 -- {maintainer}  {date}
"""
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: rmlc

Files: *
Copyright: 2026 the authors of rmlc
License: Apache-2.0 WITH LLVM-exception
 On Debian systems the text of the license is in /usr/share/common-licenses/Apache-2.0.
 .
{exception}
Comment: What is in the package of others is in /usr/share/doc/rmlc/NOTICE, the texts of its licenses are in
 /usr/share/doc/rmlc/third-party.
"""


def output(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True,
                          env=dict(os.environ, SOURCE_DATE_EPOCH=str(EPOCH), LC_ALL="C.UTF-8", TZ="UTC")).stdout


def write(name, text):
    path = SHARE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    path.write_bytes(gzip.compress(data, 9, mtime=0) if name.endswith(".gz") else data)


def subcommands():
    listed = output(RMLC, "--help").split("Subcommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\w+)  +(.*)$", listed, re.MULTILINE)


def manual_page(words, subject, version):
    """Writes the manual page of a command such as `rmlc run`. Its name and title have a hyphen, like those of git."""
    page = output("help2man", "--no-info", "--version-string", version, "--name", subject, " ".join([RMLC, *words]))
    name = "-".join(["rmlc", *words])
    page = re.sub(r'^\.TH \S+ "1" "([^"]*)" "[^"]*"', rf'.TH {name.upper()} "1" "\1" "rmlc {version}"', page, flags=re.MULTILINE)
    page = re.sub(r"(?<=^\.SH NAME\n).*? \\- ", f"{name} \\\\- ", page, flags=re.MULTILINE)
    write(f"man/man1/{name}.1.gz", page)


def exception():
    """Returns the end of LICENSE, as a field of Debian's copyright file."""
    text = (ROOT / "LICENSE").read_text()
    lines = text[text.index("---- LLVM Exceptions"):].strip().split("\n")
    return "\n".join(" " + (line or ".") for line in lines)


def main():
    shutil.rmtree(SHARE, ignore_errors=True)
    version = output(RMLC, "--version").split()[1]
    manual_page([], "compiler of R(ML)2, a reactive language for machine learning", version)
    for name, subject in subcommands():
        manual_page([name], subject, version)
    for shell, place in COMPLETIONS.items():
        write(place, output(RMLC, "completion", shell))
    write("doc/rmlc/copyright", COPYRIGHT.format(exception=exception()))
    write("doc/rmlc/NOTICE", output(sys.executable, COMPONENTS, "notice"))
    write("doc/rmlc/rmlc.spdx.json", output(sys.executable, COMPONENTS, "sbom", version))
    output(sys.executable, COMPONENTS, "texts", SHARE / "doc/rmlc/third-party")
    write("doc/rmlc/changelog.gz", CHANGES.format(version=version, maintainer=MAINTAINER,
                                                  date=email.utils.formatdate(EPOCH)))
    write("lintian/overrides/rmlc", OVERRIDES)
    tracked = output("git", "-C", ROOT, "ls-files", "-z", "docs", "examples", "README.md", "CHANGELOG.md",
                     "SECURITY.md").split("\0")
    for name in filter(None, tracked):
        if name.startswith("docs/design/") or not (ROOT / name).is_file():
            continue
        place = SHARE / "doc/rmlc" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place)


main()
