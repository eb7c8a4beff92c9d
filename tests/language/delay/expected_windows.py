"""Writes the expected rows of windows.rml, by moving windows over lists."""

import pathlib

CYCLES = 230


def main():
    here = pathlib.Path(__file__).parent
    weight = [k * k % 11 + 1 for k in range(70)]
    f, b, t, s, g = [-3] * 70, list(range(70)), [[0, 0]] * 40, [0] * 66, [1] * 70
    c = [k % 7 not in (2, 5) for k in range(CYCLES)]
    rows = {name: [] for name in ("front", "back", "two", "sampled", "late", "also")}
    for n in range(1, CYCLES + 1):
        f = [n, *f[:69]]
        b = [*b[1:], n * n % 17]
        t = [[n, 2], [n * 3 % 5, n % 7], *t[:38]]
        before, g = g, [n, *g[:69]]
        rows["front"].append(sum(x * y for x, y in zip(weight, f)))
        rows["back"].append(sum(x * y for x, y in zip(weight, b)))
        rows["two"].append(sum(x * (k % 13) for k, x in enumerate(x for row in t for x in row)))
        if c[n - 1]:
            s = [n, *s[:65]]
        rows["sampled"].append(3 * s[0] + s[64] + 2 * s[65] if c[n - 1] else ".")
        rows["late"].append("[" + ",".join(map(str, f[67:])) + "]")
        rows["also"].append(g[1] + before[69])
    (here / "windows.in.chron").write_text("c | " + " ".join("FT"[x] for x in c) + "\n")
    (here / "windows.out.chron").write_text("".join(f"{k} | {' '.join(map(str, v))}\n" for k, v in rows.items()))
    whole = ["[" + ",".join(map(str, [*range(n, 0, -1), *[0] * (66 - n)])) + "]" for n in (1, 2, 3)]
    (here / "windows.whole.chron").write_text(f"w | {' '.join(whole)}\n")


main()
