"""The progress of a run: a line that shows how many cycles are done, and curves of outputs in a notebook."""

from __future__ import annotations

import contextlib
import dataclasses
import html
import importlib
import math
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._arrays import numpy
from ._inputs import columns, gather
from ._rows import Rows
from ._sampled import Sampled
from .chronogram import number_text
from .tables import required

if TYPE_CHECKING:
    from ._instance import Instance
    from ._ports import Port

_BLOCK_SECONDS = 0.025  # the wanted duration of a block, which is about the time that Ctrl-C waits
_TERMINAL_SECONDS, _FILE_SECONDS, _CURVE_SECONDS = 0.1, 2.0, 0.5  # the time from one display to the next
_FEWEST, _MOST = 16, 1 << 22  # the limits for the cycles of a block


def join(parts: Iterable[Rows]) -> Rows:
    """Joins the rows of successive runs into the rows of one run. Raises ValueError if the runs are not successive."""
    np = numpy()
    all_rows = list(parts)
    if not all_rows:
        raise ValueError("join: no rows to join")
    first, ports = all_rows[0].cycles.start, all_rows[0]._ports
    end = first
    for rows in all_rows:
        if rows.cycles.start != end or [port.name for port in rows._ports] != [port.name for port in ports]:
            raise ValueError(f"join: rows of cycle {rows.cycles.start} do not follow rows that end before cycle {end}")
        end = rows.cycles.stop
    columns = []
    for port in ports:
        values = [rows[port.name] for rows in all_rows]
        sampled = isinstance(values[0], Sampled)
        at = np.concatenate([np.asarray(each.at, np.int64) for each in values]) if sampled else None
        joined = np.concatenate([each.values for each in values] if sampled else values)
        columns.append((_bits(joined) if port.dtype == "bf16" else joined, at))
    return Rows(first, end - first, ports, columns)


def _bits(values: Any) -> Any:
    """Returns the bits of bf16 values that are stored as float32. The constructor of Rows takes these bits."""
    np = numpy()
    return (values.view(np.uint32) >> 16).astype(np.uint16)


# ---- runs ----------------------------------------------------------------------------------------


def run_watched(instance: Instance, inputs: Any, cycles: int | None, copy: bool, missing: str, progress: bool,
                monitor: Iterable[str], named: Mapping[str, Any]) -> Rows:
    """Does the same as `Instance.run`, in blocks of some hundredths of a second, and shows the progress between them.

    monitor: names of outputs that are scalar numbers. A notebook shows their curves. Elsewhere the line contains their
    last values.

    `rows` of a RunError or KeyboardInterrupt contains all rows so far. `cycle` of the instance is the number of cycles
    that it has read.
    """
    monitored = _monitored(instance.node.outputs, monitor)
    given = columns(instance.node, inputs, named, missing)
    values, present, count = gather(instance.node, given, cycles, copy, missing)
    display = _display(progress, monitored, count)
    parts: list[Rows] = []
    read, block = 0, _FEWEST
    with _deferred_interrupts() as pending:
        while True:
            size = min(block, count - read)
            begin = time.perf_counter()
            _, taken, error = instance._run([each[read : read + size] for each in values],
                                            [None if each is None else each[read : read + size] for each in present],
                                            size)
            seconds = time.perf_counter() - begin
            parts.append(instance._rows(taken))
            read += size
            if error is None:
                error = pending.raised()
            if error is not None:
                display.finish(read, parts[-1])
                error.rows = join(parts)
                raise error
            if read >= count:
                break
            display.tick(read, parts[-1])
            if seconds < _BLOCK_SECONDS / 2:
                block = min(block * 2, _MOST)
            elif seconds > _BLOCK_SECONDS:
                block = max(block // 2, 1)
        display.finish(read, parts[-1])
        return join(parts)


def _monitored(outputs: Sequence[Port], monitor: Iterable[str]) -> list[str]:
    from .tables import did_you_mean

    ports = {port.name: port for port in outputs}
    names = [monitor] if isinstance(monitor, str) else list(monitor)
    for name in names:
        if name not in ports:
            raise ValueError(f"monitor: no output '{name}'{did_you_mean([name], list(ports))} "
                             f"(the outputs are: {', '.join(ports)})")
        if ports[name].shape or ports[name].dtype == "bool":
            raise ValueError(f"monitor: expected outputs that are scalar numbers, got {ports[name]}")
    return list(dict.fromkeys(names))


class _Interrupts:
    """Delays Ctrl-C while rows are computed, until they are stored."""

    def __init__(self) -> None:
        self.previous: Any = None
        self.came: tuple[int, Any] | None = None

    def handle(self, number: int, frame: Any) -> None:
        if self.came is not None:
            # A second Ctrl-C is not delayed.
            self.previous(number, frame)
        self.came = number, frame

    def raised(self) -> BaseException | None:
        """Calls the previous handler for a delayed Ctrl-C, and returns the exception that it raises."""
        if self.came is None:
            return None
        came, self.came = self.came, None
        try:
            self.previous(*came)
        except BaseException as error:
            return error
        return None


@contextlib.contextmanager
def _deferred_interrupts() -> Iterator[_Interrupts]:
    interrupts = _Interrupts()
    if threading.current_thread() is not threading.main_thread() or not callable(signal.getsignal(signal.SIGINT)):
        yield interrupts
        return
    interrupts.previous = signal.signal(signal.SIGINT, interrupts.handle)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, interrupts.previous)


