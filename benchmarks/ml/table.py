#!/usr/bin/env python3
"""The lowest median of each peer and its ratio to rmlc's, a Markdown table for each workload and size of batch:
table.py RAW.jsonl"""
import json
import sys

lowest = {}
for line in open(sys.argv[1], encoding="utf-8"):
    run = json.loads(line)
    peers = lowest.setdefault((run["workload"], run["params"]["B"], run["unit"]), {})
    peers[run["peer"]] = min(peers.get(run["peer"], run["median"]), run["median"])
for (workload, batch, unit), peers in lowest.items():
    print(f"\n| {workload}, batches of {batch} | {unit} | rmlc / it |\n|---|---|---|")
    for peer, median in sorted(peers.items(), key=lambda item: item[1]):
        print(f"| {peer} | {median:.4g} | {peers['rmlc'] / median:.2f} |")
