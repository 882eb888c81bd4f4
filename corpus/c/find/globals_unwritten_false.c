// clean
// entry: pick
// Static variables that nothing writes hold what they were given, whatever else is unknown.
static int limit = 4;
static int squares[4] = {0, 1, 4, 9};
static struct { const char *name; int size; } kinds[2] = {{"one", 1}, {"two", 2}};
int last = 7;
int pick(unsigned at) {
  if (limit != 4) return 1 / (limit - limit);
  if (at >= 4) return last;
  return squares[at] + kinds[at & 1].size + kinds[1].name[2];
}
