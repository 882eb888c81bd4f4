// args: 1 120
// sscanf: random directives on random text.
#define _GNU_SOURCE
#include "probe.h"
int main(int count, char **words) {
  for (unsigned n = rounds(count, words); n; n--) {
    char from[40], form[16] = "%";
    text_of(from, below(2) ? "0123 -x" : "12ab+.e \n]^", 14);
    if (below(6) == 0) strcat(form, "*");
    if (below(3) == 0) sprintf(form + strlen(form), "%u", 1 + below(5));
    static const char *const kinds[] = {"d", "u", "x", "i", "o", "s", "c", "[0-9]", "[^ a]", "[]a]", "f", "lf", "ld", "hd", "hhd", "p", "[a-]"};
    const char *kind = kinds[below(17)];
    strcat(form, kind);
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s%%n%s%%c", below(4) ? "" : " 1", form, below(3) ? "" : " ");
    char text[64] = "########################";
    memset(text + 24, 0, 40);
    long number = -7;
    double real = -1;
    float small = -1;
    char after = '#';
    int seen = -1, done;
    show(from), putchar(' '), show(whole);
    if (strchr(form, '*')) done = sscanf(from, whole, &seen, &after);
    else if (kind[strlen(kind) - 1] == 'f') done = kind[0] == 'l' ? sscanf(from, whole, &real, &seen, &after) : sscanf(from, whole, &small, &seen, &after);
    else if (strchr("sc[", *kind)) done = sscanf(from, whole, text, &seen, &after);
    else done = sscanf(from, whole, &number, &seen, &after);
    printf(" %d: %ld %a %a ", done, number, real, (double)small), show(text), printf(" %d %d\n", seen, after);
  }
  return 0;
}
