"""Programs in .hia as callables, and values of their data types."""

import copy
import faulthandler
import gc
import os
import pathlib
import signal
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import hiaton as hia

ROOT = pathlib.Path(__file__).resolve().parents[2]

TREES = """
data Tree = Leaf(value: i64) | Node(left: Tree, right: Tree)

fn sum(t: Tree) -> i64 =
  match t
    Leaf(value) -> value
    Node(left, right) -> sum(left) + sum(right)

fn grow(depth: i64) -> Tree = if depth == 0 then Leaf(1) else Node(grow(depth - 1), grow(depth - 1))

fn swap(t: Tree) -> Tree =
  match t
    Leaf(value) -> t
    Node(left, right) -> Node(swap(right), swap(left))

fn main(t: Tree) -> i64 = sum(t)
"""

ENDLESS = "fn loop(n: i64) -> i64 = if n < 0 then n else loop((n + 1) % 9)\nfn main(n: i64) -> i64 = loop(n)"
DEEPER = "fn deeper(n: i64) -> i64 = if n < 0 then n else 1 + deeper(n + 1)\nfn main(n: i64) -> i64 = deeper(n)"


@pytest.fixture(scope="module")
def trees():
    return hia.program(TREES)


def test_a_file_is_a_callable():
    fact = hia.load(ROOT / "examples/fact.hia")
    assert fact(3) == 11 and fact(n=3) == 11 and fact.main(3) == 11
    assert fact.fact(5) == 120 and "fact" in fact.functions and "fact" in dir(fact)
    assert fact.main.signature == "main(n: i64) -> i64"
    assert fact.map([1, 2, 3]) == [fact(n) for n in (1, 2, 3)]


@pytest.mark.parametrize("call, error, message", [
    (lambda f: f(), TypeError, "main.*expected an argument 'n' of i64"),
    (lambda f: f(1, 2), TypeError, "main.*expected 1 argument, found 2"),
    (lambda f: f(1.5), TypeError, "'n': expected i64, found float"),
    (lambda f: f(True), TypeError, "'n': expected i64, found bool"),
    (lambda f: f(m=1), TypeError, r"main\(\): there is no parameter 'm' in main\(n: i64\) -> i64"),
    (lambda f: f(1, n=1), TypeError, r"main\(\): expected one argument 'n', found two"),
    (lambda f: f(np.ones(3, ">f4")), TypeError, "'n': expected i64, found ndarray of >f4"),
    (lambda f: f(np.float32(1)), TypeError, "'n': expected i64, found float32"),
    (lambda f: f.map(3), TypeError, "'n': expected a list with a value for each call, found int"),
    (lambda f: f(2**70), OverflowError, "fits i64"),
    (lambda f: f.map([1], [2]), TypeError, "a list for each of 1 parameter"),
    (lambda f: f.other(1), AttributeError, "no function 'other'"),
])
def test_wrong_calls(call, error, message):
    with pytest.raises(error, match=message):
        call(hia.load(ROOT / "examples/fact.hia"))


def test_numbers_of_numpy_are_numbers():
    program = hia.program("fn main(n: i64, k: i32, x: f64, y: f32) -> (i64, i32, f64, f32) = (n, k, x, y)")
    for whole in (np.int8, np.uint16, np.int32, np.int64, int, hia.i32):
        for real in (np.float16, np.float32, np.float64, np.int32, float, hia.f32):
            try:
                assert program(whole(3), whole(4), real(5), real(6)) == (3, 4, 5.0, 6.0)
            except TypeError as error:  # of element types that the engine does not have
                assert any(name in str(error) for name in ("int8", "uint16", "float16")), (whole, real, error)
    with pytest.raises(OverflowError, match="'k': expected an integer that fits i32"):
        program(1, np.int64(2**40), 1.0, 1.0)


def test_names_that_are_not_there(trees):
    with pytest.raises(AttributeError, match="the program has no data type or variant 'Lef'; it has Tree, Leaf, Node"):
        trees.types.Lef
    with pytest.raises(TypeError, match="size 'd': expected an integer, found '3'"):
        hia.load(ROOT / "models/treernn.hia", d="3")
    with pytest.raises(TypeError, match=r"'p': expected a tuple of 2 for \(i64, i64\), found one of 1"):
        hia.program("fn main(p: (i64, i64)) -> i64 = 1")((1,))


