#!/usr/bin/env python3
"""From the record as statsmodels ships it to the input of co2.rml, stdin to stdout.

In: `date,co2`, one week a row, the date as YYYYMMDD, a gap as an empty field.
Out: the calendar as numbers, `measured`, and `ppm`, absent in a gap."""
import csv
import datetime
import sys

print("date,year,day,measured,ppm")
for row in csv.DictReader(sys.stdin):
    date = datetime.datetime.strptime(row["date"], "%Y%m%d").date()
    measured = "true" if row["co2"] else "false"
    print(f"{date},{date.year},{date.timetuple().tm_yday},{measured},{row['co2']}")
