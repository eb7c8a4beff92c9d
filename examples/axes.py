"""Colours, round numbers for ticks, and axes, which chart.py and picture.py share."""
INK, FAINT, GRID = "#222222", "#6b6b6b", "#e6e6e6"


def steps(low, high, about=6):
    """Returns round numbers between two bounds, at most about `about` of them."""
    size = next(d * 10**e for e in range(-9, 12) for d in (1, 2, 5) if (high - low) / (d * 10**e) <= about)
    first = int(-(-low // size))
    return [round(k * size, 9) for k in range(first, int(high // size) + 1)]


class Axes:
    """A rectangle (left, top, width, height) that maps a range of x and a range of y."""

    def __init__(self, box, x_range, y_range):
        self.box, self.x_range, self.y_range = box, x_range, y_range

    def x(self, value):
        left, _, width, _ = self.box
        return left + width * (value - self.x_range[0]) / (self.x_range[1] - self.x_range[0])

    def y(self, value):
        _, top, _, height = self.box
        return top + height * (self.y_range[1] - value) / (self.y_range[1] - self.y_range[0])
