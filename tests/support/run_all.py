"""Run lint, the unit tests and the functional tests; sum them up in one closing line.

usage: run_all.py MAKE BUILD
"""
import re
import subprocess
import sys


def run(make, build, goal):
    """Run one goal, pass on what it prints, and return (passed, failed, skipped)."""
    process = subprocess.Popen([make, "--no-print-directory", f"B={build}", goal],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace")
    closing = ""
    for line in process.stdout:
        print(line, end="", flush=True)
        if re.search(r"\d+ (passed|failed|skipped)", line):
            closing = line
    status = process.wait()
    counts = [sum(map(int, re.findall(rf"(\d+) {word}", closing)))
              for word in ("passed", "(?:failed|errors?)", "skipped")]
    if status != 0 and counts[1] == 0:
        counts[1] = 1
    return counts


def main(make, build):
    total = [0, 0, 0]
    for goal in ("lint", "check-unit", "check-functional"):
        print(f"== {goal}", flush=True)
        total = [a + b for a, b in zip(total, run(make, build, goal))]
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
