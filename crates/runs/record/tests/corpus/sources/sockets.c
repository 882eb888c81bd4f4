// Two processes talk over a socket, one of them waiting with poll.
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    if (fork() == 0) {
        close(pair[0]);
        char text[64];
        for (int i = 0; i < 20; i++) {
            ssize_t length = read(pair[1], text, sizeof text);
            for (ssize_t k = 0; k < length; k++) text[k] ^= 32;
            send(pair[1], text, length, 0);
        }
        return 7;
    }
    close(pair[1]);
    int good = 0;
    for (int i = 0; i < 20; i++) {
        char text[64], back[64];
        int length = snprintf(text, sizeof text, "message-%d", i);
        write(pair[0], text, length);
        struct pollfd one = {.fd = pair[0], .events = POLLIN};
        poll(&one, 1, -1);
        ssize_t got = recv(pair[0], back, sizeof back, 0);
        for (ssize_t k = 0; k < got; k++) back[k] ^= 32;
        good += got == length && !memcmp(text, back, length);
    }
    int status;
    wait(&status);
    printf("%d %d\n", good, WEXITSTATUS(status));
    return 0;
}
