"""A user who writes the form of another language gets one message, which names the form of R(ML)².

Run by ctest: idioms_test.py RMLC. SOURCES has a row for each form: the body of a node, or a whole file; a part of the message, of a
label or of a note; and whether the fix-it of the message repairs the program. Each source gives exactly one error, and a
program that a fix-it repaired is checked again. COMMANDS has wrong command lines, and a part of the message.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

RMLC = str(pathlib.Path(sys.argv[1]).resolve())

# The header of `main`, the body, the text that the message contains, and whether a fix-it repairs the program.
X = "x: f64"
SOURCES = [
    # idioms of Lustre, SCADE and Heptagon
    (X, "y = pre(x);", "`pre b` alone needs a first value: `0.0 fby b`", False),
    (X, "y = 0.0 -> x + 1.0;", "Lustre's `a -> pre b` is written `a fby b`", False),
    (f"c: bool, {X}", "y = current(x when c);", "held = merge c (x when c) ((0.0 fby held) when not c)", False),
    (f"c: bool, {X}", "y = merge c (x when c) (x whenot c);", "write `when not`", True),
    (f"c: bool, {X}", "y = merge c x (0.0 fby y);", "write `merge c (x when c) ((0.0 fby y) when not c)`", True),
    (f"c: bool, {X}, z: f64", "y = merge c x z;", "write `if c then x else z`", False),
    (f"m: i32, {X}", "y = merge m (0 -> x) (1 -> x);", "`merge c y z` joins the two streams of a Boolean `c`", False),
    ("a: bool, b: bool", "y = if #(a, b) then 1.0 else 0.0;", "`not (a and b)`", False),
    (f"r: bool, {X}", "reset y = 0.0 fby y + x every r;", "`fby_end(end, init, x)` starts again", False),
    (X, "y = last y + x;", "R(ML)² has no `last`", False),
    (X, "automaton state A do y = x; until x > 1.0 then A; end;", "R(ML)² has no automata", False),
    (X, "switch x > 0.0 do y = x; done;", "R(ML)² has no `switch`", False),
    (f"m: i32, {X}", "y = match m { 0 -> x };", "R(ML)² has no `match`", False),
    (X, "y = fby x;", "`fby` needs a first value before it", False),
    (X, "y = fby(0.0, x);", "`fby` is an operator between the first value and the stream", False),
    # idioms of C, C++ and Matlab
    ("a: bool, x: f64", "y = a ? x : 0.0;", "for a choice, write `if c then a else b`", False),
    (X, "y = |x|;", "the absolute value is `abs(x)`", False),
    ("n: i32", "y = f64(n);", "to convert a value, write `cast(f64, x)`", False),
    ("n: i32", "y = cast(n, f64);", "`cast` takes the type first", True),
    ("a: i32, b: i32", "y = a / b;", "write `cast(f64, a) / cast(f64, b)`", True),
    ("a: i32, b: i32", "y: f64 = 2.0 * (a / b);", "integer division truncates", True),
    ("v: f64[3]", "for i in 0..3 { y = v[i]; }", "R(ML)² has no loops", False),
    ("v: f64[4]", "y = sum(v[0..3]);", "a slice is `v[0:3]`", False),
    (X, "while x > 0.0: y = x;", "R(ML)² has no loops", False),
    (X, "print(x); y = x;", "`rmlc trace FILE` shows variables", False),
    (X, "p = {x = 1, y = 2}; y = x;", "R(ML)² has no records", False),
    (X, "y = 5.0 m;", "R(ML)² has no units of measurement", False),
    # idioms of Python, NumPy and PyTorch
    (f"c: bool, {X}", "y = x if c else 0.0;", "`x if c else y` is written `if c then x else y`", False),
    ("v: f64[3]", "y = sum([2.0 * e for e in v]);", "R(ML)² has no comprehensions", False),
    (X, "y = if True then x else 0.0;", "write `true`", True),
    (X, "y = if False then x else 0.0;", "write `false`", True),
    (X, "y = None;", "`x when c` is absent at the cycles where `c` is false", False),
    ("a: f64[2, 3]", "y = sum(a.T);", "write `transpose(a)`", True),
    ("a: f64[3]", "y = a.sum();", "`sum` is an operator: write `sum(a)`", False),
    ("a: f64[3]", "y = cast(f64, len(a));", "did you mean `size`?", False),
    (X, "y = leakyrelu(x);", "the standard library has `activation.leaky_relu`", False),
    (X, "y = LeakyReLU(x);", "the standard library has `activation.leaky_relu`", False),
    (X, "y = ReLU(x);", "did you mean `relu`?", False),
    (X, "y += x;", "an equation defines", False),
]

# Programs that are whole files.
FILES = [
    ("node f(x) -> (a, b)\n  a = x; b = x;\nnode main(x: f64) -> (y: f64)\n  (a, b) = f(x);\n  y = a + b;\n",
     "write `a, b`", True),
    ("import nn as layers\nnode main(x: f64[2]) -> (y: f64[3])\n  y = layers.dense(3, x);\n", "insert `;`", True),
    ("node f<T>(x: T) -> (y: T)\n  y = x;\nnode main(x: f64) -> (y: f64)\n  y = f(x);\n",
     "a node without types works for every type", False),
    ("node main(x: f64) -> y: f64\n  y = x;\n", "inputs and outputs are in parentheses", False),
    ("type mode = Off | On;\nnode main(x: f64) -> (y: f64)\n  y = x;\n", "R(ML)² has no declarations of types", False),
    ("node f(n, x) -> (y)\n  y = broadcast_to(x, [n]);\nnode main(x: f64) -> (y: f64[3])\n  y = f<<3>>(x);\n",
     "static arguments are ordinary arguments", False),
    ("node f(x) -> (y)\n  y = param(1.0) * x;\nnode main(c: bool, x: f64) -> (y: f64)\n"
     "  y, _ = diff f(x, c, 0.1 * y);\n", "the adjoint `dy` of `f` only when `c`", True),
    ("import recurrent;\nnode model(end, x) -> (y)\n  y = sum(recurrent.gru_end(2, end, x));\n"
     "node main(end: bool, x: f64[2], t: f64) -> (s: f64, loss: f64)\n"
     "  s, _ = diff model(end, x, end, s - t);\n  loss = square(s - t);\n",
     "the adjoint `dy` of `model` only when `end`", True),
    # Arguments of the library
    ("import control;\nnode main(kp: f32[3], r: f32, y: f32) -> (u: f32[3])\n"
     "  u = control.pid(kp, 0.4, 0.1, 0.1, 0.0, 10.0, r, y);\n", "`kp` must be a scalar, not f32[3]", False),
    ("import loss;\nnode main(p: f64[3], t: f64[3]) -> (l: f64)\n  l = loss.cross_entropy(p, t);\n",
     "write `loss.soft_cross_entropy`", True),
    ("import loss;\nnode main(p: f64[3], t: i32[3]) -> (l: f64)\n  l = loss.cross_entropy(p, t);\n",
     "`argmax(t)` for the class of the largest element", False),
    ("import nn;\nnode model(end, x) -> (y)\n  y = nn.dense_end(3, end, x);\n",
     "`x` has no type and is taken for a scalar: declare its type, as in `x: f32[2]`", False),
]

# `rmlc check` says nothing about these.
QUIET = [
    "node f(x) -> (y)\n  y = g(param(1.0) * x);\nnode g(x) -> (y)\n  y = 2.0 * x;\n"
    "node main(x: f64, t: f64) -> (y: f64)\n  y, _ = diff f(x, true, t - y);\n",
]

COMMANDS = [
    (["program.rml"], "write `rmlc run program.rml`"),
    (["compile", "ok.rml"], "did you mean 'build'?"),
    (["run", "ok.rml", "x.csv"], "--input x.csv"),
    (["run", "ok.rml", "--save-params", "p"], "--save FILE writes the parameters"),
    (["run", "ok.rml", "--input", "x.csv", "--plot", "p.jpg"], "ends with .svg, .png or .pdf"),
    (["build", "ok.rml", "--target", "thumbv7em-none-eabi", "--emit", "lib", "--cpu", "m4"], "did you mean 'cortex-m4'?"),
    (["build", "ok.rml", "--target", "arduino", "--emit", "obj"], "targets are triples such as"),
    (["test", "ok.rml"], "`-- run: main`"),
    (["run", "text.rml", "--input", "text.csv"], "--classes n=FILE"),
    (["run", "ok.rml", "--input", "comma.csv"], "--delimiter ';'"),
]

PLACE = {"ok.rml": "node main(x: f64) -> (y: f64)\n  y = x;\n", "x.csv": "x\n1\n", "comma.csv": "x\n1,5\n",
         "text.rml": "node main(n: i32) -> (y: i32)\n  y = n;\n", "text.csv": "n\nfast\n"}


def check(folder, source):
    (folder / "program.rml").write_text(source, encoding="utf-8")
    done = subprocess.run([RMLC, "check", "--error-format", "json", "program.rml"], cwd=folder, capture_output=True,
                          text=True, check=False)
    return done.returncode, json.loads(done.stderr or '{"diagnostics": []}')["diagnostics"]


def texts(d):
    labels = [label["text"] for label in [d["primary"], *d["secondary"]]]
    return "\n".join([d["message"], *labels, *d["notes"], *(fix["title"] for fix in d["fixes"])])


def repaired(source, fixes):
    text = source.encode()
    for fix in sorted(fixes, key=lambda fix: -fix["begin"]):
        text = text[:fix["begin"]] + fix["replacement"].encode() + text[fix["end"]:]
    return text.decode()


def problems_of(folder, source, wanted, fixed):
    status, found = check(folder, source)
    errors = [d for d in found if d["severity"] == "error"]
    if status != 1 or len(errors) != 1:
        yield f"status {status}, {len(errors)} errors, not one:\n" + "\n".join(texts(d) for d in found)
        return
    if wanted not in texts(errors[0]):
        yield f"no word of {wanted!r}:\n{texts(errors[0])}"
    if fixed and not errors[0]["fixes"]:
        yield "no fix-it"
    if errors[0]["fixes"]:
        status, found = check(folder, repaired(source, errors[0]["fixes"]))
        if status != 0:
            yield "the repaired program has errors:\n" + "\n".join(texts(d) for d in found)


def main():
    sources = [(f"node main({inputs}) -> (y: f64)\n  {body}\n", *rest) for inputs, body, *rest in SOURCES] + FILES
    problems = []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for source, wanted, fixed in sources:
            problems += [f"{source}{problem}" for problem in problems_of(folder, source, wanted, fixed)]
        for source in QUIET:
            (folder / "program.rml").write_text(source, encoding="utf-8")
            done = subprocess.run([RMLC, "check", "program.rml"], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode != 0 or done.stdout + done.stderr:
                problems.append(f"{source}not quiet:\n{done.stdout}{done.stderr}")
        for name, text in PLACE.items():
            (folder / name).write_text(text, encoding="utf-8")
        for command, wanted in COMMANDS:
            done = subprocess.run([RMLC, *command], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode == 0 or wanted not in done.stderr + done.stdout:
                problems.append(f"rmlc {' '.join(command)}: status {done.returncode}\n{done.stderr}")
        helped = subprocess.run([RMLC, "help", "run"], capture_output=True, text=True, check=False).stdout
        if "--save-every" not in helped or "--link" not in helped:
            problems.append(f"rmlc help run:\n{helped}")
    print("\n\n".join(problems))
    sys.exit(1 if problems else 0)


main()