# ---- displays ------------------------------------------------------------------------------------


class _Display:
    """A display that shows nothing."""

    def tick(self, read: int, rows: Rows) -> None:
        pass

    def finish(self, read: int, rows: Rows) -> None:
        pass


def _display(progress: bool, monitored: list[str], count: int) -> _Display:
    shell = _notebook()
    if shell is not None:
        return _Guarded(_NotebookDisplay(progress, monitored, count))
    return _Guarded(_LineDisplay(monitored, count)) if sys.stderr is not None else _Display()


def _notebook() -> Any:
    """Returns the IPython shell if it runs in a notebook, else None."""
    if "IPython" not in sys.modules:
        return None
    shell = required("IPython").get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


class _Guarded(_Display):
    """Wraps a display. If the display fails, a warning is given and the run continues without it."""

    def __init__(self, display: _Display) -> None:
        self._display: _Display = display

    def tick(self, read: int, rows: Rows) -> None:
        try:
            self._display.tick(read, rows)
        except Exception as error:
            self._fail(error)

    def finish(self, read: int, rows: Rows) -> None:
        try:
            self._display.finish(read, rows)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._display = _Display()
        warnings.warn(f"the progress of the run cannot be shown: {type(error).__name__}: {error}", stacklevel=5)


def duration_text(seconds: float) -> str:
    """Writes a duration as "0:07", "12:30" or "1:00:00". A started second counts."""
    whole = math.ceil(seconds)
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d}"
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def line_text(read: int, count: int, seconds: float, monitored: Mapping[str, str]) -> str:
    """Writes the progress line: the fraction, the speed, the remaining time and the last monitored values."""
    fraction = read / count if count else 1.0
    full = int(20 * fraction)
    line = f"[{'#' * full}{'.' * (20 - full)}] {int(100 * fraction):3d}%  {read} cycles"
    if seconds > 0:
        line += f"  {read / seconds:.0f} cycles/s"
    if 0 < read < count:
        line += f"  ETA {duration_text(seconds / fraction * (1 - fraction))}"
    return line + "".join(f"  {name} {value}" for name, value in monitored.items())


class _Latest:
    """The last value of each monitored output, as text."""

    def __init__(self, names: Iterable[str]) -> None:
        self.texts = {name: "." for name in names}

    def add(self, rows: Rows) -> None:
        for name in self.texts:
            column = rows[name]
            values = column.values if isinstance(column, Sampled) else column
            if len(values):
                self.texts[name] = number_text(values[-1])


