// checks: unsigned
int klee_int(const char *);
int main(void) {
  unsigned char key[2] = {(unsigned char)klee_int("k"), 7};
  unsigned hash = 2166136261u;
  for (int i = 0; i < 2; i++) {
    hash ^= key[i];
    hash *= 16777619u; //~ unsigned-overflow
  }
  int table[4] = {1, 2, 3, 4};
  if (hash % 5 == 4) return table[hash % 5]; //~ out-of-bounds
  return 0;
}
