#include <stdlib.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rc = 1;
  char *a = NULL, *b = NULL;
  if (argc > 1) goto out;
  a = malloc(4); if (!a) goto out;
  b = malloc(4); if (!b) goto out;
  a[0] = b[0] = 'x';
  rc = 0;
out:
  free(b);
  free(a);
  return rc;
}
