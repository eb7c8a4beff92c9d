"""Exports nodes whose operators ONNX defines differently. The rows of the model must be those of
the language, worked out by hand.

Run by ctest: exports.py RMLC. Types are checked with ONNX's schemas (model_types.py).
"""

import pathlib
import subprocess
import sys
import tempfile

import model_types

RMLC = str(pathlib.Path(sys.argv[1]).resolve())
failures = []
GUARDED = ("c,m,n,i\nT,7,2,1\nF,7,0,9\nT,-7,3,0\n", """
node part(a: i32, b: i32) -> (q: i32)
  q = a / b;
node shares(a: i32, b: i32) -> (q: i32)
  q = sum(map part([a, a], [b, b]));
node main(c: bool, m: i32, n: i32, i: i32) -> (a: i32, b: i32, d: i32, e: i32, f: i32, g: i32, h: i32, k: i32)
  a = if n == 0 then 0 else m / n;
  b = if n == 0 then m else m % n;
  d = merge c ((m when c) / (n when c)) (-1 when not c);
  e = if c then [m, n][i] else 0;
  f = if c then take([m, n], [i])[0] else 0;
  g = if c then gather_nd([m, n], [[i]])[0] else 0;
  h = if n == 0 then 0 else floor_mod(m, n);
  k = merge c shares(m when c, n when c) (-1 when not c);
""", "a,b,d,e,f,g,h,k\n3,1,3,2,2,2,1,6\n0,7,-1,0,0,0,0,-1\n-2,-1,-2,-7,-7,-7,2,-4\n")
CASES = {  # each case is name: (input rows, source, output rows)
    "guarded": GUARDED,
    # The model computes the first operand of a fby at every cycle, although only the first needs
    # it.
    "first": ("n\n4\n0\n2\n", "node main(n: i32) -> (y: i32)\n  y = (100 / n) fby y + n;\n", "y\n25\n29\n29\n"),
    "cast": ("x\n-1.5\n70000\n1e300\nnan\n-inf\n3.7\n", """
node main(x: f64) -> (a: u16, b: i8, c: i64, d: u64)
  a = cast(u16, x); b = cast(i8, x); c = cast(i64, x); d = cast(u64, x);
""", "a,b,c,d\n0,-1,-1,0\n65535,127,70000,70000\n65535,127,9223372036854775807,18446744073709551615\n0,0,0,0\n"
             "0,-128,-9223372036854775808,0\n3,3,3,3\n"),
    # Tensors without elements.
    "none": ("c\nT\n", """
node main(c: bool) -> (a: bool, b: bool, s: f32, p: i32, m: f32)
  x = full([3, 0], c);
  z: f32[0] = full([0], 1.0);
  a = any(x); b = all(x); s = sum(z); p = prod(full([0], 2)); m = max(z);
""", "a,b,s,p,m\nfalse,true,0,1,-inf\n"),
    "smallest": ("x,n\n-128,-1\n100,-1\n", """
node main(x: i8, n: i8) -> (q: i8, r: i8, f: i8)
  q = x / n; r = x % n; f = floor_mod(x, n);
""", "q,r,f\n-128,0,0\n-100,0,0\n"),
    "small_integers": ("a,b\n100,3\n-100,7\n", """
node main(a: i8, b: i8) -> (m: i8, s: i8, p: i8, c: i8, n: i8, l: i8, r: i8)
  m = matmul([a, b], [b, a]); s = sum([a, a, b]); p = prod([a, b]); c = cumsum([a, b])[1]; n = -a;
  l = left_shift(a, b); r = right_shift(a, b);
""", "m,s,p,c,n,l,r\n88,-53,44,103,-100,32,12\n-120,63,68,-93,100,0,-1\n"),
    "integer_powers": ("x\n3\n-2\n", "node main(x: i32) -> (y: i32, z: i32)\n  y = pow(x, 5); z = pow(x, 33);\n",
                       "y,z\n243,-1504003197\n-32,0\n"),
    "axes": ("x\n0\n", """
node main(x: f64) -> (y: f64)
  y = softmax([[x, x], [x, x]], axis=[0, 1])[0, 1];
""", "y\n0.25\n"),
    "broadcast": ("x\n2\n", "node main(x: i32) -> (y: f32[3])\n  y = cast_like(x, [0.0, 0.0, 0.0]);\n",
                  "y[0],y[1],y[2]\n2,2,2\n"),
}
REFUSED = {
    "Conv does not take i64": "node main(x: i64[1, 1, 4], w: i64[1, 1, 2]) -> (y: i64[1, 1, 3])\n  y = conv(x, w);\n",
    "`pow` of integers": "node main(x: i32, n: i32) -> (y: i32)\n  y = pow(x, n);\n",
    "`resize` of integers": """node main(x: i32[4]) -> (y: i32[8])
  y = resize(x, 0, 8, mode="nearest", coordinates="crop");
""",
}

with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place)

    def rmlc(*arguments, text=""):
        return subprocess.run([RMLC, *arguments], cwd=folder, capture_output=True, text=True, input=text)

    for name, (rows, source, expected) in CASES.items():
        (folder / "p.rml").write_text(source)
        done = rmlc("run", "p.rml", text=rows)
        if done.stdout != expected:
            failures.append(f"{name}, the source: {done.stdout}{done.stderr}")
        done = rmlc("export", "p.rml", "-o", "p.onnx")
        if done.returncode != 0:
            failures.append(f"{name}: {done.stderr}")
            continue
        model = model_types.read(folder / "p.onnx")
        if said := model_types.faults(model):
            failures.append(f"{name}: the model is not valid: {said}")
        states = [word for state in model_types.states(model) for word in ("--state", f"{state}={state}_next")]
        done = rmlc("run", "p.onnx", *states, text=rows)
        columns = len(expected.split("\n")[0].split(","))
        found = "".join(",".join(line.split(",")[:columns]) + "\n" for line in done.stdout.splitlines())
        if found != expected:
            failures.append(f"{name}, the model: {done.stdout}{done.stderr}")
    for said, source in REFUSED.items():
        (folder / "p.rml").write_text(source)
        done = rmlc("export", "p.rml", "-o", "p.onnx")
        if done.returncode != 1 or "error[E0808]" not in done.stderr or said not in done.stderr:
            failures.append(f"{said}: status {done.returncode}\n{done.stderr}")

print("\n".join(failures))
sys.exit(1 if failures else 0)
