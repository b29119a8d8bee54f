"""Bodies that attract one another: floats in attributes."""
import sys


class Body(object):
    def __init__(self, x, y, z, vx, vy, vz, mass):
        self.x, self.y, self.z = x, y, z
        self.vx, self.vy, self.vz = vx, vy, vz
        self.mass = mass


def make():
    bodies = [Body(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 40.0)]
    for i in range(1, 5):
        r = 1.0 + 4.0 * i
        bodies.append(Body(r, -0.3 * i, 0.1 * i, 0.02 * i, 6.0 / r, -0.01 * i, 0.04 / i))
    return bodies


def advance(bodies, dt):
    for i in range(len(bodies)):
        a = bodies[i]
        for j in range(i + 1, len(bodies)):
            b = bodies[j]
            dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
            d2 = dx * dx + dy * dy + dz * dz + 0.001
            mag = dt / (d2 * d2 ** 0.5)
            fa, fb = b.mass * mag, a.mass * mag
            a.vx -= dx * fa
            a.vy -= dy * fa
            a.vz -= dz * fa
            b.vx += dx * fb
            b.vy += dy * fb
            b.vz += dz * fb
    for b in bodies:
        b.x += dt * b.vx
        b.y += dt * b.vy
        b.z += dt * b.vz


def energy(bodies):
    e = 0.0
    for b in bodies:
        e += 0.5 * b.mass * (b.vx * b.vx + b.vy * b.vy + b.vz * b.vz)
    return e


def main(rounds):
    bodies = make()
    for _ in range(rounds * 200):
        advance(bodies, 0.001)
    return '%.9f' % energy(bodies)


if __name__ == '__main__':
    print(main(int(sys.argv[1])))
