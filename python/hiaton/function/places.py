"""What a graph sets: attributes of objects, global variables and variables of functions around; and what it prints."""

import builtins

from hiaton.function.arrays import tensor_of
from hiaton.function.observe import Observer
from hiaton.function.types import NEVER, join

MISSING = object()


class Place:
    """An attribute that is set: of the argument with a number, of an object that was there before, or, where neither is given,
    of any object of a class, by a list of what was set. `kind` tells variables from attributes: "global" in the dict `holder`,
    or "cell", or "list", which grows by a list of elements, or "elements": those of an array, of which `name` says how a tensor is made."""

    def __init__(self, name, cls, number=None, holder=None, kind="attribute"):
        self.name = name
        self.cls = cls
        self.number = number
        self.holder = holder
        self.kind = kind
        self.is_log = kind == "list" or number is None and holder is None
        self.key = (kind, name, number, id(holder), cls if number is None and holder is None else None)

    def read(self, values):
        """What it holds now, before a call with these arguments."""
        holder = self.holder if self.number is None else values[self.number]
        if self.kind == "elements":
            return tensor_of(holder, self.name)
        if self.kind == "global":
            return holder.get(self.name, MISSING)
        try:
            return holder.cell_contents if self.kind == "cell" else getattr(holder, self.name)
        except (AttributeError, ValueError):
            return MISSING

    def text(self, holder):
        """Of Python, where `holder` is the name of that."""
        forms = {"elements": f"tensor_of({holder}, {self.name!r})", "global": f"{holder}[{self.name!r}]", "cell": f"{holder}.cell_contents"}
        return forms.get(self.kind, f"{holder}.{self.name}")


PRINTED = Place("print", None)  # the list of what was printed: the number of the statement, and the values


class States:
    """The places of one graph. `read(values)` gives the arguments of a call with what the places hold, or None where the graph
    is not for these objects; `write(values, made)` sets what the run set, and gives the result of the function."""

    def __init__(self, converter):
        self.places = list(converter.places.values())
        self.followed = [place for place, _ in converter.followed.values()]
        self.missing = {place.key for place in self.places if place.key in converter.missing}
        self._printings = [printing for _, printing in converter.printings.values()]
        self._roots = {number: next(iter(converter.types[number].classes)) for number in sorted(converter.roots)}
        # Objects that the graph knows: no argument with a place may be one of them.
        known = {id(container) for kind, container, *_ in converter.guards.values() if kind == "attribute"}
        self._names = {"known": known | {id(place.holder) for place in [*self.places, *self.followed]
                                         if place.holder is not None}, "_id": builtins.id, "tensor_of": tensor_of}
        self._names.update((f"C{number}", cls) for number, cls in self._roots.items())
        exec("\n".join([*self._text_of_read(), *self._text_of_write()]), self._names)
        self.read, self.write = self._names["read"], self._names["write"]

    def _holder(self, number, place):
        if place.number is not None:
            return f"values[{place.number}]"
        self._names[f"h{number}"] = place.holder
        return f"h{number}"

    def _text_of_read(self):
        numbers = list(self._roots)
        sinks = [self._holder(number, place) for number, place in enumerate(self.places) if place.kind == "list"]
        refused = [f"type(values[{n}]) is not C{n} or _id(values[{n}]) in known" for n in numbers]
        refused += [f"values[{n}] is values[{m}]" for i, n in enumerate(numbers) for m in numbers[:i]]
        refused += [f"{one} is {other}" for i, one in enumerate(sinks) for other in sinks[:i]]
        found = []
        for number, place in enumerate(self.places):
            holder = self._holder(number, place)
            if place.key in self.missing:
                self._names[f"p{number}"] = place
                refused.append(f"p{number}.read(values) is not missing")
                self._names["missing"] = MISSING
            elif not place.is_log:
                found.append(place.text(holder))
        for number, place in enumerate(self.followed, len(self.places)):
            found.append(place.text(self._holder(number, place)))
        yield "def read(values):"
        yield from [f"    if {' or '.join(refused)}: return None"] * bool(refused)
        yield "    try:"
        yield f"        return ({', '.join(['*values', *found])},)"
        yield "    except (AttributeError, KeyError, ValueError):"
        yield "        return None"

    def _text_of_write(self):
        yield "def write(values, made):"
        for number, place in enumerate(self.places, 1):
            holder = self._holder(number - 1, place)
            if place is PRINTED:
                continue
            if place.kind == "list":
                yield f"    {holder}.extend([value for value, in reversed(made[{number}])])"
            elif place.is_log:
                yield f"    for holder, value in reversed(made[{number}]):"
                yield f"        holder.{place.name} = value"
            else:
                yield f"    if made[{number}][0]: {place.text(holder)} = made[{number}][1]"
        yield "    return made[0]" if self.places else "    return made"

    def has_attributes_of(self, values):
        """Whether those places hold something that did when the graph was made."""
        return all((place.read(values) is MISSING) == (place.key in self.missing) for place in self.places if not place.is_log)

    def add_types(self, values, fields, known):
        """Adds the types that the places have now to those that they had before, by key."""
        for place in self.places:
            value = MISSING if place.is_log else place.read(values)
            if value is not MISSING:
                known[place.key] = join(known.get(place.key, NEVER), Observer(fields).type_of(value))

    def prints(self, made):
        """The arguments for each call of `print`, in order. Raises what the format of a value raises."""
        if PRINTED not in self.places:
            return ()
        log = made[1 + self.places.index(PRINTED)]
        return [self._printings[number].texts(*shown) for number, *shown in reversed(log)]