def test_values_are_their_own_copies(trees):
    tree = trees.types.Node(trees.types.Leaf(1), trees.types.Leaf(2))
    assert copy.copy(tree) is tree and copy.deepcopy([tree])[0] is tree


def test_errors_are_those_of_the_engine():
    with pytest.raises(hia.ProgramError, match="unknown function 'sqr'"):
        hia.program("fn main(n: i64) -> i64 = sqr(n)")
    with pytest.raises(hia.ProgramError, match="no-such-file"):
        hia.load("no-such-file.hia")
    with pytest.raises(hia.RunError, match="integer overflow") as raised:
        hia.load(ROOT / "examples/fact.hia", overflow="trap")(30)
    assert raised.value.fault == "integer overflow" and "in main(n = 30)" in str(raised.value)


def test_arguments_of_every_kind():
    program = hia.program("""
fn main(a: bool, b: i32, c: f32, x: f32[2, 3], l: List[f64]) -> (bool, i32, f32, f32[2, 3], List[f64]) = (a, b, c, x, l)
""")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    a, b, c, y, l = program(True, 3, 0.5, x, [1, 2.5])
    assert (a, b, c, l) == (True, 3, 0.5, [1.0, 2.5]) and y.tolist() == x.tolist()
    assert program(np.bool_(True), np.int32(3), hia.tensor(0.5), x.tolist(), ())[4] == []
    with pytest.raises(TypeError, match=r"'x': expected f32\[2, 3\], found f64\[2, 3\]"):
        program(True, 3, 0.5, x.astype(np.float64), [])
    with pytest.raises(TypeError, match=r"'l'\[1\]: expected f64, found str"):
        program(True, 3, 0.5, x, [1, "2"])


def test_values_of_data_types(trees):
    types = trees.types
    tree = types.Node(types.Leaf(1), types.Node(left=types.Leaf(value=2), right=types.Leaf(3)))
    assert trees(tree) == 6 and trees.sum(tree.right) == 5
    assert repr(tree) == "Node(Leaf(1), Node(Leaf(2), Leaf(3)))"
    assert tree.right.left.value == 2 and isinstance(tree, types.Tree) and not isinstance(tree, types.Leaf)
    assert trees.swap(trees.swap(tree)) == tree != trees.swap(tree)
    match trees.swap(tree):
        case types.Node(types.Node(types.Leaf(a), right), types.Leaf(value=b)):
            assert (a, b, right) == (3, 1, types.Leaf(2))
        case other:
            pytest.fail(repr(other))


def test_wrong_values_of_data_types(trees):
    types = trees.types
    with pytest.raises(TypeError, match=r"Leaf.value: expected i64, found str"):
        types.Leaf("1")
    with pytest.raises(TypeError, match="expected a field 'right'"):
        types.Node(types.Leaf(1))
    with pytest.raises(TypeError, match="expected 1 fields, found 2"):
        types.Leaf(1, value=2)
    with pytest.raises(TypeError, match="variant of Tree"):
        types.Tree()
    with pytest.raises(TypeError, match="'t': expected a value of Tree, found int"):
        trees(3)
    with pytest.raises(AttributeError):
        types.Leaf(1).value = 2
    other = hia.program("data Tree = Leaf(value: f32)\nfn main(t: Tree) -> Tree = t")
    with pytest.raises(TypeError, match="another program"):
        trees(other.types.Leaf(1.0))


def test_values_of_the_same_type_of_another_program(trees):
    other = hia.program(TREES)
    assert trees(other.types.Leaf(4)) == 4
    assert trees.types.Leaf(4) == other.types.Leaf(4)


def test_deep_values(trees):
    types = trees.types
    tree = types.Leaf(1)
    for _ in range(200_000):
        tree = types.Node(tree, types.Leaf(1))
    assert trees(tree) == 200_001
    count = 0
    while isinstance(tree, types.Node):
        tree, count = tree.left, count + 1
    assert count == 200_000


