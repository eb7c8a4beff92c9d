#!/usr/bin/env python3
"""Draws the results of anomaly.rml: plot.py TABLE.csv WINDOWS.csv PICTURE.svg

The upper panel shows the temperature and its forecast, the lower one the score. Bands are the
labelled windows, and bars at the bottom are the alarms."""
import datetime
import pathlib
import sys

from alarms import alarms, meet, read, windows

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from picture import Panel, picture, rounded, steps

MEASURED, FORECAST, WINDOW, RIGHT, FALSE = "#1f5a8c", "#d9a441", "#f6d9d3", "#c0341d", "#555555"
LIMIT = 2.5  # the alarm threshold of the program


def main():
    table, labels, file = sys.argv[1:]
    hours = read(table)
    start = hours[0]["time"]

    def days(time):
        return (time - start) / datetime.timedelta(days=1)

    span = (0, days(hours[-1]["time"]))
    labelled = windows(labels, hours)
    raised = [(alarm, any(meet(alarm, window) for window in labelled)) for alarm in alarms(hours)]
    dates = [(day, (start + datetime.timedelta(days=day)).strftime("%d %b").lstrip("0"))
             for day in steps(*span, 12)]
    out = []

    def panel(box, low, high, name, about, unit):
        drawn = Panel(out, box, span, (low, high), name, about)
        for begin, end in labelled:
            drawn.band(days(begin), min(days(end), span[1]), WINDOW)
        drawn.axes(dates, steps(low, high, 6), unit)
        return drawn

    temperatures = [hour["temperature"] for hour in hours]
    above = panel((70, 132, 900, 220), *rounded(temperatures, 20), "Temperature", "Hourly means; forecasts were made a day before.", "degrees")
    # The first day has no forecast.
    above.line([(days(hour["time"]), hour["forecast"]) for hour in hours[24:]], FORECAST, 1.2)
    above.line([(days(hour["time"]), hour["temperature"]) for hour in hours], MEASURED, 1.3)
    above.legend([("measured", MEASURED, "line"), ("forecast", FORECAST, "line"), ("labelled", WINDOW, "band")])

    low, high = rounded([hour["score"] for hour in hours], 1)
    below = panel((70, 448, 900, 150), low, max(high, 4), "Surprise", "Recent errors of the forecast, in deviations from their mean.", "score")
    below.line([(span[0], LIMIT), (span[1], LIMIT)], FALSE, 1, 'stroke-dasharray="4 3"')
    below.line([(days(hour["time"]), hour["score"]) for hour in hours], MEASURED, 1.3)
    for (begin, end), right in raised:
        x0, x1 = below.x(days(begin)), below.x(days(end))
        out.append(f'<rect x="{x0:.1f}" y="{below.y(low) - 9:.1f}" width="{max(x1 - x0, 3):.1f}" height="9" fill="{RIGHT if right else FALSE}"/>')
    below.legend([("alarm", RIGHT, "band"), ("false alarm", FALSE, "band")])

    found = sum(any(meet(alarm, window) for alarm, _ in raised) for window in labelled)
    wrong = sum(not right for _, right in raised)
    picture(file, 1000, 640, "A machine that behaves as it never did",
            f"{found} of {len(labelled)} labelled windows found, {wrong} false alarm{'' if wrong == 1 else 's'}, by a forecaster that learns online.", out)


main()
