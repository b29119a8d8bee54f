/* What the runtime wants of the system, over WASI's C library: numbers of errors, flags and clocks are
   those of Linux, as programs have them, and structs are as `sys.rs` declares them. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Errors: what WASI calls them, and Linux. */
#define ERRORS(E)                                                                                  \
    E(EPERM, 1) E(ENOENT, 2) E(ESRCH, 3) E(EINTR, 4) E(EIO, 5) E(ENXIO, 6) E(E2BIG, 7)            \
    E(ENOEXEC, 8) E(EBADF, 9) E(ECHILD, 10) E(EAGAIN, 11) E(ENOMEM, 12) E(EACCES, 13)              \
    E(EFAULT, 14) E(EBUSY, 16) E(EEXIST, 17) E(EXDEV, 18) E(ENODEV, 19) E(ENOTDIR, 20)             \
    E(EISDIR, 21) E(EINVAL, 22) E(ENFILE, 23) E(EMFILE, 24) E(ENOTTY, 25) E(ETXTBSY, 26)           \
    E(EFBIG, 27) E(ENOSPC, 28) E(ESPIPE, 29) E(EROFS, 30) E(EMLINK, 31) E(EPIPE, 32) E(EDOM, 33)   \
    E(ERANGE, 34) E(EDEADLK, 35) E(ENAMETOOLONG, 36) E(ENOLCK, 37) E(ENOSYS, 38)                   \
    E(ENOTEMPTY, 39) E(ELOOP, 40) E(ENOMSG, 42) E(EIDRM, 43) E(ENOLINK, 67) E(EPROTO, 71)          \
    E(EMULTIHOP, 72) E(EBADMSG, 74) E(EOVERFLOW, 75) E(EILSEQ, 84) E(ENOTSOCK, 88)                 \
    E(EDESTADDRREQ, 89) E(EMSGSIZE, 90) E(EPROTOTYPE, 91) E(ENOPROTOOPT, 92)                       \
    E(EPROTONOSUPPORT, 93) E(ENOTSUP, 95) E(EAFNOSUPPORT, 97) E(EADDRINUSE, 98)                    \
    E(EADDRNOTAVAIL, 99) E(ENETDOWN, 100) E(ENETUNREACH, 101) E(ENETRESET, 102)                    \
    E(ECONNABORTED, 103) E(ECONNRESET, 104) E(ENOBUFS, 105) E(EISCONN, 106) E(ENOTCONN, 107)       \
    E(ETIMEDOUT, 110) E(ECONNREFUSED, 111) E(EHOSTUNREACH, 113) E(EALREADY, 114)                   \
    E(EINPROGRESS, 115) E(ESTALE, 116) E(EDQUOT, 122) E(ECANCELED, 125) E(EOWNERDEAD, 130)         \
    E(ENOTRECOVERABLE, 131)

int rpy_wasi_errno(void)
{
    switch (errno) {
#define CASE(wasi, linux)                                                                          \
    case wasi:                                                                                     \
        return linux;
        ERRORS(CASE)
#undef CASE
    case ENOTCAPABLE: /* What lies outside of the folders that the program was given. */
        return 13;
    default:
        return errno;
    }
}

const char *rpy_wasi_strerror(int number)
{
    switch (number) {
#define CASE(wasi, linux)                                                                          \
    case linux:                                                                                    \
        return strerror(wasi);
        ERRORS(CASE)
#undef CASE
    case 0:
        return "Success";
    default:
        return "Unknown error";
    }
}

int rpy_wasi_open(const char *path, int flags, int mode)
{
    static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR, O_RDWR };
    static const struct {
        int bits, wasi;
    } others[] = {
        { 0100, O_CREAT },        { 0200, O_EXCL },      { 01000, O_TRUNC },
        { 02000, O_APPEND },      { 04000, O_NONBLOCK }, { 010000, O_DSYNC },
        { 04010000, O_SYNC },     { 0200000, O_DIRECTORY }, { 0400000, O_NOFOLLOW },
    };
    int wasi = modes[flags & 3];
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if ((flags & others[i].bits) == others[i].bits)
            wasi |= others[i].wasi;
    return open(path, wasi, mode);
}

struct statx_time {
    int64_t sec;
    uint32_t nsec;
    int32_t pad;
};

struct statx {
    uint32_t mask, blksize;
    uint64_t attributes;
    uint32_t nlink, uid, gid;
    uint16_t mode, pad;
    uint64_t ino, size, blocks, attributes_mask;
    struct statx_time times[4];
    uint32_t rdev[2], dev[2];
    uint64_t rest[14];
};

