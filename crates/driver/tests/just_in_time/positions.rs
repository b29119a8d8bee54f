//! Interpreters of syntax trees, whose position in the interpreted program is in the Python frames of `eval` methods.

use crate::support::jit::report_of;
use taipan_driver::Engine;

/// A sequence of more statements than versions are kept at a merge point, each with branches that are decided at run time.
const SEQUENCE: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['node'], reds=['n', 'frame'])
class Frame(object):
    def __init__(self): self.x = 0
class Node(object):
    def eval(self, frame): raise NotImplementedError
class Add(Node):
    _immutable_fields_ = ['step']
    def __init__(self, step): self.step = step
    def eval(self, frame):
        if frame.x & 1: frame.x += self.step
        else: frame.x ^= self.step
        if frame.x > 100000: frame.x -= 100000
class Do(Node):
    _immutable_fields_ = ['nodes[*]']
    def __init__(self, nodes): self.nodes = nodes
    @jit.unroll_safe
    def eval(self, frame):
        LOOP
class Twice(Node):
    _immutable_fields_ = ['node']
    def __init__(self, node): self.node = node
    def eval(self, frame):
        self.node.eval(frame)
        if frame.x & 2: self.node.eval(frame)
def run(node, n):
    frame = Frame()
    while n > 0:
        driver.jit_merge_point(node=node, n=n, frame=frame)
        node.eval(frame)
        n -= 1
    return frame.x
program = Do([Twice(Do([Add(i), Add(i * 5 + 1)])) for i in range(20)])
def main(n): return run(program, n)
";

/// A loop whose number of rounds is only known at run time.
const ROUNDS: &str = "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['k'], reds=['n', 'x'])
@jit.unroll_safe
def count(n):
    x = 0
    for i in range(n):
        if x & 1: x += n
        else: x ^= i
    return x
def main(n):
    k = x = 0
    while n > 0:
        driver.jit_merge_point(k=k, n=n, x=x)
        x += count(n & 127)
        n -= 1
    return x
";

#[test]
fn nodes_of_a_long_sequence_stay_known() {
    let loops = [
        "for node in self.nodes: node.eval(frame)",
        "for i in range(len(self.nodes)): self.nodes[i].eval(frame)",
    ];
    for text in loops {
        let report = report_of(&SEQUENCE.replace("LOOP", text), &[500], 2, Engine::Native);
        let reads: Vec<&str> = (report.graphs.iter().flat_map(|g| g.lines()))
            .filter(|l| {
                ["nodes", "node", "step"]
                    .iter()
                    .any(|f| l.contains(&format!(".inst_{f})")))
            })
            .collect();
        assert_eq!(reads, [""; 0], "{text}");
        let operations = &report.counts["residual"];
        assert!(operations.get("getarrayitem").is_none(), "{operations}");
    }
}

#[test]
fn loops_of_unknown_length_are_unrolled_a_few_times() {
    let report = report_of(ROUNDS, &[500], 2, Engine::Native);
    let blocks = report.counts["blocks"].as_u64();
    assert!(blocks < Some(400), "{blocks:?}");
}
