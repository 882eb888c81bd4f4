/* Classification of characters in the "C" locale, as functions and as the tables that glibc's macros look into. */
#include "model.h"

int isdigit(int c) { return c >= '0' && c <= '9'; }
int isupper(int c) { return c >= 'A' && c <= 'Z'; }
int islower(int c) { return c >= 'a' && c <= 'z'; }
int isalpha(int c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
int isalnum(int c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
int isspace(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
int isblank(int c) { return c == ' ' || c == '\t'; }
int iscntrl(int c) { return (c >= 0 && c < 32) || c == 127; }
int isprint(int c) { return c >= 32 && c < 127; }
int isgraph(int c) { return c > 32 && c < 127; }
int ispunct(int c) { return c > 32 && c < 127 && !((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')); }
int isxdigit(int c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f'); }
int isascii(int c) { return c >= 0 && c < 128; }
int toascii(int c) { return c & 127; }
int tolower(int c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }
int toupper(int c) { return c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c; }

/* glibc's bits, in the order of its header for little-endian machines. */
static unsigned short class_of(int c) {
  unsigned short bits = 0;
  if (c < 0 || c > 127) return 0;
  if (isupper(c)) bits |= 1 << 8;
  if (islower(c)) bits |= 1 << 9;
  if (isalpha(c)) bits |= 1 << 10;
  if (isdigit(c)) bits |= 1 << 11;
  if (isxdigit(c)) bits |= 1 << 12;
  if (isspace(c)) bits |= 1 << 13;
  if (isprint(c)) bits |= 1 << 14;
  if (isgraph(c)) bits |= 1 << 15;
  if (isblank(c)) bits |= 1 << 0;
  if (iscntrl(c)) bits |= 1 << 1;
  if (ispunct(c)) bits |= 1 << 2;
  if (isalnum(c)) bits |= 1 << 3;
  return bits;
}

static unsigned short classes[384];
static const unsigned short *classes_at;
const unsigned short **__ctype_b_loc(void) {
  if (!classes_at) {
    for (int c = -128; c < 256; c++) classes[c + 128] = class_of(c);
    classes_at = classes + 128;
  }
  return &classes_at;
}

static int lower[384], upper[384];
static const int *lower_at, *upper_at;
const int **__ctype_tolower_loc(void) {
  if (!lower_at) {
    for (int c = -128; c < 256; c++) lower[c + 128] = tolower(c);
    lower_at = lower + 128;
  }
  return &lower_at;
}
const int **__ctype_toupper_loc(void) {
  if (!upper_at) {
    for (int c = -128; c < 256; c++) upper[c + 128] = toupper(c);
    upper_at = upper + 128;
  }
  return &upper_at;
}
