"""A world of this machine's own compilers (gcc 12, and nvcc where there is one) behind the shim, for tests that the
objects which forge makes are the compilers' own, byte for byte."""
import pathlib
import shutil
import subprocess

CUDA = pathlib.Path("/usr/local/cuda")
GCC = pathlib.Path("/usr/lib/gcc/x86_64-linux-gnu/12")
PROGRAMS = ["/bin/dash", "/usr/bin/gcc-12", "/usr/bin/g++-12", "/usr/bin/as", f"{GCC}/cc1", f"{GCC}/cc1plus"]
TOOLKIT = ["nvcc", "cudafe++", "ptxas", "fatbinary"]

WORLD = """
local real = { mounts = { { at = "/", layers = { forge.path "base" } }, { at = "/toolchain", layers = { forge.path "toolchain" } },
                          { at = "/cuda", layers = { forge.path "cuda" } } } }
return sh("NAME", [==[
SCRIPT]==], { world = real, env = { PATH = "/toolchain/bin:/cuda/bin:/bin:/usr/bin", SOURCE_DATE_EPOCH = "315619200", WHICH = "NAME" },
              inert = { MAX_JOBS = { memory = 1073741824 } } })
"""


def have_gcc():
    return all(pathlib.Path(p).exists() for p in PROGRAMS)


def have_nvcc():
    return all((CUDA / "bin" / name).exists() for name in TOOLKIT)


def libraries(program):
    out = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return [word for word in out.split() if word.startswith("/")]


def copy(path, base, at=None):
    """A file at its own place in the world, or at another."""
    to = base / (at or str(path)).lstrip("/")
    to.parent.mkdir(parents=True, exist_ok=True)
    if not to.exists():
        shutil.copy(path, to)


def copy_headers(base):
    for name in ("bits", "sys", "gnu", "asm-generic", "linux", "x86_64-linux-gnu/bits", "x86_64-linux-gnu/sys", "x86_64-linux-gnu/gnu",
                 "x86_64-linux-gnu/asm", "c++/12", "x86_64-linux-gnu/c++/12"):
        if (pathlib.Path("/usr/include") / name).is_dir():
            shutil.copytree(pathlib.Path("/usr/include") / name, base / "usr/include" / name, dirs_exist_ok=True)
    for header in pathlib.Path("/usr/include").glob("*.h"):
        copy(header, base)
    for header in pathlib.Path("/usr/include/x86_64-linux-gnu").glob("*.h"):
        copy(header, base)
    shutil.copytree(GCC / "include", base / str(GCC)[1:] / "include", dirs_exist_ok=True)


def make_gcc(project, shim):
    """The world's root, and /toolchain."""
    base = project.base()
    for program in PROGRAMS:
        for path in [program, *libraries(program)]:
            copy(path, base)
    for name in ("sed", "test", "cut", "cmp", "sh"):
        (base / "bin" / name).unlink(missing_ok=True)
        (base / "bin" / name).symlink_to("dash" if name == "sh" else "busybox")
    copy_headers(base)
    (project.recipes / "toolchain/bin").mkdir(parents=True)
    for name in ("cc", "c++", "gcc", "g++"):
        shutil.copy(shim, project.recipes / "toolchain/bin" / name)


def make_cuda(project, shim):
    base, cuda = project.base(), project.recipes / "cuda"
    (cuda / "lib").mkdir(parents=True)
    if have_nvcc():
        for name in TOOLKIT:
            copy(CUDA / "bin" / name, cuda, f"bin/{name}")
            for path in libraries(CUDA / "bin" / name):
                copy(path, base)
        for path in libraries(CUDA / "nvvm/bin/cicc"):
            copy(path, base)
        copy(CUDA / "bin/nvcc.profile", cuda, "bin/nvcc.profile")
        (cuda / "bin/nvcc").rename(cuda / "bin/nvcc.real")
        shutil.copy(shim, cuda / "bin/nvcc")
        shutil.copytree(CUDA / "nvvm", cuda / "nvvm", symlinks=True)
        (cuda / "targets/x86_64-linux").mkdir(parents=True)
        shutil.copytree(CUDA / "include", cuda / "include", symlinks=True)
        (cuda / "targets/x86_64-linux/include").symlink_to("../../include")


def make_world(project, shim):
    make_gcc(project, shim)
    make_cuda(project, shim)


def recipe(name, script):
    return WORLD.replace("NAME", name).replace("SCRIPT", script)


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
