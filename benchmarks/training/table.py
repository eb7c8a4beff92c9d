#!/usr/bin/env python3
"""The lowest median of each peer and its ratio to rmlc's, as a Markdown table: table.py RAW.jsonl"""
import json
import sys

lowest, units = {}, {}
for line in open(sys.argv[1], encoding="utf-8"):
    run = json.loads(line)
    key = run["workload"], run["peer"]
    lowest[key] = min(lowest.get(key, run["median"]), run["median"])
    units[run["workload"]] = run["unit"]
for workload, unit in units.items():
    own = lowest[workload, "rmlc"]
    print(f"\n| {workload} | {unit} | rmlc / it |\n|---|---|---|")
    for (of, peer), median in sorted(lowest.items(), key=lambda item: item[1]):
        if of == workload:
            print(f"| {peer} | {median:.4g} | {own / median:.2f} |")
