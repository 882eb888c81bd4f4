/* The environment: `environ` is what the program was given, changed as the C library changes it. */
#include "model.h"

char *strchr(const char *s, int c);
int strncmp(const char *a, const char *b, size_t limit);

static char *no_variables[1];
char **environ = no_variables;
/* The list that the functions below have made, and text of theirs in it. */
static char **own;
struct text {
  struct text *next;
  char bytes[];
};
static struct text *texts;

/* Where a variable of this name is in the list, or where the list ends. */
static size_t position(const char *name, size_t n) {
  size_t at = 0;
  if (environ)
    for (; environ[at]; at++)
      if (!strncmp(environ[at], name, n) && environ[at][n] == '=') break;
  return at;
}
char *getenv(const char *name) {
  size_t n = strlen(name), at = position(name, n);
  if (environ && environ[at]) return environ[at] + n + 1;
  __parallax_unset(name);
  return NULL;
}
char *secure_getenv(const char *name) { return getenv(name); }
static int put(char *text, size_t n) {
  size_t at = position(text, n), count = at;
  if (environ && environ[at]) {
    environ[at] = text;
    return 0;
  }
  char **list = malloc((count + 2) * sizeof *list);
  if (!list) return errno = ENOMEM, -1;
  if (environ) memcpy(list, environ, count * sizeof *list);
  list[count] = text;
  list[count + 1] = NULL;
  if (own && environ == own) free(own);
  own = environ = list;
  return 0;
}
int setenv(const char *name, const char *value, int replace) {
  if (!name || !*name || strchr(name, '=')) return errno = EINVAL, -1;
  size_t n = strlen(name), m = strlen(value);
  size_t at = position(name, n);
  if (environ && environ[at] && !replace) return 0;
  struct text *text = malloc(sizeof *text + n + m + 2);
  if (!text) return errno = ENOMEM, -1;
  text->next = texts;
  texts = text;
  memcpy(text->bytes, name, n);
  text->bytes[n] = '=';
  memcpy(text->bytes + n + 1, value, m + 1);
  return put(text->bytes, n);
}
int unsetenv(const char *name) {
  if (!name || !*name || strchr(name, '=')) return errno = EINVAL, -1;
  size_t n = strlen(name), at = position(name, n);
  if (environ)
    for (; environ[at]; at++) environ[at] = environ[at + 1];
  return 0;
}
int putenv(char *text) {
  char *at = strchr(text, '=');
  return at ? put(text, (size_t)(at - text)) : unsetenv(text);
}
int clearenv(void) {
  environ = NULL;
  return 0;
}
