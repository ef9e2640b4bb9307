#pragma once

/* The C face of libratchet-embedded.so and libratchet-embedded-cuda.so: the worker's job loop inside a
 * process that is no worker program. A Python interpreter loads it with ctypes, so that Python
 * kernels run in the same arenas, under the same sandbox and clocks as compiled ones.
 *
 * Texts are UTF-8. A callback that returns text returns null when all is well, else JSON
 * {"kind", "message"}: what the kernel did wrong; it stays valid until the next callback.
 * Thread rule: everything happens on the thread that calls ratchet_embedded_run. */

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using,modernize-redundant-void-arg,readability-identifier-naming): C */
typedef struct ratchet_embedded_calls {
  /* The device is open and nothing is forbidden yet: the last moment to start a runtime. */
  void (*opened)(int device);
  /* Loads the kernel from an open file; `plan` is {"library", "entry"}. Closes nothing. */
  const char* (*load)(int file, const char* plan);
  /* Binds slot number `slot` to an arena at `base`; `plan` is {"layout", "arguments"}. */
  const char* (*bind)(int slot, const char* plan, unsigned long long base);
  /* One call of a bound slot. */
  void (*call)(int slot);
  /* Stores what it returned, outside every timed window; null for code under measurement, which
   * could leave its work to it. */
  void (*settle)(int slot);
  /* The slot's arena goes away. */
  void (*release)(int slot);
  /* How calls failed since this was last asked. */
  const char* (*failure)(void);
} ratchet_embedded_calls;
/* NOLINTEND(modernize-use-using,modernize-redundant-void-arg,readability-identifier-naming) */

/* Serves the channel on descriptor 3 until it closes; the exit code for the process. `role`:
 * candidate, counter, compiler or baseline. `readable`: `count` folders that the interpreter needs.
 */
int ratchet_embedded_run(const char* role, int device, const char* const* readable, int count,
                       const ratchet_embedded_calls* calls);

/* The sandbox alone, for a process that serves no job loop; 0 when `role` is known. */
int ratchet_embedded_restrict(const char* role, int cuda, const char* const* readable, int count);

#ifdef __cplusplus
}
#endif
