#include "gone.h"
int use(char *q) {
	gone(q);
	return q[0];
}
