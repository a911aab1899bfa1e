"""The figures of forge against named peers, as ratios measured in one run: `make bench`.

    bench.py [FIGURE …] [--pairs N] [--on tmpfs|ext4|none] [--folder DIR] [--wheels STORE]
    make bench BENCH="noop builds --on ext4"

Without a figure: all but those that use a registry or take many minutes (registry, causal, causal_two, killed, hit_torch).  A ratio is
forge's wall time by the peer's, median of the pairs (smallest, largest); below it the same of CPU time, which other work
on the machine disturbs less.  What has no peer is in milliseconds: wall time, and in brackets CPU time.
"""
import argparse
import importlib
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import places  # noqa: E402
from measure import Skip, Times, median  # noqa: E402

USUAL = ["noop", "evaluate", "matrix", "builds", "fetch", "unpack", "dispatch", "hit"]
NAMED = ["registry", "causal", "causal_two", "killed", "hit_torch"]
MEMORY_MAX = 64 << 20


def spread(values):
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def seconds(values):
    s = median(values)
    return f"{s * 1000:.1f} ms" if s < 1 else f"{s:.2f} s"


def show_times(figure, result):
    good = all(each.good() for each in result.each) and result.memory < MEMORY_MAX
    print(f"{'ok' if good else 'MISSED':7}{figure.TITLE}")
    for each in result.each:
        target = f", target {each.target}" if each.target else ""
        print(f"       {each.what + target}: {spread(each.wall)} ms [{spread(each.cpu)}]")
    memory = f"; forge's memory at most {result.memory / (1 << 20):.1f} MiB" if result.memory else ""
    print(f"       {len(result.each[0].wall)} rounds; {result.note}{memory}", flush=True)
    return good


def show(figure, result):
    """Print one figure; true if it is within its target."""
    if isinstance(result, Times):
        return show_times(figure, result)
    peak = result.peak()
    good = median(result.ratio()) <= figure.TARGET and peak < MEMORY_MAX
    print(f"{'ok' if good else 'MISSED':7}{figure.TITLE}")
    print(f"       wall {spread(result.ratio())}, target {figure.TARGET}: {seconds([a.wall for a, _ in result.pairs])}"
          f" : {seconds([b.wall for _, b in result.pairs])}, {len(result.pairs)} pairs")
    print(f"       CPU  {spread(result.ratio('cpu'))}: {seconds([a.cpu for a, _ in result.pairs])}"
          f" : {seconds([b.cpu for _, b in result.pairs])};  forge's memory at most {peak / (1 << 20):.1f} MiB")
    if result.note:
        print(f"       {result.note}")
    sys.stdout.flush()
    return good


def options():
    p = argparse.ArgumentParser(prog="bench.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("figures", nargs="*", choices=[*USUAL, *NAMED, []], metavar="FIGURE",
                   help=f"of {', '.join(USUAL)}; {', '.join(NAMED)}")
    p.add_argument("--pairs", type=int, help="how many pairs of runs (each figure has its own number)")
    p.add_argument("--on", choices=["tmpfs", "ext4", "none"], default="tmpfs" if os.geteuid() == 0 else "none",
                   help="the file system for both sides (mounting needs root; none: the folder as it is)")
    p.add_argument("--folder", default=tempfile.gettempdir(), help="where the scratch folder goes")
    p.add_argument("--wheels", type=pathlib.Path, default=os.environ.get("FORGE_STORE", places.ROOT / "store"),
                   help="a store that holds fetched wheels; what it lacks is fetched")
    return p.parse_args()


def main():
    o = options()
    if os.geteuid() == 0:
        os.nice(-5)  # both sides, so that other work disturbs them less
    missed = 0
    print(f"on {o.on}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for name in o.figures or USUAL:
        figure = importlib.import_module(name)
        try:
            with places.scratch(o.on, o.folder) as work:
                missed += not show(figure, figure.measure(work, pairs=o.pairs, wheels=pathlib.Path(o.wheels)))
        except Skip as why:
            print(f"skipped {figure.TITLE}: {why}", flush=True)
    print(f"{missed} missed" if missed else "all within their targets")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
