"""Expected values of pools, blocks and grids, by PyTorch."""

import warnings

import numpy as np
import torch
import torch.nn.functional as F
from groups import INF, NAN, Entry, Group, values_only


# The library treats a grid of one element in the same way: it is the corner.
warnings.filterwarnings("ignore", message="Since version 1.3.0, affine_grid")


def norms(p, window, strides, padding, dilations):
    """Norms of unfolded windows; padding is before and after each axis."""

    def run(x):
        top, left, bottom, right = padding
        padded = F.pad(x, (left, right, top, bottom))
        columns = F.unfold(padded, window, dilation=dilations, stride=strides).unflatten(1, (x.shape[1], -1))
        extents = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(padded.shape[2:], window, strides, dilations)]
        return torch.linalg.vector_norm(columns, p, dim=2).unflatten(-1, extents)

    return run


def depth_to_space(x):
    """A pixel shuffle with another order of channels."""
    return F.pixel_shuffle(x.unflatten(1, (4, -1)).transpose(1, 2).flatten(1, 2), 2)


def space_to_depth(x):
    return F.pixel_unshuffle(x, 2).unflatten(1, (-1, 4)).transpose(1, 2).flatten(1, 2)


def unpool(x):
    y, places = F.max_pool2d(x[:1, :1], 2, return_indices=True)
    return F.max_unpool2d(2 * y, places, 2, output_size=x.shape[2:])


def places(align, n):
    """The first coordinate of the identity grid."""
    grid = F.affine_grid(torch.eye(2, 3, dtype=torch.float64)[None], (1, 1, 1, n), align_corners=bool(align))
    return lambda x: x[0, 0, 0, 0] * grid[0, 0, :, 0]


def norm_pools(window, strides, padding, dilations):
    return f"spatial.lp_pool_with(2.0, {window}, {strides}, {padding}, {dilations}, 0, 0, x)"


POOLS = [
    Entry(name, norm_pools(*arguments), norms(2.0, *arguments))
    for name, arguments in (("plain", ([2, 2], [2, 2], [0, 0, 0, 0], [1, 1])), ("padded", ([2, 3], [1, 2], [1, 1, 0, 2], [1, 1])),
                            ("dilated", ([2, 2], [1, 1], [0, 0, 0, 0], [2, 1])), ("single", ([1, 1], [1, 1], [0, 0, 0, 0], [1, 1])))
] + [
    Entry("third", "spatial.lp_pool_with(3.0, [2, 2], [1, 1], [0, 0, 0, 0], [1, 1], 0, 0, x)", norms(3.0, [2, 2], [1, 1], [0] * 4, [1, 1])),
    Entry("up", "spatial.lp_pool_with(1.0, [3, 3], [2, 2], [0, 0, 0, 0], [1, 1], 0, 1, x)",
          lambda x: F.avg_pool2d(F.pad(x.abs(), (0, 1, 0, 1)), 3, 2, divisor_override=1)),
    Entry("same", "spatial.lp_pool_with(2.0, [2, 2], [2, 3], [0, 0, 0, 0], [1, 1], 1, 0, x)", norms(2.0, [2, 2], [2, 3], [0, 0, 0, 0], [1, 1])),
]
BLOCKS = [
    Entry("depth_to_space", "spatial.depth_to_space(2, x)", depth_to_space),
    Entry("shuffle", "spatial.pixel_shuffle(2, x)", lambda x: F.pixel_shuffle(x, 2)),
    Entry("space_to_depth", "spatial.space_to_depth(2, x)", space_to_depth),
    Entry("unpooled", "unpooled(x[:1, :1])", unpool),
    Entry("nothing_to_do", "spatial.depth_to_space(1, x)", lambda x: x),
    Entry("channels", "ones(spatial.channel_shape(x)) * x[:1, :1]", lambda x: torch.ones(*x.shape[:2], 1, 1).double() * x[:1, :1]),
] + [Entry(f"places_{a}_{n}", f"x[0, 0, 0, 0] * spatial.places({a}, {n})", places(a, n)) for a in (0, 1) for n in (2, 5)]
ONE_PLACE = [Entry("place", "x * spatial.places(0, 1)", lambda x: places(0, 1)(x.reshape(1, 1, 1, 1))),
             Entry("corner", "x * spatial.places(1, 1)", lambda x: -x.reshape(1))]
UNPOOLED = """node unpooled(x) -> (y)
  y = spatial.max_unpool(shape(x), max_pool_indices(x, 2), 2.0 * max_pool(x, 2));
"""
THETA = [
    Entry("grid", "spatial.affine_grid_3d(0, 2, 1, 3, theta)", lambda t: F.affine_grid(t, (2, 1, 2, 1, 3), align_corners=False)),
    Entry("corners", "spatial.affine_grid_3d(1, 3, 2, 2, theta)", lambda t: F.affine_grid(t, (2, 1, 3, 2, 2), align_corners=True)),
]
random = np.random.default_rng(171)


def drawn(*shape):
    return np.round(random.uniform(-2, 2, shape), 2)


LOOSE = {"f32": "1e-4", "f64": "1e-11"}
GROUPS = [
    Group("spatial_pools", "ordinary", "PyTorch", {"x": [drawn(1, 2, 4, 6) + 0.005 for _ in range(2)]}, POOLS, LOOSE),
    Group("spatial_pools_edges", "edge", "PyTorch",
          {"x": [f * np.ones((1, 1, 4, 6)) for f in (0, 1, -1e4, 1e-4)] + [np.full((1, 1, 4, 6), INF), np.full((1, 1, 4, 6), NAN)]},
          values_only(POOLS), LOOSE),
    # At 0, PyTorch's norm has the gradient 0, like the library's.
    Group("spatial_pools_zero", "edge", "PyTorch", {"x": [np.zeros((1, 1, 4, 6)), np.eye(4, 6)[None, None]]},
          [e for e in POOLS if e.name != "up"], LOOSE),
    Group("spatial_blocks", "ordinary", "PyTorch", {"x": [drawn(2, 4, 2, 4) for _ in range(2)]}, BLOCKS, LOOSE, UNPOOLED),
    Group("spatial_blocks_edges", "edge", "PyTorch",
          {"x": [f * np.ones((1, 4, 2, 2)) for f in (0, -1, 1e30)] + [np.where(np.arange(16).reshape(1, 4, 2, 2) % 3, INF, 1.0)]},
          values_only(BLOCKS[:-4]), nodes=UNPOOLED),
    Group("spatial_blocks_not_finite", "edge", "PyTorch", {"x": [np.where(np.arange(16).reshape(1, 4, 2, 2) % 4, 1.0, v) for v in (NAN, -INF)]},
          values_only(BLOCKS[:-4]), nodes=UNPOOLED),
    Group("spatial_one_place", "edge", "PyTorch", {"x": [1.0, 0.0, -5.0]}, ONE_PLACE),
    Group("spatial_grid", "ordinary edge", "PyTorch", {"theta": [drawn(2, 3, 4), np.zeros((2, 3, 4)), 1e20 * drawn(2, 3, 4)]}, THETA, LOOSE),
]
