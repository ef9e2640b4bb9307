"""The formats of other suites. Each module has

  NAME                    as users write it
  recognizes(files)       true for the files of one problem: texts by name
  read(files, asked)      what trial.py tries and writes: task, reference, v0, sources, …
  suite_time(place, source, times)   optional: what a file of the suite's own times says (suite_times.py)

To add one: its file, its place in FORMATS, and its section in docs/problems.md, with a problem of ours in
that format that tests/server/readme_test.cpp imports.
"""

from . import atrex, flashinfer, gpumode, kernelbench, robust, robust_backward, tensara

FORMATS = [kernelbench, flashinfer, gpumode, atrex, robust, robust_backward, tensara]
