#include <stdio.h>
#include <string.h>
struct command { const char *name; int (*act)(int); };
static int inc(int n) { return n + 1; }
static int dec(int n) { return n - 1; }
static const struct command commands[] = { { "inc", inc }, { "dec", dec }, { "nop", NULL } };
static int dispatch(const char *name, int n) {
  for (unsigned i = 0; i < 3; i++)
    if (strcmp(commands[i].name, name) == 0)
      return commands[i].act(n); //~ nop
  return -1;
}
int main(int argc, char **argv) { return argc > 1 ? dispatch(argv[1], 3) : 0; }
