#!/usr/bin/env python3
"""Draws the two diagrams of the pages on the design: diagrams.py RMLC

design/folders.svg shows which rooms of the tree include which other rooms. design/pipeline.svg
shows the forms of a program and the passes between them. Each is drawn from a graph in text form,
which is computed from the sources or from `rmlc opt --list` and stored in the metadata of the
picture. tests/lint/diagrams_test.py computes the graph again and compares. This script places the
boxes, and Graphviz routes the arrows of the first picture around them. Colours follow the
reader's choice of light or dark."""
import itertools
import json
import pathlib
import re
import subprocess
import sys
import textwrap
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_WIDE, MOST_HIGH = 1600, 1000
WIDE, HIGH, GAP = 146, 34, 24  # size of the boxes of rooms: width, height, distance
LEFT, BROAD, PER_ROW = 10, 1140, 6  # placement of the boxes of forms: left edge, width, passes per row
LANE = 190  # width of the lane of a pass that skips forms
STYLE = """text { font-family: Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif; font-size: 12px; fill: #24292f }
.code { font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 12px }
.name { font-size: 13px; font-weight: 600 } .form { font-size: 15px; font-weight: 600 }
.faint { fill: #59636e; font-size: 11px } .title { font-size: 16px; font-weight: 600 }
.box { fill: #f6f8fa; stroke: #8c959f } .folder { fill: none; stroke: #8c959f; stroke-dasharray: 5 4 }
.arrow { stroke: #2b7cc0; fill: none; stroke-width: 1.3 } .tip { fill: #2b7cc0 }
.other { stroke: #d9480f; fill: none; stroke-width: 1.5 } .other_tip { fill: #d9480f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .faint { fill: #9ca3af } .box { fill: #1f2630; stroke: #6b7280 } .folder { stroke: #6b7280 }
  .arrow { stroke: #6cb6ff } .tip { fill: #6cb6ff } .other { stroke: #ff9b6b } .other_tip { fill: #ff9b6b }
}"""

# The rooms: the column of each in the picture, and its subject. The files directly in a folder
# also form a room.
ROOMS = {
    "python": (3.05, "nodes on NumPy arrays"),
    "driver": (3.05, "the command rmlc"),
    "compiler": (3.05, "passes, as a library"),
    "onnx": (3.05, "models in and out"),
    "frontend": (2.85, "text to tree"),
    "lowering/llvm": (1, "steps to machine code"),
    "lowering/c": (0, "loops to C99"),
    "lowering/loops": (0, "element by element"),
    "lowering/text": (2, "forms, to read"),
    "lowering/segment": (1, "what a sweep computes"),
    "lowering/steps": (1, "statements and storage"),
    "lowering/schedule": (2, "what a unit computes"),
    "lowering": (1, "costs; C signatures"),
    "lowering/demand": (2, "what has no schedule"),
    "semantics/time": (0.15, "causality, cuts"),
    "semantics/differentiate": (1.13, "gradients, as nodes"),
    "semantics/instantiate": (2.11, "tree to core"),
    "semantics/crossing": (0, "looks across instants"),
    "semantics/check": (1, "names, types, clocks"),
    "semantics/simplify": (2, "core to smaller core"),
    "semantics/spread": (3, "memory of a map"),
    "semantics/reference": (3, "the engine that judges"),
    "semantics/core": (1.5, "the graph of values"),
    "semantics/operators": (1.5, "what each computes"),
    "semantics/values": (1.5, "types, truth, limits"),
    "runtime/keys": (4.4, "a state for each key"),
    "runtime/ranks": (4.2, "processes of one run"),
    "runtime/program": (4.9, "main of each program"),
    "runtime/run": (4.7, "a run, to its end"),
    "runtime/options": (5.7, "the command line"),
    "runtime/monitor": (6.2, "logs, plots, watches"),
    "runtime/checkpoint": (5.2, "states in files"),
    "runtime/pipeline": (4.7, "threads beside a run"),
    "runtime/epochs": (4.3, "passes over the files"),
    "runtime/scheduler": (5.7, "networks of tasks"),
    "runtime/stream_io": (4.7, "rows in, rows out"),
    "runtime/lapack": (6.2, "linear algebra"),
    "runtime/kernels": (4.2, "operators on arrays"),
    "runtime/demand": (5.2, "equations, by need"),
    "runtime/runner": (6.2, "a program to attach to"),
    "runtime/base": (4.7, "what all others need"),
    "runtime/channel": (5.7, "from thread to thread"),
}
FOLDERS_WITH_ROOMS = {
    "lowering": "how a program becomes code",
    "semantics": "what a program means, and what holds of it",
    "runtime": "what compiled programs are linked with",
}
# The forms in their order, each with a description.
FORMS = {
    "text": "what was written",
    "tree": "equations as they were written",
    "checked": "every name, type and clock is known",
    "core": "one flat graph of values, each of one primitive",
    "schedule": "which unit computes what, in which order",
    "segments": "which sweep computes what, and where it is kept",
    "steps": "statements with storage",
    "llvm": "code, of which LLVM makes the machine’s, in memory or in a file",
    "loops": "what steps compute, element by element: of them C is written",
}


