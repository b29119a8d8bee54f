/* What `sum` of fixtures/programs/jit/registers.py does, as a loop in C. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    long r0 = argc > 1 ? atol(argv[1]) : 1000, r1 = 0, r2 = 0;
    do {
        long r3 = r1 * r1;
        r2 += r3;
        r2 ^= r1;
        r1 += 1;
    } while (r1 < r0);
    printf("%ld\n", r2);
    return 0;
}
