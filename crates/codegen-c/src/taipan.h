/* What all files of a program that Taipan translated to C include. */

#ifndef TAIPAN_H
#define TAIPAN_H

/* Words of memory have 64 bits on every machine. */
#define RPY_WORD __attribute__((aligned(8)))
#define RPY_INLINE static inline __attribute__((always_inline))

/* Values. */
typedef _Bool bool;
typedef unsigned char Char;
typedef unsigned int UniChar;
typedef signed char Int8;
typedef unsigned char UInt8;
typedef short Int16;
typedef unsigned short UInt16;
typedef int Int32;
typedef unsigned int UInt32;
typedef long long Signed RPY_WORD;
typedef unsigned long long Unsigned RPY_WORD;
typedef char *Address;
/* An address as a number. */
typedef __UINTPTR_TYPE__ Word;

/* Integers of 128 bits. */
#ifdef __SIZEOF_INT128__
typedef __int128 Int128;
typedef unsigned __int128 UInt128;
#define RPY_INT128(high, low) ((Int128)((UInt128)(high) << 64 | (low)))
#define RPY_LOW(x) ((Unsigned)(x))
#else
/* Not all files need them. */
#define RPY_WIDE_FUNCTION static __attribute__((noinline, unused))
#include "wide.h"
#endif

#define RPY_RAW __attribute__((may_alias))
/* What is in raw memory, of which nobody knows what else it is. */
typedef bool RPY_RAW RawBool;
typedef Char RPY_RAW RawChar;
typedef UniChar RPY_RAW RawUniChar;
typedef Int8 RPY_RAW RawInt8;
typedef UInt8 RPY_RAW RawUInt8;
typedef Int16 RPY_RAW RawInt16;
typedef UInt16 RPY_RAW RawUInt16;
typedef Int32 RPY_RAW RawInt32;
typedef UInt32 RPY_RAW RawUInt32;
typedef Signed RPY_RAW RawSigned;
typedef Unsigned RPY_RAW RawUnsigned;
typedef Int128 RPY_RAW RawInt128;
typedef UInt128 RPY_RAW RawUInt128;
typedef double RPY_RAW RPY_WORD RawDouble;
typedef float RPY_RAW RawFloat;
typedef Address RPY_RAW RawAddress;
typedef void *RPY_RAW RawPointer;
typedef void RawVoid;
/* Objects are aligned to words. */
typedef Int128 RPY_WORD HeapInt128;
typedef UInt128 RPY_WORD HeapUInt128;
typedef double RPY_WORD HeapDouble;

#define true 1
#define false 0
#define NULL ((void *)0)
#define RPY_LIKELY(x) __builtin_expect(!!(x), 1)
#define RPY_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Tells the compiler that a pointer is not NULL. */
#define RPY_NOT_NULL(p) do { if ((p) == NULL) __builtin_unreachable(); } while (0)

/* Of functions with a frame on the shadow stack: gcc collects what it stores there in vector
   registers, which takes longer than storing word by word, and keeps variables in them. */
#ifdef __clang__
#define RPY_SCALAR
#else
#define RPY_SCALAR __attribute__((optimize("no-tree-slp-vectorize")))
#endif
#define RPY_NEVER() __builtin_trap()

/* The header of a GC object: the address of its type information, with flags in the low bits. */
typedef struct {
    char *word;
} RPY_WORD RPyHeader;

#if __SIZEOF_POINTER__ < 8
/* An address in memory. Nothing else is in the rest of the word. */
typedef struct {
    void *address;
} RPY_WORD RPY_RAW RPySlot;
#define RPY_SET_SLOT(slot, value) (*(RawUnsigned *)&(slot) = (Word)(value))
#endif

/* A word of the shadow stack. */
typedef struct {
    void *object;
} RPyRoot;

/* A place in the source; line 0 is none in particular. */
typedef struct {
    const char *file;
    const char *function;
    Unsigned line;
} RPyLocation;

/* The words that a program shares with the runtime. */
typedef struct {
    char *nursery_free;
    char *nursery_top;
    RPyRoot *root_stack_top;
    void *exc_type;
    void *exc_value;
    char *stack_limit;
    Word slow_result;
    Word slow_arguments[3];
    Unsigned signals;
    Word traceback_count;
    struct {
        const void *location;
        void *exc_type;
    } traceback[@DEPTH@];
} RPyState;
@OFFSETS@

#ifdef RPY_LIBRARY
/* The runtime is that of the process that loads the library. */
extern RPyState *rpy_state_at;
#define rpy_state (*rpy_state_at)
#else
extern RPyState rpy_state;
#endif

