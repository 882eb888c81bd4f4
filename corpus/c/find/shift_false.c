// clean
// checks: shifts
int klee_range(int, int, const char *);
int main(void) { return (1u << (klee_range(0, 40, "n") & 31)) > 8; }
