// clean
// symbolic-env: MODE=2
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv, char **envp) {
  const char *mode = getenv("MODE");
  char copy[3];
  strcpy(copy, mode);
  if (!envp[0] || envp[1]) abort();
  if (strncmp(envp[0], "MODE=", 5)) abort();
  return copy[0] == 'x';
}
