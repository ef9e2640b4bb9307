// Python kernels on the host device, with numpy alone. What needs torch and Triton is in
// python_framework_test.cpp.

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/kernels/lab/python_fixture.h"
#include "tests/support/sanitized.h"

using namespace ratchet;
using namespace ratchet::test;

TEST_CASE("a Python kernel may write in place or return its output", "[lab][python-kernel]") {
  PythonKernelFixture fixture;

  for (const auto* body : {"    y[:] = 2 * x\n", "    return 2 * x\n", "    return [2 * x]\n",
                           "    return (2 * x,)\n", "    return {'y': 2 * x}\n"}) {
    const auto report = fixture.check(std::string("def run_kernel(x, y, n):\n") + body);
    INFO(body);
    CHECK(report.passed);
    CHECK(report.reasons.empty());
  }
}

TEST_CASE("a Python kernel gets shaped tensors, and sizes by name", "[lab][python-kernel]") {
  PythonKernelFixture fixture;

  const auto report = fixture.check(
      "def run_kernel(**given):\n"
      "    assert sorted(given) == ['n', 'x', 'y'] and given['x'].shape == (given['n'] // 2, 2)\n"
      "    given['y'][:] = 2 * given['x']\n");

  CHECK(report.passed);
}

TEST_CASE("a wrong Python kernel fails like any other", "[lab][python-kernel]") {
  PythonKernelFixture fixture;

  CHECK(has_reason(fixture.check("def run_kernel(x, y, n):\n    y[:] = 3 * x\n"), "mismatch"));
  CHECK(has_reason(fixture.check("def run_kernel(x, y, n):\n    pass\n"), "output_not_written"));
  CHECK_FALSE(fixture.check("def run_kernel(x, y, n):\n    y[:] = 2 * x\n    x[0] = 0\n").passed);
}

TEST_CASE("an exception in a Python kernel's first call is a build error at its line",
          "[lab][python-kernel]") {
  PythonKernelFixture fixture;

  const auto raised = fixture.build("def run_kernel(x, y, n):\n    y[:] = x\n    y += nothing\n");
  REQUIRE_FALSE(raised.build.ok);
  CHECK(raised.build.errors.at(0).line == 3);
  CHECK(raised.build.errors.at(0).message.find("NameError") != std::string::npos);

  const auto syntax = fixture.build("def run_kernel(x, y, n):\n    y[:] = = 2\n");
  REQUIRE_FALSE(syntax.build.ok);
  CHECK(syntax.build.errors.at(0).line == 2);

  const auto absent = fixture.build("import no_such_module\ndef run_kernel(**k):\n    pass\n");
  REQUIRE_FALSE(absent.build.ok);
  CHECK(absent.build.error_class == "missing_module");

  const auto returned = fixture.build("def run_kernel(x, y, n):\n    return x[:-1]\n");
  REQUIRE_FALSE(returned.build.ok);
  CHECK(returned.build.errors.at(0).message.find("elements") != std::string::npos);
}

TEST_CASE("a Python kernel that raises only on the judge's inputs is at fault",
          "[lab][python-kernel]") {
  PythonKernelFixture fixture;

  // The distribution of large magnitudes is not among those that compile passes see.
  const auto report = fixture.check(
      "def run_kernel(x, y, n):\n    if abs(x).max() > 50: raise ValueError('too large')\n"
      "    y[:] = 2 * x\n");

  CHECK_FALSE(report.passed);
  CHECK(has_reason(report, "fault_exception"));
}

TEST_CASE("only the first size of a kernel that calls no compiler is tried when it is built",
          "[lab][python-kernel]") {
  PythonKernelFixture fixture;
  const std::string fails_later =
      "def run_kernel(x, y, n):\n    if n > 512: raise ValueError('too long')\n    y[:] = 2 * x\n";
  const auto built = [&](const std::string& kernel) {
    auto contract = fixture.contract(kernel);
    contract.cases.push_back({{{"n", 1024}}, 1});
    const auto candidate = fixture.lab->build(contract, contract.kernel, fixture.call);
    if (!candidate) FAIL(candidate.error().message);
    if (!candidate->build.ok) return std::pair(false, false);
    const auto report = fixture.lab->check(contract, *candidate, "secret", fixture.call);
    if (!report) FAIL(report.error().message);
    return std::pair(true, has_reason(*report, "fault_exception"));
  };

  CHECK(built(fails_later) == std::pair(true, true));
  CHECK(built("# as triton would\n" + fails_later) == std::pair(false, false));
}

