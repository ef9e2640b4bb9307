"""The formats of other suites. Each module has

  NAME                    as users write it
  recognizes(files)       true for the files of one problem: texts by name
  read(files, asked)      problem.Found: what its problem.json and ref.py say

To add one: its file, its place in FORMATS, a problem in that format under tests/problems, its section in
docs/problems.md.
"""

from . import flashinfer, gpumode, kernelbench

FORMATS = [kernelbench, flashinfer, gpumode]
