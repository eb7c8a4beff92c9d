#!/usr/bin/env python3
"""Converts the record in the form of statsmodels (stdin) to the input of co2.rml (stdout).

Input: `date,co2`, one row per week, with the date as YYYYMMDD and an empty field in a gap.
Output: the calendar as numbers, `measured`, and `ppm`, which is absent in a gap."""
import csv
import datetime
import sys

print("date,year,day,measured,ppm")
for row in csv.DictReader(sys.stdin):
    date = datetime.datetime.strptime(row["date"], "%Y%m%d").date()
    measured = "true" if row["co2"] else "false"
    print(f"{date},{date.year},{date.timetuple().tm_yday},{measured},{row['co2']}")