TEST_CASE("a Python kernel that takes all memory is refused with its limit",
          "[lab][python-kernel]") {
  if (kSanitized) SKIP("a sanitized worker has no limit");
  PythonKernelFixture fixture;
  // Nothing of it is touched: what counts memory in use would wait for the deadline.
  const std::string takes = "kept = [np.empty(1 << 27) for _ in range(64)]\n";

  const auto first = fixture.build("import numpy as np\ndef run_kernel(x, y, n):\n    " + takes +
                                   "    y[:] = 2 * x\n");
  const auto later = fixture.check(
      "import numpy as np\ndef run_kernel(x, y, n):\n    if abs(x).max() > 50: " + takes +
      "    y[:] = 2 * x\n");
  const auto within = fixture.check(
      "import numpy as np\ndef run_kernel(x, y, n):\n    kept = np.empty(3 << 26)\n"
      "    y[:] = 2 * x\n");

  REQUIRE_FALSE(first.build.ok);
  CHECK(first.build.error_class == "out_of_memory");
  CHECK(first.build.errors.at(0).line == 3);
  CHECK(first.build.errors.at(0).message.find("bytes of memory are allowed") != std::string::npos);
  CHECK(has_reason(later, "fault_out_of_memory"));
  CHECK(within.passed);
}

TEST_CASE("a Python kernel that never returns is killed", "[lab][python-kernel][slow]") {
  PythonKernelFixture fixture;

  const auto endless = fixture.build("def run_kernel(x, y, n):\n    while True: pass\n");

  REQUIRE_FALSE(endless.build.ok);
  CHECK(endless.build.error_class == "compile_timeout");
}

TEST_CASE("a Python kernel that ends its process is at fault", "[lab][python-kernel]") {
  PythonKernelFixture fixture;

  for (const auto* end : {"import os; os._exit(0)", "import sys; sys.exit(0)",
                          "import ctypes; ctypes.string_at(0)"}) {
    const auto ended = fixture.build(std::string("def run_kernel(x, y, n):\n    ") + end + "\n");
    INFO(end);
    CHECK_FALSE(ended.build.ok);
  }
}

TEST_CASE("a Python kernel that floods its output is killed", "[lab][python-kernel]") {
  PythonKernelFixture fixture;

  const auto flood =
      fixture.build("def run_kernel(x, y, n):\n    while True: print('flood' * 1000)\n");

  REQUIRE_FALSE(flood.build.ok);
  CHECK(flood.build.error_class == "output_flood");
}

TEST_CASE("a Python kernel may start programs only while it is compiled", "[lab][python-kernel]") {
  if (kSanitized) SKIP("the sanitizer in the program that is started calls what walls forbid");
  PythonKernelFixture fixture;
  const std::string source =
      "import subprocess\n"
      "def run_kernel(x, y, n):\n"
      "    subprocess.run(['/bin/true'], check=True)\n"
      "    y[:] = 2 * x\n";
  const auto contract = fixture.contract(source);
  const auto candidate = fixture.built(contract);

  const auto report = fixture.lab->check(contract, candidate, "secret", fixture.call);

  REQUIRE(report);
  CHECK_FALSE(report->passed);
  CHECK(has_reason(*report, "fault_forbidden_call"));
}

TEST_CASE("processes that a reference starts stay in its process group, even if asked not to",
          "[lab][python-kernel][slow]") {
  PythonKernelFixture fixture;

  // As build tools start compilers.
  const auto report = fixture.check(
      "def run_kernel(x, y, n):\n    y[:] = 2 * x\n",
      "import os, subprocess, sys\n"
      "def reference(x, **_):\n"
      "    asks = [sys.executable, '-c', 'import os; print(os.getpgid(0))']\n"
      "    assert int(subprocess.check_output(asks, start_new_session=True)) == os.getpgid(0)\n"
      "    return 2 * x\n");

  CHECK(report.passed);
}

TEST_CASE("a Python kernel cannot read files of others", "[lab][python-kernel]") {
  PythonKernelFixture fixture;
  const auto secret = fixture.folder.path() / "state" / "answer";
  REQUIRE(write_file(secret, "42"));

  const auto candidate =
      fixture.build("def run_kernel(x, y, n):\n    open('" + secret.string() + "')\n");

  REQUIRE_FALSE(candidate.build.ok);
  // It is not there for the kernel; where the system gives no private root, it may not be opened.
  const auto& message = candidate.build.errors.at(0).message;
  CHECK((message.find("FileNotFoundError") != std::string::npos ||
         message.find("PermissionError") != std::string::npos));
}

TEST_CASE("a Python kernel has no network access", "[lab][python-kernel]") {
  PythonKernelFixture fixture;

  const auto candidate =
      fixture.build("import socket\ndef run_kernel(x, y, n):\n    socket.socket()\n");

  CHECK_FALSE(candidate.build.ok);
}

TEST_CASE("a Python kernel finds no reference, seed or answer in its interpreter",
          "[lab][python-kernel]") {
  PythonKernelFixture fixture;
  // The reference's text holds this word; the kernel looks for it in everything it can reach, and
  // answers rightly only when it is not there.
  const auto contract = fixture.contract(
      "import gc, os, sys\n"
      "def run_kernel(x, y, n):\n"
      "    word = ''.join(['needle', '_in_', 'reference'])\n"
      "    texts = [o for o in gc.get_objects() if isinstance(o, (str, bytes))]\n"
      "    for o in gc.get_objects():\n"
      "        if isinstance(o, dict): texts += [v for v in o.values() if isinstance(v, str)]\n"
      "    for folder in ('/proc/self', os.getcwd()):\n"
      "        for name in ('environ', 'cmdline', 'ref.py'):\n"
      "            try: texts.append(open(folder + '/' + name, errors='replace').read())\n"
      "            except OSError: pass\n"
      "    seen = any(word in str(t) for t in texts) or 'ratchet_reference' in sys.modules\n"
      "    y[:] = 0 if seen else 2 * x\n",
      "needle_in_reference = 1\ndef reference(x, y):\n    y[:] = 2 * x\n");

  const auto report = fixture.lab->check(contract, fixture.built(contract), "secret", fixture.call);

  REQUIRE(report);
  CHECK(report->passed);
}

