"""Compares the alarms of anomaly.rml with the labelled windows; report.py and plot.py use this
module."""
import csv
import datetime

APART = datetime.timedelta(hours=12)  # alarms with a smaller distance count as one


def read(table):
    """Returns the hours of a table as dictionaries with `time` and numbers; `alarm` is a Boolean."""
    hours = []
    with open(table, newline="") as file:
        for row in csv.DictReader(file):
            if row["hour"] == "true":
                hour = {name: float(row[name]) for name in ("temperature", "forecast", "score")}
                hour.update(time=datetime.datetime.fromisoformat(row["timestamp"]), alarm=row["alarm"] == "true")
                hours.append(hour)
    return hours


def windows(table, hours):
    """Returns the labelled windows (begin, end) that begin within the record."""
    with open(table, newline="") as file:
        found = [tuple(datetime.datetime.fromisoformat(row[k]) for k in ("begin", "end")) for row in csv.DictReader(file)]
    return [window for window in found if hours[0]["time"] <= window[0] <= hours[-1]["time"]]


def alarms(hours):
    """Returns the alarms as pairs (begin, end)."""
    found = []
    for hour in hours:
        if hour["alarm"]:
            if found and hour["time"] - found[-1][1] <= APART:
                found[-1][1] = hour["time"]
            else:
                found.append([hour["time"], hour["time"]])
    return [tuple(alarm) for alarm in found]


def meet(a, b):
    return a[0] <= b[1] and b[0] <= a[1]
