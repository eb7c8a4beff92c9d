"""Expected values of filters of second-order sections, their designs, and the elliptic functions of
these designs, by SciPy."""

import numpy as np
from groups import INF, Group, Series
from scipy import signal, special

KEYWORDS = {"butter": {}, "cheby1": {"rp": 0.5}, "cheby2": {"rs": 30.0}, "ellip": {"rp": 0.5, "rs": 40.0}}
BANDS = {"lowpass": "f", "highpass": "f", "bandpass": "f, f + w", "bandstop": "f, f + w"}


def designed(name, n, band, f, w):
    edges = (f, f + w) if "," in BANDS[band] else f
    return getattr(signal, name)(N=n, Wn=edges, **KEYWORDS[name], btype=band, output="sos", fs=1)


def values(name):
    return "".join(f", {v}" for v in KEYWORDS[name].values())


def design(name, n, band):
    """A node that designs a filter, and its sections for each cycle's band, from f on with
    width w."""
    given = "f, w" if "," in BANDS[band] else "f"
    text = f"node {name}_{band}_{n}({given}) -> (y)\n  z, p, k = sos.{name}_prototype({n}{values(name)});\n"
    text += f"  y = sos.{band}({BANDS[band]}, z, p, k);\n"
    return text, Series(f"{name}_{band}_{n}s", f"{name}_{band}_{n}({given})",
                        lambda f, w=None: np.array([designed(name, n, band, *one) for one in zip(f, f if w is None else w)]))


def plain(name, n):
    return Series(f"plain_{n}", f"sos.{name}({n}{values(name)}, f)", lambda f: np.array([designed(name, n, "lowpass", v, 0) for v in f]))


def designs(name, orders):
    made = [design(name, n, band) for n in orders for band in BANDS]
    return [entry for _, entry in made] + [plain(name, 4)], "\n".join(text for text, _ in made)


def filtered(name, n):
    """A stream through a filter, which restarts after each end."""

    def run(end, x):
        sections, first, out = designed(name, n, "lowpass", 0.1, 0), 0, []
        for t, e in enumerate(end):
            out.append(signal.sosfilt(sections, x[first:t + 1], axis=0)[-1])
            first = t + 1 if e else first
        return np.array(out)

    return run


FILTERS = [
    Series("whole", "sos.sosfilt(sos.butter(5, 0.1), x)", lambda x: filtered("butter", 5)(np.zeros(len(x), bool), x)),
    Series("parts", "sos.sosfilt_end(sos.ellip(4, 0.5, 40.0, 0.1), e, x)", filtered("ellip", 4)),
    Series("first", "sos.sosfilt_end(sos.cheby1(3, 0.5, 0.1), e, x[0])", lambda e, x: filtered("cheby1", 3)(e, x[:, 0])),
]


def as_complex(x):
    return x[..., 0] + 1j * x[..., 1]


def as_pairs(z):
    return np.stack([z.real, z.imag], -1)


def ellipse(a):
    angle = np.pi * np.array([-2, 0, 2]) / 6
    return as_pairs(-a[:, None] * np.cos(angle) - 2j * a[:, None] * np.sin(angle))


def both_roots(a, x):
    z = as_complex(x)
    square = z * z - a[:, None] ** 2
    # For a negative number the upper root comes first, whatever the sign of its zero.
    root = np.sqrt(np.where(square.imag == 0, square.real + 0j, square))
    return as_pairs(np.concatenate([z + root, z - root], 1))


def zeros_and_poles(a):
    return [2j * a, -2j * a], [-a + 0.5j, -a - 0.5j, -2 * a]


def sections_of(a):
    z, p, k = signal.bilinear_zpk(*zeros_and_poles(a), a, 0.5)
    return signal.zpk2sos(z, p, k)


def paired_of(a):
    z, p = ([v / (1 + abs(v)) for v in part] for part in zeros_and_poles(a))
    return signal.zpk2sos(z, p, a)


