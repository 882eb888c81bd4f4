/* locale.h and langinfo.h: there is the "C" locale, and no other. */
#include "model.h"

int strcmp(const char *a, const char *b);

static int is_there(const char *name) { return !*name || !strcmp(name, "C") || !strcmp(name, "POSIX"); }
char *setlocale(int category, const char *name) {
  if (category < 0 || category > 12) return errno = EINVAL, NULL;
  return !name || is_there(name) ? "C" : NULL;
}
struct lconv {
  char *decimal_point, *thousands_sep, *grouping, *int_curr_symbol, *currency_symbol, *mon_decimal_point, *mon_thousands_sep, *mon_grouping,
      *positive_sign, *negative_sign;
  char numbers[14];
};
struct lconv *localeconv(void) {
  static struct lconv here = {".", "", "", "", "", "", "", "", "", "", {0}};
  memset(here.numbers, 127, sizeof here.numbers);
  return &here;
}
char *nl_langinfo(int item) {
  static const char *const times[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday",
                                      "Friday", "Saturday", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
                                      "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
                                      "November", "December", "AM", "PM", "%a %b %e %H:%M:%S %Y", "%m/%d/%y", "%H:%M:%S", "%I:%M:%S %p"};
  if (item >= 0x20000 && item < 0x20000 + 44) return (char *)times[item - 0x20000];
  switch (item) {
  case 14: return "ANSI_X3.4-1968";
  case 0x10000: return ".";
  case 0x4000f: return "-";
  case 0x50000: return "^[yY]";
  case 0x50001: return "^[nN]";
  default: return "";
  }
}
struct locale {
  char name;
};
static struct locale plain;
static struct locale *used = (struct locale *)-1L; /* the one that setlocale sets */
struct locale *newlocale(int categories, const char *name, struct locale *base) {
  (void)base;
  if (!name || categories & ~0x1fff) return errno = EINVAL, NULL;
  return is_there(name) ? &plain : (errno = ENOENT, NULL);
}
struct locale *duplocale(struct locale *other) { return (void)other, &plain; }
void freelocale(struct locale *locale) { (void)locale; }
struct locale *uselocale(struct locale *wanted) {
  struct locale *before = used;
  if (wanted) used = wanted;
  return before;
}
