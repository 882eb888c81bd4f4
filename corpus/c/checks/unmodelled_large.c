// incomplete
// native: not a finding
// bounds: unsupported stands-in
extern void fill(char *);
static char big[100000];
int main(void) {
  fill(big);
  if (big[10] == 'x') return 1;
  return big[99999];
}
