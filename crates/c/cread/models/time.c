/* time.h: dates of the Gregorian calendar, in universal time. */
#include "model.h"

int toupper(int c);
enum { EOVERFLOW = 75 };

int snprintf(char *out, size_t limit, const char *text, ...);
struct timespec { long seconds, nanoseconds; };
struct tm {
  int sec, min, hour, mday, mon, year, wday, yday, isdst;
  long offset;
  const char *zone;
};

long time(long *out) {
  long now = __parallax_time();
  if (out) *out = now;
  return now;
}
int clock_gettime(int clock, struct timespec *out) {
  (void)clock;
  out->seconds = __parallax_time();
  out->nanoseconds = 0;
  return 0;
}
int gettimeofday(struct timespec *out, void *zone) {
  (void)zone;
  if (out) out->seconds = __parallax_time(), out->nanoseconds = 0;
  return 0;
}
int nanosleep(const struct timespec *wanted, struct timespec *left) {
  (void)wanted;
  if (left) left->seconds = left->nanoseconds = 0;
  return 0;
}
long clock(void) { return 0; }
double difftime(long a, long b) { return (double)(a - b); }
void tzset(void) {}

static long floor_div(long a, long b) { return a / b - (a % b < 0); }
static int is_leap(long year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }
/* Days from 1970 to the first of January of a year. */
static long days_before(long year) {
  long y = year - 1;
  return 365 * (year - 1970) + (floor_div(y, 4) - 492) - (floor_div(y, 100) - 19) + (floor_div(y, 400) - 4);
}
static const short month_start[2][13] = {{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365},
                                         {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366}};

struct tm *gmtime_r(const long *when, struct tm *out) {
  long days = floor_div(*when, 86400), rest = *when - days * 86400;
  /* Years are of 32 bits. */
  if (*when > 67768036191676799 || *when < -67768040609740800) return errno = EOVERFLOW, NULL;
  long year = 1970 + (days < 0 ? floor_div(days, 365) - 1 : days / 366); /* no later than the year it is */
  while (days_before(year + 1) <= days) year++;
  int leap = is_leap(year), day = (int)(days - days_before(year)), month = 0;
  while (month_start[leap][month + 1] <= day) month++;
  out->sec = (int)(rest % 60), out->min = (int)(rest / 60 % 60), out->hour = (int)(rest / 3600);
  out->mday = day - month_start[leap][month] + 1, out->mon = month, out->year = (int)(year - 1900);
  out->wday = (int)((days + 4) % 7 + 7) % 7, out->yday = day, out->isdst = 0;
  out->offset = 0, out->zone = "GMT";
  return out;
}
struct tm *localtime_r(const long *when, struct tm *out) {
  if (!gmtime_r(when, out)) return NULL;
  out->zone = "UTC";
  return out;
}
static struct tm shared;
struct tm *gmtime(const long *when) { return gmtime_r(when, &shared); }
struct tm *localtime(const long *when) { return localtime_r(when, &shared); }
long timegm(struct tm *in) {
  long months = in->year * 12L + in->mon, year = 1900 + floor_div(months, 12);
  int month = (int)(months - (year - 1900) * 12);
  long days = days_before(year) + month_start[is_leap(year)][month] + in->mday - 1;
  long when = ((days * 24 + in->hour) * 60 + in->min) * 60 + in->sec;
  gmtime_r(&when, in);
  return when;
}
long mktime(struct tm *in) {
  long when = timegm(in);
  in->zone = "UTC";
  return when;
}

