"""One extension module: C for Python, and a kernel that nvcc compiles for the architectures of $SAXPY_ARCHS."""
import os
import subprocess
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

CUDA = Path(os.environ["CUDA_HOME"])


class BuildWithNvcc(build_ext):
    def build_extension(self, ext):
        folder = Path(self.build_temp)
        folder.mkdir(parents=True, exist_ok=True)
        kernel = folder / "saxpy.o"
        archs = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in os.environ["SAXPY_ARCHS"].split(";")]
        subprocess.run([CUDA / "bin/nvcc", "-O2", "-lineinfo", "-Xcompiler", "-fPIC", *archs, "-c", "src/saxpy.cu", "-o", kernel],
                       check=True)
        ext.extra_objects = [str(kernel)]
        super().build_extension(ext)


setup(
    ext_modules=[Extension(
        "cuda_saxpy", ["src/module.c"], library_dirs=[str(CUDA / "lib")],
        libraries=["cudart_static", "stdc++"],
    )],
    py_modules=[],
    cmdclass={"build_ext": BuildWithNvcc},
)
