#include "show.h"
int random_choice(void) { return rand() % 2; }
void show_text(const char *text) {
  if (text) printf("%s\n", text);
}
void show_wide(const wchar_t *text) {
  if (text) wprintf(L"%ls\n", text);
}
void show_number(int number) { printf("%d\n", number); }
