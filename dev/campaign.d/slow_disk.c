/* A slow disk, for one process that is started with this library before it: every sync takes 150 ms more, and every
 * write to a place in a file 2 ms. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int fsync(int file) {
    NEXT(fsync);
    usleep(150000);
    return next(file);
}

int fdatasync(int file) {
    NEXT(fdatasync);
    usleep(150000);
    return next(file);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
    NEXT(pwrite64);
    usleep(2000);
    return next(file, bytes, length, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
    NEXT(pwrite);
    usleep(2000);
    return next(file, bytes, length, offset);
}
