// finds: out-of-bounds
int klee_range(int, int, const char *);
int main(void) {
  int table[8], sum = 0;
  for (int i = 0; i < 8; i++) table[i] = i;
  int at = klee_range(0, 9, "at");
  table[at] = 5; //~ out-of-bounds
  for (int i = 0; i < 8; i++) sum += table[i];
  return sum & 1;
}
