#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ladle.h"

/* Only local files: the network is left out of this small program. */
static const char *local_path(const char *url) {
    const char *scheme = "file://";

    return strncmp(url, scheme, strlen(scheme)) == 0 ? url + strlen(scheme) : url;
}

int job_open(struct job *job) {
    struct stat info;

    if (stat(local_path(job->url), &info) < 0)
        return -1;
    job->size = info.st_size;
    job->saved = access("ladle.state", R_OK) == 0;
    job->out = open("ladle.out", O_WRONLY | O_CREAT, 0644);
    return job->out < 0 ? -1 : 0;
}

int load_state(struct job *job) {
    FILE *f = fopen("ladle.state", "r");
    long long pos, end;
    int count, i;

    if (f == NULL)
        return -1;
    if (fscanf(f, "%d", &count) != 1 || count < 1 || count > MAX_PARTS) {
        fclose(f);
        return -1;
    }
    for (i = 0; i < count; i++) {
        if (fscanf(f, "%lld %lld", &pos, &end) != 2) {
            fclose(f);
            return -1;
        }
        job->part[i].pos = pos;
        job->part[i].end = end;
    }
    fclose(f);
    nthreads = count;
    return 0;
}

int save_state(const struct job *job) {
    FILE *f = fopen("ladle.state", "w");
    int i;

    if (f == NULL)
        return -1;
    fprintf(f, "%d\n", nthreads);
    for (i = 0; i < nthreads; i++)
        fprintf(f, "%lld %lld\n", (long long)job->part[i].pos,
                (long long)job->part[i].end);
    return fclose(f);
}

int part_open(struct part *p, int *fd) {
    *fd = open(local_path(p->job->url), O_RDONLY);
    if (*fd < 0)
        return -1;
    return lseek(*fd, p->pos, SEEK_SET) < 0 ? -1 : 0;
}

void back_off(int tries) {
    usleep(1000u << tries);
}
