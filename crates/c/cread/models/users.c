/* pwd.h and grp.h: whom the outside world knows is not known here. Each answer is one of any, or none; the same name or number has the
   same answer. */
#include "model.h"

int strcmp(const char *a, const char *b);
char *strcpy(char *to, const char *from);

struct passwd {
  char *name, *password;
  unsigned user, group;
  char *gecos, *folder, *shell;
};
struct group {
  char *name, *password;
  unsigned group;
  char **members;
};
enum { KNOWN = 8, LETTERS = 8 };
static char *text(const char *what) {
  char *made = __parallax_zeroed(LETTERS);
  if (made) __parallax_forget(made, LETTERS - 1, LETTERS - 1);
  (void)what;
  return made;
}
static struct passwd users[KNOWN];
static int user_count, next_user;
static struct passwd *user(const char *name, unsigned number) {
  for (int i = 0; i < user_count; i++)
    if (name ? !strcmp(users[i].name, name) : users[i].user == number) return &users[i];
  if (user_count == KNOWN || !__parallax_unknown("getpwnam")) return NULL;
  struct passwd *made = &users[user_count];
  made->name = name ? strcpy(malloc(strlen(name) + 1), name) : text("name");
  made->password = "x", made->gecos = text("gecos"), made->folder = text("folder"), made->shell = "/bin/sh";
  made->user = name ? (unsigned)__parallax_unknown("getpwnam") : number;
  made->group = (unsigned)__parallax_unknown("getpwnam");
  user_count++;
  return made;
}
struct passwd *getpwnam(const char *name) { return user(name, 0); }
struct passwd *getpwuid(unsigned number) { return user(NULL, number); }
void setpwent(void) { next_user = 0; }
void endpwent(void) { next_user = 0; }
struct passwd *getpwent(void) { return next_user < user_count ? &users[next_user++] : NULL; }
static struct group groups[KNOWN];
static int group_count, next_group;
static struct group *group(const char *name, unsigned number) {
  for (int i = 0; i < group_count; i++)
    if (name ? !strcmp(groups[i].name, name) : groups[i].group == number) return &groups[i];
  if (group_count == KNOWN || !__parallax_unknown("getgrnam")) return NULL;
  static char *nobody[1];
  struct group *made = &groups[group_count];
  made->name = name ? strcpy(malloc(strlen(name) + 1), name) : text("name");
  made->password = "x", made->members = nobody;
  made->group = name ? (unsigned)__parallax_unknown("getgrnam") : number;
  group_count++;
  return made;
}
struct group *getgrnam(const char *name) { return group(name, 0); }
struct group *getgrgid(unsigned number) { return group(NULL, number); }
void setgrent(void) { next_group = 0; }
void endgrent(void) { next_group = 0; }
struct group *getgrent(void) { return next_group < group_count ? &groups[next_group++] : NULL; }
