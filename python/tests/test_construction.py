"""New objects: of classes with an __init__ and a class above, by replace(), and calls with `**`; what says itself whether it is true."""

import dataclasses
import enum
import typing

import pytest

import hiaton as hia


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Base:
    def __init__(self, n, *rest, **more):
        """Sets two fields at once."""
        double = 2 * n + sum(rest)
        self.n, self.double = n, double
        self.by = more.get("by", 7)


class Derived(Base):
    def __init__(self, n, k=3):
        super().__init__(n, 1, by=k)
        self.k = k

    def __len__(self):
        return self.k


class Positive:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value > 0


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int
    y: float = 0.5


@dataclasses.dataclass
class Chain:
    x: int
    rest: "Chain | None" = None


class Pair(typing.NamedTuple):
    a: int
    b: int = 2


def made(n):
    base, derived = Base(n), Derived(n, n % 2)
    found = 1 if derived else 0
    return (base.n, base.double, base.by, derived.n, derived.double, derived.by, derived.k, found, bool(Positive(n)), not Positive(n - 1),
            [1 if one else 0 for one in (Positive(n), Positive(-n))], Derived(n))


def replaced(n):
    frozen = Frozen(n)
    return dataclasses.replace(frozen, y=n * 1.5), dataclasses.replace(frozen, x=9).x, Pair(n)._replace(b=n), Pair(n, 1)._replace(a=0, b=4)


def shifted(n):
    def shift(chain):
        return chain if chain is None else dataclasses.replace(chain, x=chain.x + n, rest=shift(chain.rest))
    return shift(Chain(n, Chain(2, Chain(1))))


def total(chain, **options):
    if chain is None:
        return options.get("empty", 0)
    scale = options.get("scale", 1)
    return chain.x * scale + total(chain.rest, **{**options, "scale": scale + 1})


OPTIONS = {"scale": 3}


def with_options(n):
    chain = Chain(n, Chain(2))
    return total(chain), total(chain, scale=2, empty=1), total(chain, **OPTIONS), total(chain, empty=n, **OPTIONS)


def over_members(n):
    return [color.value * n for color in Color], sum(color.value for color in Color if color is not Color.RED)


class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def __contains__(self, n):
        return self.low <= n < self.high


def contained(n):
    inside = Interval(-1, n)
    return 0 in inside, n in inside, n not in Interval(n, n + 1)


def letters(n):
    word = "abc"
    return word[1], word[-1], word[1:], word[::-1], [c == "b" for c in word], [n * i for i, c in enumerate(word) if c in "ac"], len(word[:2])


def summed(n):
    chain, found = Chain(n, Chain(2, Chain(3))), 0
    while chain:
        found += chain.x
        chain = chain.rest
    return found


@pytest.mark.parametrize("function", [made, replaced, shifted, with_options, over_members, contained, letters, summed])
def test_it_gives_what_python_gives(function):
    graph = hia.function(function, strict=True)
    for n in (3, 0, -4):
        found, expected = graph(n), function(n)
        if function is made:
            assert vars(found[-1]) == vars(expected[-1]) and list(vars(found[-1])) == list(vars(expected[-1]))
            found, expected = found[:-1], expected[:-1]
        assert found == expected
    assert graph._plain == 0, graph.report()


class Listed:
    def __init__(self, xs):
        self.xs = xs

    def __len__(self):
        return len(self.xs)


def test_objects_with_a_length_or_none():
    graph = hia.function(lambda items: [1 if item else 0 for item in items], strict=True)
    assert graph([Listed([1]), None, Listed([])]) == [1, 0, 0]
    with pytest.raises(hia.ConversionError, match="say themselves whether they are true, and others do not; compare with 'is not None'"):
        hia.function(lambda items: [1 if item else 0 for item in items], strict=True)([Listed([1]), Chain(1)])


def test_two_values_for_one_name_are_an_error_of_python():
    graph = hia.function(lambda n: total(Chain(n), scale=2, **OPTIONS))
    with pytest.warns(hia.FallbackWarning, match="the call has several values for 'scale'"):
        with pytest.raises(TypeError, match="multiple values for keyword argument 'scale'"):
            graph(1)


def test_sizes_that_only_the_run_tells():
    def rows(xs):
        x = hia.stack([hia.tensor([1.0, 2.0]) * value for value in xs])
        n, d = x.shape
        return x.shape, n * d, hia.reshape(x, (d, n)), hia.reshape(x, (n, 1, 2)), x.shape[0]

    graph = hia.function(rows, strict=True)
    for xs in ([1.0, 2.0], [3.0], [1.0, 2.0, 3.0]):
        found, expected = graph(xs), rows(xs)
        assert found[:2] == expected[:2] and found[4] == expected[4]
        assert [one.tolist() for one in found[2:4]] == [one.tolist() for one in expected[2:4]]
    assert graph._plain == 0, graph.report()
    wrong = hia.function(lambda x, n: hia.reshape(x, (n, 2)), strict=True)
    assert wrong(hia.ones(6), 3).shape == (3, 2)
    with pytest.raises(hia.ProgramError, match="reshape: expected 4 elements"):
        wrong(hia.ones(6), 2)


