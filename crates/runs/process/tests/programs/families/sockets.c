// Sockets: connections, datagrams, what is sent along, and what tells that something is ready.
#include "family.h"
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
static struct sockaddr_in local;
static socklen_t length = sizeof local;
static int listening(void) {
    int server = socket(AF_INET, SOCK_STREAM, 0);
    local = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bind(server, (void *)&local, sizeof local);
    listen(server, 8);
    getsockname(server, (void *)&local, &length);
    return server;
}
static int reached(void) {
    int to = socket(AF_INET, SOCK_STREAM, 0);
    return connect(to, (void *)&local, sizeof local) ? -1 : to;
}

PROGRAM(streams) {
    int server = listening(), to = reached(), from = accept4(server, 0, 0, SOCK_CLOEXEC);
    char text[64] = {0};
    write(to, "hello there", 11);
    printf("%zd", recv(from, text, 5, MSG_PEEK));
    long got = recv(from, text, 64, 0);
    printf(" %ld %s", got, text);
    shutdown(to, SHUT_WR);
    printf(" %zd", recv(from, text, 64, 0));
    int one = 1, value = 0;
    socklen_t size = 4;
    printf(" %s", error(setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &one, 4)));
    getsockopt(to, IPPROTO_TCP, TCP_NODELAY, &value, &size);
    printf(" %d %d", value, size);
    struct sockaddr_in peer;
    size = 8;
    getpeername(to, (void *)&peer, &size);
    printf(" %d %d\n", size, peer.sin_port == local.sin_port);
}
PROGRAM(refused) {
    int server = listening();
    close(server);
    printf("%s", error(reached()));
    int to = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    printf(" %s", error(send(to, "x", 1, MSG_NOSIGNAL)));
    printf(" %s %s", error(accept(to, 0, 0)), error(connect(to, (void *)&local, 3)));
    printf(" %s %s\n", error(socket(AF_INET, 77, 0)), error(socket(99, SOCK_STREAM, 0)));
}
PROGRAM(broken) {
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    close(pair[1]);
    printf("%s", error(send(pair[0], "x", 1, MSG_NOSIGNAL)));
    signal(SIGPIPE, SIG_IGN);
    printf(" %s", error(write(pair[0], "x", 1)));
    char byte;
    printf(" %zd\n", read(pair[0], &byte, 1));
}
PROGRAM(datagrams) {
    int first = socket(AF_INET, SOCK_DGRAM, 0), second = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bind(first, (void *)&from, sizeof from);
    getsockname(first, (void *)&from, &length);
    printf("%zd", sendto(second, "0123456789", 10, 0, (void *)&from, sizeof from));
    sendto(second, "next", 4, 0, (void *)&from, sizeof from);
    sendto(second, "", 0, 0, (void *)&from, sizeof from);
    char text[64] = {0};
    long got = recv(first, text, 4, MSG_TRUNC);
    printf(" %ld %s", got, text);
    struct iovec part = {text, 2};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    got = recvmsg(first, &message, 0);
    printf(" %ld %x", got, message.msg_flags);
    printf(" %zd", recv(first, text, 64, MSG_DONTWAIT));
    printf(" %s\n", error(recv(first, text, 64, MSG_DONTWAIT)));
}
PROGRAM(several_at_once) {
    int pair[2];
    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
    char text[3][8] = {"one", "three", "seven"}, got[4][8] = {{0}};
    struct iovec parts[3], into[4];
    struct mmsghdr out[3] = {0}, in[4] = {0};
    for (int i = 0; i < 3; i++) parts[i] = (struct iovec){text[i], strlen(text[i])}, out[i].msg_hdr.msg_iov = &parts[i], out[i].msg_hdr.msg_iovlen = 1;
    for (int i = 0; i < 4; i++) into[i] = (struct iovec){got[i], 4}, in[i].msg_hdr.msg_iov = &into[i], in[i].msg_hdr.msg_iovlen = 1;
    printf("%d", sendmmsg(pair[0], out, 3, 0));
    printf(" %d", recvmmsg(pair[1], in, 4, MSG_DONTWAIT, 0));
    for (int i = 0; i < 3; i++) printf(" %u %s %x", in[i].msg_len, got[i], in[i].msg_hdr.msg_flags);
    printf("\n");
}
PROGRAM(abstract_names) {
    int server = socket(AF_UNIX, SOCK_STREAM, 0), to = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un name = {AF_UNIX, ""}, peer;
    bind(server, (void *)&name, 2);
    socklen_t size = sizeof name;
    getsockname(server, (void *)&name, &size);
    listen(server, 1);
    printf("%d", size);
    printf(" %s", error(connect(to, (void *)&name, size)));
    struct ucred who;
    size = sizeof who;
    int from = accept(server, 0, 0);
    getsockopt(from, SOL_SOCKET, SO_PEERCRED, &who, &size);
    printf(" %d %d", who.pid == getpid(), who.uid == getuid());
    size = sizeof peer;
    getpeername(from, (void *)&peer, &size);
    printf(" %d\n", size);
}
PROGRAM(sent_along) {
    int pair[2], on = 1;
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, 4);
    int file = temporary();
    write(file, "through", 7);
    union { struct cmsghdr head; char bytes[256]; } control = {0};
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(8)};
    control.head = (struct cmsghdr){CMSG_LEN(8), SOL_SOCKET, SCM_RIGHTS};
    ((int *)CMSG_DATA(&control.head))[0] = file, ((int *)CMSG_DATA(&control.head))[1] = 0;
    printf("%zd", sendmsg(pair[0], &message, 0));
    char byte, text[16] = {0};
    part.iov_base = &byte;
    message.msg_controllen = sizeof control;
    long came = recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC);
    printf(" %ld %x", came, message.msg_flags);
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
        printf(" %d %zu", head->cmsg_type, head->cmsg_len);
        if (head->cmsg_type == SCM_RIGHTS) {
            int got = *(int *)CMSG_DATA(head);
            pread(got, text, 15, 0);
            printf(" %s %d", text, fcntl(got, F_GETFD));
        } else printf(" %d", ((struct ucred *)CMSG_DATA(head))->pid == getpid());
    }
    write(pair[0], "y", 1);
    message.msg_controllen = 4;
    recvmsg(pair[1], &message, 0);
    printf(" %x\n", message.msg_flags & ~MSG_CMSG_CLOEXEC);
}
PROGRAM(readiness) {
    int all = epoll_create1(0), events = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE), ends[2];
    pipe2(ends, O_NONBLOCK);
    struct epoll_event wanted = {EPOLLIN | EPOLLET, {.u64 = 0x1122334455667788}}, found[4];
    printf("%s", error(epoll_ctl(all, EPOLL_CTL_ADD, events, &wanted)));
    wanted = (struct epoll_event){EPOLLIN | EPOLLONESHOT, {.u64 = 2}};
    epoll_ctl(all, EPOLL_CTL_ADD, ends[0], &wanted);
    printf(" %s", error(epoll_ctl(all, EPOLL_CTL_ADD, ends[0], &wanted)));
    uint64_t two = 2;
    write(events, &two, 8);
    int answer = epoll_wait(all, found, 4, 1000);
    printf(" %d %lx", answer, (unsigned long)found[0].data.u64);
    printf(" %d", epoll_wait(all, found, 4, 0));
    write(ends[1], "ab", 2);
    answer = epoll_wait(all, found, 4, 1000);
    printf(" %d %x", answer, found[0].events);
    printf(" %d", epoll_wait(all, found, 4, 0));
    epoll_ctl(all, EPOLL_CTL_MOD, ends[0], &wanted);
    close(ends[1]);
    answer = epoll_wait(all, found, 4, 1000);
    printf(" %d %x", answer, found[0].events);
    read(events, &two, 8);
    printf(" %lu", (unsigned long)two);
    printf(" %s %s\n", error(epoll_ctl(all, EPOLL_CTL_DEL, 99, 0)), error(epoll_wait(all, found, 0, 0)));
}
PROGRAM(asked_in_three_ways) {
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    struct pollfd ask[3] = {{pair[0], POLLIN | POLLOUT, 0}, {99, POLLIN, 0}, {-5, POLLIN, 3}};
    int answer = poll(ask, 3, 0);
    printf("%d %x %x %x", answer, ask[0].revents, ask[1].revents, ask[2].revents);
    fd_set in, out;
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(pair[0], &in);
    FD_SET(pair[0], &out);
    struct timeval none = {0, 0};
    answer = select(pair[0] + 1, &in, &out, 0, &none);
    printf(" %d %d %d", answer, FD_ISSET(pair[0], &in) != 0, FD_ISSET(pair[0], &out) != 0);
    write(pair[1], "x", 1), shutdown(pair[1], SHUT_RDWR);
    poll(ask, 1, 0);
    printf(" %x", ask[0].revents);
    FD_ZERO(&in);
    FD_SET(200, &in);
    printf(" %s %s\n", error(select(201, &in, 0, 0, &none)), error(select(-1, 0, 0, 0, &none)));
}
static volatile int urgent;
static void on_urgent(int signal, siginfo_t *info, void *context) { urgent++; }
PROGRAM(out_of_band) {
    int server = listening(), to = reached(), from = accept(server, 0, 0);
    handle(SIGURG, on_urgent, 0);
    fcntl(from, F_SETOWN, getpid());
    write(to, "ab", 2);
    send(to, "!", 1, MSG_OOB);
    while (!urgent) pause_for(1);
    char byte = 0, text[8] = {0};
    long urgent_bytes = recv(from, &byte, 1, MSG_OOB);
    printf("%ld", urgent_bytes);
    long got = recv(from, text, 8, 0);
    printf(" %c %ld %s %d\n", byte, got, text, fcntl(from, F_GETOWN) == getpid());
}
PROGRAM(patience) {
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    struct timeval time = {0, 20000}, told;
    socklen_t size = sizeof told;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    getsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &told, &size);
    char byte;
    printf("%ld %s", (long)told.tv_usec, error(read(pair[0], &byte, 1)));
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    char *much = calloc(1, 1 << 22);
    long sent = write(pair[0], much, 1 << 22);
    printf(" %d", sent > 0 && sent < 1 << 22);
    printf(" %s\n", error(write(pair[0], much, 1 << 22)));
}
PROGRAM(interfaces) {
    int any = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq all[64], one = {0};
    struct ifconf list = {.ifc_len = sizeof all, .ifc_req = all};
    printf("%s", error(ioctl(any, SIOCGIFCONF, &list)));
    int has_loopback = 0;
    for (unsigned i = 0; i < list.ifc_len / sizeof *all; i++) has_loopback |= !strcmp(all[i].ifr_name, "lo");
    strcpy(one.ifr_name, "lo");
    printf(" %d", has_loopback);
    printf(" %s", error(ioctl(any, SIOCGIFADDR, &one)));
    printf(" %x", ntohl(((struct sockaddr_in *)&one.ifr_addr)->sin_addr.s_addr));
    printf(" %s", error(ioctl(any, SIOCGIFFLAGS, &one)));
    printf(" %d", (one.ifr_flags & IFF_LOOPBACK) != 0);
    printf(" %d\n", if_nametoindex("lo") > 0);
}
PROGRAM(many_clients) {
    int server = listening(), sum = 0;
    fflush(stdout);
    for (int i = 0; i < 5; i++)
        if (fork() == 0) {
            int to = reached();
            char byte = (char)(i + 1);
            write(to, &byte, 1);
            _exit(0);
        }
    for (int i = 0; i < 5; i++) {
        char byte;
        int from = accept(server, 0, 0);
        read(from, &byte, 1);
        sum += byte;
        close(from);
    }
    while (wait(0) > 0) {}
    printf("%d\n", sum);
}
