// finds: division-by-zero null-dereference
// entry: share
// What some function writes may hold anything, also where the entered one only reads it.
static int parts = 4;
static int *_Nullable chosen;
void set(int n, int *where) { parts = n, chosen = where; }
int share(int whole) {
  if (whole < 0) return *chosen; //~ null-dereference
  return whole / parts; //~ division-by-zero
}
