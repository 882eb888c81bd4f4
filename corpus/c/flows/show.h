/* What the programs of this folder print with, and a choice that nobody can foresee. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>
void show_text(const char *text);
void show_wide(const wchar_t *text);
void show_number(int number);
int random_choice(void);
