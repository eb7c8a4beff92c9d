"""Line charts as SVG, for the pictures of the examples.

A Picture collects elements; a Panel is a rectangle with axes in it, and draws in the units of
the data."""
from xml.sax.saxutils import escape

from axes import FAINT, GRID, INK, Axes, steps

BLUE, RED, GREEN, GREY = "#1f5a8c", "#d9480f", "#3a8f5c", "#8a8a8a"


def bounds(*series):
    """Returns the least and the largest number of some lists, with a small margin."""
    low, high = min(map(min, series)), max(map(max, series))
    margin = 0.04 * (high - low or 1.0)
    return low - margin, high + margin


class Picture:
    def __init__(self, width, height, title, about=""):
        self.out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">",
            f'<rect width="{width}" height="{height}" fill="white"/>',
        ]
        self.text(26, 36, title, 20, more='font-weight="700"')
        self.text(26, 60, about, 13, colour=FAINT)

    def text(self, x, y, words, size=12, anchor="start", colour=INK, more=""):
        self.out.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" {more}>'
            f"{escape(words)}</text>"
        )

    def box(self, x, y, width, height, colour, more=""):
        self.out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}" {more}/>')

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.out) + "\n</svg>\n")


class Panel(Axes):
    def __init__(self, picture, box, x_range, y_range, name, x_unit="", y_unit="", ticks=None):
        """`box`: left, top, width, height. `ticks`: (position, label) below; round numbers if none."""
        super().__init__(box, x_range, y_range)
        self.picture, self.labels = picture, 0
        left, top, width, height = box
        picture.text(left, top - 14, name, 14, more='font-weight="600"')
        for value in steps(*y_range):
            picture.out.append(f'<path d="M{left} {self.y(value):.1f}h{width}" stroke="{GRID}"/>')
            picture.text(left - 8, self.y(value) + 4, f"{value:g}".replace("-", "\u2212"), anchor="end")
        for value, label in ticks or [(v, f"{v:g}") for v in steps(*x_range, 8)]:
            picture.out.append(f'<path d="M{self.x(value):.1f} {top + height}v5" stroke="{INK}"/>')
            picture.text(self.x(value), top + height + 18, label, anchor="middle")
        picture.out.append(f'<path d="M{left} {top + height}h{width}" stroke="{INK}"/>')
        picture.text(left + width, top + height + 34, x_unit, 12, "end", FAINT)
        middle = top + height / 2
        turned = f'transform="rotate(-90 {left - 46} {middle:.1f})"'
        picture.text(left - 46, middle, y_unit, 12, "middle", FAINT, turned)

    def line(self, points, colour, width=1.5, label="", dashed=False):
        """Draws a line through points (x, y); its label goes to the right of the heading."""
        path = "M" + "L".join(f"{self.x(a):.1f} {self.y(b):.1f}" for a, b in points)
        dashes = 'stroke-dasharray="5 3"' if dashed else ""
        style = f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round" {dashes}'
        self.picture.out.append(f'<path d="{path}" {style}/>')
        if label:
            left, top, whole, _ = self.box
            right = left + whole - self.labels
            self.picture.text(right, top - 14, label, anchor="end")
            start = right - 7.2 * len(label) - 26
            self.picture.out.append(f'<path d="M{start:.1f} {top - 18}h20" {style}/>')
            self.labels += 7.2 * len(label) + 42
