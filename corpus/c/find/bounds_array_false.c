// clean
int klee_range(int, int, const char *);
int main(void) {
  int table[8], sum = 0;
  for (int i = 0; i < 8; i++) table[i] = i;
  int at = klee_range(0, 8, "at");
  table[at] = 5;
  for (int i = 0; i < 8; i++) sum += table[i];
  return sum & 1;
}
