// args: -v file1 -n 12 --long=yes -abc -- -x file2
// Options in any order, with arguments of every style.
#include <getopt.h>
#include <stdio.h>
int main(int argc, char **argv) {
  static int flag;
  static const struct option all[] = {{"long", required_argument, NULL, 'l'},
                                      {"flag", no_argument, &flag, 5},
                                      {"maybe", optional_argument, NULL, 'm'},
                                      {NULL, 0, NULL, 0}};
  int c, at;
  opterr = 0;
  while ((c = getopt_long(argc, argv, "vn:abc::", all, &at)) != -1)
    printf("%c %s %d\n", c, optarg ? optarg : "-", optind);
  for (int i = optind; i < argc; i++) printf("rest %s\n", argv[i]);
  char *again[] = {"p", "--flag", "--maybe", "--maybe=x", "--lo", "q", "-z", "-n", NULL};
  optind = 0;
  while ((c = getopt_long(8, again, "+:n:", all, &at)) != -1)
    printf("%d %s %d %d\n", c, optarg ? optarg : "-", flag, optopt);
  printf("%d %s\n", optind, again[optind]);
  optind = 0;
  char *more[] = {"p", "a", "-x", "b", "-y", "c", NULL};
  while ((c = getopt(6, more, "xy")) != -1) printf("%c", c);
  for (int i = optind; i < 6; i++) printf(" %s", more[i]);
  puts("");
  return 0;
}
