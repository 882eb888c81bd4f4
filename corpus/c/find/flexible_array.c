// entry: last
// Without counted_by the length of a flexible array is anything.
struct packet { unsigned len; struct packet *next; short body[]; };
int last(struct packet *p) {
  if (!p || p->len == 0 || p->len > 3) return 0;
  if (p->next) return (int)p->next->len;
  return p->body[p->len - 1]; //~ out-of-bounds
}
