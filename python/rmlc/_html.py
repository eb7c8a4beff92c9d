"""HTML for notebooks: chronograms, rows, nodes, modules and messages of the compiler."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ._sampled import Sampled
from .chronogram import ABSENT, UNDETERMINED, value_text

if TYPE_CHECKING:
    from ._node import Module, Node
    from ._ports import Port
    from ._rows import Rows

# These colours are readable on white and on black. All other colours are inherited from the page.
_RED, _AMBER, _BLUE, _GREEN = "#e0453a", "#c27c00", "#3d8bd9", "#2f9e44"
_STYLE = """<style>
.rmlc { overflow-x: auto; max-width: 100% }
.rmlc table { border-collapse: collapse; font-family: monospace; font-size: 12px; width: auto; margin: 0;
  color: inherit }
.rmlc td, .rmlc th { padding: 2px 7px; text-align: right; white-space: pre; border: 0; color: inherit;
  background: transparent; font-weight: normal }
.rmlc tr { border-bottom: 1px solid rgba(128, 128, 128, .25); background: transparent !important }
.rmlc th { text-align: left; font-weight: bold }
.rmlc thead th { text-align: right; opacity: .6; font-weight: normal }
.rmlc td.long { max-width: 20em; overflow: hidden; text-overflow: ellipsis }
.rmlc td.absent { opacity: .35 }
.rmlc p, .rmlc pre { margin: 2px 0; white-space: pre-wrap; color: inherit; background: transparent }
</style>"""
_MOST_CYCLES, _LAST_CYCLES, _MOST_LINES = 400, 50, 200
_LONG = 24  # largest number of characters in a cell; longer cells are shortened


def _boxed(*parts: str) -> str:
    return f"{_STYLE}<div class='rmlc'>{''.join(parts)}</div>"


def _cell(text: str) -> str:
    if text == ABSENT:
        return "<td class='absent' title='absent'>.</td>"
    if text == UNDETERMINED:
        return f"<td title='not determined' style='color:{_AMBER}'>?</td>"
    if text in ("T", "F"):
        return f"<td style='color:{_GREEN}'>T</td>" if text == "T" else "<td style='opacity:.6'>F</td>"
    escaped = html.escape(text)
    return f"<td class='long' title='{escaped}'>{escaped}</td>" if len(text) > _LONG else f"<td>{escaped}</td>"


def _table(numbers: Sequence[int], lines: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Returns a table with a line for each stream. If there are many cycles, those in the middle are left out."""
    skip = len(numbers) > _MOST_CYCLES
    first = _MOST_CYCLES - _LAST_CYCLES if skip else len(numbers)
    gap = "<td class='absent' title='cycles between these are not shown'>…</td>" if skip else ""

    def row(cells: Sequence[str]) -> str:
        return "".join(cells[:first]) + gap + ("".join(cells[-_LAST_CYCLES:]) if skip else "")

    head = f"<thead><tr><th></th>{row([f'<th>{k}</th>' for k in numbers])}</tr></thead>"
    body = "".join(f"<tr><th>{html.escape(name)}</th>{row([_cell(each) for each in cells])}</tr>"
                   for name, cells in lines)
    return f"<table>{head}<tbody>{body}</tbody></table>"


def chronogram_html(text: str) -> str:
    """Returns a chronogram as a table with a row for each stream and a column for each cycle.

    The first row contains the numbers of the cycles. Of more than 400 cycles, the first 350 and the last 50 are shown.
    """
    lines = [(name.strip(), cells.split()) for name, _, cells in (line.partition("|") for line in text.splitlines())]
    cycles = max((len(cells) for _, cells in lines), default=0)
    return _boxed(_table(range(cycles), lines))


# ---- objects ------------------------------------------------------------------------------------


def _ports_html(title: str, ports: Iterable[Port]) -> str:
    return "".join(f"<tr><th>{html.escape(port.name)}</th><td style='text-align:left'>{html.escape(port.type)}</td>"
                   f"<td style='opacity:.6;text-align:left'>{title}</td></tr>" for port in ports)


