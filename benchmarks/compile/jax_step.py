"""Prints the milliseconds that JAX needs from the function of an LSTM to its first result: tracing, compilation and one
step. The second number is for a second size, without the work that happens once in a process."""
import time

import jax
import jax.numpy as jnp


def step(weights, bias, h, c, x):
    i, f, g, o = jnp.split(weights @ jnp.concatenate([x, h]) + bias, 4)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def compile_and_step(units):
    weights = jnp.full((4 * units, units + units // 2), 0.01)
    zeros, x = jnp.zeros(units), jnp.ones(units // 2)
    bias = jnp.zeros(4 * units)
    begin = time.perf_counter()
    jax.block_until_ready(jax.jit(step)(weights, bias, zeros, zeros, x))
    return 1e3 * (time.perf_counter() - begin)


first = compile_and_step(64)
print(f"{first:.1f} {compile_and_step(128):.1f}")
