#include <dirent.h>
#include <stddef.h>
int main(int argc, char **argv) {
  DIR *d = opendir(argc > 1 ? "/no/such" : "/");
  struct dirent *e = readdir(d); //~ x
  return e->d_name[0] == 'q';
}
