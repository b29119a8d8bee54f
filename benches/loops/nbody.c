/* fixtures/programs/nbody.py, written in C: bodies are objects that a list refers to, as there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 5
#define PI 3.141592653589793
#define SOLAR_MASS (4 * PI * PI)
#define DAYS 365.24

struct body {
    double x, y, z, vx, vy, vz, mass;
};

static struct body *new_body(double x, double y, double z, double vx, double vy, double vz, double mass)
{
    struct body *b = malloc(sizeof *b);
    *b = (struct body){x, y, z, vx * DAYS, vy * DAYS, vz * DAYS, mass * SOLAR_MASS};
    return b;
}

static void offset_momentum(struct body **bodies)
{
    double px = 0.0, py = 0.0, pz = 0.0;
    for (int i = 0; i < COUNT; i++) {
        px += bodies[i]->vx * bodies[i]->mass;
        py += bodies[i]->vy * bodies[i]->mass;
        pz += bodies[i]->vz * bodies[i]->mass;
    }
    bodies[0]->vx = -px / SOLAR_MASS;
    bodies[0]->vy = -py / SOLAR_MASS;
    bodies[0]->vz = -pz / SOLAR_MASS;
}

static void advance(struct body **bodies, long n, double dt)
{
    for (long i = 0; i < n; i++) {
        struct body *a = bodies[i];
        for (long j = i + 1; j < n; j++) {
            struct body *b = bodies[j];
            double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
            double d2 = dx * dx + dy * dy + dz * dz;
            double mag = dt / (d2 * sqrt(d2));
            double bm = b->mass * mag, am = a->mass * mag;
            a->vx -= dx * bm;
            a->vy -= dy * bm;
            a->vz -= dz * bm;
            b->vx += dx * am;
            b->vy += dy * am;
            b->vz += dz * am;
        }
    }
    for (long i = 0; i < n; i++) {
        struct body *b = bodies[i];
        b->x += dt * b->vx;
        b->y += dt * b->vy;
        b->z += dt * b->vz;
    }
}

static double energy(struct body **bodies)
{
    double e = 0.0;
    for (int i = 0; i < COUNT; i++) {
        struct body *a = bodies[i];
        e += 0.5 * a->mass * (a->vx * a->vx + a->vy * a->vy + a->vz * a->vz);
        for (int j = i + 1; j < COUNT; j++) {
            struct body *b = bodies[j];
            double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
            e -= a->mass * b->mass / sqrt(dx * dx + dy * dy + dz * dz);
        }
    }
    return e;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 1000;
    struct body *bodies[COUNT] = {
        new_body(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
        new_body(4.84143144246472090, -1.16032004402742839, -0.103622044471123109,
                 0.00166007664274403694, 0.00769901118419740425, -0.0000690460016972063023,
                 0.000954791938424326609),
        new_body(8.34336671824457987, 4.12479856412430479, -0.403523417114321381,
                 -0.00276742510726411619, 0.00499852801234917238, 0.0000230417297573763929,
                 0.000285885980666130812),
        new_body(12.8943695621391310, -15.1111514016986312, -0.223307578892655734,
                 0.00296460137564761618, 0.00237847173959480950, -0.0000296589568540237556,
                 0.0000436624404335156298),
        new_body(15.3796971148509165, -25.9193146099879641, 0.179258772950371181,
                 0.00268067772490389322, 0.00162824170038242295, -0.0000951592254519715870,
                 0.0000515138902046611451),
    };
    offset_momentum(bodies);
    printf("%ld\n", (long)(energy(bodies) * 1e12));
    for (long i = 0; i < steps; i++)
        advance(bodies, COUNT, 0.01);
    printf("%ld\n", (long)(energy(bodies) * 1e12));
    return 0;
}
