#!/usr/bin/env python3
"""Prints which labelled windows have an alarm, and the accuracy of the forecasts outside of the
windows:
report.py TABLE.csv WINDOWS.csv"""
import sys

from alarms import alarms, meet, read, windows

DAY, FROM = 24, 120  # numbers of hours: in a day; before the first forecast that is compared


def main():
    table, labels = sys.argv[1:]
    hours = read(table)
    labelled, raised = windows(labels, hours), alarms(hours)
    print(f"{len(hours)} hours, {len(labelled)} labelled windows")
    for window in labelled:
        hits = [alarm for alarm in raised if meet(alarm, window)]
        found = "alarm from {} to {}".format(*hits[0]) if hits else "NOT FOUND"
        print(f"  window {window[0]} to {window[1]}: {found}")
    for alarm in raised:
        if not any(meet(alarm, window) for window in labelled):
            print("  false alarm from {} to {}".format(*alarm))

    errors = {"network": [], "the hour a day before": [], "mean so far": []}
    total = sum(hour["temperature"] for hour in hours[:FROM])
    for k in range(FROM, len(hours)):
        x = hours[k]["temperature"]
        if not any(meet((hours[k - DAY]["time"], hours[k]["time"]), window) for window in labelled):
            for name, forecast in zip(errors, (hours[k]["forecast"], hours[k - DAY]["temperature"], total / k)):
                errors[name].append(abs(x - forecast))
        total += x
    print("mean error of forecasts a day ahead, in degrees, outside the windows")
    for name, values in errors.items():
        print(f"  {name:24}{sum(values) / max(1, len(values)):6.2f}")


main()
