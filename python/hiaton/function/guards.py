"""What a graph takes as fixed, looked at again at each call."""

from hiaton.function.arrays import has_elements

_MISSING = object()


def _same(now, found):
    if now is found:
        return True
    return type(now) is type(found) and isinstance(now, (bool, int, float, str, tuple)) and repr(now) == repr(found)


class Guards:
    """`hold` is one function, made of all of them."""

    def __init__(self, guards):
        self._names = {"missing": _MISSING, "same": _same}
        self._tests = {cell: self._test(*guard) for cell, guard in guards.items()}
        tests = dict.fromkeys(self._tests.values())
        self._count = len(tests)
        exec("def hold():\n    return " + (" and ".join(tests) or "True"), self._names)
        self._hold = self._names["hold"]

    def __len__(self):
        return self._count

    def hold(self):
        try:
            return self._hold()
        except (AttributeError, ValueError):
            return False

    def changed(self):
        """What is not as it was: by kind, the identity of what holds it, and the key."""
        return [cell for cell, test in self._tests.items() if not self._holds(test)]

    def _holds(self, test):
        try:
            return eval(test, self._names)
        except (AttributeError, ValueError):
            return False

    def _name(self, value):
        name = f"v{len(self._names)}"
        self._names[name] = value
        return name

    def _test(self, kind, container, key, found):
        holder, expected = self._name(container), self._name(found)
        if kind == "code":
            return f"{holder}.__code__ is {expected}"
        if kind == "defaults":
            return f"({holder}.__defaults__, {holder}.__kwdefaults__) == {expected}"
        if kind == "cell":
            return self._equal(f"{holder}.cell_contents", found, expected)
        if kind in ("item", "has item", "no item"):
            key = repr(key) if type(key) in (str, int) else self._name(key)
        if kind == "item":
            return self._equal(f"{holder}.get({key}, missing)", found, expected)
        if kind == "elements":
            return f"{self._name(has_elements)}({holder}, {expected})"
        if kind == "no item":
            return f"{key} not in {holder}"
        if kind == "has item":
            return f"{key} in {holder}"
        if kind in ("has attribute", "no attribute"):
            return f"{'not ' if kind == 'no attribute' else ''}hasattr({holder}, {key!r})"
        if kind == "list":
            return f"len({holder}) == {len(found)} and all(map({self._name(_is)}, {holder}, {expected}))"
        if kind == "parameters":
            return f"{self._name(_has_parameters)}({holder}, {expected})"
        if kind == "static":
            return f"{holder}.{key} is {self._name(getattr(container, key))}"
        return self._equal(f"{holder}.{key}", found, expected)

    def _equal(self, now, found, expected):
        if isinstance(found, (int, float, str, tuple)):
            return f"same({now}, {expected})"
        return f"{now} is {expected}"


def _is(a, b):
    return a is b


def _has_parameters(module, found):
    now = module.parameters()
    return len(now) == len(found) and all(path == known and one is parameter for (path, one), (known, parameter) in zip(now.items(), found))
