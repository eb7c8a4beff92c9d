#!/usr/bin/env python3
"""The page must list exactly the passes of `rmlc opt --list`.

  passes.py RMLC PAGE
"""
import re
import subprocess
import sys

listed = subprocess.run([sys.argv[1], "opt", "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
names = set(re.findall(r"^\| `(\w+)`", listed, re.MULTILINE))
with open(sys.argv[2], encoding="utf-8") as file:
    page = file.read()
table = page[page.index("| after | the program is |"):]
told = set(re.findall(r"`(\w+)`", table[:table.index("The tests check that the other passes")]))
told.discard("diff")
for name in sorted(names ^ told):
    print(f"{name}: {'the page does not mention this pass' if name in names else 'the page mentions it, but it is not a pass'}")
sys.exit(names != told)