def one_section(a):
    """The only section of a filter with one pair of zeros and one pair of poles."""
    z, p = ([v / (1 + abs(v)) for v in part[:2]] for part in zeros_and_poles(a))
    return signal.zpk2sos(z, p, 1.0)[0]


def nearest(x):
    real = np.flatnonzero(x[0, :, 1] == 0)
    out = []
    for row in x:
        i = np.argmin(row[:, 0])
        others = [j for j in real if j != i]
        j = others[np.argmin(row[others, 0])]
        out.append((i, row[j] if i in real else row[i] * [1, -1], [k != i and (i not in real or k != j) for k in range(len(row))]))
    return tuple(np.array(part) for part in zip(*out))


def one_step(a, x):
    done = [signal.sosfilt([[1, 2, 3, 1, -0.5, 0.25]], [v], zi=[row]) for v, row in zip(a, x[:, 0])]
    return np.array([y[0] for y, _ in done]), np.array([state[0] for _, state in done])


def each(f):
    return lambda *xs: np.array([f(*row) for row in zip(*xs)])


def quarter(k):
    return special.ellipk(k * k)


def lower(k):
    return ((1 - np.sqrt(1 - k * k)) / (1 + np.sqrt(1 - k * k)))


def sn(k):
    """Jacobi's sn, which the library computes by Landen's transformations."""
    return special.ellipj(0.3 * quarter(k), k * k)[0]


def sc(k):
    complement = 1 - k * k
    s, c, *_ = special.ellipj(0.2 * quarter(k), complement)
    return s / c


def moduli(k):
    out = []
    for _ in range(9):
        k = lower(k)
        out.append(k)
    return out


def nome(k):
    return np.exp(-np.pi * special.ellipkm1(k * k) / quarter(k))


PARTS = """node digital_of(a) -> (y)
  y = sos.digital([0.0, 2.0; 0.0, -2.0] * a, conjugates(a), a);

node conjugates(a) -> (p)
  p = transpose([[-a, -a, -2.0 * a], [0.5 + 0.0 * a, -0.5 + 0.0 * a, 0.0 * a]]);

node inside(x) -> (y)
  y = x / (1.0 + norm(x, axis=-1, keepdims=1));

node paired_of(a) -> (y)
  y = sos.paired(inside([[0.0, 2.0], [0.0, -2.0]] * a), inside(conjugates(a)), a);

node section_of(a) -> (y)
  _, _, y = sos.next_section([true, false], [true, false], 0, inside([[0.0, 2.0], [0.0, -2.0]] * a), inside(conjugates(a)[:2]));

node next_landen(k) -> (a, b)
  a, b, _ = sos.landen(k, sqrt((1.0 - k) * (1.0 + k)), 0);
""".replace("[0.0, 2.0; 0.0, -2.0]", "[[0.0, 2.0], [0.0, -2.0]]")
COMPLEX = [
    Series("ellipse", "sos.on_ellipse(3, a, 2.0 * a)", ellipse),
    Series("excess", "sos.excess(a)", lambda a: 10 ** (a / 10) - 1),
    Series("warped", "sos.warped(0.5 * a / (1.0 + a))", lambda a: np.tan(np.pi * 0.5 * a / (1 + a))),
    Series("power", "sos.powers(a, 3)", lambda a: a**3),
    Series("reciprocals", "sos.over(a, x)", lambda a, x: as_pairs(a[:, None] / as_complex(x))),
    Series("magnitude", "sos.magnitude(x)", lambda x: np.abs(np.prod(as_complex(x), axis=1))),
    Series("roots", "sos.band(a * a, x)", both_roots),
    Series("turned", "sos.turned(x)", lambda x: as_pairs((1 + as_complex(x)) / (1 - as_complex(x)))),
    Series("digital", "digital_of(a)", each(sections_of)),
    Series("paired", "paired_of(a)", each(paired_of)),
    Series("section", "section_of(a)", each(one_section)),
    Series("at, other, left", "sos.pick([true, true, true], x[:, 0], x)", nearest),
    Series("out, next", "sos.filtered(a, [1.0, 2.0, 3.0, 1.0, -0.5, 0.25], x[0])", one_step),
    Series("quadratic", "sos.quadratic(x[0], [1.0, -1.0] * x[0])", lambda x: np.array([np.poly([z, z.conj()]).real for z in as_complex(x[:, 0])])),
]
ELLIPTIC = [
    Series("steps", "sos.moduli(k, sqrt((1.0 - k) * (1.0 + k)))", each(moduli)),
    Series("next, complement", "next_landen(k)", lambda k: (lower(k), np.sqrt(1 - lower(k) ** 2))),
    Series("up", "sos.ascend(l, k, 1.0)", lambda k, l: sn(2 * np.sqrt(k) / (1 + k))),
    Series("down", "sos.descend(t, k, d)", lambda k, t, d: sc(lower(k))),
    Series("modulus, other", "sos.modulus(q)", lambda q: (K, np.sqrt(1 - K**2))),
]
random = np.random.default_rng(181)