def folder_of(name):
    return name.split("/")[0]


def room_of(name):
    """Returns the room of a file, by its path in the tree, or None for a file that is not in the
    picture."""
    folder, *rest = name.split("/")
    if all(folder != folder_of(room) for room in ROOMS):
        return None
    return f"{folder}/{rest[0]}" if folder in FOLDERS_WITH_ROOMS and len(rest) > 1 else folder


def includes(root):
    """Returns for each room the set of other rooms whose files it includes. Generated files belong
    to no room."""
    found = {}
    for folder in {folder_of(room) for room in ROOMS}:
        for path in (root / folder).rglob("*"):
            if path.suffix not in (".cc", ".h"):
                continue
            room = room_of(path.relative_to(root).as_posix())
            others = found.setdefault(room, set())
            for name in re.findall(r'^\s*#\s*include\s*"([^"]+/[^"]+)"', path.read_text(encoding="utf-8"), re.M):
                if (root / name).is_file() and room_of(name) not in (None, room):
                    others.add(room_of(name))
    return found


def folders_graph(root):
    """Returns the text of the first graph: a line for each room."""
    found = includes(root)
    if gone := sorted(ROOMS.keys() - found.keys()):
        sys.exit(f"docs/diagrams.py: in ROOMS, but not in the tree: {', '.join(gone)}")
    if new := sorted(found.keys() - ROOMS.keys()):
        sys.exit(f"docs/diagrams.py: in the tree, but not in ROOMS: {', '.join(new)}")
    lines = [f"{room} ({ROOMS[room][1]}) includes {' '.join(sorted(found[room])) or 'no other'}" for room in ROOMS]
    return "\n".join(lines) + "\n"


def pipeline_graph(rmlc):
    """Returns the text of the second graph: a line for each form, then a line for each pass, in the
    order of the list."""
    listed = subprocess.run([str(rmlc), "opt", "--list"], capture_output=True, text=True, check=True).stdout
    lines = [f"form {form}: {what}" for form, what in FORMS.items()]
    for row in listed.splitlines():
        name, takes, makes, holds = re.fullmatch(r"\| `(\w+)` \| (\w+) → (\w+) \| (.*) \| `\S+` \|", row).groups()
        if not {takes, makes} <= FORMS.keys():
            sys.exit(f"docs/diagrams.py: {name} goes from {takes} to {makes}, which are not both in FORMS")
        lines.append(f"pass {name}: {takes} → {makes}: {holds}")
    return "\n".join(lines) + "\n"


def leads(arrows, begin, end):
    """Returns whether a path of arrows connects one room with another."""
    seen, rest = {begin}, [begin]
    while rest:
        here = rest.pop()
        further = {b for a, b in arrows if a == here} - seen
        seen |= further
        rest += further
    return end in seen


def reduced(arrows):
    """Removes arrows that a path of other arrows makes redundant. Returns the remaining one-way
    arrows, and the pairs of rooms with arrows in both directions."""
    both = {(a, b) for a, b in arrows if (b, a) in arrows}
    kept = set(arrows)
    for one in sorted(arrows - both):
        if leads(kept - {one}, *one):
            kept.remove(one)
    return sorted(kept - both), sorted((a, b) for a, b in both if a < b)


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def box(x, y, width, height, kind="box"):
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6"/>'


def arrow(path, kind="arrow", two_heads=False):
    start = f' marker-start="url(#{kind})"' if two_heads else ""
    return f'<path class="{kind}" d="{path}" marker-end="url(#{kind})"{start}/>'


def picture(width, height, graph, body):
    """Returns the whole file: the graph as text, then its drawing."""
    if width > MOST_WIDE or height > MOST_HIGH:
        sys.exit(f"docs/diagrams.py: {width:.0f} × {height:.0f} is more than {MOST_WIDE} × {MOST_HIGH}")
    heads = [f'<marker id="{line}" viewBox="0 0 10 8" refX="9.5" refY="4" markerWidth="9" markerHeight="7.2" '
             f'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path class="{tip}" d="M0 0L10 4L0 8z"/></marker>'
             for line, tip in (("arrow", "tip"), ("other", "other_tip"))]
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', f"<metadata>\n{escape(graph)}</metadata>",
                      f"<style>{STYLE}</style>", f"<defs>{''.join(heads)}</defs>", *body, "</svg>"]) + "\n"


