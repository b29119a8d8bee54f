"""What rvmprof needs in C: the handler of the timer's signal, and the file in vmprof's format."""
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo

# The stack of code objects of a thread, as words: its depth, a number for the handler's acquaintance with it,
# and the numbers of the outermost code objects, as many as there is room for.
STACK = rffi.CArray(lltype.Signed)
PSTACK = lltype.Ptr(STACK)
DEPTH, ROUND, FIRST, ROOM = 0, 1, 2, 2048

_SOURCE = r'''
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* As in Python. Words of a stack stay where they are, so that they may be read at any time. */
struct stack { int64_t depth, round, values[]; };
enum { ROOM = 2048 };
_Static_assert(sizeof(long) == 8, "a machine of 64 bits");

/* Kinds of records. */
enum { STACK = 1, CODE = 2, END = 3, HEADER = 5, START = 6, META = 7 };
/* What an entry of a stack is: a code object of the interpreted language. */
enum { INTERPRETED = 1 };
/* The version of the format, and its modes. */
enum { VERSION = 6, MEMORY = 1, RPYTHON = 8, REAL_TIME = 16 };
/* What the handler may read without calling anything, also in a library that was loaded late. */
static __thread struct stack *this_stack __attribute__((tls_model("initial-exec")));

static int file = -1, memory_file = -1, timer = ITIMER_PROF, signal_number = SIGPROF;
static int64_t period;
static long page_size;
/* Samples are not taken while this is not 0. */
static int paused;
/* Whether a thread writes a record. */
static int writing;

/* One that is written with one call, so that it is whole even if the process is killed. */
static struct {
    char before[7], marker;
    int64_t count, depth, words[2 * ROOM + 2];
} record;

static int write_all(const void *from, size_t size)
{
    const char *rest = from;
    while (size > 0) {
        ssize_t n = write(file, rest, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        rest += n;
        size -= (size_t)n;
    }
    return 0;
}

/* Resident memory in KB; -1 if it is unknown. */
static int64_t resident(void)
{
    char text[64];
    ssize_t n = pread(memory_file, text, sizeof text - 1, 0);
    int64_t pages = 0;
    char *p = text;
    if (n <= 0)
        return -1;
    text[n] = 0;
    while (*p != 0 && *p != ' ')
        p++;
    for (p += *p == ' '; *p >= '0' && *p <= '9'; p++)
        pages = pages * 10 + (*p - '0');
    return pages * page_size / 1024;
}

static void sample(int number)
{
    int saved = errno;
    struct stack *stack = this_stack;
    int64_t depth, n = 0;
    (void)number;
    if (stack == NULL || __atomic_load_n(&paused, __ATOMIC_SEQ_CST) != 0)
        return;
    /* Another thread writes: this sample is lost. */
    if (__atomic_exchange_n(&writing, 1, __ATOMIC_ACQUIRE))
        return;
    depth = *(volatile int64_t *)&stack->depth;
    /* The innermost code object comes first. */
    for (depth = depth < ROOM ? depth : ROOM; depth > 0; depth--) {
        record.words[n++] = INTERPRETED;
        record.words[n++] = stack->values[depth - 1];
    }
    if (n > 0) {
        record.marker = STACK;
        record.count = 1;
        record.depth = n;
        record.words[n++] = (int64_t)(intptr_t)pthread_self();
        if (memory_file >= 0)
            record.words[n++] = resident();
        write_all(&record.marker, (size_t)((char *)&record.words[n] - &record.marker));
    }
    __atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
    errno = saved;
}

/* Keeps the handler from writing, which may be at work in another thread. */
static void begin_record(void)
{
    __atomic_add_fetch(&paused, 1, __ATOMIC_SEQ_CST);
    while (__atomic_exchange_n(&writing, 1, __ATOMIC_ACQUIRE))
        usleep(1);
}

static int end_record(int result)
{
    __atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
    __atomic_sub_fetch(&paused, 1, __ATOMIC_SEQ_CST);
    return result;
}

/* When something is: seconds, microseconds, and no time zone. */
static int write_time(char marker)
{
    char text[25] = {0};
    struct timeval now;
    int64_t words[2];
    gettimeofday(&now, NULL);
    words[0] = now.tv_sec;
    words[1] = now.tv_usec;
    text[0] = marker;
    memcpy(text + 1, words, sizeof words);
    return write_all(text, sizeof text);
}

static int write_text(const char *text)
{
    int64_t length = (int64_t)strlen(text);
    return write_all(&length, sizeof length) < 0 ? -1 : write_all(text, (size_t)length);
}

static int write_meta(const char *key, const char *value)
{
    char marker = META;
    return write_all(&marker, 1) < 0 || write_text(key) < 0 ? -1 : write_text(value);
}

int rvmprof_open(int fd, double interval, int memory, int real_time)
{
    int64_t head[5] = {0, 3, 0, 0, 0};
    char mode = RPYTHON | (memory ? MEMORY : 0) | (real_time ? REAL_TIME : 0);
    char header[] = {HEADER, 0, VERSION, mode, 4, 'p', 'y', 'p', 'y'};
    file = fd;
    period = (int64_t)(interval * 1e6);
    timer = real_time ? ITIMER_REAL : ITIMER_PROF;
    signal_number = real_time ? SIGALRM : SIGPROF;
    page_size = sysconf(_SC_PAGESIZE);
    head[3] = period;
    if (memory && (memory_file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) < 0)
        return -1;
    if (write_all(head, sizeof head) < 0 || write_all(header, sizeof header) < 0)
        return -1;
    if (write_time(START) < 0 || write_meta("os", "linux") < 0)
        return -1;
    return write_meta("bits", "64");
}

/* From now on this is the stack of this thread. */
void rvmprof_stack(void *stack)
{
    this_stack = stack;
}

static int set_timer(int64_t microseconds)
{
    struct itimerval each;
    each.it_interval.tv_sec = 0;
    each.it_interval.tv_usec = (suseconds_t)microseconds;
    each.it_value = each.it_interval;
    return setitimer(timer, &each, NULL);
}

static int set_handler(void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    return sigaction(signal_number, &action, NULL);
}

int rvmprof_start(void)
{
    return set_handler(sample) < 0 ? -1 : set_timer(period);
}

int rvmprof_stop(void)
{
    int result = set_timer(0);
    /* A signal may be on its way: its default would end the process. */
    if (set_handler(SIG_IGN) < 0)
        result = -1;
    begin_record();
    if (write_time(END) < 0)
        result = -1;
    if (memory_file >= 0)
        close(memory_file);
    file = memory_file = -1;
    return end_record(result);
}

int rvmprof_code(const char *name, long number)
{
    char marker = CODE;
    int64_t word = number;
    int result;
    begin_record();
    result = write_all(&marker, 1) < 0 || write_all(&word, sizeof word) < 0 ? -1 : write_text(name);
    return end_record(result);
}

int rvmprof_pause(int more)
{
    __atomic_add_fetch(&paused, more, __ATOMIC_SEQ_CST);
    return file;
}

long rvmprof_path(char *path, long size)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return (long)readlink(link, path, (size_t)size);
}
'''

