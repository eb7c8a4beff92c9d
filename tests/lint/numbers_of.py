"""The sizes, limits and costs by which code generation decides are in lowering/target.h, and
nowhere else in lowering.

Run by ctest: numbers_of.py REPOSITORY. Numbers elsewhere are printed, one finding per line:

  a number from 3 on that is assigned to a name, or compared, bounded or multiplied with one
  a number with a fraction or an exponent, and one that is shifted

Numbers that do not describe a machine are listed in KNOWN with their meaning. An entry that is no
longer found is printed as well.
"""

import collections
import pathlib
import re
import subprocess
import sys

from structure import blanked

# The files that describe the machine, and the files with coefficients and float formats of
# functions.
DESCRIBES = ("lowering/target.h", "lowering/target.cc", "lowering/llvm/toolchain/target.cc")
MATHEMATICS = (
    "lowering/llvm/scalars/functions.cc", "lowering/llvm/scalars/function_coefficients.h", "lowering/llvm/scalars/half.cc",
)
KNOWN = {
    "lowering/c/code.cc": {"continued = 4": "columns of a page", "fewest = 40": "columns of a page"},
    "lowering/c/code.h": {"page_columns = 100": "columns of a page"},
    "lowering/c/file.cc": {"around = 16": "columns of a page"},
    "lowering/c/helpers.cc": {"8 * ": "bits of a byte"},
    "lowering/c/literals.cc": {"base = 8": "digits"},
    "lowering/c/print_nest.cc": {
        "longest_operands = 80": "columns of a page", "worth_a_variable = 24": "columns of a page",
    },
    "lowering/c/print_straight.cc": {"stack_bytes = 4096": "of what a file is compiled for nothing else is known"},
    "lowering/c/scope.cc": {"longest_inlined = 60": "columns of a page"},
    "lowering/demand/build_on_demand.cc": {"deepest = 200": "equations in one body"},
    "lowering/llvm/operators/places.cc": {"most_indices = 16": "indices in a loop, as in the documentation"},
    "lowering/loops/read_loops.cc": {"deepest = 2000": "of a text", "most_axes = 64": "of a text"},
    "lowering/steps/leading.cc": {"too_far = 8": "cycles"},
    "lowering/steps/step_writer.cc": {"farthest = 8": "elements that a reader leaves out"},
    "lowering/steps/verify_steps.cc": {"most_evaluations = 2000": "cases of one question of a check"},
    "lowering/text/read_steps.cc": {"most_branches = 2000": "of a text", "most_bodies = 256": "of a text"},
    "lowering/schedule/check/exactness.cc": {
        "awaiting = 3": "a group of ports", "most = 6": "assumptions",
        "most_work = 2_000_000_000": "words of sets in an analysis",
        "most_words = 16_000_000": "words of sets in an analysis",
    },
    "lowering/schedule/look_back.cc": {"unbounded = 1U << 16": "instants"},
    "lowering/schedule/check/boolean_world.h": {"cycles_in_a_world = 64": "bits of a word"},
    "lowering/schedule/check/boolean_world.cc": {
        "attempts = 8": "of chance", "sweeps = 3": "of a world", "<= 3": "letters", "* 64": "bits of a word",
    },
    "lowering/schedule/check/validate_schedule.cc": {"worlds = 4": "of chance"},
    "lowering/schedule/check/validate_segments.cc": {"longest = 4": "segments"},
    "lowering/text/print_schedule.cc": {"<= 4": "elements that are printed"},
    "lowering/llvm/toolchain/blends.cc": {"most_parts = 4": "of an instruction", ": 4U": "of an instruction"},
    "lowering/llvm/function/function.cc": {"1u << 20": "how unlikely a fault is"},
    "lowering/llvm/interface/buffered.cc": {"64 * ": "what memory is aligned to", ">= 32": "bits of a size"},
    "lowering/llvm/interface/c_header.cc": {"64 * ": "what memory is aligned to"},
    "lowering/llvm/interface/groups.cc": {"8 * ": "bits of a byte"},
    "lowering/llvm/interface/step_many.cc": {"8 * ": "bits of a byte"},
    "lowering/llvm/lanes/scalar_form.cc": {"> 8": "bytes of an element", "8 * ": "bits of a byte"},
    "lowering/llvm/lanes/widen.cc": {"min<std::uint64_t>(size * lanes_, 64": "what variables are aligned to"},
    "lowering/llvm/interface/step.cc": {"< 32": "bits of a size"},
    "lowering/llvm/module/debug_info.cc": {"8 * ": "bits of a byte"},
    "lowering/llvm/emit.cc": {"!= 8": "bytes of a pointer"},
    "lowering/llvm/function/parallel.cc": {"1e-3": "no division by 0", "1e15": "what an integer holds"},
    "lowering/llvm/products/matmul.cc": {"< 3": "operands and result"},
    "lowering/llvm/program/program.cc": {"columns = 3": "of a table", "< 3": "parameters"},
    "lowering/llvm/module/emission.cc": {"< 5": "parameters"},
    "lowering/llvm/queues/queue.cc": {"past_all_elements = std::int64_t{1} << 62": "what a checkpoint takes"},
    "lowering/llvm/program/table.cc": {"longest = 60": "characters of a message"},
    "lowering/llvm/module/ir_types.cc": {"8 * ": "bits of a byte"},
    "lowering/llvm/toolchain/optimize.cc": {
        "> 3": "levels of optimisation", "? 3": "levels of optimisation", "wide = 512": "all the bits of x86's vectors",
    },
    "lowering/llvm/module/state_layout.cc": {"64 * ": "of the interface", "? 64": "of the interface", "8 * ": "a cursor"},
    "lowering/llvm/module/state_layout.h": {
        "record_bytes = 16": "of {data, bytes}", "state_align = 64": "of the interface", "apart = 8": "a cursor",
    },
}

