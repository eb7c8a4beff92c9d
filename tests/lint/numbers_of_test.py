"""Checks numbers_of.py on lines written for it: it must find what it should and nothing else."""

import sys

from numbers_of import numbers

FOUND = {
    "constexpr std::int64_t near_bytes = 32 * 1024;": "near_bytes = 32 * 1024",
    "constexpr std::int64_t near_bytes = 256 << 10;": "near_bytes = 256 << 10",
    "const std::int64_t pages = std::int64_t{1} << 12;": "pages = std::int64_t{1} << 12",
    "constexpr double element = 0.3, function = 2;": "0.3",
    "constexpr int cheap = 24;  // instructions": "cheap = 24",
    "if (p.m <= 4) return;": "<= 4",
    "while (side > 8) side /= 2;": "> 8",
    "const auto vectors = one ? 8 : most;": "? 8",
    "const auto vectors = one ? most : 6;": ": 6",
    "const auto rows = std::min<std::int64_t>(p.m, 4);": "min<std::int64_t>(p.m, 4",
    "const auto enough = 4 * threads;": "4 * ",
    "return costs > 1e-9;": "1e-9",
}
PASSED = [
    "// at most 16 elements, 0.3 ns each",
    'say("more than 64");',
    "if (rank > 2) return x / 2.0;",
    "const std::size_t most = target.unrolled_elements;",
    "std::array<std::int64_t, 4> all;",
    "const std::uint64_t bytes = (size + 63) / 64 * 64;",
    "using integer16 = int;",
    "ir.CreateLoad(type, field(call, 5));",
]


def main():
    failures = 0
    for text, what in FOUND.items():
        found = [w for _, w in numbers(text)]
        if found != [what]:
            failures += 1
            print(f"{text}\n  expected {what}, found {found}")
    for text in PASSED:
        if found := list(numbers(text)):
            failures += 1
            print(f"{text}\n  nothing expected, found {found}")
    sys.exit(failures > 0)


main()