_eci = ExternalCompilationInfo(
    post_include_bits=['''
int rvmprof_open(int, double, int, int);
int rvmprof_start(void);
int rvmprof_stop(void);
int rvmprof_code(const char *, long);
int rvmprof_pause(int);
long rvmprof_path(char *, long);
void rvmprof_stack(void *);
'''],
    separate_module_sources=[_SOURCE])


def _external(name, arguments, result, **options):
    return rffi.llexternal(name, arguments, result, compilation_info=_eci, **options)

_ERRNO = rffi.RFFI_SAVE_ERRNO
# The functions return -1 where the system refuses something.
c_open = _external('rvmprof_open', [rffi.INT, rffi.DOUBLE, rffi.INT, rffi.INT], rffi.INT, save_err=_ERRNO)
c_start = _external('rvmprof_start', [], rffi.INT, save_err=_ERRNO)
c_stop = _external('rvmprof_stop', [], rffi.INT, save_err=_ERRNO)
c_code = _external('rvmprof_code', [rffi.CCHARP, rffi.LONG], rffi.INT, save_err=_ERRNO)
c_pause = _external('rvmprof_pause', [rffi.INT], rffi.INT)
c_path = _external('rvmprof_path', [rffi.CCHARP, rffi.LONG], rffi.LONG)
c_stack = _external('rvmprof_stack', [PSTACK], lltype.Void, _nowrapper=True)
