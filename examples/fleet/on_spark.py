#!/usr/bin/env python3
"""Runs the detectors of fleet.rml on Spark: on_spark.py ROWS.npz FOUND.npz ON_SPARK.npz [--stream
BATCHES]

Reads the rows of simulate.py, runs the program on Spark, as a table or as a stream of that many
micro-batches, and writes the results in the order of the input, like `rmlc run --key`. Prints how
many of them equal those in FOUND.npz. MASTER is the address of the cluster; without it, the
processors of this machine are used. Needs Java, and a Python with rmlc, pyspark, pandas and
PyArrow."""
import argparse
import os
import pathlib
import sys
import tempfile
import time

import numpy as np
import pyarrow
import pyarrow.parquet

import rmlc.spark

HERE = pathlib.Path(__file__).resolve().parent


def session():
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    wanted = SparkSession.builder.appName("fleet").master(os.environ.get("MASTER", "local[*]"))
    if "MASTER" not in os.environ:  # 200 partitions, Spark's own choice, are for more processors than one machine has
        wanted = wanted.config("spark.sql.shuffle.partitions", str(2 * (os.cpu_count() or 1)))
    spark = wanted.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def on_stream(spark, node, arguments, files, folder):
    """Reads a file in each micro-batch, in the order of their names."""
    df = spark.read.parquet(str(files))
    stream = spark.readStream.schema(df.schema).option("maxFilesPerTrigger", 1).parquet(str(files))
    query = (rmlc.spark.apply(stream, node, **arguments).writeStream.format("parquet").outputMode("append")
             .option("path", str(folder / "found")).option("checkpointLocation", str(folder / "checkpoint"))
             .trigger(availableNow=True).start())
    query.awaitTermination()
    return spark.read.parquet(str(folder / "found"))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("rows")
    parser.add_argument("found")
    parser.add_argument("on_spark")
    parser.add_argument("--stream", type=int, default=0)
    given = parser.parse_args()
    with np.load(given.rows) as file:
        rows = dict(file)
    with np.load(given.found) as file:
        keyed = dict(file)
    node = rmlc.load(HERE / "fleet.rml").node()
    arguments = {"key": "machine", "order_by": "hour"}
    spark = session()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "rows").mkdir()
        table, parts = pyarrow.table(rows), max(given.stream, 1)
        for part in range(parts):
            begin, end = (table.num_rows * k // parts for k in (part, part + 1))
            file = folder / f"rows/{part:04}.parquet"
            pyarrow.parquet.write_table(table.slice(begin, end - begin), file)
            os.utime(file, (1e9 + part, 1e9 + part))  # sets the times of the files, because a stream takes the oldest
                                                      # first
        start = time.monotonic()
        if given.stream:
            df = on_stream(spark, node, arguments, folder / "rows", folder)
        else:
            df = rmlc.spark.apply(spark.read.parquet(str(folder / "rows")), node, **arguments)
        found = df.toArrow().sort_by([("hour", "ascending"), ("machine", "ascending")])
        seconds = time.monotonic() - start
    # The position in the input of the row of each machine and hour.
    places = np.lexsort((rows["machine"], rows["hour"]))
    if found.num_rows != len(places) or not np.array_equal(found["machine"].to_numpy(), rows["machine"][places]):
        sys.exit(f"{found.num_rows} rows came of {len(places)}, or others than these")
    out = {"machine": rows["machine"]}
    for port in node.outputs:
        values = np.empty(len(places), port.numpy_dtype)
        values[places] = found[port.name].to_numpy()
        out[port.name] = values
    np.savez(given.on_spark, **out)
    same = np.ones(len(places), bool)
    for name, values in out.items():  # compares the bits of the values
        same &= values.view(f"u{values.itemsize}") == keyed[name].view(f"u{keyed[name].itemsize}")
    print(f"{len(places):,} rows of {len(np.unique(rows['machine'])):,} machines on Spark in {seconds:.0f} s: "
          f"{int(same.sum()):,} are those of --key, {int(out['alarm'].sum()):,} alarms")
    spark.stop()
    sys.exit(0 if same.all() else 1)


main()
