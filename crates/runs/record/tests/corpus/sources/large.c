// More than half of the memory that there is: whether it can be had depends on how much there is.
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
int main(void) {
    struct sysinfo host;
    sysinfo(&host);
    unsigned long memory = (host.totalram + host.totalswap) * host.mem_unit;
    void *place = mmap(NULL, memory / 4 * 3, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return place != MAP_FAILED;
}
