static int *g;
__attribute__((constructor)) static void early(void) { *g = 1; } //~ 
int main(void) { return 0; }