def rows(arrows):
    """Returns the row of each room, counted from below: a room is above all that it includes,
    unless they include it too.

    A folder is above the folders that it includes, except the runtime: all folders include a part
    of it, so it is placed beside them."""
    one_way = {(a, b) for a, b in arrows if (b, a) not in arrows}
    above = {(folder_of(a), folder_of(b)) for a, b in one_way if folder_of(a) != folder_of(b) != "runtime"}
    one_way |= {(a, b) for a in ROOMS for b in ROOMS if (folder_of(a), folder_of(b)) in above}
    row = dict.fromkeys(ROOMS, 0)
    for _ in ROOMS:
        for a, b in one_way:
            row[a] = max(row[a], row[b] + 1)
    return row


def places(row):
    """Returns the centre of each room's box, and for each folder with rooms its frame: left, top,
    right, bottom."""
    folders = {folder: [room for room in ROOMS if folder_of(room) == folder] for folder in FOLDERS_WITH_ROOMS}
    # The name of a folder is above these rows.
    begun = {max(row[room] for room in rooms) for rooms in folders.values()}
    heights = [HIGH + 14 + (28 if r in begun else 0) for r in range(max(row.values()) + 1)]
    at = {room: (20 + WIDE / 2 + column * (WIDE + GAP), 20 + sum(heights[row[room]:]) - HIGH / 2)
          for room, (column, _) in ROOMS.items()}
    for a, b in itertools.combinations(ROOMS, 2):
        if row[a] == row[b] and abs(at[a][0] - at[b][0]) < WIDE + 8:
            sys.exit(f"docs/diagrams.py: {a} and {b} stand in one row now; give one of them another column in ROOMS")
    frames = {}
    for folder, rooms in folders.items():
        xs, ys = zip(*(at[room] for room in rooms))
        frames[folder] = min(xs) - WIDE / 2 - 10, min(ys) - HIGH / 2 - 28, max(xs) + WIDE / 2 + 10, max(ys) + HIGH / 2 + 8
    return at, frames


def splines(at, arrows, pairs):
    """Yields the paths of arrows between rooms. Graphviz routes them around other rooms, and may
    shift the whole picture."""
    lines = ["digraph {", 'splines=true; esep="+5"; node [shape=box, fixedsize=true, label=""]; edge [arrowsize=0.7]']
    lines += [f'"{room}" [pos="{x:.1f},{-y:.1f}", width={WIDE / 72:.3f}, height={HIGH / 72:.3f}]' for room, (x, y) in at.items()]
    lines += [f'"{a}" -> "{b}"' for a, b in arrows] + [f'"{a}" -> "{b}" [dir=both]' for a, b in pairs]
    drawn = json.loads(subprocess.run(["neato", "-n2", "-Tjson"], input="\n".join([*lines, "}"]), stdout=subprocess.PIPE,
                                      text=True, check=True).stdout)
    one = drawn["objects"][0]
    (x, y), (moved_x, moved_y) = at[one["name"]], map(float, one["pos"].split(","))
    for edge in drawn["edges"]:
        yield spline(edge["pos"], x - moved_x, y + moved_y), edge.get("dir") == "both"


def spline(pos, right, down):
    """Converts a path of Graphviz to a path of SVG. Graphviz lists the tips of arrows before the
    points."""
    tips, points = {}, []
    for word in pos.split():
        *tip, x, y = word.split(",")
        point = f"{float(x) + right:.1f} {down - float(y):.1f}"
        if tip:
            tips[tip[0]] = point
        else:
            points.append(point)
    start = f"M{tips['s']}L{points[0]}" if "s" in tips else f"M{points[0]}"
    return f"{start}C{' '.join(points[1:])}L{tips['e']}"


def legend(x, y):
    out = [arrow(f"M{x} {y - 4}h40"), text(x + 52, y, "a room includes headers of the one at the tip; not drawn"),
           text(x + 52, y + 16, "where other arrows lead there already"),
           arrow(f"M{x} {y + 34}h40", "other", True), text(x + 52, y + 38, "two rooms, each of which includes headers of the other")]
    for k, (folder, what) in enumerate(FOLDERS_WITH_ROOMS.items()):
        at = y + 66 + 22 * k
        out += [box(x, at - 12, 40, 16, "folder"), text(x + 52, at, folder, "name"), text(x + 136, at, what)]
    return out


