"""A compile that is found in the store: a C++ file with 100 headers of its own, and <map> and <string>."""
from compilers import PLACE, Compilers, per
from measure import Each, Times

TITLE = "a hit for a C++ file with 100 headers of its own"
TARGET = 10  # ms
AGAIN = 100

SOURCE = """mkdir /build/w; cd /build/w
for i in $(seq 100); do
  echo "#pragma once
inline int f$i(int x) { return x + $i; }" > h$i.h
  echo "#include \\"h$i.h\\""
done > a.cc
echo '#include <map>
#include <string>
int f(const std::map<std::string, int> &m) { return f1((int)m.size()); }' >> a.cc
"""
COMPILE = "for i in $(seq %d); do c++ -O2 -std=c++17 -fPIC -c a.cc -o a.o; done\n"


def figures(build, source, compile_times, again, pairs, target):
    """build(script, args…) gives a Run.  The first hit of a forge is told from those after it: it reads what the
    others know already."""
    later, first, own = Each("each after the first of a forge", target), Each("the first"), Each("the compiler's own time")
    build(source + compile_times % 1)
    for _ in range(pairs):
        nothing, once, often = build(source), build(source + compile_times % 1), build(source + compile_times % (1 + again))
        place = build(source + compile_times % 1, PLACE)
        later.add(*per(often, once, again))
        first.add(*per(once, nothing, 1))
        own.add(*per(place, nothing, 1))
    return Times([later, first, own], f"{100 * later.median() / own.median():.2f} % of the compiler's own time")


def measure(work, pairs=None, again=AGAIN, **_):
    world, store = Compilers(work), work / "store"
    return figures(lambda script, *args: world.build(store, script, *args), SOURCE, COMPILE, again, pairs or 5, TARGET)
