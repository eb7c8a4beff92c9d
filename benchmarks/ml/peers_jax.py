#!/usr/bin/env python3
"""JAX: peers_jax.py WORKLOAD KEY=VALUE …

Every step is one jitted function whose state is donated. If calls from Python dominate the time, a second
variant runs the whole stream in one `scan`.
"""
import os

from measure import main, pin, report, root, stream, threads

pin()
if threads() == 1:
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

RATE = np.float32(0.01)


def total(x):
    return np.asarray(x, dtype=np.float64).sum()


def cell(weights, h, c, projected):
    i, f, g, o = jnp.split(projected + h @ weights[1].T, 4, axis=-1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def lstm_weights(units, inputs, first=1):
    shapes = (4 * units, inputs), (4 * units, units), (4 * units,)
    return [jnp.asarray(stream(first + k, shape, root(units))) for k, shape in enumerate(shapes)]


def outputs(weights, xs, reverse=False):
    """Returns all states of an LSTM over [T, …, inputs]. The product with the inputs is computed before the loop."""
    def step(state, projected):
        h, c = cell(weights, *state, projected)
        return (h, c), h

    zero = jnp.zeros(xs.shape[1:-1] + (weights[1].shape[1],), jnp.float32)
    return lax.scan(step, (zero, zero), xs @ weights[0].T + weights[2], reverse=reverse)


def lstm_infer(H):
    weights, xs = lstm_weights(H, H // 2), jnp.asarray(stream(4, (256, H // 2)))
    parameters = {"H": H, "I": H // 2}
    step = jax.jit(lambda h, c, x: cell(weights, h, c, weights[0] @ x + weights[2]), donate_argnums=(0, 1))
    rows = [xs[k] for k in range(256)]
    state = [jnp.zeros(H), jnp.zeros(H), 0]

    def run(n):
        h, c, t = state
        for k in range(t, t + n):
            h, c = step(h, c, rows[k & 255])
        h.block_until_ready()
        state[:] = h, c, t + n

    run(1000)
    report("lstm_infer", "jax_jit_step", parameters, "us/step", run, total(state[0]))

    def several(s, xs):
        def step(s, x):
            return cell(weights, *s, weights[0] @ x + weights[2]), None

        return lax.scan(step, s, xs)[0]

    several = jax.jit(several)
    first = (jnp.zeros(H), jnp.zeros(H))
    for rows in (xs, xs, xs, xs[:1000 - 3 * 256]):
        first = several(first, rows)
    state = [first]

    def run_ring(n):  # a call computes 256 steps
        for _ in range(n):
            state[0] = several(state[0], xs)
        state[0][0].block_until_ready()

    report("lstm_infer", "jax_scan_256", parameters, "us/step", run_ring, total(first[0]), 1 / 256)


def descend(loss):
    def step(parameters, *data):
        value, gradients = jax.value_and_grad(loss)(parameters, *data)
        return [p - RATE * g for p, g in zip(parameters, gradients)], value

    return jax.jit(step, donate_argnums=0)


def lstm_train(H, B, T=64):
    ring = 8
    xs, ys = jnp.asarray(stream(4, (ring, T, B, H // 2))), jnp.asarray(stream(5, (ring, B)))
    xs, ys = list(xs), list(ys)

    def loss(p, x, y):
        (h, _), _ = outputs(p[:3], x)
        return jnp.mean((h @ p[3] + p[4] - y) ** 2)

    step = descend(loss)
    state = [lstm_weights(H, H // 2) + [jnp.asarray(stream(6, (H,), root(H))), jnp.float32(0)], 0]

    def run(n):
        p, t = state
        for k in range(t, t + n):
            p, value = step(p, xs[k % ring], ys[k % ring])
        value.block_until_ready()
        state[:] = p, t + n
        return value

    checksum = float(run(20)) + total(state[0][1])
    report("lstm_train", "jax_jit", {"H": H, "B": B, "T": T}, "us/sequence", run, checksum)


def mlp_train(B):
    count = 1024
    x = (stream(1, (count, 784)) + 1) * np.float32(0.5)
    label = ((stream(2, (count,)) + 1) * 5).astype(np.int32)
    xs, labels = ([jnp.asarray(a[k:k + B]) for k in range(0, count, B)] for a in (x, label))

    def loss(p, x, label):
        z = jax.nn.relu(x @ p[0].T + p[1]) @ p[2].T + p[3]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(z), label[:, None], 1))

    step = descend(loss)
    state = [[jnp.asarray(stream(3, (128, 784), root(784))), jnp.zeros(128),
              jnp.asarray(stream(5, (10, 128), root(128))), jnp.zeros(10)], 0]

    def run(n):
        p, t = state
        for k in range(t, t + n):
            p, value = step(p, xs[k % len(xs)], labels[k % len(xs)])
        value.block_until_ready()
        state[:] = p, t + n
        return value

    checksum = float(run(64)) + total(state[0][0])
    report("mlp_train", "jax_jit", {"B": B}, "us/step", run, checksum)


def bilstm(H, T):
    forward, backward = lstm_weights(H, H // 2), lstm_weights(H, H // 2, 11)
    x = jnp.asarray(stream(4, (T, H // 2)))

    @jax.jit
    def both(x):
        return jnp.concatenate([outputs(forward, x)[1], outputs(backward, x, reverse=True)[1]], -1)

    def run(n):
        for _ in range(n):
            y = both(x)
        return y.block_until_ready()

    report("bilstm", "jax_jit", {"H": H, "T": T}, "us/sequence", run, total(run(1)))


def bn(F, B=64):
    ring = 4
    xs, dys = list(jnp.asarray(stream(1, (ring, B, F)))), list(jnp.asarray(stream(2, (ring, B, F))))
    gamma = jnp.asarray(1 + np.float32(0.1) * stream(3, (F,)))
    beta = jnp.asarray(np.float32(0.1) * stream(4, (F,)))

    def norm(x, gamma, beta):
        mean, variance = x.mean(0), x.var(0)
        return (x - mean) * lax.rsqrt(variance + 1e-5) * gamma + beta, (mean, variance)

    @jax.jit
    def step(moving, x, dy):
        y, pull, (mean, variance) = jax.vjp(norm, x, gamma, beta, has_aux=True)
        unbiased = variance * (B / (B - 1))
        return (0.9 * moving[0] + 0.1 * mean, 0.9 * moving[1] + 0.1 * unbiased), y, pull(dy)

    state = [(jnp.zeros(F), jnp.ones(F)), 0]

    def run(n):
        moving, t = state
        for k in range(t, t + n):
            moving, y, gradients = step(moving, xs[k % ring], dys[k % ring])
        y.block_until_ready()
        state[:] = moving, t + n
        return y, gradients

    y, (dx, dgamma, dbeta) = run(5)
    checksum = sum(total(a) for a in (np.asarray(y) ** 2, np.asarray(dx) ** 2, *state[0], dgamma, dbeta))
    report("bn", "jax_jit", {"F": F, "B": B}, "us/step", run, checksum)


def moe(experts=3, size=128, hidden=256, ring=256):
    arrays = [(1, (ring, size), 1), (2, (experts, size), root(size)), (3, (experts, hidden, size), root(size)),
              (4, (experts, hidden), root(size)), (5, (experts, size, hidden), root(hidden)),
              (6, (experts, size), root(hidden))]
    xs, gate, w1, b1, w2, b2 = (jnp.asarray(stream(*a)) for a in arrays)
    rows = list(xs)

    def expert(k):
        return lambda x: w2[k] @ jax.nn.relu(w1[k] @ x + b1[k]) + b2[k]

    step = jax.jit(lambda x: lax.switch(jnp.argmax(gate @ x), [expert(k) for k in range(experts)], x))
    at = [0]

    def run(n):
        for _ in range(n):
            y = step(rows[at[0] % ring])
            at[0] += 1
        y.block_until_ready()

    report("moe", "jax_jit_switch", {"experts": experts}, "us/step", run, sum(total(step(x)) for x in rows))


def online(features=8):
    ring = 4096
    x, y = stream(1, (ring, features)), np.float32(0.01) * stream(2, (ring,))
    for k in range(features):
        y = (y + np.float32(k - 3.5) * x[:, k]).astype(np.float32)
    xs, ys = jnp.asarray(x), jnp.asarray(y)

    def learn(w, sample):
        x, y = sample
        return w - RATE * (jnp.dot(w, x) - y) * x, None

    whole = jax.jit(lambda w: lax.scan(learn, w, (xs, ys))[0])
    rest = 10000 % ring
    w = whole(whole(jnp.zeros(features)))
    w = jax.jit(lambda w: lax.scan(learn, w, (xs[:rest], ys[:rest]))[0])(w)
    state = [w]

    def run(n):
        for _ in range(n):
            state[0] = whole(state[0])
        state[0].block_until_ready()

    checksum = float((np.asarray(w, dtype=np.float64) * np.arange(1, features + 1)).sum())
    report("online", "jax_scan", {"features": features}, "ns/sample", run, checksum, 1e3 / ring)


def lenet_parameters():
    shapes = ((6, 1, 5, 5), (6,), (16, 6, 5, 5), (16,), (120, 400), (120,), (84, 120), (84,), (10, 84), (10,))
    fans = (25, 25, 150, 150, 400, 400, 120, 120, 84, 84)
    return [jnp.asarray(stream(k + 1, shape, root(fan))) for k, (shape, fan) in enumerate(zip(shapes, fans))]


def lenet_scores(p, x):
    def convolved(w, b, pad, x):
        y = lax.conv_general_dilated(x, w, (1, 1), ((pad, pad), (pad, pad)))
        y = jax.nn.relu(y + b[:, None, None])
        return lax.reduce_window(y, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    x = convolved(p[2], p[3], 0, convolved(p[0], p[1], 2, x)).reshape(x.shape[0], -1)
    x = jax.nn.relu(jax.nn.relu(x @ p[4].T + p[5]) @ p[6].T + p[7])
    return x @ p[8].T + p[9]


def lenet_infer(B):
    p, x = lenet_parameters(), jnp.asarray(stream(100, (B, 1, 28, 28)))
    scores = jax.jit(lambda x: lenet_scores(p, x))

    def run(n):
        for _ in range(n):
            y = scores(x)
        return y.block_until_ready()

    report("lenet_infer", "jax_jit", {"B": B}, "us/batch", run, total(run(3)))


def lenet_train(B, count=512):
    x, label = stream(100, (count, 1, 28, 28)), ((stream(101, (count,)) + 1) * 5).astype(np.int32)
    xs, labels = ([jnp.asarray(a[k:k + B]) for k in range(0, count, B)] for a in (x, label))

    def loss(p, x, label):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(lenet_scores(p, x)), label[:, None], 1))

    step = descend(loss)
    state = [lenet_parameters(), 0]

    def run(n):
        p, t = state
        for k in range(t, t + n):
            p, value = step(p, xs[k % len(xs)], labels[k % len(xs)])
        value.block_until_ready()
        state[:] = p, t + n
        return value

    checksum = float(run(10)) + total(state[0][0]) + total(state[0][4])
    report("lenet_train", "jax_jit", {"B": B}, "us/batch", run, checksum)


main({f.__name__: f for f in (lstm_infer, lstm_train, mlp_train, bilstm, bn, lenet_infer, lenet_train, moe, online)})
