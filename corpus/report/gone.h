#include <stdlib.h>
#define DROP(p) free(p)
static inline void gone(char *p) { if (p) DROP(p); }
