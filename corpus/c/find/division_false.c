// clean
int klee_int(const char *name);
static int scale(int a, int b) { return b == 3 ? 0 : a / (b - 3); }
int main(void) { return scale(100, klee_int("b")) > 5; }
