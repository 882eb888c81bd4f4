// finds: null-dereference out-of-bounds
// entry: fill
// A function of the library whose address only an initialiser takes is called like any other of its type.
#include <stdlib.h>
struct memory { void *(*get)(unsigned long); };
struct memory standard = { malloc };
__attribute__((nonnull)) int fill(struct memory *from) {
  int *p = from->get(4); //~ null-dereference
  p[1] = 3; //~ out-of-bounds
  return p[1];
}
