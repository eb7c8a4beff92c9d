"""Panels with axes for the pictures of the examples, drawn as SVG in the units of the data."""
from xml.sax.saxutils import escape

from axes import FAINT, GRID, INK, Axes, steps


def runs(rows, belongs):
    """Returns the maximal runs of consecutive rows for which `belongs` is true, as (first, last)
    positions."""
    start = None
    for k in range(len(rows) + 1):
        inside = k < len(rows) and belongs(rows[k])
        if inside and start is None:
            start = k
        elif not inside and start is not None:
            yield start, k - 1
            start = None


def rounded(values, size):
    """Returns the bounds of the values, extended to multiples of `size`."""
    return min(values) // size * size, -(-max(values) // size) * size


class Panel(Axes):
    """A rectangle with axes; draws in the units of the data."""

    def __init__(self, out, box, x_range, y_range, name, about):
        super().__init__(box, x_range, y_range)
        self.out, self.name, self.about = out, name, about

    def text(self, x, y, words, size=12, anchor="start", colour=INK, more=""):
        self.out.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" {more}>'
            f"{escape(words)}</text>"
        )

    def line(self, points, colour, width, more=""):
        path = "M" + "L".join(f"{self.x(a):.1f} {self.y(b):.1f}" for a, b in points)
        self.out.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" {more}/>')

    def band(self, x0, x1, colour):
        _, top, _, height = self.box
        self.out.append(
            f'<rect x="{self.x(x0):.1f}" y="{top}" width="{self.x(x1) - self.x(x0):.1f}" height="{height}" fill="{colour}"/>'
        )

    def axes(self, x_ticks, y_ticks, unit):
        """Draws the heading, the unit, the grid, and ticks (position, label) below."""
        left, top, width, height = self.box
        self.text(left, top - 31, self.name, 15, more='font-weight="600"')
        self.text(left, top - 12, self.about, 12, colour=FAINT)
        for value in y_ticks:
            y = self.y(value)
            self.out.append(f'<path d="M{left} {y:.1f}h{width}" stroke="{GRID}"/>')
            self.text(left - 8, y + 4, f"{value:g}".replace("-", "\u2212"), anchor="end")
        for value, label in x_ticks:
            x = self.x(value)
            self.out.append(f'<path d="M{x:.1f} {top + height}v5" stroke="{INK}"/>')
            self.text(x, top + height + 19, label, anchor="middle")
        self.out.append(f'<path d="M{left} {top + height}h{width}" stroke="{INK}"/>')
        middle = top + height / 2
        self.text(left - 44, middle, unit, 12, "middle", FAINT, f'transform="rotate(-90 {left - 44} {middle:.1f})"')

    def legend(self, entries):
        """Draws the legend right of the heading, or below it in place of the remark if there is
        none. Entries are (label, colour, kind), where kind is a line, dashes, dot or band."""
        left, top, width, _ = self.box
        x, y = left + width, top - (36 if self.about else 16)
        for label, colour, kind in reversed(entries):
            x -= 4 + 6.7 * len(label)
            self.text(x, y + 4, label)
            x -= 26
            if kind == "band":
                self.out.append(f'<rect x="{x:.1f}" y="{y - 6}" width="20" height="12" fill="{colour}"/>')
            elif kind == "dot":
                self.out.append(f'<circle cx="{x + 13:.1f}" cy="{y}" r="2.6" fill="{colour}"/>')
            else:
                dashes = 'stroke-dasharray="5 3"' if kind == "dashes" else ""
                self.out.append(f'<path d="M{x:.1f} {y}h20" stroke="{colour}" stroke-width="2" {dashes}/>')
            x -= 14


def picture(file, width, height, title, remark, body):
    """Writes `body`, a list of elements, under a title and a remark; both are SVG text."""
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="Helvetica, Arial, \'Liberation Sans\', \'DejaVu Sans\', sans-serif">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="26" y="38" font-size="22" font-weight="700" fill="{INK}">{title}</text>',
        f'<text x="26" y="62" font-size="14" fill="{FAINT}">{remark}</text>',
    ]
    with open(file, "w", encoding="utf-8") as out:
        out.write("\n".join(head + body) + "\n</svg>\n")
