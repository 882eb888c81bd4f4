/* Sections 4.1.3 and 4.1.4: a small HTTP server that receives more than its buffer holds. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void pwned(void)
{
    puts("Now I pwn your computer");
    fflush(stdout);
    exit(0);
}

static void answer(int client, const char *path)
{
    char text[256];
    int length = snprintf(text, sizeof text, "HTTP/1.0 200 OK\r\n\r\nThis is %s\n", path);
    send(client, text, length, 0);
}

__attribute__((noinline)) static void handle(int client)
{
    char request[64];
    ssize_t got = recv(client, request, 1024, 0); /* The buffer holds 64. */
    if (got > 4 && memcmp(request, "GET ", 4) == 0) {
        char path[16];
        sscanf(request + 4, "%15s", path);
        answer(client, path);
    }
    close(client);
}

int main(void)
{
    int server = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (server < 0 || bind(server, (struct sockaddr *)&address, sizeof address) || listen(server, 8))
        return 1;
    getsockname(server, (struct sockaddr *)&address, &length);
    printf("httpd running on port %d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        int client = accept(server, 0, 0);
        if (client < 0)
            return 1;
        handle(client);
    }
}
