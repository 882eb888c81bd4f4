// Runs another program in its own place.
#include <unistd.h>

static int tries;

static void prepare(const char *program) {
    tries += program[0] != 0;
}

int main(int count, char **words) {
    prepare(words[count - 1]);
    execl("/nowhere/at/all", "none", (char *)0);
    prepare(words[count - 1]);
    execl(words[count - 1], "second", (char *)0);
    return 1;
}
