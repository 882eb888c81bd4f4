#include <stdio.h>
#include <stdlib.h>
struct animal; struct methods { const char *(*sound)(struct animal *); int (*legs)(struct animal *); }; struct animal { const struct methods *m; int extra; };
static const char *woof(struct animal *a) { return a->extra ? "WOOF" : "woof"; } static const char *hiss(struct animal *a) { (void)a; return "hiss"; } static int four(struct animal *a) { return 4 - a->extra; } static int none(struct animal *a) { (void)a; return 0; }
static const struct methods dog = {woof, four}, snake = {hiss, none};
int main(void) { struct animal *z[3]; for (int i = 0; i < 3; i++) { z[i] = malloc(sizeof **z); z[i]->m = i == 1 ? &snake : &dog; z[i]->extra = i / 2; } for (int i = 0; i < 3; i++) { printf("%s %d\n", z[i]->m->sound(z[i]), z[i]->m->legs(z[i])); free(z[i]); } }
