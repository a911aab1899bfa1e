"""What the compile store adds to a compile: 500 small C files, one after another in one build."""
import places
from compilers import PLACE, Compilers, per
from measure import Each, Times, Watch
from unpack import fresh

TITLE = "500 small C files compiled one after another"
TARGET = 5  # ms more than in place
COUNT = 500


def sources(count):
    return f"""mkdir /build/w; cd /build/w
for i in $(seq {count}); do echo "#include \\"h.h\\"
int f$i(int x) {{ return TWICE(x) + $i; }}" > s$i.c; done
echo '#define TWICE(x) ((x) + (x))' > h.h
"""


def compiles(count):
    return f"for i in $(seq {count}); do cc -O2 -c s$i.c -o s$i.o; done\n"


def measure(work, pairs=None, count=COUNT, **_):
    world = Compilers(work)
    ready, store = work / "ready", work / "store"
    make, script = sources(count), sources(count) + compiles(count)
    world.build(ready, make)
    more = Each("a miss, more than in place", TARGET)
    place, miss, hit = Each("in place"), Each("a miss"), Each("a hit")
    with Watch(places.FORGE) as watch:
        for _ in range(pairs or 3):
            fresh(ready, store)
            nothing, in_place = world.build(store, make), world.build(store, script, PLACE)
            made, found = world.build(store, script), world.build(store, script)
            for each, run, without in (more, made, in_place), (place, in_place, nothing), (miss, made, nothing), (hit, found, nothing):
                each.add(*per(run, without, count))
    return Times([more, place, miss, hit], "forge copies what a compiler reads, and runs it in a sandbox of its own", watch.peak)