def inputs(k):
    """Jacobi's functions for a modulus k and for the next one."""
    return {"k": list(k), "l": list(sn(k)), "t": list(sc(k)), "d": list(lower(k)), "q": list(nome(K))}


def points(*rows):
    return [np.array(row, float) for row in rows]


K = np.array([0.3, 0.6, 0.9])
FINE = {"f32": "2e-3", "f64": "1e-9"}
GROUPS = []
for name in KEYWORDS:
    GROUPS += [
        Group(f"sos_{name}", "ordinary", "SciPy", {"f": [0.05, 0.11, 0.2], "w": [0.1, 0.05, 0.23]}, designs(name, (1, 2, 3, 6))[0], FINE,
              designs(name, (1, 2, 3, 6))[1]),
        Group(f"sos_{name}_edges", "edge", "SciPy", {"f": [0.01, 0.45, 0.24], "w": [0.4, 0.03, 0.01]}, designs(name, (1, 4))[0], FINE,
              designs(name, (1, 4))[1]),
    ]
ENDS = [np.bool_(e) for e in (0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0)]
GROUPS += [
    Group("sos_filters", "ordinary", "SciPy", {"e": ENDS, "x": [np.round(random.uniform(-2, 2, 2), 2) for _ in range(12)]}, FILTERS, FINE),
    Group("sos_filters_edges", "edge", "SciPy", {"e": ENDS, "x": points(*[[v, -v] for v in (0, 1e30, 0, 0, 1, 1e-30, 0, 5, 0, 0, INF, 0)])},
          FILTERS, {"f32": "1e-2", "f64": "1e-9"}),
    Group("sos_parts", "ordinary", "SciPy", {"a": [0.3, 0.8, 2.0], "x": [np.array([[v, 0.0], [-0.5 * v, 0.0], [0.75, v]]) for v in (0.7, -1.5, 2.0)]},
          COMPLEX, FINE, PARTS),
    Group("sos_parts_edges", "edge", "SciPy", {"a": [0.1, 1.0, 30.0],
          "x": points([[-1, 0], [2, 0], [0, 1e-3]], [[-20, 0], [0.5, 0], [-30, 1]], [[4, 0], [3, 0], [0, 30]])}, COMPLEX,
          {"f32": "1e-2", "f64": "1e-9"}, PARTS),
    Group("sos_elliptic", "ordinary", "SciPy", inputs(K), ELLIPTIC, FINE, PARTS),
    Group("sos_elliptic_edges", "edge", "SciPy", inputs(np.array([1e-3, 0.5, 0.999])), ELLIPTIC, {"f32": "2e-2", "f64": "1e-9"}, PARTS),
]
