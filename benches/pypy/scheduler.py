"""Tasks of several classes that send packets to one another, run by a scheduler."""
import sys


class Packet(object):
    def __init__(self, link, kind, value):
        self.link = link
        self.kind = kind
        self.value = value
        self.data = [0] * 4


def append(packet, queue):
    packet.link = None
    if queue is None:
        return packet
    at = queue
    while at.link is not None:
        at = at.link
    at.link = packet
    return queue


class Task(object):
    def __init__(self, scheduler, priority):
        self.scheduler = scheduler
        self.priority = priority
        self.queue = None
        self.runs = 0

    def is_ready(self):
        return self.queue is not None

    def send(self, packet):
        self.queue = append(packet, self.queue)

    def take(self):
        packet = self.queue
        self.queue = packet.link
        packet.link = None
        return packet


class Worker(Task):
    def run(self):
        packet = self.take()
        for i in range(4):
            packet.data[i] = (packet.value + i * self.priority) % 26
        packet.value = sum(packet.data)
        self.scheduler.handler(packet.kind).send(packet)


class Handler(Task):
    def __init__(self, scheduler, priority):
        Task.__init__(self, scheduler, priority)
        self.seen = 0

    def run(self):
        packet = self.take()
        self.seen += packet.value
        if packet.kind == 1:
            packet.kind = 0
        else:
            packet.kind = 1
        packet.value += 1
        self.scheduler.device.send(packet)


class Device(Task):
    pending = None

    def run(self):
        if self.pending is None:
            self.pending = self.take()
            return
        packet, self.pending = self.pending, None
        self.scheduler.worker.send(packet)

    def is_ready(self):
        return self.pending is not None or self.queue is not None


class Idle(Task):
    def __init__(self, scheduler, left):
        Task.__init__(self, scheduler, 0)
        self.left = left
        self.control = 1

    def is_ready(self):
        return self.left > 0

    def run(self):
        self.left -= 1
        if self.control & 1:
            self.control = (self.control >> 1) ^ 0xd008
        else:
            self.control >>= 1


class Scheduler(object):
    def __init__(self, rounds):
        self.device = Device(self, 3)
        self.worker = Worker(self, 5)
        self.handlers = [Handler(self, 7), Handler(self, 9)]
        self.idle = Idle(self, rounds)
        self.tasks = [self.handlers[1], self.handlers[0], self.worker, self.device, self.idle]

    def handler(self, kind):
        return self.handlers[kind]

    def run(self):
        at = 0
        while self.idle.left > 0:
            task = self.tasks[at]
            at = (at + 1) % len(self.tasks)
            if task.is_ready():
                task.runs += 1
                task.run()


def main(rounds):
    scheduler = Scheduler(rounds * 1000)
    for i in range(6):
        scheduler.worker.send(Packet(None, i % 2, i))
    scheduler.run()
    return ([task.runs for task in scheduler.tasks], [h.seen for h in scheduler.handlers],
            scheduler.idle.control)


if __name__ == '__main__':
    print(main(int(sys.argv[1])))
