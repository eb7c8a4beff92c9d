"""Expected values of attention, by PyTorch; rotary embeddings as products of complex numbers."""

import numpy as np
import torch
import torch.nn.functional as F
from groups import INF, NAN, Entry, Group, Layer, Series, each_cycle, values_only

ALL = torch.ones(2, 3, dtype=torch.bool)
LATER = torch.tensor([[True, True, False], [True, True, True]])


def multi_head(heads, shared, mask):
    """PyTorch's multi-head attention. If there are fewer heads of keys than of queries, each serves
    a group of heads."""

    def run(q, k, v):
        parts = [x.unflatten(-1, (n, -1)).transpose(-2, -3) for x, n in ((q, heads), (k, shared), (v, shared))]
        return F.scaled_dot_product_attention(*parts, attn_mask=mask, enable_gqa=True).transpose(-2, -3).flatten(-2)

    return run


def self_attention(heads):
    def run(weights, x):
        """One matrix for queries, keys and values, transposed as in
        multi_head_attention_forward."""
        n = x.shape[-1]
        query, key, value, result = (weights["self_attention." + w].reshape(n, n).mT for w in ("query", "key", "value", "result"))
        rows = x.transpose(0, 1)  # rows of PyTorch's batch are the cycles
        y, _ = F.multi_head_attention_forward(rows, rows, rows, n, heads, torch.cat([query, key, value]), None, None, None,
                                              False, 0.0, result, None, need_weights=False)
        return y.transpose(0, 1)

    return run


def kept(entries):
    """The last `entries` rows at each cycle, zeros before the first row of a segment, and
    flags for existing rows."""

    def run(x):
        padded = torch.cat([torch.zeros(entries - 1, *x.shape[1:], dtype=x.dtype), x])
        rows = torch.stack([padded[t:t + entries] for t in range(len(x))])
        there = torch.stack([torch.arange(entries) >= entries - 1 - t for t in range(len(x))])
        return rows, there

    return run


def streaming(entries, heads, shared):
    def run(_, *given):
        q, k, v = given[-3:]
        keys, there = kept(entries)(k)
        values, _ = kept(entries)(v)
        return torch.cat([multi_head(heads, shared, m[None])(a[None], b, c) for a, b, c, m in zip(q, keys, values, there)])

    return run


def at_once(peer):
    """Applies the peer to whole arrays, for streams whose first segment never ends."""

    def run(*given):
        made = peer(*[torch.tensor(x) for x in given])
        return tuple(x.numpy() for x in made) if isinstance(made, tuple) else made.numpy()

    return run


def angles(length, base, positions):
    return positions[..., None] / base ** (torch.arange(0, length, 2).double() / length)


def turned(pairs, a):
    """Turns pairs of numbers by the angles `a`: multiplies complex numbers."""
    return torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * torch.polar(torch.ones_like(a), a))


def interleaved(a):
    return lambda x: turned(x.unflatten(-1, (-1, 2)), a(x)).flatten(-2)


def halves(a):
    return lambda x: turned(x.unflatten(-1, (2, -1)).mT, a(x)).mT.flatten(-2)


def sinusoidal(p):
    a = angles(6, 10000.0, p)
    return torch.stack([a.sin(), a.cos()], -1).flatten(-2)


PLACES = torch.tensor([0.0, 1.0, 700.0], dtype=torch.float64)
HEADS = [
    Entry("many", "attention.multi_head(2, 2, true, q, k, v)", multi_head(2, 2, ALL)),
    Entry("grouped", "attention.multi_head(2, 1, true, q, k[:, :2], v[:, :2])",
          lambda q, k, v: multi_head(2, 1, ALL)(q, k[:, :2], v[:, :2])),
    Entry("masked", "attention.multi_head(2, 2, attention.earlier(2, 3), q, k, v)", multi_head(2, 2, LATER)),
    Entry("hidden", "attention.multi_head(2, 2, [[false, false, false], [true, false, true]], q, k, v)",
          multi_head(2, 2, torch.tensor([[False] * 3, [True, False, True]]))),
    Entry("earlier", "select(attention.earlier(2, 3), k[:2, :3], -1.0)", lambda k: torch.where(LATER, k[:2, :3], -1.0)),
    Entry("later", "select(attention.earlier(3, 3), k[:, :3], -1.0)",
          lambda k: torch.where(torch.ones(3, 3).tril().bool(), k[:, :3], -1.0)),
]
FAR = [Entry("w", "attention.weights([true, true, false], x)",
             lambda x: torch.softmax(torch.where(LATER[0], x, -INF), -1))]
