// An answer for which there is only half the room: what came before the fault stays.
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/utsname.h>
int main(void) {
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + 4096, 4096, PROT_NONE);
    char *names = pages + 4096 - 100;
    int result = uname((struct utsname *)names);
    printf("%d %d %s\n", result, errno == EFAULT, names);
    return names[0];
}
