// finds: null-dereference
// with: parts/lookup.c
int klee_int(const char *name);
const char *lookup(int code);
int main(void) {
  const char *name = lookup(klee_int("code"));
  return name[0] == 'z'; //~ null-dereference
}
