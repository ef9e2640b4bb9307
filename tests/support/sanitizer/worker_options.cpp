// Linked into the workers of sanitized builds, which are started without an environment. A signal
// that a kernel raises is the finding: it must end the process as it would in a plain build.

extern "C" const char* __asan_default_options();  // NOLINT(bugprone-reserved-identifier)

const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0";
}
