"""The one part of the build that pyproject.toml cannot say: the compiled loops."""

import os
import sysconfig
from glob import glob

from setuptools import Extension, setup

THREADS = ["-pthread"] if os.name == "posix" else []
# One file serves every Python from 3.11 on, but for those without a global lock.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    ext_modules=[
        Extension(
            "tempocal.kernels.native",
            ["src/tempocal/kernels/native.c"],
            depends=glob("src/tempocal/kernels/*.h"),
            # None of these changes a number: they say that nobody reads errno or traps.
            extra_compile_args=[
                "-O3",
                "-fno-math-errno",
                "-fno-trapping-math",
                "-Wno-psabi",
                *THREADS,
            ],
            extra_link_args=THREADS,
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
            py_limited_api=STABLE,
            optional=True,  # without a compiler, NumPy does the work
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
