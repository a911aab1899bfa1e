"""Which record of a compile belongs to which object: forge's records name the source, the lists of objects the object."""
import collections
import pathlib

CXX = {".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C"}


def language(source):
    """Of a source by its name; None: of no compiler that is looked at here."""
    suffix = pathlib.PurePath(source).suffix
    return "C" if suffix == ".c" else "CUDA" if suffix == ".cu" else "C++" if suffix in CXX else None


def said(record):
    """What became of a command, and the reason where there is one: ("in place", "it links")."""
    what, _, why = record["note"].partition(": ")
    return what, why


def in_common(source, made):
    """How many folders above them have the same names, from the files on."""
    count = 0
    for a, b in zip(reversed(pathlib.PurePath(source).parts[:-1]), reversed(pathlib.PurePath(made).parts[:-1])):
        if a != b:
            return count
        count += 1
    return count


def match(objects, records):
    """{object: record} for as many as have one.  x.o and x.c.o are of a source x.c; of several records of such sources
    the one whose folders are most alike, each once."""
    by_name = collections.defaultdict(list)
    for record in records:
        source = pathlib.PurePath(record["name"])
        for name in (source.name, source.stem):
            by_name[name].append(record)
    pairs = [(in_common(record["name"], made), made, record) for made in objects
             for record in by_name[pathlib.PurePath(made).name.removesuffix(".o")]]
    found, taken = {}, set()
    for _, made, record in sorted(pairs, key=lambda pair: pair[0], reverse=True):
        if made not in found and id(record) not in taken:
            found[made] = record
            taken.add(id(record))
    return found
