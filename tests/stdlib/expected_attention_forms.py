"""Expected values of attention, by its formula, and by PyTorch's multi-head layer."""

import numpy as np
from common import same, tensor, torch, uniform, write


def attend(q, k, v, mask=True):
    """Attention by its formula. Rows in which nothing is allowed are 0."""
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    mask = np.broadcast_to(mask, scores.shape)
    parts = np.where(mask, np.exp(scores), 0.0)
    total = parts.sum(-1, keepdims=True)
    return (parts / np.where(total == 0, 1, total)) @ v


def split(x, heads):
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def multi_head(heads, shared, q, k, v, mask=True):
    many = [np.repeat(split(x, shared), heads // shared, axis=0) for x in (k, v)]
    return attend(split(q, heads), *many, mask).transpose(1, 0, 2).reshape(len(q), -1)


def rotary(base, positions, x):
    """Rotary embedding: the pairs (i, i + size / 2) are turned as complex numbers."""
    half = x.shape[-1] // 2
    turn = np.exp(1j * np.outer(positions, base ** (-np.arange(half) / half)))
    z = (x[:, :half] + 1j * x[:, half:]) * turn
    return np.concatenate([z.real, z.imag], -1)


def neighbours(base, positions, x):
    z = rotary(base, positions, np.concatenate([x[:, ::2], x[:, 1::2]], -1))
    out = np.empty_like(x)
    out[:, ::2], out[:, 1::2] = np.split(z, 2, axis=-1)
    return out


def encoded(size, positions):
    out = np.empty((len(positions), size))
    for p, position in enumerate(positions):
        for i in range(size // 2):
            angle = position / 10000 ** (2 * i / size)
            out[p, 2 * i : 2 * i + 2] = np.sin(angle), np.cos(angle)
    return out


def main():
    random = np.random.default_rng(17)
    n = 6
    shapes = {"q": (3, 4), "k": (5, 4), "v": (5, 2), "x": (4, 8), "shared": (4, 4), "row": (8,), "key": (4,)}
    rows = {name: [uniform(random, *shape) for _ in range(n)] for name, shape in shapes.items()}
    rows["mask"] = [random.random((3, 5)) < 0.6 for _ in range(n)]
    rows["mask"][1][2] = False
    rows["end"] = [False, True, False, False, False, True]
    write("attention_forms.in.chron", rows)
    out, first = [], 0
    for c in range(n):
        q, k, v, mask, x, shared = (rows[name][c] for name in ("q", "k", "v", "mask", "x", "shared"))

        def stream(begin):
            keys = np.array(rows["key"][max(begin, c - 2) : c + 1])
            return multi_head(4, 2, rows["row"][c][None], keys, 2 * keys)[0]

        triangle = np.tril(np.ones((4, 4), bool))
        made = {
            "plain": attend(q, k, v), "masked": attend(q, k, v, mask),
            "causal": attend(q, k, v, np.arange(5) <= np.arange(3)[:, None] + 2),
            "heads": multi_head(4, 4, x, 0.5 * x, x - 1, triangle), "grouped": multi_head(4, 2, x, shared, 2 * shared),
            "one": multi_head(2, 1, x, shared, [1.0, -1.0, 2.0, 0.5] * shared),
            "batch": np.array([attend(q, k, v, mask), attend(2 * q, k, v + 1, mask)]),
            "turned": rotary(10000.0, [0, 1, 2, 5.5], x), "interleaved": neighbours(100.0, [3, 1, 2, 5.5], x),
            "encoded": encoded(6, [0, 3, 50]), "stream": stream(0), "segments": stream(first),
        }
        if rows["end"][c]:
            first = c + 1
        out.append(made)
        if torch:
            layer = torch.nn.MultiheadAttention(8, 4, bias=False, batch_first=True).double()
            layer.in_proj_weight.data = tensor(np.concatenate([np.eye(8)] * 3))
            layer.out_proj.weight.data = tensor(np.eye(8))
            given = [tensor(a[None]) for a in (x, 0.5 * x, x - 1)]
            theirs = layer(*given, attn_mask=torch.tensor(~triangle), need_weights=False)[0][0]
            same(made["heads"], theirs.detach(), 1e-9)
    write("attention_forms.out.chron", {name: [made[name] for made in out] for name in out[0]})


main()
