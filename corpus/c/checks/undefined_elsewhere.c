// entry: inner
// Nothing defines report, and no path of the finding calls it.
void report(int code);
static int inner(int *p) {
  return *p; //~ null-dereference
}
int outer(int *p) { return inner(p); }
void other(int code) { if (code) report(code); }
