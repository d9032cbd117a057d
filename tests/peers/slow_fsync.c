/* Adds a delay to every fsync of the process that loads it first (LD_PRELOAD): what a disk without
 * a fast cache costs. SLOW_FSYNC_US is the delay in microseconds, 1000 where it is not set.
 *
 *     cc -O2 -shared -fPIC -o target/slow_fsync.so tests/peers/slow_fsync.c -ldl
 *     staunch bench suite --database postgres --preload target/slow_fsync.so
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void pause_first(void)
{
    const char *text = getenv("SLOW_FSYNC_US");
    usleep(text ? (useconds_t)strtoul(text, NULL, 10) : 1000);
}

int fsync(int file)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    pause_first();
    return real(file);
}

int fdatasync(int file)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    pause_first();
    return real(file);
}
