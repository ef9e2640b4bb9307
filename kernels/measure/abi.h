#pragma once

/* The C face of libratchet-measure.so, for callers that are not C++ (a Python process loads it with
 * ctypes). The C++ classes beside this file are the same thing for C++ callers.
 *
 * Every function that answers returns JSON text, UTF-8, owned by the handle and valid until its
 * next call: the result, or {"error": {"message": "...", "hint": "..."}}. What the call under
 * measurement does wrong is no error but "failure" in the result. Keys carry their units.
 *
 * Thread rule: one thread per handle. The process's primary context of the device is used. */

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using,readability-identifier-naming): C */
typedef struct ratchet_gpu ratchet_gpu;

/* One call of the code under measurement; must not throw. */
typedef void (*ratchet_call)(void* user);
/* NOLINTEND(modernize-use-using,readability-identifier-naming) */

/* Never null. When the device cannot be used, ratchet_gpu_facts says why. */
ratchet_gpu* ratchet_gpu_open(int device);
void ratchet_gpu_close(ratchet_gpu* gpu);

/* {"index", "name", "arch", "uuid", "driver", "memory_bytes", "l2_bytes", "multiprocessors"} */
const char* ratchet_gpu_facts(ratchet_gpu* gpu);

/* Times call(users[0]), call(users[1]), … in turn. plan: {"warmup", "samples", "cold", "host_time",
 * "time_limit_ms"}, all optional. Result: {"elapsed_ns": [], "clock_mhz": [], "flags": [],
 * "time_limit_hit", "by_events", "failure"?}. */
const char* ratchet_gpu_time(ratchet_gpu* gpu, ratchet_call call, void* const* users, int count,
                             const char* plan);

/* Launches of one call: {"launches": [{"kernel", "start_ns", "end_ns", "grid", "block",
 * "registers", "static_shared_bytes", "dynamic_shared_bytes", "stream"}], "failure"?}. Not in a
 * process that times. */
const char* ratchet_gpu_spans(ratchet_gpu* gpu, ratchet_call call, void* user);

/* Hardware counters of one call, by ncu's names: {"kernels": [{"name", "metrics": {}}], "launches",
 * "unknown_metrics", "engine", "cache", "unavailable"?, "failure"?}. Not in a process that times.
 */
const char* ratchet_gpu_count(ratchet_gpu* gpu, ratchet_call call, void* user,
                              const char* const* metrics, int count);

#ifdef __cplusplus
}
#endif
