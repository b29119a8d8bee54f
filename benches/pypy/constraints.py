"""Constraints between variables, planned by their strengths and carried out in order."""
import sys


class Variable(object):
    def __init__(self, name, value):
        self.name = name
        self.value = value
        self.constraints = []
        self.by = None
        self.mark = 0


class Constraint(object):
    def __init__(self, strength, variables):
        self.strength = strength
        self.variables = variables
        self.output = None
        for v in variables:
            v.constraints.append(self)

    def inputs(self):
        return [v for v in self.variables if v is not self.output]

    def choose(self, mark):
        self.output = None
        for v in self.variables:
            if v.mark != mark and (v.by is None or v.by.strength < self.strength):
                self.output = v
        return self.output


class Equal(Constraint):
    def execute(self):
        for v in self.inputs():
            self.output.value = v.value


class Scale(Constraint):
    def __init__(self, strength, source, target, factor, offset):
        Constraint.__init__(self, strength, [source, target])
        self.factor = factor
        self.offset = offset

    def execute(self):
        source, target = self.variables
        if self.output is target:
            target.value = source.value * self.factor + self.offset
        else:
            source.value = (target.value - self.offset) // self.factor


class Stay(Constraint):
    def execute(self):
        pass


class Planner(object):
    def __init__(self):
        self.mark = 0

    def add(self, constraint):
        self.mark += 1
        while constraint is not None:
            output = constraint.choose(self.mark)
            if output is None:
                return
            overridden = output.by
            output.by = constraint
            for v in constraint.variables:
                v.mark = self.mark
            if overridden is not None:
                overridden.output = None
            constraint = overridden

    def plan(self, sources):
        plan = []
        todo = list(sources)
        seen = set()
        while todo:
            c = todo.pop()
            if c in seen or c.output is None:
                continue
            seen.add(c)
            plan.append(c)
            for other in c.output.constraints:
                if other is not c and other.output is not None:
                    todo.append(other)
        return plan


def chain(n):
    planner = Planner()
    variables = [Variable('v%d' % i, i) for i in range(n)]
    stay = Stay(1, [variables[-1]])
    planner.add(stay)
    for i in range(n - 1):
        a, b = variables[i], variables[i + 1]
        if i % 3:
            planner.add(Equal(2 + i % 2, [a, b]))
        else:
            planner.add(Scale(3, a, b, 1 + i % 2, i % 5))
    edit = Stay(9, [variables[0]])
    planner.add(edit)
    plan = planner.plan([edit] + variables[0].constraints)
    total = 0
    for i in range(10):
        variables[0].value = i
        for c in plan:
            c.execute()
        total += sum(v.value % 1000 for v in variables)
    return total


def main(rounds):
    return sum(chain(20 + i % 30) for i in range(rounds * 5))


if __name__ == '__main__':
    print(main(int(sys.argv[1])))