TEST_CASE("patching clocks and numpy changes nothing but the kernel itself",
          "[lab][python-kernel][slow]") {
  PythonKernelFixture fixture;
  const auto contract = fixture.contract(
      "import time, numpy\n"
      "time.perf_counter_ns = time.perf_counter = time.time = lambda: 0\n"
      "numpy.allclose = numpy.array_equal = lambda *a, **k: True\n"
      "def run_kernel(x, y, n):\n"
      "    for i in range(20): y[:] = 2 * x\n");
  const auto candidate = fixture.built(contract);

  const auto profile =
      fixture.lab->profile(contract, {.candidate = &candidate}, "secret", fixture.call);

  if (!profile) FAIL(profile.error().message);
  CHECK(profile->reasons.empty());
  CHECK(profile->timing.median.value > 1000);  // 20 array operations take more than a microsecond
}

TEST_CASE("an unchanged Python kernel is not compiled again", "[lab][python-kernel]") {
  PythonKernelFixture fixture;
  const std::string source = "def run_kernel(x, y, n):\n    y[:] = 2 * x\n";

  const auto first = fixture.build(source);
  const auto second = fixture.build(source);

  CHECK_FALSE(first.build.cached);
  CHECK(second.build.cached);
  CHECK(second.build.binary_digest == first.build.binary_digest);
}

TEST_CASE("only a kernel that may compile gets another pass for the sizes of a check",
          "[lab][python-kernel]") {
  PythonKernelFixture fixture;
  const std::string source =
      "def run_kernel(x, y, n):\n    if n != 512: raise ValueError('another size')\n    y[:] = 2 * "
      "x\n";

  const auto plain = fixture.check(source);
  const auto compiles = fixture.check(source + "# triton\n");

  // A pass that fails is found before anything is judged.
  CHECK_FALSE(plain.cases.empty());
  CHECK(compiles.cases.empty());
  CHECK(has_reason(plain, "fault_exception"));
  CHECK(has_reason(compiles, "fault_exception"));
}

TEST_CASE("a reference without torch has no framework baselines, and says so",
          "[lab][python-kernel]") {
  PythonKernelFixture fixture;
  const auto contract = fixture.contract("def run_kernel(x, y, n):\n    y[:] = 2 * x\n");
  const auto candidate = fixture.built(contract);

  const auto report = fixture.lab->benchmark(
      contract,
      {.candidate = &candidate, .baselines = {"pytorch-eager", "flashinfer"}, .num_trials = 10},
      "secret", fixture.call);

  if (!report) FAIL(report.error().message);
  CHECK(report->correct);
  CHECK(row_named(*report, "candidate").status == "ok");
  CHECK(row_named(*report, "pytorch-eager").status == "missing");
  CHECK(row_named(*report, "flashinfer").detail == "the reference does not use torch");
}

TEST_CASE("a reference without an answer at a size that would be drawn is found out",
          "[lab][python-kernel]") {
  PythonKernelFixture fixture;
  const auto contract = [&](const std::string& reference, const std::string& more) {
    const auto task = decode<TaskRequest>(Json::parse(R"({
        "implementation": "host-python", "dims": {"m": 300, "n": 1000})" +
                                                      more + R"(,
        "tensors": [{"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                    {"name": "y", "dtype": "float32", "shape": ["m"], "role": "out"}]})"));
    REQUIRE(task);
    auto planned = fixture.lab->plan(
        *task, {"kernel.py", "def run_kernel(x, y, **_): y[:] = 1", ""}, {"ref.py", reference, ""});
    if (!planned) FAIL(planned.error().message);
    return *std::move(planned);
  };
  const auto unanswered = [&](const Contract& asked) {
    const auto reason = fixture.lab->unanswered_size(asked, "secret", fixture.call);
    if (!reason) FAIL(reason.error().message);
    return reason->value_or(Reason{}).message;
  };
  const std::string one_size =
      "def reference(x, y, m, n):\n    if n != 1000: raise ValueError('of 1000 only')\n"
      "    y[:] = x[:m]\n";
  const std::string part = "def reference(x, y, m, n):\n    assert m <= n\n    y[:] = x[:m]\n";

  auto given = contract(one_size, "");
  CHECK(unanswered(given).find("of 1000 only") != std::string::npos);
  CHECK(unanswered(given).starts_with("m="));
  given.given_sizes = true;
  CHECK(unanswered(given).empty());
  CHECK(unanswered(contract(one_size, R"(, "where": ["n == 1000"])")).empty());
  CHECK(unanswered(contract(part, R"(, "where": ["m <= n"])")).empty());
}