def test_classes_of_a_program_that_is_gone_are_collected():
    program = hia.program(TREES)
    value = program.types.Leaf(7)
    gone = weakref.ref(program.types.Leaf)
    del program
    gc.collect()
    assert value.value == 7 and repr(value) == "Leaf(7)"
    del value
    gc.collect()
    assert gone() is None


def test_options(trees):
    tree = trees.grow(10)
    assert trees.with_options(workers=2)(tree) == 1024
    assert trees.with_options(workers=2, batching=False).map([tree] * 5) == [1024] * 5
    assert trees.with_options(batching="deterministic")(tree) == 1024
    assert trees.with_options(evaluation="demand")(tree) == 1024
    for text, option, fault in [(DEEPER, {"max_frames": 10}, "frame budget"), (DEEPER, {"max_bytes": 10**6}, "byte budget"),
                                (ENDLESS, {"timeout": 0.01}, "time budget")]:
        with pytest.raises(hia.RunError) as raised:
            hia.program(text).with_options(**option)(0)
        assert raised.value.fault == fault
    with pytest.raises(ValueError, match="workers"):
        trees.with_options(workers=0)(tree)
    with pytest.raises(ValueError, match="batching"):
        trees.with_options(batching="often")(tree)
    with pytest.raises(ValueError, match="evaluation: expected 'data' or 'demand'"):
        trees.with_options(evaluation="never")(tree)


def test_a_run_by_the_reference_rules_is_said_once():
    program = hia.program("fn double(x: f64[2]) -> f64[2] = x + x").with_options(evaluation="demand")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            assert np.array_equal(program.double(np.array([1.0, 2.0])), [2.0, 4.0])
    assert [str(warning.message) for warning in caught] == [
        "this program runs by the reference rules, slowly: it is demand-driven and has tensors"]
    with pytest.warns(RuntimeWarning, match="by the reference rules"):
        assert len(program.double.map([np.array([1.0, 2.0])] * 2)) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program.with_options(evaluation="data").double(np.array([1.0, 2.0]))
        with pytest.raises(RuntimeWarning):
            program.double(np.array([1.0, 2.0]))


def test_values_are_computed_on_demand():
    program = hia.program("""
fn fac(x: i64, y: i64) -> i64 = if x <= 1 then 1 else fac(x - 1, fac(x, y))
fn numbers(n: i64) -> List[i64] = Cons(n, numbers(n + 1))
fn first(n: i64, xs: List[i64]) -> List[i64] =
  match xs
    [x, ..rest] -> if n > 0 then Cons(x, first(n - 1, rest)) else []
    [] -> []
fn some(n: i64) -> List[i64] = first(n, numbers(1))
""").with_options(evaluation="demand", max_frames=100_000)
    assert program.fac(2, 2) == 1
    assert program.some(3) == [1, 2, 3]
    with pytest.raises(hia.RunError):
        program.with_options(evaluation="data").fac(2, 2)


def test_other_threads_run_meanwhile():
    program = hia.program(ENDLESS).with_options(timeout=0.5)
    errors = []

    def run():
        with pytest.raises(hia.RunError) as raised:
            program(0)
        errors.append(raised.value.fault)

    thread = threading.Thread(target=run)
    thread.start()
    steps = 0
    while thread.is_alive():
        steps += 1
        time.sleep(0.001)
    assert steps > 20 and errors == ["time budget"]


