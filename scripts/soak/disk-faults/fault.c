/*
 * A disk that fails on demand, for one process: preload it (LD_PRELOAD) and name a file of four bytes in DISK_FAULT.
 * Byte 0 of that file says what fails (the bits below), byte 1 that one in so many such calls does. Only the files of
 * index.db are concerned. Compiled by scripts/soak/disk-faults.ts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { READ_EIO = 1, WRITE_EIO = 2, SYNC_EIO = 4, NO_SPACE = 8, TORN_WRITE = 16 };

static volatile unsigned char *control;
static atomic_uint calls;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("DISK_FAULT");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *map = mmap(NULL, 4, PROT_READ, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) control = map;
  close(fd);
}

static int is_index(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  const char *name = strrchr(path, '/');
  return name && (!strcmp(name, "/index.db") || !strcmp(name, "/index.db-wal"));
}

/* Whether this call fails. */
static int fails(int fd, int what) {
  if (!control || !(control[0] & what) || !is_index(fd)) return 0;
  unsigned char share = control[1];
  return share < 2 || atomic_fetch_add(&calls, 1) % share == 0;
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define FAIL(code) return errno = (code), -1

#define READ(name, offset_t) \
  ssize_t name(int fd, void *bytes, size_t count, offset_t at) { \
    REAL(name); \
    if (fails(fd, READ_EIO)) FAIL(EIO); \
    return real(fd, bytes, count, at); \
  }
#define WRITE(name, offset_t) \
  ssize_t name(int fd, const void *bytes, size_t count, offset_t at) { \
    REAL(name); \
    if (fails(fd, NO_SPACE)) FAIL(ENOSPC); \
    if (fails(fd, WRITE_EIO)) FAIL(EIO); \
    if (fails(fd, TORN_WRITE)) { real(fd, bytes, count / 2, at); FAIL(EIO); } \
    return real(fd, bytes, count, at); \
  }
#define SYNC(name) \
  int name(int fd) { \
    REAL(name); \
    if (fails(fd, SYNC_EIO)) FAIL(EIO); \
    return real(fd); \
  }

READ(pread, off_t)
READ(pread64, off64_t)
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)
SYNC(fsync)
SYNC(fdatasync)
