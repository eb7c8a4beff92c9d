"""The example of docs/manual/scheduler.md must be the compiled one, and must print the output on
the page.

Run by ctest: page_test.py PAGE SOURCE PROGRAM.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

page, source, program = (pathlib.Path(a) for a in sys.argv[1:])
blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
(example,) = [body for fence, body in blocks if fence == "cpp" and body.startswith("// file: example.cc")]
(printed,) = [body for fence, body in blocks if fence == "text"]
if example != source.read_text(encoding="utf-8"):
    sys.exit(f"the example is not {source}")
with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run([program.resolve()], cwd=folder, capture_output=True, text=True, timeout=60)
    if done.returncode != 0 or done.stdout != printed:
        sys.exit(f"exit status {done.returncode}, prints\n{done.stdout}{done.stderr}")
    events = json.loads((pathlib.Path(folder) / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    if "smooth" not in {e["name"] for e in events}:
        sys.exit("the trace does not name the nodes")
