#!/usr/bin/env python3
"""Writes verses as the input of words.rml: letters.py TEXT LEARN.csv TEST.txt [--passes N] [--seed
S]

The last fifth of the verses is held out. LEARN gets the other verses `passes` times, each time in
another order and followed by the held-out verses. TEST gets the held-out verses as words, one
verse per line. Lines that end with a colon are names of speakers, and are left out."""
import argparse
import random
import re


def verses(path):
    """Returns the verses of a text as lists of words."""
    with open(path, encoding="utf-8") as file:
        lines = [re.findall("[a-z]+", line.lower().replace("'", "")) for line in file if not line.rstrip().endswith(":")]
    return [words for words in lines if len(words) > 1]


def rows(chosen, train):
    """Yields rows: `train`, `end`, `pass_end`, the letter as a number, and whether a word begins
    with it."""
    for k, words in enumerate(chosen):
        starts = [int(place == 0) for word in words for place in range(len(word))]
        for at, letter in enumerate("".join(words)):
            end = at == len(starts) - 1
            yield f"{train},{int(end)},{int(end and k == len(chosen) - 1)},{ord(letter) - 97},{starts[at]}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("text", "learn", "test"):
        parser.add_argument(name)
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    known = verses(options.text)
    held = len(known) // 5
    known, tested = known[:-held], known[-held:]
    draw = random.Random(options.seed)
    with open(options.learn, "w", encoding="utf-8") as file:
        file.write("train,end,pass_end,letter,start\n")
        for _ in range(options.passes):
            draw.shuffle(known)
            file.writelines(rows(known, 1))
            file.writelines(rows(tested, 0))
    with open(options.test, "w", encoding="utf-8") as file:
        file.writelines(" ".join(words) + "\n" for words in tested)


main()