def test_tensors_of_numbers_of_the_run():
    def tensors(xs, x, n):
        return (hia.tensor(xs), hia.tensor([x, n]), hia.tensor([[x, 1], [2, n]]), hia.tensor([n, 2]), hia.tensor([x > 0, n > 0]),
                hia.tensor([x, n], hia.f64), hia.tensor([v * 0.5 for v in xs]), hia.tensor([[n + i for i in range(2)] for _ in xs]))

    graph = hia.function(tensors, strict=True)
    for arguments in (([1, 2], 2.5, 3), ([4], -1.0, 0), ([1, 2, 3], 0.1, -2)):
        for found, expected in zip(graph(*arguments), tensors(*arguments)):
            assert (found.dtype, found.shape, found.tolist()) == (expected.dtype, expected.shape, expected.tolist())
    assert graph._plain == 0, graph.report()
    assert hia.grad(lambda x: hia.sum(hia.tensor([x, 2 * x]) ** 2))(3.0) == 30.0


def of_tensors(x, xs):
    a, b = x[0], x[1]
    rotation = hia.tensor([[hia.cos(a), -hia.sin(a), 0.0], [hia.sin(a), hia.cos(a), 0], [0, 0, 1]])
    rows = hia.tensor([[a * v, b, b] for v in xs]) @ rotation
    return hia.sum(hia.tensor([x, x * b]) ** 2) + hia.sum(rows ** 2 * hia.tensor((a, 2, b)))


@pytest.mark.parametrize("dtype", [hia.f32, hia.f64])
def test_tensors_of_tensors_let_gradients_through(dtype):
    x, xs = hia.tensor([0.5, -1.5], dtype), [1.0, 2.0, 0.25]
    with hia.GradientTape() as tape:
        tape.watch(x)
        y = of_tensors(x, xs)
    gradient = tape.gradient(y, x)
    assert gradient.dtype == y.dtype == dtype
    step = hia.value_and_grad(of_tensors)
    value, found = step(x, xs)
    assert value.dtype == dtype and value.item() == pytest.approx(y.item(), rel=1e-6)
    assert found.tolist() == pytest.approx(gradient.tolist(), rel=1e-5)
    if dtype == hia.f64:
        moved = [of_tensors(x + hia.tensor(step, hia.f64), xs).item() for step in ([1e-6, 0], [-1e-6, 0], [0, 1e-6], [0, -1e-6])]
        assert found.tolist() == pytest.approx([(moved[0] - moved[1]) / 2e-6, (moved[2] - moved[3]) / 2e-6], rel=1e-6)


def test_numbers_beside_tensors_in_rows():
    def total(x, xs):
        return hia.sum(hia.tensor([[x * v, 1.0, v] for v in xs]) ** 2)
    x, xs = hia.tensor(0.5), [1.0, 2.0, 0.25]
    gradient = hia.grad(total)
    assert gradient(x, xs).item() == pytest.approx(sum(2 * 0.5 * v * v for v in xs), rel=1e-6)
    assert hia.function(total, strict=True)(x, xs).item() == total(x, xs).item()
    assert sum(one.faults for one in gradient._graphs) == 0


def test_types_of_tensors_of_tensors():
    x, n = hia.tensor([2.0, 3.0]), hia.tensor([1, 2])

    def made():
        return (hia.tensor([n[0], 2.5]), hia.tensor([n[0], 2]), hia.tensor([n[0] > 0, n[1] > 5]), hia.tensor([n[0], x[0]]), hia.asarray((x, x)),
                hia.tensor([[x[0]], [2]], hia.f64), hia.tensor([hia.u8(n[0]), 300]), hia.tensor([hia.f64(n[0]), 0.1]))
    eager, graph = made(), hia.function(made, strict=True)()
    assert [str(one.dtype).split(".")[-1] for one in eager] == ["f32", "i64", "bool", "f32", "f32", "f64", "i64", "f64"]
    assert [(one.dtype, one.tolist()) for one in graph] == [(one.dtype, one.tolist()) for one in eager]
    assert eager[-1].tolist() == [1.0, 0.1] and eager[6].tolist() == [1, 300]
    with pytest.raises(hia.ProgramError, match="stack: expected numbers or tensors of one type"):
        hia.tensor([x, x[0]])
