// Messages on sockets, descriptors sent along, scattered reads and writes, and what /proc says about the program.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static void messages(void) {
    int pair[2], ends[2];
    char text[64];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    pipe(ends);
    struct iovec parts[2] = {{"hel", 3}, {"lo", 2}};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control};
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.head), &ends[1], sizeof(int));
    printf("sent %zd\n", sendmsg(pair[0], &message, 0));

    char first[2], second[60];
    struct iovec places[2] = {{first, 2}, {second, 60}};
    message.msg_iov = places;
    memset(&control, 0, sizeof control);
    message.msg_controllen = sizeof control;
    long got = recvmsg(pair[1], &message, 0);
    int passed = -1;
    memcpy(&passed, CMSG_DATA(&control.head), sizeof(int));
    printf("got %ld %.2s %.3s, %zu bytes of control, type %d\n", got, first, second, (size_t)message.msg_controllen,
           control.head.cmsg_type);
    write(passed, "through\n", 8);
    got = read(ends[0], text, sizeof text);
    printf("%.*s", (int)got, text);

    struct mmsghdr several[2] = {{.msg_hdr = {.msg_iov = &parts[0], .msg_iovlen = 1}},
                                 {.msg_hdr = {.msg_iov = &parts[1], .msg_iovlen = 1}}};
    printf("several %d", sendmmsg(pair[0], several, 2, 0));
    printf(" %u %u\n", several[0].msg_len, several[1].msg_len);
    got = recv(pair[1], text, sizeof text, 0);
    printf("%.*s\n", (int)got, text);

    struct sockaddr_un nowhere = {.sun_family = AF_UNIX, .sun_path = "/nowhere/at/all"};
    message = (struct msghdr){.msg_name = &nowhere, .msg_namelen = sizeof nowhere, .msg_iov = parts, .msg_iovlen = 1};
    int datagrams = socket(AF_UNIX, SOCK_DGRAM, 0);
    printf("%zd\n", sendmsg(datagrams, &message, 0));
    perror("nowhere");
}

static void scattered(void) {
    char name[] = "/tmp/scatteredXXXXXX", first[3] = "", second[4] = "";
    int file = mkstemp(name);
    unlink(name);
    struct iovec parts[2] = {{"abc", 3}, {"defg", 4}}, places[2] = {{first, 2}, {second, 3}};
    printf("%zd ", pwritev(file, parts, 2, 10));
    printf("%zd %s %s ", preadv(file, places, 2, 11), first, second);
    printf("%zd ", preadv2(file, places, 2, -1, 0));
    printf("%ld\n", (long)lseek(file, 0, SEEK_CUR));
}

/// Whether the line of `maps` that holds an address has these words in it.
static int mapped(void *address, const char *words) {
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        sscanf(line, "%lx-%lx", &start, &end);
        if ((unsigned long)address >= start && (unsigned long)address < end) found = strstr(line, words) != NULL;
    }
    if (maps) fclose(maps);
    return found;
}

static void about_itself(char **arguments) {
    char text[4096], *here = &text[0];
    struct stat named, linked;
    printf("%d", stat(arguments[0], &named) == 0 && stat("/proc/self/exe", &linked) == 0 && named.st_ino == linked.st_ino);
    int file = open("/proc/self/exe", O_RDONLY);
    printf(" %d", fstat(file, &linked) == 0 && named.st_ino == linked.st_ino);
    file = open("/proc/self/cmdline", O_RDONLY);
    printf(" %d", read(file, text, sizeof text) > 0 && strcmp(text, arguments[0]) == 0);
    file = open("/proc/self/comm", O_RDONLY);
    long got = read(file, text, sizeof text - 1);
    text[got > 0 ? got - 1 : 0] = 0;
    printf(" %d\n", strncmp(strrchr(arguments[0], '/') + 1, text, 15) == 0);
    printf("%d %d %d %d\n", mapped(here, "[stack]"), mapped(about_itself, "r-xp"), mapped(strdup("x"), "[heap]"),
           mapped(NULL, ""));
}

int main(int count, char **arguments) {
    messages();
    scattered();
    about_itself(arguments);
    if (count > 1) return 6;
    fflush(stdout);
    execl("/proc/self/exe", arguments[0], "again", NULL);
    return 1;
}
