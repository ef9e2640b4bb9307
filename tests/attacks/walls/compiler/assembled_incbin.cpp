// Way: .incbin, assembled by the assembler's own macros
// Walls: landlock root

__asm__(
    ".macro wall a, b\n.section .rodata\nwall_bytes: .\\a\\b \"SECRET\"\n.previous\n.endm\n"
    "wall inc, bin\n");
extern "C" void solve(const float* x, float* y, int n) {
  const char* bytes = nullptr;
  __asm__("lea wall_bytes(%%rip), %0" : "=r"(bytes));
  y[0] = bytes[0] + x[n];
}
