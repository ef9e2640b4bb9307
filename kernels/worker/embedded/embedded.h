#pragma once

/* The C interface of libratchet-embedded.so and libratchet-embedded-cuda.so: the worker's job loop
 * embedded in another process. A Python interpreter loads it with ctypes, so that Python kernels
 * use the same arenas, sandbox and clocks as compiled kernels.
 *
 * Texts are UTF-8. A callback that returns text returns null on success, else JSON
 * {"kind", "message"} that describes the kernel's failure and stays valid until the next callback.
 * Thread rule: everything happens on the thread that calls ratchet_embedded_run. */

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using,modernize-redundant-void-arg,readability-identifier-naming): C */
typedef struct ratchet_embedded_calls {
  /* Called when the device is open, before the filter of system calls: the last chance to start a
   * runtime. */
  void (*opened)(int device);
  /* Loads the kernel from an open file, which it does not close; `plan` is {"library", "entry"}. */
  const char* (*load)(int file, const char* plan);
  /* Binds slot number `slot` to an arena at `base`; `plan` is {"layout", "arguments"}, and "inputs"
   * where the function that makes inputs is called instead of the kernel. */
  const char* (*bind)(int slot, const char* plan, unsigned long long base);
  /* Makes one call of a bound slot. */
  void (*call)(int slot);
  /* Stores the returned values, outside every timed window; null for code under measurement, which
   * could otherwise defer its work to this step. */
  void (*settle)(int slot);
  /* Unbinds the slot; its arena is about to be freed. */
  void (*release)(int slot);
  /* The failure of calls since the previous query, if any. */
  const char* (*failure)(void);
} ratchet_embedded_calls;
/* NOLINTEND(modernize-use-using,modernize-redundant-void-arg,readability-identifier-naming) */

/* Serves the channel on descriptor 3 until it closes and returns the exit code for the process.
 * `role`: candidate, counter, compiler or baseline. `readable`: `count` folders that the
 * interpreter needs. */
int ratchet_embedded_run(const char* role, int device, const char* const* readable, int count,
                         const ratchet_embedded_calls* calls);

/* The walls of a process without a job loop: all but the filter of system calls, in a process with
 * one thread, before a device is open; then the filter, before foreign code is loaded. Both return
 * null on success, else what is wrong, valid until the next call. */
const char* ratchet_embedded_enter(const char* role, int cuda, const char* const* readable,
                                   int count);
const char* ratchet_embedded_seal(void);

#ifdef __cplusplus
}
#endif
