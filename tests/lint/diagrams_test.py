"""The diagrams of docs/design must match the tree: diagrams_test.py ROOT RMLC

The graph of each diagram is computed again and compared with the one in its metadata. Nothing
is drawn, so Graphviz is not needed."""

import difflib
import pathlib
import sys
import xml.etree.ElementTree

ROOT, RMLC = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "docs"))
import diagrams


def graph_in(picture):
    root = xml.etree.ElementTree.parse(picture).getroot()
    return root.findtext("{http://www.w3.org/2000/svg}metadata").lstrip("\n")


def check_reduced():
    """Arrows implied by others are removed, also through a pair. No room becomes isolated, and
    pairs remain."""
    found = diagrams.reduced({("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("d", "c"), ("b", "d"), ("a", "e")})
    expected = [("a", "b"), ("a", "e"), ("b", "d")], [("c", "d")]
    if found != expected:
        sys.exit(f"diagrams.py: reduced gives {found}, not {expected}")


def main():
    check_reduced()
    stale = False
    for name, graph in ("folders", diagrams.folders_graph(ROOT)), ("pipeline", diagrams.pipeline_graph(RMLC)):
        picture = f"docs/design/{name}.svg"
        changed = list(difflib.unified_diff(graph_in(ROOT / picture).splitlines(), graph.splitlines(), picture, "the tree", n=0,
                                            lineterm=""))
        for line in changed:
            print(line)
        stale = stale or bool(changed)
    if stale:
        sys.exit(f"The pictures are of another tree. Draw them again: python3 docs/diagrams.py {RMLC}")


main()