def draw_folders(graph):
    rooms = re.findall(r"^(\S+) \(.*\) includes (.*)$", graph, re.M)
    every = {(a, b) for a, others in rooms for b in others.split() if b in ROOMS}
    at, frames = places(rows(every))
    body = [text(10, 22, "The rooms of the tree: who includes whom", "title")]
    for folder, (left, top, right, low) in frames.items():
        body += [box(left, top, right - left, low - top, "folder"), text(left + 10, top + 20, folder, "form")]
    for path, both in splines(at, *reduced(every)):
        body.append(arrow(path, "other" if both else "arrow", both))
    for room, (x, y) in at.items():
        label = "target, signature" if room == "lowering" else room.split("/")[-1]
        body += [box(x - WIDE / 2, y - HIGH / 2, WIDE, HIGH), text(x, y - 3, label, "code name", "middle"),
                 text(x, y + 12, ROOMS[room][1], "faint", "middle")]
    right, low = (max(frame[k] for frame in frames.values()) for k in (2, 3))
    return picture(right + 10, low + 10, graph, body + legend(right - 450, 50))


def draw_form(y, form, what, passes):
    """Draws the box of a form: its name, its description, and the passes from it to itself. Returns
    the elements and the height."""
    lines = -(-len(passes) // PER_ROW)
    high = 34 + 20 * lines + (6 if lines else 0)
    out = [box(LEFT, y, BROAD, high), text(LEFT + 14, y + 22, form, "form"), text(LEFT + 110, y + 22, what, "faint")]
    for k, (name, holds) in enumerate(passes):
        x = LEFT + 14 + k % PER_ROW * (BROAD - 20) / PER_ROW
        out.append(f"<g><title>{escape(holds)}</title>{text(x, y + 46 + k // PER_ROW * 20, name, 'code')}</g>")
    return out, high


def draw_onward(y, passes):
    """Draws the arrow to the next form, with the passes that make it. Returns the elements and the
    length."""
    long = 16 + 18 * len(passes)
    out = [arrow(f"M{LEFT + 40} {y}v{long - 1}")]
    for k, (name, holds) in enumerate(passes):
        out += [text(LEFT + 56, y + 21 + 18 * k, name, "code name"), text(LEFT + 170, y + 21 + 18 * k, holds, "faint")]
    return out, long


def draw_past(lane, name, holds, top, low):
    """Draws a pass that skips forms, from the right edge of one box to that of another."""
    x = LEFT + BROAD + 30 + LANE * lane
    lines = textwrap.wrap(holds, 25)
    y = (top + low) / 2 - 8 * len(lines)
    return [arrow(f"M{LEFT + BROAD} {top}H{x - 8}q8 0 8 8V{low - 8}q0 8 -8 8H{LEFT + BROAD + 1}", "other"),
            text(x + 10, y, name, "code name"), *(text(x + 10, y + 18 + 15 * k, line, "faint") for k, line in enumerate(lines))]


def draw_pipeline(graph):
    forms = re.findall(r"^form (\w+): (.*)$", graph, re.M)
    place = {form: k for k, (form, _) in enumerate(forms)}
    passes = {}  # passes by the positions of the form that they take and the form that they make
    for name, takes, makes, holds in re.findall(r"^pass (\w+): (\w+) → (\w+): (.*)$", graph, re.M):
        passes.setdefault((place[takes], place[makes]), []).append((name, holds.replace("`", "")))
    body, y, spans = [text(10, 22, "The forms of a program, and the passes that make them", "title")], 44, []
    for k, (form, what) in enumerate(forms):
        drawn, high = draw_form(y, form, what, passes.pop((k, k), []))
        spans.append((y, y + high))
        to_next = passes.pop((k, k + 1), [])
        onward, long = draw_onward(y + high, to_next) if to_next else ([], 0 if k + 1 == len(forms) else 16)
        body += drawn + onward
        y += high + long
    past = [(a, b, *one) for (a, b), some in passes.items() for one in some]
    for lane, (a, b, name, holds) in enumerate(past):
        body += draw_past(lane, name, holds, spans[a][1] - 20, spans[b][0] + 20)
    words = ["Arrows go as data flows. A box has the passes from its form to itself, row by row, in the order in which each comes first;",
             "not all run for every program. Orange: the ways of a program that has no static schedule, and to C."]
    body += [text(10, y + 26 + 17 * k, line, "faint") for k, line in enumerate(words)]
    return picture(LEFT + BROAD + 30 + LANE * len(past), y + 54, graph, body)


def main():
    rmlc = pathlib.Path(sys.argv[1]).resolve()
    for name, drawn in (("folders", draw_folders(folders_graph(ROOT))), ("pipeline", draw_pipeline(pipeline_graph(rmlc)))):
        (ROOT / f"docs/design/{name}.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
