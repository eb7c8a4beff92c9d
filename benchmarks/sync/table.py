#!/usr/bin/env python3
"""Prints the table of run.sh: the best build of each implementation, and the ratios of the other languages to ours.

Usage: table.py RAW CYCLES [PUBLISHED]. RAW has lines program|real|implementation|link|config|checksum ns.
PUBLISHED contains Heptagon's times, for a run without Heptagon. They are scaled by the times of the
hand-written C in this run. Fails if a checksum is wrong."""
import collections
import statistics
import sys

# The checksums after 10^7 cycles. For other numbers of cycles, all builds must agree.
CHECKSUMS = {
    ("1-counter", "32"): "3a3355fa88a90e78",
    ("2-fir", "32"): "e7948c9e74cd59ae",
    ("2-fir", "64"): "84fd32da8c331739",
    ("2-fir-alt", "32"): "e7948c9e74cd59ae",
    ("2-fir-alt", "64"): "84fd32da8c331739",
    ("3-pid", "32"): "a7202686dee1054c",
    ("3-pid", "64"): "322bf6769c685c33",
    ("4-chrono", "32"): "6d91c991a4a58090",
    ("5-kalman", "32"): "8a3ae27477d43ed0",
    ("5-kalman", "64"): "9d1387aad1cca6fe",
    ("6-gated-rnd", "32"): "7f7d267aaee3e142",
    ("6-gated-rnd", "64"): "a169f5702fa015cf",
    ("6-gated-hold", "32"): "d8377273d5591e5e",
    ("6-gated-hold", "64"): "3bbb17eeac0f46f7",
}


def read(path):
    times, sums = collections.defaultdict(list), collections.defaultdict(set)
    with open(path) as file:
        for line in file:
            program, real, implementation, link, config, result = line.rstrip("\n").split("|")
            checksum, ns = result.split()
            times[program, real, implementation, link, config].append(float(ns))
            if implementation != "none":
                sums[program, real].add((checksum, implementation, link, config))
    return times, sums


def wrong_checksums(sums, cycles):
    for key, found in sums.items():
        if cycles == 10_000_000:
            expected = CHECKSUMS[key]
        else:
            expected = next(c for c, implementation, *_ in sorted(found) if implementation == "hand")
        for checksum, *build in sorted(found):
            if checksum != expected:
                yield f"{' '.join(key)}: {checksum}, not {expected}, from {' '.join(build)}"


def published_times(path):
    with open(path) as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {(row[0], row[1]): tuple(map(float, row[2:])) for row in rows}


def main():
    raw, cycles = sys.argv[1], int(sys.argv[2])
    published = published_times(sys.argv[3]) if len(sys.argv) > 3 else {}
    times, sums = read(raw)
    best = {}
    for (program, real, implementation, link, config), ns in times.items():
        key = (program, real, implementation, {"step": "sep", "run": "uni", "lto": "uni"}.get(link, link))
        median = statistics.median(ns)
        if key not in best or median < best[key][0]:
            best[key] = (median, config + (f" ({link})" if link in ("run", "lto") else ""))
    print("ns per cycle; each at its best build; net: less the driver alone")
    print(f"{'program':13} {'real':4} {'link':4} {'driver':>6} {'hand':>6} {'hept':>6} {'ours':>6}"
          f" {'/hand':>6} {'/hept':>6} {'net/hand':>8} {'net/hept':>8}  our best build")
    for program, real in dict.fromkeys((k[0], k[1]) for k in times):
        driver = best[program, real, "none", "uni"][0]
        for link in ("sep", "uni"):
            hand = best[program, real, "hand", link][0]
            ours, config = best[program, real, "rml", link]
            if (program, real, "hept", link) in best:
                hept, mark = best[program, real, "hept", link][0], " "
            else:
                hand_sep, hand_uni, hept_sep, hept_uni = published[program, real]
                hept = hand * (hept_sep / hand_sep if link == "sep" else hept_uni / hand_uni)
                mark = "*"
            net = lambda peer: f"{(ours - driver) / max(peer - driver, 0.05):8.2f}"
            print(f"{program:13} f{real:3} {link:4} {driver:6.2f} {hand:6.2f} {hept:5.2f}{mark} {ours:6.2f}"
                  f" {ours / hand:6.2f} {ours / hept:6.2f} {net(hand)} {net(hept)}  {config}")
    if published:
        print("* not run: the hand-written C of this run, times the published ratio")
    wrong = list(wrong_checksums(sums, cycles))
    for line in wrong:
        print("WRONG CHECKSUM", line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
