/* getopt.h, as glibc has it: options are permuted to the front unless the string starts with '+' or POSIXLY_CORRECT. */
#include "model.h"

typedef struct file FILE;
extern FILE *stderr;
int fprintf(FILE *file, const char *text, ...);
char *strchr(const char *s, int c);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t count);

char *optarg;
int optind = 1, opterr = 1, optopt = '?';
static char *next;              /* rest of a group of short options */
static int first_plain, last_plain; /* words before optind that are no options: [first, last) */

struct option {
  const char *name;
  int argument, *flag, value;
};

/* Exchanges the plain words with the options that came after them. */
static void permute(char **words) {
  int count = last_plain - first_plain, moved = optind - last_plain;
  for (int i = 0; i < moved; i++) {
    char *option = words[last_plain + i];
    for (int at = last_plain + i; at > first_plain + i; at--) words[at] = words[at - 1];
    words[first_plain + i] = option;
  }
  first_plain += moved;
  last_plain = first_plain + count;
}

/* Whether some long option begins with this name. */
static int is_long(const char *name, const struct option *options) {
  size_t len = 0;
  while (name[len] && name[len] != '=') len++;
  for (int i = 0; options[i].name; i++)
    if (!strncmp(options[i].name, name, len)) return 1;
  return 0;
}
static int long_option(int count, char **words, const char *text, const struct option *options, int *index, int quiet,
                       const char *dashes) {
  char *name = words[optind++] + strlen(dashes);
  size_t len = 0;
  while (name[len] && name[len] != '=') len++;
  const struct option *found = NULL;
  int at = 0, several = 0;
  for (int i = 0; options[i].name; i++) {
    if (strncmp(options[i].name, name, len)) continue;
    if (!options[i].name[len]) {
      found = &options[i], at = i, several = 0;
      break;
    }
    if (!found) found = &options[i], at = i;
    else if (found->argument != options[i].argument || found->flag != options[i].flag || found->value != options[i].value)
      several = 1;
  }
  (void)text;
  if (several) {
    if (!quiet) fprintf(stderr, "%s: option '%s%s' is ambiguous\n", words[0], dashes, name);
    optopt = 0;
    return '?';
  }
  if (!found) {
    if (!quiet) fprintf(stderr, "%s: unrecognized option '%s%s'\n", words[0], dashes, name);
    optopt = 0;
    return '?';
  }
  optarg = NULL;
  optopt = 0;
  if (name[len] == '=') {
    if (!found->argument) {
      if (!quiet) fprintf(stderr, "%s: option '%s%s' doesn't allow an argument\n", words[0], dashes, found->name);
      optopt = found->value;
      return '?';
    }
    optarg = name + len + 1;
  } else if (found->argument == 1) {
    if (optind >= count) {
      if (!quiet) fprintf(stderr, "%s: option '%s%s' requires an argument\n", words[0], dashes, found->name);
      optopt = found->value;
      return text[0] == ':' ? ':' : '?';
    }
    optarg = words[optind++];
  }
  if (index) *index = at;
  if (found->flag) {
    *found->flag = found->value;
    return 0;
  }
  return found->value;
}

static int get(int count, char **words, const char *text, const struct option *options, int *index, int single) {
  int in_order = 0, as_one = 0;
  if (optind == 0) optind = 1, next = NULL;
  if (optind == 1 && !next) first_plain = last_plain = 1;
  if (*text == '+') in_order = 1, text++;
  else if (*text == '-') as_one = 1, text++;
  int quiet = !opterr || *text == ':';
  optarg = NULL;
  if (!next || !*next) {
    next = NULL;
    if (last_plain > optind) last_plain = optind;
    if (first_plain > optind) first_plain = optind;
    if (!in_order && !as_one) {
      if (first_plain != last_plain && last_plain != optind) permute(words);
      else if (last_plain != optind) first_plain = optind;
      while (optind < count && (words[optind][0] != '-' || !words[optind][1])) optind++;
      last_plain = optind;
    }
    if (optind < count && !strcmp(words[optind], "--")) {
      optind++;
      if (first_plain != last_plain && last_plain != optind) permute(words);
      else if (first_plain == last_plain) first_plain = optind;
      last_plain = count;
      optind = count;
    }
    if (optind >= count) {
      if (first_plain != last_plain) optind = first_plain;
      return -1;
    }
    char *word = words[optind];
    if (word[0] != '-' || !word[1]) {
      if (in_order) return -1;
      optarg = words[optind++];
      return 1;
    }
    if (options && word[1] == '-') return long_option(count, words, text, options, index, quiet, "--");
    if (options && single && (word[2] || !strchr(text, word[1])) && (is_long(word + 1, options) || !strchr(text, word[1])))
      return long_option(count, words, text, options, index, quiet, "-");
    next = word + 1;
  }
  char c = *next++;
  const char *found = c == ':' || c == ';' ? NULL : strchr(text, c);
  if (!*next) optind++;
  if (!found) {
    if (!quiet) fprintf(stderr, "%s: invalid option -- '%c'\n", words[0], c);
    optopt = c;
    return '?';
  }
  if (found[1] == ':') {
    if (*next) {
      optarg = next;
      optind++;
    } else if (found[2] == ':') {
      optarg = NULL;
    } else if (optind >= count) {
      if (!quiet) fprintf(stderr, "%s: option requires an argument -- '%c'\n", words[0], c);
      optopt = c;
      next = NULL;
      return *text == ':' ? ':' : '?';
    } else {
      optarg = words[optind++];
    }
    next = NULL;
  }
  return c;
}

int getopt(int count, char **words, const char *text) { return get(count, words, text, NULL, NULL, 0); }
int getopt_long(int count, char **words, const char *text, const struct option *options, int *index) {
  return get(count, words, text, options, index, 0);
}
int getopt_long_only(int count, char **words, const char *text, const struct option *options, int *index) {
  return get(count, words, text, options, index, 1);
}