def node_html(node: Node) -> str:
    """Returns the inputs, outputs and parameters of a node, and when its rows become known."""
    when = "each cycle returns its row" if node.immediate else "; ".join(
        ["rows leave when they are known", *node.assumptions])
    params = list(node.params.values())
    shown = params[:_MOST_LINES]
    rest = f"<p>… and {len(params) - len(shown)} parameters more</p>" if len(params) > len(shown) else ""
    return _boxed(f"<p><b>{html.escape(node.name)}</b> · {html.escape(when)}</p><table><tbody>",
                  _ports_html("input", node.inputs), _ports_html("output", node.outputs),
                  _ports_html("parameter", shown), f"</tbody></table>{rest}")


def module_html(module: Module) -> str:
    """Returns the nodes of a module with their signatures."""
    nodes = "".join(f"<tr><th>{html.escape(name)}</th><td style='text-align:left'>{html.escape(signature)}</td></tr>"
                    for name, signature in module.nodes.items())
    return _boxed(f"<p><b>{html.escape(module.file)}</b></p><table><tbody>{nodes}</tbody></table>")


def rows_html(rows: Rows) -> str:
    """Returns rows as a table like a chronogram, with a line for each output and a column for each cycle."""
    cycles = rows.cycles
    if len(cycles) > _MOST_CYCLES:
        # Convert only the visible cycles to text.
        shown = [*cycles[: _MOST_CYCLES - _LAST_CYCLES], *cycles[-_LAST_CYCLES - 1 :]]
    else:
        shown = list(cycles)
    lines = []
    for name in rows:
        column = rows[name]
        if isinstance(column, Sampled):
            wanted = set(shown)
            there = {int(cycle): value for cycle, value in zip(column.at, column.values) if int(cycle) in wanted}
            lines.append((name, [value_text(there[k]) if k in there else ABSENT for k in shown]))
        else:
            lines.append((name, [value_text(column[k - cycles.start]) for k in shown]))
    return _boxed(f"<p>{len(cycles)} rows</p>", _table(shown, lines))


# ---- messages ----------------------------------------------------------------------------------


def _coloured(text: str, colour: str, bold: bool = False) -> str:
    weight = ";font-weight:bold" if bold else ""
    return f"<span style='color:{colour}{weight}'>{html.escape(text)}</span>"


def diagnostics_html(text: str) -> str:
    """Returns messages of the compiler in colour, with source lines and carets."""
    lines = []
    colour = _RED
    for line in text.rstrip("\n").splitlines():
        if head := re.match(r"(error|warning)(\[\w+\])?(.*)", line):
            colour = _AMBER if head[1] == "warning" else _RED
            lines.append(_coloured(head[1] + (head[2] or ""), colour, True) + f"<b>{html.escape(head[3])}</b>")
        elif place := re.match(r"( *)(-->|:::)( .*)", line):
            lines.append(place[1] + _coloured(place[2], _BLUE) + html.escape(place[3]))
        elif source := re.match(r"( *\d* *\|)(.*)", line):
            marks = re.match(r" *[\^+~-][\^+~ -]*(?=$| )", source[2])
            is_code = re.search(r"\d", source[1]) is not None
            shade = {"+": _GREEN, "-": _BLUE, "~": _GREEN}.get(source[2].strip()[:1], colour)
            rest = _coloured(source[2], shade) if marks and not is_code else html.escape(source[2])
            lines.append(_coloured(source[1], _BLUE) + rest)
        elif note := re.match(r"( *)= (\w+)(:.*)", line):
            lines.append(f"{note[1]}{_coloured('=', _BLUE)} <b>{note[2]}</b>{html.escape(note[3])}")
        else:
            lines.append(html.escape(line))
    return _boxed("<pre>" + "\n".join(lines) + "</pre>")
