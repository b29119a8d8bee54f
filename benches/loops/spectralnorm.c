/* fixtures/programs/spectralnorm.py, written in C. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double element(long i, long j)
{
    long ij = i + j;
    return 1.0 / (double)(ij * (ij + 1) / 2 + i + 1);
}

static double *times(const double *v, long n, int transposed)
{
    double *out = malloc(n * sizeof(double));
    for (long i = 0; i < n; i++) {
        double total = 0.0;
        for (long j = 0; j < n; j++)
            total += (transposed ? element(j, i) : element(i, j)) * v[j];
        out[i] = total;
    }
    return out;
}

static double dot(const double *u, const double *v, long n)
{
    double total = 0.0;
    for (long i = 0; i < n; i++)
        total += u[i] * v[i];
    return total;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 100;
    double *u = malloc(n * sizeof(double)), *v = u;
    for (long i = 0; i < n; i++)
        u[i] = 1.0;
    for (int i = 0; i < 10; i++) {
        v = times(times(u, n, 0), n, 1);
        u = times(times(v, n, 0), n, 1);
    }
    printf("%ld\n", (long)(sqrt(dot(u, v, n) / dot(v, v, n)) * 1e9));
    return 0;
}
