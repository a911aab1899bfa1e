"""Sum up what `forge log --json` tells of the builds since a time: `steps.py MILLISECONDS`.

One line each: step, milliseconds, what.  Fetches and unpacks are many and run beside each other: they are
counted, and their time is that in which at least one of them ran.
"""
import json
import sys

MANY = {"fetch": "{} files", "unpack": "{} packages, each into an object of its own"}


def covered(spans):
    """The length of the union of (start, end) spans."""
    total, reached = 0, 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def main(since):
    builds = [b for b in json.load(sys.stdin) if b["start_ms"] >= since and b["status"] == 0]
    builds.sort(key=lambda b: b["start_ms"])
    for step, text in MANY.items():
        spans = [(b["start_ms"], b["end_ms"]) for b in builds if b["what"] == step]
        if spans:
            print(step, covered(spans), text.format(len(spans)), sep="\t")
    for b in builds:
        if b["what"] not in MANY:
            peak = f", {b['peak_memory'] / 1e9:.1f} GB of memory" if b["peak_memory"] > 1e8 else ""
            print(b["what"], b["end_ms"] - b["start_ms"], b["name"] + peak, sep="\t")


if __name__ == "__main__":
    main(int(sys.argv[1]))