/* Functions of the runtime and of the C library. */
@FUNCTIONS@
extern int rpy_main(int argc, char **argv, const void *program);
extern void *malloc(__SIZE_TYPE__ size);
extern void *calloc(__SIZE_TYPE__ count, __SIZE_TYPE__ size);
extern void free(void *memory);

#if __SIZEOF_POINTER__ < 8
/* What is too large for an address is too large for memory. */
#define RPY_SIZE(n) ((Unsigned)(n) < 0x7fffffff ? (Word)(n) : 0x7fffffff)
#define rpy_gc_malloc_varsize(info, length, zero) rpy_gc_malloc_varsize(info, RPY_SIZE(length), zero)
#define malloc(size) malloc(RPY_SIZE(size))
#define calloc(count, size) calloc(count, RPY_SIZE(size))
#endif

/* Memory of the nursery, none of it filled, or NULL if there is none. Roots are saved. */
RPY_INLINE char *rpy_take(Unsigned size)
{
    char *object = rpy_state.nursery_free;
    char *end = object + size;
    if (RPY_LIKELY(end <= rpy_state.nursery_top)) {
        rpy_state.nursery_free = end;
        RPY_NOT_NULL(object);
        return object;
    }
    rpy_state.slow_arguments[0] = (Word)size;
    rpy_slow_malloc();
    return (char *)rpy_state.slow_result;
}

/* Fills in a new object of fixed size: its header, and zeroes. */
RPY_INLINE void *rpy_fill(char *object, const void *info, Unsigned size)
{
    __builtin_memset(object + sizeof(RPyHeader), 0, size - sizeof(RPyHeader));
    ((RPyHeader *)object)->word = (char *)info;
    return object;
}

/* A new object of fixed size, or NULL if there is no memory. */
RPY_INLINE void *rpy_malloc(const void *info, Unsigned size)
{
    char *object = rpy_take(size);
    return RPY_LIKELY(object != NULL) ? rpy_fill(object, info, size) : NULL;
}

/* A new object with items, or NULL; in the nursery if it has less than `most` of them. */
RPY_INLINE void *rpy_malloc_array(const void *info, Signed length, Unsigned most, Unsigned items,
                                  Unsigned empty_size, Unsigned item_size, Unsigned length_at, bool zero)
{
    if (RPY_LIKELY((Unsigned)length < most)) {
        Unsigned size = ((Unsigned)length * item_size + empty_size + 7) & ~(Unsigned)7;
        char *object = rpy_state.nursery_free;
        char *end = object + size;
        if (RPY_LIKELY(end <= rpy_state.nursery_top)) {
            rpy_state.nursery_free = end;
            RPY_NOT_NULL(object);
            ((RPyHeader *)object)->word = (char *)info;
            __builtin_memset(object + sizeof(RPyHeader), 0, items - sizeof(RPyHeader));
            *(RawSigned *)(object + length_at) = length;
            if (zero) {
                /* There are few: a call of a function would cost more. */
                for (char *at = object + items; at < end; at += 8) {
                    *(RawSigned *)at = 0;
                    __asm__("");
                }
            }
            return object;
        }
    }
    return rpy_gc_malloc_varsize(info, length, zero);
}

/* Comes before a store of a pointer into an object. */
RPY_INLINE void rpy_writebarrier(void *object)
{
    if (RPY_UNLIKELY((Word)((RPyHeader *)object)->word & @TRACK@)) {
        rpy_state.slow_arguments[0] = (Word)object;
        rpy_slow_writebarrier();
    }
}

/* Comes before a store of a pointer into an item of an array. */
RPY_INLINE void rpy_writebarrier_array(void *object, Signed index)
{
    if (RPY_UNLIKELY((Word)((RPyHeader *)object)->word & @TRACK@)) {
        rpy_state.slow_arguments[0] = (Word)object;
        rpy_state.slow_arguments[1] = (Word)index;
        rpy_slow_writebarrier_array();
    }
}

/* Counts a new reference to an object. */
RPY_INLINE void rpy_incref(void *object)
{
    if (object && !((Word)((RPyHeader *)object)->word & @OUTSIDE@))
        ((Signed *)object)[-1]++;
}

/* Counts a reference that is gone. The runtime deals with the last one. */
RPY_INLINE void rpy_decref(void *object)
{
    if (object && !((Word)((RPyHeader *)object)->word & @OUTSIDE@)) {
        Signed count = ((Signed *)object)[-1];
        if (RPY_UNLIKELY(count <= 1))
            rpy_gc_decref(object);
        else
            ((Signed *)object)[-1] = count - 1;
    }
}

