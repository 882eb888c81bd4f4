/* accept has three arguments: what the fourth register holds says nothing. accept4 has flags, and refuses those it does not know. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static long raw(long number, long a, long b, long c, long fourth)
{
    long result;
    register long r10 __asm__("r10") = fourth;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}

int main(void)
{
    int server = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(server, (struct sockaddr *)&address, sizeof address) || listen(server, 8)
        || getsockname(server, (struct sockaddr *)&address, &length))
        return 1;
    long fourths[] = {0, SOCK_NONBLOCK, SOCK_CLOEXEC, -1};
    for (int i = 0; i < 4; i++) {
        int client = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(client, (struct sockaddr *)&address, sizeof address))
            return 2;
        long plain = raw(SYS_accept, server, 0, 0, fourths[i]);
        printf("accept: %d %d\n", (fcntl(plain, F_GETFL) & O_NONBLOCK) != 0, fcntl(plain, F_GETFD));
        close(plain);
        close(client);
    }
    for (int i = 0; i < 3; i++) {
        int client = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(client, (struct sockaddr *)&address, sizeof address))
            return 3;
        int flagged = accept4(server, 0, 0, fourths[i]);
        printf("accept4: %d %d\n", (fcntl(flagged, F_GETFL) & O_NONBLOCK) != 0, fcntl(flagged, F_GETFD));
        close(flagged);
        close(client);
    }
    int refused = accept4(server, 0, 0, 1 << 30);
    printf("unknown: %d %d\n", refused, errno == EINVAL);
    return 0;
}
