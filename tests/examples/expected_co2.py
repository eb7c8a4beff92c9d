"""The results of examples/co2/co2.rml, from its definitions, in plain Python.

expected(rows) takes the rows of its input, (year, day, ppm or None), and returns one
dictionary per week: column name to value, None if absent."""

import calendar
import math

START, RATE, WARM_UP = 316.0, 0.01, 104


def years(rows):
    """The weeks of each year, as lists of indices."""
    found = {}
    for position, (year, _, _) in enumerate(rows):
        found.setdefault(year, []).append(position)
    return found.values()


def mean_of(values):
    return sum(values) / len(values) if values else 0.0


def add_normalised(rows, table):
    for weeks in years(rows):
        measured = [rows[k][2] for k in weeks if rows[k][2] is not None]
        mean = mean_of(measured)
        variance = mean_of([(x - mean) ** 2 for x in measured])
        for k in weeks:
            x = rows[k][2]
            normalised = None if x is None else (x - mean) / math.sqrt(variance + 1e-6)
            table[k].update(mean=mean, variance=variance, normalised=normalised)


def add_linear(rows, table):
    weights, weeks = [0.0] * 8, [START] * 4
    for row, (year, day, ppm) in zip(table, rows):
        turn = 2 * math.pi * day / (366 if calendar.isleap(year) else 365)
        features = [1.0, math.sin(turn), math.cos(turn), math.sin(2 * turn), math.cos(2 * turn)]
        features += [week - weeks[-1] for week in weeks[-4:-1]]
        forecast = weeks[-1] + sum(w * f for w, f in zip(weights, features))
        row["linear_ppm"] = forecast
        row.update({f"weights[{i}]": w for i, w in enumerate(weights)})
        if ppm is not None:
            weights = [w - RATE * (forecast - ppm) * f for w, f in zip(weights, features)]
        weeks.append(forecast if ppm is None else ppm)


def add_baselines(rows, table):
    held = [START] * 53
    for row, (_, _, ppm) in zip(table, rows):
        row["naive_ppm"] = held[-1]
        row["seasonal_ppm"] = held[-1] + held[-52] - held[-53]
        held.append(held[-1] if ppm is None else ppm)


def add_errors(rows, table, name):
    squares = [None if rows[k][2] is None else (rows[k][2] - row[name + "_ppm"]) ** 2 for k, row in enumerate(table)]
    for k, row in enumerate(table):
        present = squares[k] is not None
        so_far = [s for s in squares[: k + 1] if s is not None]
        late = [s for s in squares[WARM_UP : k + 1] if s is not None]
        row[name + "_all"] = math.sqrt(mean_of(so_far)) if present else None
        row[name + "_late"] = math.sqrt(mean_of(late)) if present else None
    for weeks in years(rows):
        of_year = math.sqrt(mean_of([squares[k] for k in weeks if squares[k] is not None]))
        for k in weeks:
            table[k][name + "_year"] = of_year


def expected(rows):
    table = [{} for _ in rows]
    add_normalised(rows, table)
    add_linear(rows, table)
    add_baselines(rows, table)
    for name in ("linear", "naive", "seasonal"):
        add_errors(rows, table, name)
    return table
