/* fixtures/programs/fannkuch.py, written in C. */
#include <stdio.h>
#include <stdlib.h>

static long fannkuch(long n, long *most)
{
    long *start = malloc(n * sizeof(long));
    long *perm = malloc(n * sizeof(long));
    long *count = malloc(n * sizeof(long));
    long checksum = 0, sign = 1, r = n;
    *most = 0;
    for (long i = 0; i < n; i++)
        start[i] = i;
    for (;;) {
        for (; r != 1; r--)
            count[r - 1] = r;
        for (long i = 0; i < n; i++)
            perm[i] = start[i];
        long flips = 0;
        for (long k = perm[0]; k != 0; k = perm[0]) {
            for (long lo = 0, hi = k; lo < hi; lo++, hi--) {
                long swapped = perm[lo];
                perm[lo] = perm[hi];
                perm[hi] = swapped;
            }
            flips++;
        }
        if (flips > *most)
            *most = flips;
        checksum += sign * flips;
        sign = -sign;
        for (;; r++) {
            if (r == n)
                return checksum;
            long first = start[0];
            for (long i = 0; i < r; i++)
                start[i] = start[i + 1];
            start[r] = first;
            if (--count[r] > 0)
                break;
        }
    }
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 7, most;
    long checksum = fannkuch(n, &most);
    printf("%ld\nPfannkuchen(%ld) = %ld\n", checksum, n, most);
    return 0;
}
