// finds: division-by-zero
int klee_int(const char *name);
static int scale(int a, int b) { return a / (b - 3); } //~ division-by-zero
int main(void) { return scale(100, klee_int("b")) > 5; }
