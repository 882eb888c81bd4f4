/* time.h: dates of the Gregorian calendar, in universal time. */
#include "model.h"

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
  gmtime_r(when, out);
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
char *asctime_r(const struct tm *in, char *out) {
  snprintf(out, 26, "%.3s %.3s%3d %.2d:%.2d:%.2d %d\n", named(day_names, in->wday, 7), named(month_names, in->mon, 12),
           in->mday, in->hour, in->min, in->sec, 1900 + in->year);
  return out;
}
char *asctime(const struct tm *in) {
  static char text[26];
  return asctime_r(in, text);
}
char *ctime(const long *when) { return asctime(localtime(when)); }
char *ctime_r(const long *when, char *out) { return asctime_r(localtime(when), out); }

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
size_t strftime(char *out, size_t room, const char *text, const struct tm *in) {
  size_t n = 0;
  for (; *text; text++) {
    char piece[64];
    const char *form = NULL;
    int hour = in->hour % 12 ? in->hour % 12 : 12, year;
    piece[0] = *text, piece[1] = 0;
    if (*text == '%') {
      text++;
      if (*text == 'E' || *text == 'O') text++;
      switch (*text) {
      case 'a': snprintf(piece, sizeof piece, "%.3s", named(day_names, in->wday, 7)); break;
      case 'A': snprintf(piece, sizeof piece, "%s", named(day_names, in->wday, 7)); break;
      case 'b':
      case 'h': snprintf(piece, sizeof piece, "%.3s", named(month_names, in->mon, 12)); break;
      case 'B': snprintf(piece, sizeof piece, "%s", named(month_names, in->mon, 12)); break;
      case 'c': form = "%a %b %e %H:%M:%S %Y"; break;
      case 'C': snprintf(piece, sizeof piece, "%02d", (in->year + 1900) / 100); break;
      case 'd': snprintf(piece, sizeof piece, "%02d", in->mday); break;
      case 'D':
      case 'x': form = "%m/%d/%y"; break;
      case 'e': snprintf(piece, sizeof piece, "%2d", in->mday); break;
      case 'F': form = "%Y-%m-%d"; break;
      case 'g':
        iso_week(in, &year);
        snprintf(piece, sizeof piece, "%02d", year % 100);
        break;
      case 'G':
        iso_week(in, &year);
        snprintf(piece, sizeof piece, "%d", year);
        break;
      case 'H': snprintf(piece, sizeof piece, "%02d", in->hour); break;
      case 'I': snprintf(piece, sizeof piece, "%02d", hour); break;
      case 'j': snprintf(piece, sizeof piece, "%03d", in->yday + 1); break;
      case 'k': snprintf(piece, sizeof piece, "%2d", in->hour); break;
      case 'l': snprintf(piece, sizeof piece, "%2d", hour); break;
      case 'm': snprintf(piece, sizeof piece, "%02d", in->mon + 1); break;
      case 'M': snprintf(piece, sizeof piece, "%02d", in->min); break;
      case 'n': piece[0] = '\n'; break;
      case 'p': snprintf(piece, sizeof piece, "%s", in->hour < 12 ? "AM" : "PM"); break;
      case 'P': snprintf(piece, sizeof piece, "%s", in->hour < 12 ? "am" : "pm"); break;
      case 'r': form = "%I:%M:%S %p"; break;
      case 'R': form = "%H:%M"; break;
      case 's': {
        struct tm copy = *in;
        snprintf(piece, sizeof piece, "%ld", timegm(&copy));
        break;
      }
      case 'S': snprintf(piece, sizeof piece, "%02d", in->sec); break;
      case 't': piece[0] = '\t'; break;
      case 'T':
      case 'X': form = "%H:%M:%S"; break;
      case 'u': snprintf(piece, sizeof piece, "%d", in->wday ? in->wday : 7); break;
      case 'U': snprintf(piece, sizeof piece, "%02d", (in->yday + 7 - in->wday) / 7); break;
      case 'V': snprintf(piece, sizeof piece, "%02d", iso_week(in, &year)); break;
      case 'w': snprintf(piece, sizeof piece, "%d", in->wday); break;
      case 'W': snprintf(piece, sizeof piece, "%02d", (in->yday + 7 - (in->wday + 6) % 7) / 7); break;
      case 'y': snprintf(piece, sizeof piece, "%02d", (in->year % 100 + 100) % 100); break;
      case 'Y': snprintf(piece, sizeof piece, "%d", in->year + 1900); break;
      case 'z': snprintf(piece, sizeof piece, "+0000"); break;
      case 'Z': snprintf(piece, sizeof piece, "%s", in->zone ? in->zone : ""); break;
      case '%': break;
      default: return 0;
      }
    }
    if (form) strftime(piece, sizeof piece, form, in);
    for (const char *p = piece; *p; p++) {
      if (n + 1 >= room) return 0;
      out[n++] = *p;
    }
  }
  if (n >= room) return 0;
  out[n] = 0;
  return n;
}