class _LineDisplay(_Display):
    """A progress line on stderr. On a terminal the line is overwritten; elsewhere a new line appears now and then."""

    def __init__(self, monitored: Sequence[str], count: int) -> None:
        self._count, self._latest = count, _Latest(monitored)
        self._out = sys.stderr
        self._terminal = self._out.isatty()
        self._begin = time.perf_counter()
        self._next = self._begin + (2 * _TERMINAL_SECONDS if self._terminal else _FILE_SECONDS)

    def tick(self, read: int, rows: Rows) -> None:
        self._latest.add(rows)
        now = time.perf_counter()
        if now >= self._next:
            self._next = now + (_TERMINAL_SECONDS if self._terminal else _FILE_SECONDS)
            self._write(read, "")

    def finish(self, read: int, rows: Rows) -> None:
        self._latest.add(rows)
        self._write(read, "\n")

    def _write(self, read: int, end: str) -> None:
        line = line_text(read, self._count, time.perf_counter() - self._begin, self._latest.texts)
        self._out.write(f"\r\x1b[K{line}{end}" if self._terminal else line + "\n")
        self._out.flush()


class _NotebookDisplay(_Display):
    """An output of the cell that is updated: the progress line, and a curve for each monitored output."""

    def __init__(self, progress: bool, monitored: Sequence[str], count: int) -> None:
        self._count, self._latest, self._progress = count, _Latest(monitored), progress
        self._curves = {name: Curve() for name in monitored}
        self._begin = time.perf_counter()
        self._next = self._begin + 2 * _TERMINAL_SECONDS
        self._handle: Any = None

    def tick(self, read: int, rows: Rows) -> None:
        self._add(rows)
        now = time.perf_counter()
        if now >= self._next:
            self._draw(read)
            # If drawing takes long, draw less often.
            drawn = time.perf_counter()
            self._next = drawn + max(_CURVE_SECONDS, 10 * (drawn - now))

    def finish(self, read: int, rows: Rows) -> None:
        self._add(rows)
        self._draw(read)

    def _add(self, rows: Rows) -> None:
        self._latest.add(rows)
        for name, curve in self._curves.items():
            column = rows[name]
            if isinstance(column, Sampled):
                curve.add(column.at, column.values)
            else:
                curve.add(numpy().arange(rows.cycles.start, rows.cycles.stop), column)

    def _draw(self, read: int) -> None:
        ipython = required("IPython.display")
        line = line_text(read, self._count, time.perf_counter() - self._begin, self._latest.texts)
        parts = [f"<pre style='margin:0'>{html.escape(line)}</pre>"] if self._progress else []
        parts += [curve.svg(name) for name, curve in self._curves.items()]
        picture = ipython.HTML("<div style='display:flex;flex-direction:column;gap:4px'>" + "".join(parts) + "</div>")
        if self._handle is None:
            self._handle = ipython.display(picture, display_id=True)
        else:
            self._handle.update(picture)


# ---- curves --------------------------------------------------------------------------------------


@dataclasses.dataclass
class _Points:
    """For each point its cycle, and the mean, the minimum and the maximum of the values that it summarises."""

    cycle: Any
    mean: Any
    least: Any
    most: Any


