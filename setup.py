"""The one compiled module. It is optional: without a C compiler the package installs all the same, and numpy
computes the same vectors in twice the time."""

from setuptools import Extension, setup

FOLDER = "src/quintet/embed/canonical/"
# The compiler must neither merge nor reorder float operations: vectors are the same bits everywhere.
EXACT = ["-O3", "-ffp-contract=off", "-fno-fast-math", "-Wno-psabi"]

setup(
    ext_modules=[
        Extension(
            "quintet.embed.canonical._passes",
            [FOLDER + name for name in ("passes.c", "attention.c", "vnni.c", "passes_module.c")],
            depends=[FOLDER + "passes.h", FOLDER + "exact.h"],
            extra_compile_args=EXACT,
            optional=True,
        )
    ]
)
