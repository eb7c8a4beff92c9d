#!/usr/bin/env python3
"""Draws what co2.rml computed: plot.py TABLE.csv PICTURE.svg

The table has the columns of the program's input, then those of its output. Four panels: the
whole record, the surroundings of its longest gap, all years on their common scale, and the
errors of the forecasts year by year."""
import csv
import datetime
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from picture import FAINT, INK, Panel, picture, rounded, runs, steps

WIDTH, HEIGHT = 1000, 900
GAP = "#f6e7d3"
MEASURED, LINEAR, NAIVE, SEASONAL = "#1f5a8c", "#d9480f", "#555555", "#3a8f5c"
OLD, NEW = (198, 214, 229), (16, 60, 104)  # colours of the first and the last year
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def read(table):
    """Returns one dictionary per week: numbers by column, None where absent; `t` is the date in
    years."""
    rows = []
    with open(table, newline="") as file:
        for line in csv.DictReader(file):
            date, measured = datetime.date.fromisoformat(line.pop("date")), line.pop("measured")
            row = {name: float(v) if v else None for name, v in line.items()}
            row.update(year=date.year, day=date.timetuple().tm_yday, measured=measured == "true")
            row["t"] = date.year + (row["day"] - 1) / 365.25
            rows.append(row)
    return rows


def draw_gaps(panel, rows):
    for first, last in runs(rows, lambda row: not row["measured"]):
        panel.band(rows[first]["t"] - 3.5 / 365.25, rows[last]["t"] + 3.5 / 365.25, GAP)


def year_ticks(first, last):
    size = 1 if last - first < 12 else 5
    return [(year, str(year)) for year in range(first, last + 2) if year % size == 0]


def draw_record(out, rows):
    first, last = rows[0]["year"], rows[-1]["year"]
    low, high = rounded([row["ppm"] for row in rows if row["measured"]], 5)
    panel = Panel(out, (70, 132, 900, 190), (first, last + 1), (low, high), "The record",
                  "Weekly means; a week without a measurement is an absent value.")
    draw_gaps(panel, rows)
    panel.axes(year_ticks(first, last), steps(low, high, 6), "CO\u2082, ppm")
    for a, b in runs(rows, lambda row: not row["measured"]):
        around = rows[max(a - 1, 0) : b + 2]
        panel.line([(r["t"], r["ppm"] if r["measured"] else r["linear_ppm"]) for r in around], LINEAR, 1.3)
    for a, b in runs(rows, lambda row: row["measured"]):
        panel.line([(r["t"], r["ppm"]) for r in rows[a : b + 1]], MEASURED, 1.3)
    for year in range(first, last + 1):
        weeks = [r for r in rows if r["year"] == year]
        panel.line([(weeks[0]["t"], weeks[0]["mean"]), (weeks[-1]["t"], weeks[-1]["mean"])], INK, 1.2)
    panel.legend([("measured", MEASURED, "line"), ("mean of the year", INK, "line"),
                  ("gap", GAP, "band"), ("forecast in a gap", LINEAR, "line")])