class Curve:
    """A curve of a stream of numbers, summarised by at most `most` points (an even number). No extreme value is lost.

    All points summarise the same number of values. When there are too many points, this number doubles. Values that are
    not finite are counted and not drawn.
    """

    def __init__(self, most: int = 1000) -> None:
        np = numpy()
        self._most, self._each = most, 1
        self._rest = np.zeros((2, 0))  # cycles and values that do not form a whole point yet
        self._points = np.zeros((4, 0))
        self.not_finite = 0
        self._first = self._last = 0  # first and last cycle of the curve

    def add(self, cycles: Any, values: Any) -> None:
        """Adds values, with the cycles to which they belong."""
        np = numpy()
        new = np.stack([np.asarray(cycles, np.float64), np.asarray(values, np.float64)])
        finite = np.isfinite(new[1])
        self.not_finite += int((~finite).sum())
        if finite.any():
            if not self._points.shape[1] and not self._rest.shape[1]:
                self._first = int(new[0, finite][0])
            self._last = int(new[0, finite][-1])
        rest = np.concatenate([self._rest, new[:, finite]], axis=1)
        while rest.shape[1] >= self._each:
            count = min(rest.shape[1] // self._each, self._most - self._points.shape[1])
            cycle, value = rest[:, : count * self._each].reshape(2, count, self._each)
            points = np.stack([cycle.mean(axis=1), value.mean(axis=1), value.min(axis=1), value.max(axis=1)])
            self._points = np.concatenate([self._points, points], axis=1)
            rest = rest[:, count * self._each :]
            if self._points.shape[1] == self._most:
                self._halve()
        self._rest = rest

    def _halve(self) -> None:
        cycle, mean, least, most = self._points.reshape(4, -1, 2)
        self._points = numpy().stack([cycle.mean(axis=1), mean.mean(axis=1), least.min(axis=1), most.max(axis=1)])
        self._each *= 2

    @property
    def points(self) -> _Points:
        """The points to draw. The last one may summarise fewer values than the others."""
        np = numpy()
        points = self._points
        if self._rest.shape[1]:
            cycles, values = self._rest
            last = np.array([[cycles.mean()], [values.mean()], [values.min()], [values.max()]])
            points = np.concatenate([points, last], axis=1)
        return _Points(*points)

    def svg(self, name: str, width: int = 640, height: int = 160) -> str:
        """Draws the mean as a line over a band of the extremes, as text in SVG.

        The axis is logarithmic if all values are positive and span at least two decades.
        """
        np = numpy()
        points = self.points
        note = f", {self.not_finite} not finite" if self.not_finite else ""
        begin = (f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
                 f"viewBox='0 0 {width} {height}' style='max-width:100%' font-family='sans-serif' font-size='11' "
                 f"fill='currentColor'><text x='64' y='13' font-weight='bold'>{html.escape(name)}{note}</text>")
        if points.cycle.size == 0:
            return begin + f"<text x='64' y='{height // 2}'>no values yet</text></svg>"
        least, most = float(points.least.min()), float(points.most.max())
        logarithmic = least > 0 and most >= 100 * least
        scale = np.log10 if logarithmic else np.asarray
        low, high = float(scale(least)), float(scale(most))
        if not high / 2 > low / 2:
            # A constant curve is drawn in the middle.
            room = max(abs(low), abs(high)) / 2
            low, high = (low - room, high + room) if room > 1e-300 else (-0.5, 0.5)
        first, last = self._first, self._last
        left, right, top, bottom = 64, width - 12, 20, height - 20

        def x(cycles: Any) -> Any:
            return left + (np.asarray(cycles) - first) / max(last - first, 1) * (right - left)

        def y(values: Any) -> Any:
            return bottom - (scale(values) / 2 - low / 2) / (high / 2 - low / 2) * (bottom - top)

        def path(xs: Any, ys: Any) -> str:
            return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(xs, ys))

        xs = x(points.cycle)
        band = path(np.concatenate([xs, xs[::-1]]), np.concatenate([y(points.most), y(points.least)[::-1]]))
        parts = [begin]
        for tick in _ticks(low, high):
            value = 10.0**tick if logarithmic else tick
            at = f"{float(bottom - (tick / 2 - low / 2) / (high / 2 - low / 2) * (bottom - top)):.1f}"
            parts.append(f"<line x1='{left}' x2='{right}' y1='{at}' y2='{at}' stroke='currentColor' opacity='.15'/>"
                         f"<text x='{left - 6}' y='{at}' text-anchor='end' dominant-baseline='middle'>"
                         f"{value:.4g}</text>")
        parts.append(f"<polygon points='{band}' fill='#4c8dd6' opacity='.3'/>"
                     f"<polyline points='{path(xs, y(points.mean))}' fill='none' stroke='#4c8dd6' stroke-width='1.5'/>")
        if points.cycle.size == 1:
            parts.append(f"<circle cx='{xs[0]:.1f}' cy='{float(y(points.mean)[0]):.1f}' r='3' fill='#4c8dd6'/>")
        parts.append(f"<text x='{left}' y='{height - 5}'>cycle {self._first}</text>"
                     f"<text x='{right}' y='{height - 5}' text-anchor='end'>{self._last}</text></svg>")
        return "".join(parts)


def _ticks(low: float, high: float) -> list[float]:
    """Returns three to six round numbers from low to high."""
    rough = high / 5 - low / 5
    if not (math.isfinite(rough) and rough > 0):
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((power * each for each in (1, 2, 5) if power * each >= rough), 10 * power)
    first = math.ceil(low / step)
    ticks = [k * step for k in range(first, first + 8) if k * step <= high]
    return ticks or [low]