/* That of a small old object, which most keys of dicts are, is made of its address. */
RPY_INLINE Signed rpy_identityhash(void *object)
{
    if (RPY_LIKELY(object != NULL)
        && RPY_LIKELY(((Word)((RPyHeader *)object)->word & @SMALL@) == @TRACK@))
        return (Signed)((Word)object ^ ((Word)object >> 4));
    return rpy_gc_identityhash(object);
}

/* Whether the machine stack is used up. */
RPY_INLINE bool rpy_stack_check(void)
{
    char *pointer;
#if defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %0" : "=r"(pointer));
#elif defined(__i386__)
    __asm__ volatile("movl %%esp, %0" : "=r"(pointer));
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp" : "=r"(pointer));
#elif defined(__riscv)
    __asm__ volatile("mv %0, sp" : "=r"(pointer));
#elif defined(__wasm__)
    __asm__ volatile(".globaltype __stack_pointer, i32\n\tglobal.get __stack_pointer\n\tlocal.set %0"
                     : "=r"(pointer));
#else
    pointer = (char *)__builtin_frame_address(0);
#endif
    return RPY_UNLIKELY(pointer < rpy_state.stack_limit);
}

/* Makes the frame of a function at least so large: by that the shadow stack is never used up before the
   machine stack is. */
#define RPY_FRAME(bytes)                                                                           \
    char machine_frame[bytes];                                                                     \
    __asm__ volatile("" : : "m"(machine_frame))

RPY_INLINE void rpy_exc_set(void *type, void *value)
{
    rpy_state.exc_type = type;
    rpy_state.exc_value = value;
}

/* Adds an entry to the ring of those that tell where exceptions went. */
RPY_INLINE void rpy_traceback(const void *location, void *exc_type)
{
    Word count = rpy_state.traceback_count++;
    rpy_state.traceback[count & (@DEPTH@ - 1)].location = location;
    rpy_state.traceback[count & (@DEPTH@ - 1)].exc_type = exc_type;
}

/* Shifts by any count: one that is out of range shifts everything out. */
RPY_INLINE Signed rpy_int_lshift(Signed value, Unsigned count)
{
    return count < 64 ? (Signed)((Unsigned)value << count) : 0;
}
RPY_INLINE Signed rpy_int_rshift(Signed value, Unsigned count)
{
    return value >> (count < 64 ? count : 63);
}
RPY_INLINE Unsigned rpy_uint_lshift(Unsigned value, Unsigned count)
{
    return count < 64 ? value << count : 0;
}
RPY_INLINE Unsigned rpy_uint_rshift(Unsigned value, Unsigned count)
{
    return count < 64 ? value >> count : 0;
}
#ifdef __SIZEOF_INT128__
RPY_INLINE Int128 rpy_lllong_lshift(Int128 value, Unsigned count)
{
    return count < 128 ? (Int128)((UInt128)value << count) : 0;
}
RPY_INLINE Int128 rpy_lllong_rshift(Int128 value, Unsigned count)
{
    return value >> (count < 128 ? count : 127);
}
RPY_INLINE UInt128 rpy_ulllong_lshift(UInt128 value, Unsigned count)
{
    return count < 128 ? value << count : 0;
}
RPY_INLINE UInt128 rpy_ulllong_rshift(UInt128 value, Unsigned count)
{
    return count < 128 ? value >> count : 0;
}
RPY_INLINE Unsigned rpy_uint_mul_high(Unsigned left, Unsigned right)
{
    return (Unsigned)((UInt128)left * right >> 64);
}
#endif

/* The one quotient that is too large wraps. */
RPY_INLINE Signed rpy_int_div(Signed left, Signed right)
{
    return right == -1 ? -left : left / right;
}
RPY_INLINE Signed rpy_int_mod(Signed left, Signed right)
{
    return right == -1 ? 0 : left % right;
}

/* Out of range, the low bits. */
RPY_INLINE Signed rpy_float_to_int(double value)
{
    if (RPY_LIKELY(value > -0x1p63 && value < 0x1p63))
        return (Signed)value;
    return (Signed)RPY_LOW(rpy_f64_to_i128(value));
}

RPY_INLINE Signed rpy_float_bits(double value)
{
    Signed bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
RPY_INLINE double rpy_bits_float(Signed bits)
{
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
RPY_INLINE float rpy_bits_singlefloat(UInt32 bits)
{
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

/* Ends a checked program whose condition does not hold. */
#define RPY_CHECK(condition, what, location)                                                       \
    do {                                                                                           \
        if (RPY_UNLIKELY(!(condition))) {                                                          \
            rpy_check_failed(what, location, __builtin_frame_address(0));                          \
            RPY_NEVER();                                                                           \
        }                                                                                          \
    } while (0)

#endif
