/* A block that is compressed by two threads into one buffer, streams that are never ended, a buffer that is not set. */
#include "bzlib.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[4000];
static char packed[8000];
static unsigned int packed_length;
static int done;

static void *pack(void *unused)
{
    (void)unused;
    packed_length = sizeof packed;
    if (BZ2_bzBuffToBuffCompress(packed, &packed_length, text, sizeof text, 1, 0, 0) == BZ_OK)
        done++;
    return NULL;
}

static void leak_compressor(void)
{
    bz_stream stream;
    memset(&stream, 0, sizeof stream);
    BZ2_bzCompressInit(&stream, 1, 0, 0);
    memset(&stream, 0, sizeof stream);
}

static void leak_decompressor(void)
{
    bz_stream stream;
    char out[100];
    memset(&stream, 0, sizeof stream);
    BZ2_bzDecompressInit(&stream, 0, 1);
    stream.next_in = packed;
    stream.avail_in = packed_length;
    stream.next_out = out;
    stream.avail_out = sizeof out;
    BZ2_bzDecompress(&stream);
    memset(&stream, 0, sizeof stream);
}

static int unset(void)
{
    char *raw = malloc(300);
    char small[600];
    unsigned int length = sizeof small;
    int result;
    raw[0] = 'a';
    result = BZ2_bzBuffToBuffCompress(small, &length, raw, 300, 1, 0, 0);
    free(raw);
    return result;
}

int main(void)
{
    pthread_t one, two;
    for (unsigned at = 0; at < sizeof text; at++)
        text[at] = (char)('a' + at % 23);
    pthread_create(&one, NULL, pack, NULL);
    pthread_create(&two, NULL, pack, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    leak_compressor();
    leak_decompressor();
    return unset() + done > 90;
}
