/* Numbers and texts as glibc's scanf reads them: what is consumed, what is left, what does not fit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static void whole(const char *text, const char *format) {
  long value = -77;
  int n = -1;
  int count = sscanf(text, format, &value, &n);
  printf("%s %s: %d %ld %d\n", text, format, count, value, n);
}
static void real(const char *text) {
  double value = -77;
  int n = -1;
  int count = sscanf(text, "%lf%n", &value, &n);
  printf("%s: %d %g %d\n", text, count, value, n);
}

int main(void) {
  const char *numbers[] = {"99999999999999999999", "-99999999999999999999", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "18446744073709551615", "18446744073709551616", "0x", "0xg", "0x1F", "-0x1f", "017", "089", "+5", "-", "+-3",
    "00012", "7fffffffffffffff", "12abc", " \t\n42", "", "x", "-0", "0b101"};
  const char *formats[] = {"%ld%n", "%li%n", "%lu%n", "%lx%n", "%lo%n", "%2ld%n", "%1li%n", "%3lx%n"};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) whole(numbers[i], formats[k]);
  const char *reals[] = {"1.2.3", "1.5.6", "3.14.", "1e5e6", "0x1p4", "0x1.8p-1z", "nan", "-inf", "infinityx", "infix", "1e", "1e+", "1ex",
    ".5", ".", "-.5e-3", "5.", "+7", "--7", "1e400", "0x", "0xg", "1_0", "", "e5", "0e0", "00.10", "inf", "NaN(12)", "1,5"};
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) real(reals[i]);
  long double wide;
  float small;
  int a = -1, b = -1, c = -1;
  printf("%d ", sscanf("1.25", "%Lf", &wide));
  printf("%Lg\n", wide);
  printf("%d ", sscanf("1.2.3", "%f.%d", &small, &a));
  printf("%g %d\n", small, a);
  char *made = NULL;
  printf("%d ", sscanf("hello, a word that is longer than any first guess of its room", "%m[^!]", &made));
  printf("%s\n", made);
  free(made);
  void *pointer = NULL;
  printf("%d ", sscanf("0x1234 (nil)", "%p", &pointer));
  printf("%p\n", pointer);
  wchar_t letters[8];
  printf("%d ", sscanf("wide", "%ls", letters));
  printf("%d %d\n", (int)letters[0], (int)letters[4]);
  printf("%d ", sscanf("5 %", "%d%%%n", &a, &b));
  printf("%d %d\n", a, b);
  char five[6] = "-----";
  printf("%d ", sscanf("abc", "%5c", five));
  printf("%s\n", five);
  short h = -1;
  signed char hh = -1;
  printf("%d ", sscanf("70000 300", "%hd %hhd", &h, &hh));
  printf("%d %d\n", h, hh);
  printf("%d ", sscanf("12 34", "%*d %d%n", &c, &b));
  printf("%d %d\n", c, b);
  printf("%d ", sscanf("99999999999", "%d", &c));
  printf("%d\n", c);
  char *rest = (char *)"unset";
  long first = strtol("12", &rest, 37);
  printf("%ld %s\n", first, rest);
  unsigned long second = strtoul("12", &rest, 1);
  printf("%lu %s\n", second, rest);
  long third = strtol("zz!", &rest, 36);
  printf("%ld %s\n", third, rest);
  return 0;
}