static void set_time(struct statx_time *to, struct timespec from)
{
    to->sec = from.tv_sec;
    to->nsec = from.tv_nsec;
}

/* That of an open file if the path is empty. */
int rpy_wasi_statx(int fd, const char *path, int flags, unsigned mask, struct statx *out)
{
    struct stat st;
    int result = !*path              ? fstat(fd, &st)
                 : (flags & 0x100)   ? lstat(path, &st)
                                     : stat(path, &st);
    (void)mask;
    if (result < 0)
        return result;
    memset(out, 0, sizeof *out);
    /* WASI has no permissions: what a program gets to see it may use. */
    out->mode = st.st_mode | (S_ISDIR(st.st_mode) ? 0755 : 0644);
    out->blksize = 4096;
    out->nlink = st.st_nlink;
    out->ino = st.st_ino;
    out->size = st.st_size;
    out->blocks = (st.st_size + 511) / 512;
    set_time(&out->times[0], st.st_atim);
    set_time(&out->times[2], st.st_ctim);
    set_time(&out->times[3], st.st_mtim);
    out->dev[0] = st.st_dev >> 32;
    out->dev[1] = st.st_dev;
    return 0;
}

/* The name of the next entry of a folder. */
const char *rpy_wasi_readdir(void *dir)
{
    struct dirent *entry = readdir(dir);
    return entry ? entry->d_name : NULL;
}

struct times {
    int64_t sec, nsec;
};

static struct timespec time_of(const struct times *t)
{
    return (struct timespec){ .tv_sec = t->sec, .tv_nsec = t->nsec };
}

int rpy_wasi_clock_gettime(int clock, struct times *out)
{
    struct timespec t;
    int result = -1;
    switch (clock) {
    case 0: /* REALTIME */
    case 5: /* REALTIME_COARSE */
        result = clock_gettime(CLOCK_REALTIME, &t);
        break;
    case 2: /* PROCESS_CPUTIME_ID */
    case 3: /* THREAD_CPUTIME_ID */
        result = clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        if (result == 0)
            break;
        /* Not every host tells. */
    case 1: /* MONOTONIC */
    case 4: /* MONOTONIC_RAW */
    case 6: /* MONOTONIC_COARSE */
    case 7: /* BOOTTIME */
        result = clock_gettime(CLOCK_MONOTONIC, &t);
        break;
    default:
        errno = EINVAL;
    }
    if (result == 0) {
        out->sec = t.tv_sec;
        out->nsec = t.tv_nsec;
    }
    return result;
}

int rpy_wasi_nanosleep(const struct times *time, struct times *rest)
{
    struct timespec t = time_of(time), r;
    int result = nanosleep(&t, &r);
    if (result < 0) {
        rest->sec = r.tv_sec;
        rest->nsec = r.tv_nsec;
    }
    return result;
}

int rpy_wasi_utimensat(int fd, const char *path, const struct times *times, int flags)
{
    struct timespec both[] = { time_of(&times[0]), time_of(&times[1]) };
    (void)fd, (void)flags;
    return utimensat(AT_FDCWD, path, both, 0);
}

int64_t rpy_wasi_lseek(int fd, int64_t at, int how)
{
    static const int from[] = { SEEK_SET, SEEK_CUR, SEEK_END };
    if (how < 0 || how > 2) {
        errno = EINVAL;
        return -1;
    }
    return lseek(fd, at, from[how]);
}

int rpy_wasi_getrandom(uint8_t *bytes, size_t count, unsigned flags)
{
    size_t some = count < 256 ? count : 256;
    (void)flags;
    return getentropy(bytes, some) < 0 ? -1 : (int)some;
}

/* WASI starts every program in the root of what it sees. It goes where it was started, if it is told where
   that is, and sees it. */
__attribute__((constructor)) static void enter_folder(void)
{
    const char *folder = getenv("PWD");
    if (folder && *folder == '/')
        (void)chdir(folder);
    errno = 0;
}

/* Debian's helpers for 128-bit numbers want these. */
__attribute__((weak)) void *__stack_chk_guard = (void *)0x57ac;
__attribute__((weak)) void __stack_chk_fail(void)
{
    __builtin_trap();
}

/* What processes without numbers say. */
int rpy_wasi_getpid(void)
{
    return 1;
}
