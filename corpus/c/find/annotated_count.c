// clean
// entry: sum
struct buffer { int n; int items[] __attribute__((counted_by(n))); };
int sum(struct buffer *_Nonnull b) { int s = 0; for (int i = 0; i < b->n; i++) s += b->items[i]; return s; }