def test_many_threads_call_at_once(trees):
    results = []
    threads = [threading.Thread(target=lambda n=n: results.append(trees(trees.grow(n % 8)) == 2 ** (n % 8)))
               for n in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 100


@pytest.fixture(autouse=True)
def ctrl_c_is_not_ignored():
    """As it is in what a shell runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_a_run(workers):
    program = hia.program(ENDLESS).with_options(workers=workers, timeout=60)
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        program(0)
    assert time.monotonic() - begin < 30
    assert program.loop(-1) == -1


def test_a_run_goes_on_where_the_handler_of_the_user_does():
    program = hia.program("fn count(n: i64) -> i64 = if n == 0 then 7 else count(n - 1)\n"
                          "fn main(n: i64) -> i64 = count(n)")
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(True))
    try:
        timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        assert program(100_000_000) == 7
        timer.join()
        assert seen == [True]
    finally:
        signal.signal(signal.SIGINT, before)
    assert signal.getsignal(signal.SIGINT) is before


def test_runs_after_a_fork(trees):
    program = trees.with_options(workers=2)
    assert program(trees.grow(4)) == 16
    child = os.fork()
    if child == 0:
        os._exit(0 if program(trees.grow(5)) == 32 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_ctrl_c_ends_a_run_in_a_child():
    program = hia.program(ENDLESS).with_options(timeout=60)
    assert program.loop(-1) == -1
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            program(0)
        except KeyboardInterrupt:
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_ctrl_c_reaches_a_handler_that_calls_the_one_before(tmp_path):
    program = hia.program(ENDLESS).with_options(timeout=60)
    assert program.loop(-1) == -1
    with open(tmp_path / "stacks", "w+") as stacks:
        faulthandler.register(signal.SIGINT, file=stacks, all_threads=False, chain=True)
        try:
            for _ in range(2):
                threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
                with pytest.raises(KeyboardInterrupt):
                    program(0)
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(20)
        finally:
            faulthandler.unregister(signal.SIGINT)
        stacks.seek(0)
        assert stacks.read().count("test_ctrl_c_reaches") == 3


STRINGS = """
data Entry = Entry(name: str, count: i64)

fn greet(e: Entry) -> (str, List[str], Entry) =
  ("Hello, " + e.name + "!", [e.name, str(e.count)], Entry(e.name + "é", length(e.name)))

fn shown(n: i64, s: str) -> i64 = print(n) + length(print(s))
"""


def test_strings_are_those_of_python():
    program = hia.program(STRINGS)
    text, parts, entry = program.greet(program.types.Entry("Ad\u00e9\U0001F600", 3))
    assert text == "Hello, Ad\u00e9\U0001F600!" and parts == ["Ad\u00e9\U0001F600", "3"]
    assert entry.name == "Ad\u00e9\U0001F600é" and entry.count == 4
    with pytest.raises(TypeError, match="Entry.name: expected str, found int"):
        program.types.Entry(3, 3)
    with pytest.raises(UnicodeEncodeError):
        program.types.Entry("\ud800", 3)


def test_what_a_program_prints_goes_where_python_prints(capsys):
    assert hia.program(STRINGS).shown(3, "a\"é") == 6
    assert sorted(capsys.readouterr().out.split()) == ["3", "a\"é"]


def test_parameters_of_f64_are_given_and_learned():
    model = hia.program("param w: f64[2]\nfn loss(x: f64) -> f64 = sum((w - x) * (w - x))")
    model.update({"w": [1.0 + 2**-40, 3.0]})
    assert model.parameters["w"].dtype == hia.f64 and model.parameters["w"].tolist() == [1.0 + 2**-40, 3.0]
    hia.optim.RMSProp(model, 0.5, rho=0.75, epsilon=0.0).update(model.value_and_grad([2.0])[1])
    assert model.parameters["w"].tolist() == pytest.approx([2.0, 2.0], abs=1e-9)  # by rate / sqrt(1 - rho) each


def test_a_file_with_other_parameters_is_not_loaded(tmp_path):
    text = "param W: f32[3]\nfn loss(x: f32[3]) -> f32 = sum(W * x)"
    larger, model = hia.program(f"param b: f32[2]\n{text}"), hia.program(text)
    larger.save(tmp_path / "larger.safetensors")
    before = model.parameters["W"].tolist()
    with pytest.raises(hia.ProgramError, match="larger.safetensors: expected the parameters of '<program>', found also 'b'; load the file"):
        model.load(tmp_path / "larger.safetensors")
    assert model.parameters["W"].tolist() == before
    (tmp_path / "no.safetensors").write_text("no parameters")
    with pytest.raises(hia.ProgramError, match="no safetensors file"):
        model.load(tmp_path / "no.safetensors")