def draw_gap(out, rows):
    gaps = list(runs(rows, lambda row: not row["measured"]))
    first, last = max(gaps, key=lambda g: g[1] - g[0], default=(len(rows) // 2,) * 2)
    shown = rows[max(0, first - 60) : last + 34]
    low, high = rounded([r["ppm"] for r in shown if r["measured"]], 2)
    start, stop = shown[0]["t"], shown[-1]["t"]
    panel = Panel(out, (70, 418, 415, 190), (start, stop), (low, high), "Around the longest gap", "")
    draw_gaps(panel, shown)
    ticks = [(year + month / 12, f"{MONTHS[month]} {year}") for year in range(int(start), int(stop) + 1)
             for month in (0, 6) if start < year + month / 12 < stop]
    panel.axes(ticks, steps(low, high, 6), "CO\u2082, ppm")
    panel.line([(r["t"], r["naive_ppm"]) for r in shown], NAIVE, 1, 'stroke-dasharray="4 3"')
    panel.line([(r["t"], r["linear_ppm"]) for r in shown], LINEAR, 1.8)
    for r in shown:
        if r["measured"]:
            out.append(f'<circle cx="{panel.x(r["t"]):.1f}" cy="{panel.y(r["ppm"]):.1f}" r="2.1" fill="{MEASURED}"/>')
    panel.legend([("measured", MEASURED, "dot"), ("forecast", LINEAR, "line"), ("last value", NAIVE, "dashes")])


def colour_of(year, first, last):
    share = (year - first) / max(1, last - first)
    return "rgb({},{},{})".format(*(round(a + share * (b - a)) for a, b in zip(OLD, NEW)))


def draw_years(out, rows):
    first, last = rows[0]["year"], rows[-1]["year"]
    low, high = rounded([r["normalised"] for r in rows if r["measured"]], 0.5)
    panel = Panel(out, (565, 418, 405, 190), (1, 366), (low, high), "The years on a common scale",
                  "Each by its own mean and variance, known once the year is over.")
    starts = [datetime.date(2001, month, 1).timetuple().tm_yday for month in range(1, 13, 2)]
    panel.axes([(day, MONTHS[2 * k]) for k, day in enumerate(starts)], steps(low, high, 6), "standard deviations")
    for a, b in runs(rows, lambda row: row["measured"]):
        for year in range(rows[a]["year"], rows[b]["year"] + 1):
            weeks = [r for r in rows[a : b + 1] if r["year"] == year]
            panel.line([(r["day"], r["normalised"]) for r in weeks], colour_of(year, first, last), 1, 'stroke-opacity="0.8"')
    x, y, width = 850, 432, 70
    out.append(f'<defs><linearGradient id="years"><stop offset="0" stop-color="{colour_of(first, first, last)}"/>'
               f'<stop offset="1" stop-color="{colour_of(last, first, last)}"/></linearGradient></defs>'
               f'<rect x="{x}" y="{y}" width="{width}" height="8" fill="url(#years)"/>')
    panel.text(x - 6, y + 8, str(first), anchor="end")
    panel.text(x + width + 6, y + 8, str(last))


def draw_errors(out, rows):
    first, last = rows[0]["year"], rows[-1]["year"]
    names = [("seasonal", SEASONAL, "same week last year", 1.3), ("naive", NAIVE, "last value", 1.8), ("linear", LINEAR, "predictor", 2.2)]
    by_year = [next(r for r in rows if r["year"] == year) for year in range(first, last + 1)]
    high = rounded([row[name + "_year"] for row in by_year for name, *_ in names], 0.2)[1]
    panel = Panel(out, (70, 704, 900, 125), (first, last + 1), (0, high), "Forecast error, year by year",
                  "Root mean square over the weeks measured.")
    panel.axes(year_ticks(first, last), steps(0, high, 5), "error, ppm")
    for name, colour, _, width in names:
        points = [(r["year"] + 0.5, r[name + "_year"]) for r in by_year]
        panel.line(points, colour, width, 'stroke-dasharray="5 3"' if name == "seasonal" else 'stroke-linejoin="round"')
        if name != "seasonal":
            for x, y in points:
                out.append(f'<circle cx="{panel.x(x):.1f}" cy="{panel.y(y):.1f}" r="{width + 0.6}" fill="{colour}"/>')
    panel.legend([(label, colour, "dashes" if name == "seasonal" else "line") for name, colour, label, _ in reversed(names)])


def main():
    table, file = sys.argv[1:]
    rows = read(table)
    final = next(r for r in reversed(rows) if r["linear_late"] is not None)
    out = []
    draw_record(out, rows)
    draw_gap(out, rows)
    draw_years(out, rows)
    draw_errors(out, rows)
    out.append(f'<text x="26" y="884" font-size="11" fill="{FAINT}">Data: C. D. Keeling and T. P. Whorf, Scripps Institution of '
               'Oceanography, by way of statsmodels (public domain). Computed by co2.rml.</text>')
    picture(file, WIDTH, HEIGHT, "Carbon dioxide above Mauna Loa, one week ahead",
            "A linear predictor that learns online misses by "
            f'<tspan fill="{LINEAR}" font-weight="600">{final["linear_late"]:.3f} ppm</tspan> (root mean square after two years); '
            f'the last value misses by <tspan fill="{INK}" font-weight="600">{final["naive_late"]:.3f} ppm</tspan>.', out)


main()
