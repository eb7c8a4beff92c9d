"""Expected values of decompositions, by NumPy."""

import numpy as np
from common import uniform, write


def main():
    random = np.random.default_rng(12)
    shapes = {"tall": (4, 2), "wide": (2, 3), "square": (3, 3), "batch": (2, 2, 2), "b": (4,), "c": (2, 2)}
    rows = [{name: uniform(random, *shape) for name, shape in shapes.items()} for _ in range(4)]
    rows[2]["square"] = np.eye(3)
    write("decompositions.in.chron", {name: [row[name] for row in rows] for name in shapes})
    out = []
    for row in rows:
        made = {}
        for name in ("tall", "wide", "batch"):
            u, s, vt = np.linalg.svd(row[name], full_matrices=False)
            made |= {f"{name}_s": s, f"{name}_u": abs(u), f"{name}_vt": abs(vt), f"{name}_whole": row[name]}
        made["q"], made["r"] = np.linalg.qr(row["tall"])
        made["wide_q"], made["wide_r"] = np.linalg.qr(row["wide"])
        parts = [np.linalg.qr(a) for a in row["batch"]]
        made["batch_q"], made["batch_r"] = (np.array([p[k] for p in parts]) for k in (0, 1))
        symmetric = (row["square"] + row["square"].T) / 2
        made["w"], v = np.linalg.eigh(symmetric)
        made["v"], made["whole"] = abs(v), symmetric
        made["batch_w"] = np.linalg.eigvalsh((row["batch"] + row["batch"].transpose(0, 2, 1)) / 2)
        made["sign"], made["logarithm"] = np.linalg.slogdet(row["batch"])
        made["p"], made["wide_p"] = np.linalg.pinv(row["tall"], 1e-12), np.linalg.pinv(row["wide"], 1e-12)
        made["low_p"] = np.linalg.pinv(row["wide"].T @ row["wide"], 1e-12)
        made["x"] = np.linalg.lstsq(row["tall"], row["b"], rcond=1e-12)[0]
        made["xs"] = np.linalg.lstsq(row["wide"], row["c"], rcond=1e-12)[0]
        made["orthonormal"], made["singles"] = np.eye(2), True
        out.append(made)
    write("decompositions.out.chron", {name: [made[name] for made in out] for name in out[0]})


main()
