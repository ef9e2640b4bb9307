// What honest kernels and the libraries under them do; none of it may be refused.

#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "tests/attacks/walls/probe.h"

namespace ratchet::walls {
namespace {

volatile std::sig_atomic_t seen = 0;

bool closed(int file) {
  if (file >= 0) ::close(file);
  return file >= 0;
}

constexpr unsigned kNone = 0;

constexpr std::array kProbes{
    Probe{"honest_threads", "threads that are joined", kNone,
          [](const Prey&, const Target&) {
            std::atomic<int> sum = 0;
            {
              std::vector<std::jthread> threads;
              for (int i = 0; i < 8; ++i) threads.emplace_back([&sum] { sum += 1; });
            }
            return sum == 8;
          }},
    Probe{"honest_parallel", "OpenMP", kNone,
          [](const Prey&, const Target&) {
            int sum = 0;
#pragma omp parallel for reduction(+ : sum)
            for (int i = 0; i < 1000; ++i) sum += i;
            return sum == 499500;
          }},
    Probe{"honest_waiting", "a condition variable with a time limit", kNone,
          [](const Prey&, const Target&) {
            std::mutex guard;
            std::condition_variable bell;
            std::unique_lock lock(guard);
            return bell.wait_for(lock, std::chrono::milliseconds(1)) == std::cv_status::timeout;
          }},
    Probe{"honest_allocation", "256 MiB from malloc, written", kNone,
          [](const Prey&, const Target&) {
            constexpr std::size_t bytes = std::size_t{256} << 20U;
            auto* memory = static_cast<char*>(std::malloc(bytes));
            if (!memory) return false;
            for (std::size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
            std::free(memory);
            return true;
          }},
    Probe{"honest_mapping", "mmap, mremap and munmap", kNone,
          [](const Prey&, const Target&) {
            void* memory =
                ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (memory == MAP_FAILED) return false;
            memory = ::mremap(memory, 8192, 65536, MREMAP_MAYMOVE);
            return memory != MAP_FAILED && ::munmap(memory, 65536) == 0;
          }},
    Probe{"honest_machine_code", "code made at run time", kNone,
          [](const Prey&, const Target&) {
            void* page =
                ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (page == MAP_FAILED) return false;
#if defined(__x86_64__)
            std::memcpy(page, "\xb8\x2a\x00\x00\x00\xc3", 6);  // mov eax, 42; ret
            if (::mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) return false;
            int (*function)() = nullptr;
            std::memcpy(&function, &page, sizeof page);
            return function() == 42;
#else
            return ::mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
#endif
          }},
    Probe{"honest_advice", "madvise: huge pages, and pages given back", kNone,
          [](const Prey&, const Target&) {
            constexpr std::size_t bytes = std::size_t{4} << 20U;
            void* memory =
                ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (memory == MAP_FAILED) return false;
            (void)::madvise(memory, bytes, MADV_HUGEPAGE);  // not on every kernel
            std::memset(memory, 1, bytes);
            return ::madvise(memory, bytes, MADV_DONTNEED) == 0 && ::munmap(memory, bytes) == 0;
          }},
    Probe{"honest_locked", "16 KiB locked in memory", kNone,
          [](const Prey&, const Target&) {
            alignas(4096) static std::array<char, 16384> memory;
            return ::mlock(memory.data(), memory.size()) == 0 &&
                   ::munlock(memory.data(), memory.size()) == 0;
          }},
    Probe{"honest_shared_mapping", "a shared mapping without a name", kNone,
          [](const Prey&, const Target&) {
            void* memory =
                ::mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
            return memory != MAP_FAILED && ::munmap(memory, 65536) == 0;
          }},
    Probe{"honest_memory_file", "a memory file, or where there are none, a nameless one", kNone,
          [](const Prey&, const Target&) {
            int file = ::memfd_create("small", MFD_CLOEXEC);
            if (file < 0 && errno == ENOSYS)
              file = ::open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
            if (file < 0 || ::ftruncate(file, 65536) != 0) return false;
            void* memory = ::mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            return memory != MAP_FAILED && ::munmap(memory, 65536) == 0 && closed(file);
          }},
    Probe{"honest_file", "a file in its own folder: written, read, renamed, removed", kNone,
          [](const Prey&, const Target&) {
            std::FILE* out = std::fopen("own.txt", "w");
            if (!out || std::fputs("text", out) < 0 || std::fclose(out) != 0) return false;
            std::array<char, 8> text{};
            std::FILE* in = std::fopen("own.txt", "r");
            if (!in || !std::fgets(text.data(), text.size(), in)) return false;
            std::fclose(in);
            return std::strcmp(text.data(), "text") == 0 &&
                   std::rename("own.txt", "renamed.txt") == 0 && ::unlink("renamed.txt") == 0;
          }},
    Probe{"honest_folder", "a folder in its own folder", kNone,
          [](const Prey&, const Target&) {
            std::error_code failed;
            std::filesystem::create_directories("cache/deep", failed);
            if (failed) return false;
            const bool listed = !std::filesystem::is_empty("cache", failed) && !failed;
            std::filesystem::remove_all("cache", failed);
            return listed && !failed;
          }},
    Probe{"honest_temporary", "mkstemp in TMPDIR", kNone,
          [](const Prey&, const Target&) {
            const char* folder = std::getenv("TMPDIR");
            std::string name = std::string(folder ? folder : ".") + "/XXXXXX";
            const int file = ::mkstemp(name.data());
            return file >= 0 && ::unlink(name.c_str()) == 0 && closed(file);
          }},
    Probe{"honest_link", "a symbolic link within its own folder", kNone,
          [](const Prey&, const Target&) {
            return ::symlink("nowhere", "own_link") == 0 && ::unlink("own_link") == 0;
          }},
    Probe{"honest_state", "stat of its own files and of the system's", kNone,
          [](const Prey&, const Target&) {
            struct stat state{};
            return ::stat(".", &state) == 0 && ::stat("/usr", &state) == 0;
          }},
    Probe{"honest_library", "a library of the system, read", kNone,
          [](const Prey&, const Target&) {
            return closed(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)) &&
                   closed(::open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC));
          }},
    Probe{"honest_own_map", "/proc/self/maps and /proc/self/status", kNone,
          [](const Prey&, const Target&) {
            return closed(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) &&
                   closed(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
          }},
    Probe{"honest_processor", "/proc/cpuinfo, /proc/meminfo, the topology in /sys", kNone,
          [](const Prey&, const Target&) {
            return closed(::open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC)) &&
                   closed(::open("/proc/meminfo", O_RDONLY | O_CLOEXEC)) &&
                   closed(::open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC));
          }},
    Probe{"honest_null", "/dev/null, /dev/zero and /dev/urandom", kNone,
          [](const Prey&, const Target&) {
            return closed(::open("/dev/null", O_RDWR | O_CLOEXEC)) &&
                   closed(::open("/dev/zero", O_RDONLY | O_CLOEXEC)) &&
                   closed(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
          }},
    Probe{"honest_random", "getrandom", kNone,
          [](const Prey&, const Target&) {
            std::array<char, 16> bytes{};
            return ::getrandom(bytes.data(), bytes.size(), 0) == 16;
          }},
    Probe{"honest_clock", "clocks", kNone,
          [](const Prey&, const Target&) {
            timespec now{};
            return ::clock_gettime(CLOCK_MONOTONIC, &now) == 0 &&
                   ::syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) == 0 &&
                   ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0;
          }},
    Probe{"honest_sleep", "nanosleep", kNone,
          [](const Prey&, const Target&) {
            std::this_thread::sleep_for(std::chrono::microseconds(10));
            return true;
          }},
    Probe{"honest_affinity", "its own threads on one processor", kNone,
          [](const Prey&, const Target&) {
            cpu_set_t all;
            CPU_ZERO(&all);
            if (::sched_getaffinity(0, sizeof all, &all) != 0) return false;
            return ::sched_setaffinity(0, sizeof all, &all) == 0 &&
                   ::pthread_setaffinity_np(::pthread_self(), sizeof all, &all) == 0;
          }},
    Probe{"honest_yield", "sched_yield and sched_getcpu", kNone,
          [](const Prey&, const Target&) { return ::sched_yield() == 0 && ::sched_getcpu() >= 0; }},
    Probe{"honest_thread_name", "a name for the own thread", kNone,
          [](const Prey&, const Target&) {
            return ::prctl(PR_SET_NAME, "kernel", 0, 0, 0) == 0 &&
                   ::pthread_setname_np(::pthread_self(), "kernel") == 0;
          }},
    Probe{"honest_signal", "a signal to itself, with a handler", kNone,
          [](const Prey&, const Target&) {
            seen = 0;
            std::signal(SIGUSR1, [](int) { seen = 1; });
            return std::raise(SIGUSR1) == 0 && seen == 1;
          }},
    Probe{"honest_thread_signal", "a signal to a thread of its own", kNone,
          [](const Prey&, const Target&) {
            seen = 0;
            std::signal(SIGUSR2, [](int) { seen = 1; });
            std::atomic<bool> stop = false;
            std::thread other([&stop] {
              while (!stop) std::this_thread::yield();
            });
            const bool sent = ::pthread_kill(other.native_handle(), SIGUSR2) == 0;
            for (int i = 0; i < 1000 && seen == 0; ++i)
              std::this_thread::sleep_for(std::chrono::milliseconds(1));
            stop = true;
            other.join();
            return sent && seen == 1;
          }},
    Probe{"honest_fault_handler", "handlers of SIGSEGV and SIGFPE", kNone,
          [](const Prey&, const Target&) {
            struct sigaction action{};
            action.sa_handler = [](int) {};
            return ::sigaction(SIGSEGV, &action, nullptr) == 0 &&
                   ::sigaction(SIGFPE, &action, nullptr) == 0;
          }},
    Probe{"honest_exception", "an exception thrown and caught", kNone,
          [](const Prey&, const Target&) {
            try {
              throw std::runtime_error("honest");
            } catch (const std::runtime_error&) {
              return true;
            }
          }},
    Probe{"honest_pipe", "a pipe", kNone,
          [](const Prey&, const Target&) {
            std::array<int, 2> ends{};
            char byte = 0;
            const bool done = ::pipe2(ends.data(), O_CLOEXEC) == 0 &&
                              ::write(ends[1], "x", 1) == 1 && ::read(ends[0], &byte, 1) == 1;
            for (const int end : ends) ::close(end);
            return done;
          }},
    Probe{"honest_event", "eventfd", kNone,
          [](const Prey&, const Target&) { return closed(::eventfd(0, EFD_CLOEXEC)); }},
    Probe{"honest_timer", "a timer of its own", kNone,
          [](const Prey&, const Target&) {
            timer_t timer{};
            sigevent none{};
            none.sigev_notify = SIGEV_NONE;
            return ::timer_create(CLOCK_MONOTONIC, &none, &timer) == 0 &&
                   ::timer_delete(timer) == 0;
          }},
    Probe{"honest_print", "a line on both outputs", kNone,
          [](const Prey&, const Target&) {
            return ::write(STDOUT_FILENO, "hello\n", 6) == 6 &&
                   ::write(STDERR_FILENO, "hello\n", 6) == 6;
          }},
    Probe{"honest_limits", "getrlimit, and a lower soft limit", kNone,
          [](const Prey&, const Target&) {
            rlimit limit{};
            return ::getrlimit(RLIMIT_STACK, &limit) == 0 && ::setrlimit(RLIMIT_STACK, &limit) == 0;
          }},
    Probe{"honest_usage", "getrusage, sysinfo, uname and sysconf", kNone,
          [](const Prey&, const Target&) {
            rusage usage{};
            struct sysinfo info{};
            utsname names{};
            return ::getrusage(RUSAGE_SELF, &usage) == 0 && ::sysinfo(&info) == 0 &&
                   ::uname(&names) == 0 && ::sysconf(_SC_NPROCESSORS_ONLN) > 0;
          }},
    Probe{"honest_identity", "getpid, getuid, getcwd", kNone,
          [](const Prey&, const Target&) {
            std::array<char, 4096> folder{};
            return ::getpid() > 0 && ::getuid() == ::geteuid() &&
                   ::getcwd(folder.data(), folder.size()) != nullptr;
          }},
    Probe{"honest_own_priority", "a lower priority for itself is no error", kNone,
          [](const Prey&, const Target&) {
            errno = 0;
            return ::getpriority(PRIO_PROCESS, 0) >= 0 || errno == 0;
          }},
    Probe{"honest_open_files", "100 descriptors", kNone,
          [](const Prey&, const Target&) {
            std::vector<int> files;
            for (int i = 0; i < 100; ++i) files.push_back(::dup(1));
            bool good = true;
            for (const int file : files) good = closed(file) && good;
            return good;
          }},
};

}  // namespace

Family honest() {
  return {"honest", kProbes};
}

}  // namespace ratchet::walls