ROTATIONS = [
    Entry("rotary", "attention.rotary(10000.0, [0.0, 1.0, 700.0], x)", halves(lambda x: angles(4, 1e4, PLACES))),
    Entry("neighbours", "attention.rotary_interleaved(10000.0, [0.0, 1.0, 700.0], x)", interleaved(lambda x: angles(4, 1e4, PLACES))),
    Entry("of_pairs", "attention.turned_interleaved([0.6, 0.0], [0.8, 1.0], x)",
          interleaved(lambda x: torch.tensor([np.arctan2(0.8, 0.6), np.pi / 2]))),
    Entry("one_pair", "attention.turned_interleaved([0.6], [0.8], x[:, :2])",
          lambda x: interleaved(lambda x: torch.tensor([np.arctan2(0.8, 0.6)]))(x[:, :2])),
]
POSITIONS = [
    Entry("angles", "attention.angles(6, 10000.0, p)", lambda p: angles(6, 10000.0, p)),
    Entry("sinusoidal", "attention.sinusoidal(6, 10000.0, p)", sinusoidal),
    Entry("pair", "attention.angles(2, 10000.0, p)", lambda p: angles(2, 10000.0, p)),
]
STREAMS = [
    Layer("anew", "attention.streaming_end(3, 2, 1, end, q, k, v)", streaming(3, 2, 1)),
    Layer("only_this", "attention.streaming_end(1, 1, 1, end, k, k, v)", lambda w, end, k, v: streaming(1, 1, 1)(w, k, k, v)),
    Layer("rows", "rows(end, k)", lambda w, end, k: kept(3)(k)[0]),
    Series("kept, there", "attention.cache(3, k)", at_once(kept(3))),
    Series("one, alone", "attention.cache(1, k)", at_once(kept(1))),
    Series("kept_end, there_end", "attention.cache_end(2, end, k)", lambda end, k: tuple(np.concatenate(p) for p in zip(
        *[at_once(kept(2))(part) for part in np.split(k, np.flatnonzero(end) + 1) if len(part)]))),
    Series("streamed", "attention.streaming(3, 2, 1, q, k, v)", at_once(lambda *given: streaming(3, 2, 1)(None, *given))),
]
ROWS = """node rows(end, k) -> (y)
  y, _ = attention.cache_end(3, end, k);
"""


WEIGHTS = tuple("self_attention." + w for w in ("query", "key", "value", "result"))
SELF = [Layer("y", "attention.self_attention(2, true, x)", self_attention(2), WEIGHTS, each_cycle)]
ALONE = [Layer("y", "attention.self_attention(1, true, x)", self_attention(1), WEIGHTS, each_cycle, False)]
random = np.random.default_rng(121)


def drawn(*shape):
    return np.round(random.uniform(-2, 2, shape), 2)


def qkv(*scales):
    return {"q": [s * drawn(2, 4) for s in scales], "k": [s * drawn(3, 4) for s in scales], "v": [s * drawn(3, 4) for s in scales]}


def stream(*scales):
    return {"end": [np.bool_(e) for e in (0, 0, 1, 0, 1, 1, 0, 0, 0, 1)], "q": [s * drawn(4) for s in scales],
            "k": [s * drawn(2) for s in scales], "v": [s * drawn(2) for s in scales]}


LOOSE = {"f32": "1e-3", "f64": "1e-11"}
GROUPS = [
    Group("attention_heads", "ordinary", "PyTorch", qkv(1, 2, 0.5), HEADS, LOOSE),
    Group("attention_heads_edges", "edge", "PyTorch", qkv(0, 100, 1e4, -0.0), values_only(HEADS), LOOSE),
    # Masked elements have no effect, even NaN. PyTorch adds -inf to them, so a row without
    # allowed elements is NaN there.
    Group("attention_heads_not_finite", "edge", "PyTorch",
          {"q": [drawn(2, 4), np.full((2, 4), NAN)], "k": [drawn(3, 4)] * 2, "v": [np.where(np.eye(3, 4), INF, 1.0), drawn(3, 4)]},
          values_only([e for e in HEADS if e.name != "hidden"]), LOOSE),
    Group("attention_far", "edge", "PyTorch",
          {"x": [np.array(x) for x in ([-3.2e38, -3.3e38, 0.0], [-3.2e38, -3.2e38, 3e38], [1.0, 2.0, NAN], [-1.0, 1.0, INF])]}, FAR, LOOSE),
    Group("attention_rotary", "ordinary edge", "PyTorch", {"x": [drawn(3, 4), np.zeros((3, 4)), 1e6 * drawn(3, 4)]}, ROTATIONS,
          {"f32": "1e-3", "f64": "1e-10"}),
    Group("attention_positions", "ordinary edge", "PyTorch", {"p": [np.array([1.0, 2.5, 17.0]), np.zeros(3), np.array([-1.0, 100.0, 1e-3])]},
          POSITIONS, LOOSE),
    Group("attention_positions_not_finite", "edge", "PyTorch", {"p": [np.array([INF, 1.0, NAN])]}, values_only(POSITIONS), LOOSE),
    Group("attention_streams", "ordinary", "PyTorch", stream(*[1] * 10), STREAMS, LOOSE, ROWS),
    Group("attention_streams_edges", "edge", "PyTorch", stream(0, 0, 100, 1e4, 0, 1, -0.0, 1e3, 0, 2),
          values_only(STREAMS), LOOSE, ROWS),
    Group("attention_self", "ordinary", "PyTorch", {"x": [drawn(3, 4) for _ in range(4)]}, SELF, LOOSE),
    Group("attention_self_edges", "edge", "PyTorch", {"x": [np.zeros((1, 2)), np.array([[1e4, -1e4]]), np.array([[NAN, 1]])]}, ALONE, LOOSE),
]
