// clean
// entry: total
typedef struct { int value; int *_Nonnull where; } cell;
struct list { cell *_Nonnull first; };
struct list *_Nonnull head;
int total(int k) { if (k) return *head->first->where; return head->first->value; }
