"""Programs of one shape and any size, whose compilation once took disproportionate time or
memory."""


def equations(header, count, first, equation, last, imports=""):
    lines = [f"  a0 = {first};"] + ["  a%d = %s;" % (k + 1, equation.format(k=k)) for k in range(count)]
    return f"{imports}{header}\n" + "\n".join(lines) + f"\n  y = {last.format(n=count)};\n"


def literals(n):
    return ("const t = [%s];\nnode main(k: i32) -> (y)\n  y = t[k];\n" % ", ".join("%d.0" % k for k in range(n)))


def posts(n):
    return equations("node main(x: f64) -> (y)", n, "x", "post a{k}", "a{n}")


def ends(n):
    return equations("node main(c: bool, x: f64) -> (y)", n, "x", "post_end(c, 0.0, a{k})", "a{n}")


def nested_sines(n):
    return ("node f(x) -> (y)\n  y = " + "sin(" * n + "x" + ")" * n +
            ";\nnode main(x: f64) -> (y: f64, d: f64)\n  y, d = diff f(x, true, 1.0);\n")


def streams(n):
    return ("node main(x: f64) -> (y)\n" + "".join("  a%d = x + %d.0;\n" % (k, k) for k in range(n)) +
            "  y = sum([" + ", ".join("a%d" % k for k in range(n)) + "]);\n")


def outputs(n):
    return ("node main(x: f64) -> (" + ", ".join("y%d: f64" % k for k in range(n)) + ")\n" +
            "".join("  y%d = x + %d.0;\n" % (k, k) for k in range(n)))


def ports(n):
    return ("node main(" + ", ".join("x%d: f64" % k for k in range(n)) + ") -> (" +
            ", ".join("y%d: f64" % k for k in range(n)) + ")\n" +
            "".join("  y%d = x%d + 1.0;\n" % (k, k) for k in range(n)))


def sums(n):
    return "node main(x: f64) -> (y)\n  y = " + " + ".join("sin(x + %d.0)" % k for k in range(n)) + ";\n"


def branches(n):
    return equations("node main(x: f64) -> (y)", n, "x", "if a{k} > {k}.0 then sin(a{k}) else a{k} * 0.5", "a{n}")


def nested_branches(n):
    return ("node main(x: f64) -> (y)\n  y = " +
            "".join("if x > %d.0 then x * %d.0 else " % (k, k) for k in range(n)) + "x;\n")


def layers(n):
    return equations("node main(c: bool, x: f64[4]) -> (y)", n, "x", "recurrent.gru_end(4, c, a{k})", "a{n}",
                     "import recurrent;\n")


def learning_layers(n):
    """The gradient of n recurrent layers."""
    lines = "".join("  a%d = recurrent.gru_end(4, c, a%d);\n" % (k + 1, k) for k in range(n))
    return (f"import recurrent;\nimport optim;\nnode net(c, x) -> (y)\n  a0 = x;\n{lines}  y = sum(a{n});\n"
            "node main(c: bool, x: f64[4], w: f64) -> (y: f64)\n"
            "  y, _ = diff[optim.sgd(0.1)] net(c, x, true, y - w);\n")


def sums_of_one_tensor(n):
    return equations("node main(x: f64[4]) -> (y: f64)", n, "x", "a{k} - sum(a{k})", "sum(a{n})")


def states(n):
    """The gradient of a fold with n scalar states."""
    step = "".join(f"  n{k} = tanh(0.9 * s{k} + 0.1 * s{(k + 1) % n} + 0.01 * x);\n" for k in range(n))
    return (f"node step({', '.join(f's{k}' for k in range(n))}, x) -> ({', '.join(f'n{k}' for k in range(n))})\n{step}"
            f"node f(x0: f64, xs: f64[100]) -> (y)\n  {', '.join(f'r{k}' for k in range(n))} = "
            f"fold step({', '.join(['x0'] * n)}; xs);\n  y = {' + '.join(f'r{k}' for k in range(n))};\n"
            "node main(x0: f64, xs: f64[100]) -> (y: f64, d: f64)\n  y, d, _ = diff f(x0, xs, true, 1.0);\n")


CHECK, OBJECT, C = ("check",), ("build", "--emit", "obj"), ("build", "--emit", "c")
# The shape, the command for it, and its size in scripts/test.
SHAPES = [(literals, OBJECT, 65537), (posts, CHECK, 400), (ends, CHECK, 200), (nested_sines, CHECK, 8000),
          (streams, OBJECT, 2000), (outputs, OBJECT, 1000), (ports, OBJECT, 250), (sums, C, 8000), (branches, C, 1000),
          (ends, C, 100), (nested_branches, CHECK, 8000), (layers, CHECK, 100), (sums_of_one_tensor, OBJECT, 200),
          (states, OBJECT, 50), (learning_layers, CHECK, 80)]
