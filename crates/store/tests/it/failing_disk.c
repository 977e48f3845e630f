/* A disk that fails, for one process that is started with this library before it: the FAIL_AT-th write to a file of a
 * database, or the FAIL_AT-th time that one is to be synced, counted from when the file FAIL_ARMED exists. That one
 * alone with FAIL_FOR=once, and every one from then on with FAIL_FOR=ever. FAIL_MET is made when it happens. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;

static int is_database(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strstr(path, ".db") != NULL;
}

/* Whether this call of a kind is one that fails. */
static int fails(int file, const char *kind) {
    const char *wanted = getenv("FAIL_KIND"), *armed = getenv("FAIL_ARMED"), *met = getenv("FAIL_MET");
    if (!wanted || !armed || !met || strcmp(wanted, kind) || access(armed, F_OK) || !is_database(file)) return 0;
    long call = atomic_fetch_add(&calls, 1) + 1, at = atol(getenv("FAIL_AT"));
    int is_ever = !strcmp(getenv("FAIL_FOR"), "ever");
    if (call < at || (call > at && !is_ever)) return 0;
    close(open(met, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    return 1;
}

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* Half of a page may be written before the disk says that it failed. */
#define FAILING_WRITE(name, offset_type)                                                                               \
    ssize_t name(int file, const void *bytes, size_t length, offset_type offset) {                                     \
        NEXT(name);                                                                                                    \
        if (fails(file, "write")) return errno = EIO, -1;                                                              \
        if (fails(file, "torn")) return next(file, bytes, length / 2, offset), errno = EIO, -1;                        \
        if (fails(file, "full")) return errno = ENOSPC, -1;                                                            \
        return next(file, bytes, length, offset);                                                                      \
    }

FAILING_WRITE(pwrite, off_t)
FAILING_WRITE(pwrite64, off64_t)

int fsync(int file) {
    NEXT(fsync);
    if (fails(file, "sync")) return errno = EIO, -1;
    return next(file);
}

int fdatasync(int file) {
    NEXT(fdatasync);
    if (fails(file, "sync")) return errno = EIO, -1;
    return next(file);
}
