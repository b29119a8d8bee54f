/* The C part of a library: between C programs and the functions of the program. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { IN = 0, WAS_IN = 1, BUSY = 2 };

int taipan_start(_Bool with_lock);
int64_t rpy_extension_enter(void);
void rpy_extension_leave(void);
void rpy_extension_wait(void);
void rpy_extension_uncaught(void);

static void *entries[COUNT];
/* What the function has returned that was called last, with the lock. */
static int64_t result;
static double float_result;

void taipan_c_register(int64_t number, void *f)
{
    entries[number] = f;
}

void taipan_c_result(int64_t x)
{
    result = x;
}

void taipan_c_float_result(double x)
{
    float_result = x;
}

__attribute__((visibility("default"))) int rpython_startup_code(void)
{
    static int started;
    /* As in the original. */
    if (started)
        return 67;
    started = 1;
    int code = taipan_start(1);
    rpy_extension_leave();
    return code;
}

static int64_t enter(void)
{
    int64_t in;
    while ((in = rpy_extension_enter()) == BUSY)
        rpy_extension_wait();
    if (in > BUSY) {
        fputs("Fatal RPython error: a library was called in the fork of a process in which another thread was "
              "in it\n", stderr);
        abort();
    }
    return in;
}

static void leave(int64_t in)
{
    if (in == IN)
        rpy_extension_leave();
}