ANY = r"(?<![\w.])\d[\d_]*[uUlL]*(?![\w.])"
FROM_3 = r"(?<![\w.])(?<!e-)(?:[3-9]|\d[\d_]+)[uUlL]*(?![\w.])"
FINDINGS = [
    re.compile(r"(?<![\w.])(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+)"),
    re.compile(rf"\w+ = (?:(?:std::)?\w+\{{)?{ANY}\}}?(?: (?:<<|\*) {ANY})+"),
    re.compile(rf"{ANY} << {ANY}|(?:{FROM_3} \* |\* {FROM_3}(?! \*))"),
    re.compile(rf"\w+ = {FROM_3}(?=[;,])"),
    re.compile(rf"(?<![<>])(?:<=?|>=?|==|!=|\?|:) {FROM_3}"),
    re.compile(rf"\b(?:min|max|clamp)(?:<[\w:]+>)?\((?:[^()]|\([^()]*\))*{FROM_3}(?! \* )"),
]
ORDINARY = re.compile(r"[012]\.0?")
# Rounded up to the alignment of memory, which the interface defines.
ALIGNED = re.compile(r"\((\w+(?:\.\w+|->\w+|\(\))*) \+ (?:63\) / 64(?: \* 64)?|7\) / 8(?: \* 8)?)")


def numbers(text):
    """Yields the numbers in a source, with their lines."""
    for at, line in enumerate(blanked(text).split("\n"), 1):
        line = ALIGNED.sub("(", line)
        found = []
        for pattern in FINDINGS:
            for match in pattern.finditer(line):
                inside = any(a <= match.start() and match.end() <= b for a, b, _ in found)
                if not inside and not ORDINARY.fullmatch(match.group()):
                    found.append((match.start(), match.end(), match.group()))
        for *_, what in found:
            yield at, what


def problems(texts):
    known = collections.defaultdict(set)
    for name, text in texts.items():
        if name in DESCRIBES or name in MATHEMATICS:
            continue
        for line, what in numbers(text):
            if what in KNOWN.get(name, {}):
                known[name].add(what)
            else:
                yield f"{name}:{line}: {what}: sizes, limits and costs belong into lowering/target.h"
    for name, entries in KNOWN.items():
        for what in entries:
            if name in texts and what not in known[name]:
                yield f"tests/lint/numbers_of.py: {name} no longer contains '{what}'"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "lowering"],
                            cwd=root, capture_output=True, text=True)
    names = listed.stdout.split("\n") if listed.returncode == 0 else [
        p.relative_to(root).as_posix() for p in (root / "lowering").rglob("*")]
    texts = {name: (root / name).read_text(encoding="utf-8") for name in names
             if name.endswith((".cc", ".h")) and (root / name).is_file()}
    if not set(DESCRIBES) <= set(texts):
        sys.exit("lowering/target.h is not where it was")
    found = list(problems(texts))
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
