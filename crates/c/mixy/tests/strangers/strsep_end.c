#include <string.h>
int main(int argc, char **argv) {
  char line[] = "a,b";
  char *rest = line;
  char *first = strsep(&rest, ",");
  char *second = strsep(&rest, ",");
  (void)first; (void)second;
  return rest[0]; //~ 
}