static const char *const day_names[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const char *const month_names[] = {"January", "February", "March",     "April",   "May",      "June",
                                          "July",    "August",   "September", "October", "November", "December"};
static const char *named(const char *const *names, int index, int count) {
  return index >= 0 && index < count ? names[index] : "?";
}
static char *written(const struct tm *in, char *out, size_t room) {
  if (!in) return errno = EINVAL, NULL;
  int n = in->year > 2147483647 - 1900 ? -1
                                       : snprintf(out, room, "%.3s %.3s%3d %.2d:%.2d:%.2d %d\n", in->wday >= 0 && in->wday < 7 ? day_names[in->wday] : "???",
                                                  in->mon >= 0 && in->mon < 12 ? month_names[in->mon] : "???", in->mday, in->hour, in->min, in->sec,
                                                  1900 + in->year);
  if (n < 0 || (size_t)n >= room) return errno = EOVERFLOW, NULL;
  return out;
}
char *asctime_r(const struct tm *in, char *out) { return written(in, out, 26); }
char *asctime(const struct tm *in) {
  static char text[114];
  return written(in, text, sizeof text);
}
char *ctime(const long *when) { return asctime(localtime(when)); }
char *ctime_r(const long *when, char *out) {
  struct tm date;
  return localtime_r(when, &date) ? asctime_r(&date, out) : NULL;
}

/* Week of the year by ISO 8601, and the year it belongs to. */
static int iso_week(const struct tm *in, int *year) {
  int weekday = (in->wday + 6) % 7, week = (in->yday - weekday + 10) / 7;
  *year = in->year + 1900;
  if (week < 1) {
    (*year)--;
    int days = 365 + is_leap(*year);
    week = (in->yday + days - weekday + 10) / 7;
  } else if (week == 53 && in->yday - weekday + 3 >= 365 + is_leap(*year)) {
    (*year)++;
    week = 1;
  }
  return week;
}
/* How a conversion is to be padded: by what (0 where it was not said), to how many characters, in which case. */
struct form {
  char padding;
  int width, upper, swapped;
};
static size_t number(char *out, size_t room, const struct form *form, char padding, int digits, long value) {
  if (form->padding) padding = form->padding;
  char text[24];
  int n = snprintf(text, sizeof text, "%lu", value < 0 ? -(unsigned long)value : (unsigned long)value), negative = value < 0;
  /* `-` takes back the padding to the usual number of digits, not that to a width. */
  if (padding == '-') digits = 0;
  int most = form->width > digits ? form->width : digits, fill = most - n - negative, blank = padding == '_' || padding == '-';
  if (fill < 0) fill = 0;
  if ((size_t)(fill + n + negative) >= room) return room;
  for (int i = 0; blank && i < fill; i++) *out++ = ' ';
  if (negative) *out++ = '-';
  for (int i = 0; !blank && i < fill; i++) *out++ = '0';
  memcpy(out, text, (size_t)n);
  return (size_t)(fill + n + negative);
}
static size_t text_in(char *out, size_t room, const struct form *form, const char *text) {
  size_t n = strlen(text), fill = form->width > (int)n ? (size_t)form->width - n : 0;
  if (fill + n >= room) return room;
  for (size_t i = 0; i < fill; i++) *out++ = form->padding == '0' ? '0' : ' ';
  for (size_t i = 0; i < n; i++) out[i] = form->upper ? (char)toupper(text[i]) : form->swapped ? (char)tolower(text[i]) : text[i];
  return fill + n;
}
static size_t dated(char *out, size_t room, const char *text, const struct tm *in, int upper) {
  size_t n = 0;
  for (; *text; text++) {
    struct form form = {0, -1, upper, 0};
    const char *start = text;
    char piece[64];
    size_t left = room - n, put = left;
    char *to = out + n;
    int hour = in->hour % 12 ? in->hour % 12 : 12, year = in->year + 1900;
    if (*text != '%') {
      if (left < 2) return room;
      out[n++] = *text;
      continue;
    }
    for (text++; *text == '_' || *text == '-' || *text == '0' || *text == '^' || *text == '#'; text++) {
      if (*text == '^') form.upper = 1;
      else if (*text == '#') form.swapped = 1;
      else form.padding = *text;
    }
    if (isdigit((unsigned char)*text)) form.width = 0;
    while (isdigit((unsigned char)*text)) form.width = form.width < 100000 ? form.width * 10 + (*text - '0') : form.width, text++;
    if (*text == 'E' || *text == 'O') text++;
    const char *inner = NULL, *words = NULL;
    /* Names are written large by `#`, what is large already is written small. */
    if (form.swapped && *text && *text != 'p' && *text != 'Z') form.upper |= *text == 'a' || *text == 'A' || *text == 'b' || *text == 'B' || *text == 'h';
    if (form.upper && !(form.swapped && *text == 'Z')) form.swapped = 0;
    switch (*text) {
    case 'a': snprintf(piece, sizeof piece, "%.3s", named(day_names, in->wday, 7)), words = piece; break;
    case 'A': words = named(day_names, in->wday, 7); break;
    case 'b':
    case 'h': snprintf(piece, sizeof piece, "%.3s", named(month_names, in->mon, 12)), words = piece; break;
    case 'B': words = named(month_names, in->mon, 12); break;
    case 'c': inner = "%a %b %e %H:%M:%S %Y"; break;
    case 'C': put = number(to, left, &form, '0', 1, floor_div(year, 100)); break;
    case 'd': put = number(to, left, &form, '0', 2, in->mday); break;
    case 'D':
    case 'x': inner = "%m/%d/%y"; break;
    case 'e': put = number(to, left, &form, '_', 2, in->mday); break;
    case 'F': inner = "%Y-%m-%d"; break;
    case 'g':
      iso_week(in, &year);
      put = number(to, left, &form, '0', 2, (year % 100 + 100) % 100);
      break;
    case 'G':
      iso_week(in, &year);
      put = number(to, left, &form, '0', 1, year);
      break;
    case 'H': put = number(to, left, &form, '0', 2, in->hour); break;
    case 'I': put = number(to, left, &form, '0', 2, hour); break;
    case 'j': put = number(to, left, &form, '0', 3, in->yday + 1L); break;
    case 'k': put = number(to, left, &form, '_', 2, in->hour); break;
    case 'l': put = number(to, left, &form, '_', 2, hour); break;
    case 'm': put = number(to, left, &form, '0', 2, in->mon + 1L); break;
    case 'M': put = number(to, left, &form, '0', 2, in->min); break;
    case 'n': words = "\n"; break;
    case 'P': form.upper = 0, form.swapped = 1; /* fall through */
    case 'p': words = in->hour < 12 ? "AM" : "PM"; break;
    case 'r': inner = "%I:%M:%S %p"; break;
    case 'R': inner = "%H:%M"; break;
    case 's': {
      struct tm copy = *in;
      snprintf(piece, sizeof piece, "%ld", timegm(&copy)), words = piece;
      break;
    }
    case 'S': put = number(to, left, &form, '0', 2, in->sec); break;
    case 't': words = "\t"; break;
    case 'T':
    case 'X': inner = "%H:%M:%S"; break;
    case 'u': put = number(to, left, &form, '0', 1, in->wday ? in->wday : 7); break;
    case 'U': put = number(to, left, &form, '0', 2, (in->yday + 7 - in->wday) / 7); break;
    case 'V': put = number(to, left, &form, '0', 2, iso_week(in, &year)); break;
    case 'w': put = number(to, left, &form, '0', 1, in->wday); break;
    case 'W': put = number(to, left, &form, '0', 2, (in->yday + 7 - (in->wday + 6) % 7) / 7); break;
    case 'y': put = number(to, left, &form, '0', 2, (in->year % 100 + 100) % 100); break;
    case 'Y': put = number(to, left, &form, '0', 1, year); break;
    case 'z': words = "+0000"; break;
    case 'Z': words = in->zone ? in->zone : ""; break;
    case '%': words = "%"; break;
    default: {
      /* None that there is stands for itself. */
      if (!*text) text--;
      put = (size_t)(text - start) + 1;
      if (put >= left) return room;
      memcpy(to, start, put);
    }
    }
    if (inner) {
      size_t got = dated(piece, sizeof piece, inner, in, form.upper);
      piece[got] = 0;
      words = piece, form.upper = form.swapped = 0;
    }
    if (words) put = text_in(to, left, &form, words);
    if (put >= left) return room;
    n += put;
  }
  return n;
}
size_t strftime(char *out, size_t room, const char *text, const struct tm *in) {
  size_t n = room ? dated(out, room, text, in, 0) : 0;
  if (n >= room) return 0;
  out[n] = 0;
  return n;
}
