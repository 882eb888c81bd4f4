#include <stdio.h>
#include <string.h>
int main(void) {
  char a[64] = "alpha", b[64]; strcpy(b, a); strcat(b, "-beta"); strncat(b, "gamma", 3); puts(b);
  printf("%zu %d %d %d\n", strlen(b), strcmp(a, b) < 0, strncmp(a, b, 5), strcmp("b", "a") > 0);
  printf("%s %s %s\n", strchr(b, '-'), strrchr(b, 'a'), strstr(b, "bet"));
  printf("%zu %zu %s\n", strspn(b, "aplh"), strcspn(b, "-"), strpbrk(b, "xyz-"));
  memmove(b + 2, b, 5); b[12] = 0; puts(b); memset(b, '#', 3); puts(b);
  char text[] = "one, two;three  four"; for (char *t = strtok(text, ",; "); t; t = strtok(NULL, ",; ")) printf("<%s>", t); puts("");
  printf("%d %p\n", memcmp("abc", "abd", 3) < 0, (void *)memchr("abc", 'z', 3));
  char pad[8]; strncpy(pad, "xy", 8); for (int i = 0; i < 8; i++) printf("%d ", pad[i]); puts("");
}
