"""The rounds of a conversion: each builds the graph anew, with what those before have found, until nothing new is found."""

import collections
import contextlib
import threading
import types as python_types

from hiaton import _core
from hiaton.function import prelude
from hiaton.function.array_uses import note_read_as_lists
from hiaton.function.errors import ConversionError, Incomplete, Unreached
from hiaton.function.frame import Frame
from hiaton.function.given_mappings import mappings_in
from hiaton.function.graph_types import graph_type
from hiaton.function.instances import GROWS
from hiaton.function.names import capital_name
from hiaton.function.scopes import number_of_notes
from hiaton.function.source import is_coroutine, is_generator, place
from hiaton.function.types import FLOAT, NEVER, Tup, Value, floats_in

MOST_ROUNDS = 60
_one_at_a_time = threading.RLock()


class Rounds:
    """The part of a converter that goes on until nothing new is found."""

    def convert(self):
        if not isinstance(self.function, python_types.FunctionType):
            raise ConversionError(f"expected a function that is written in Python, found {type(self.function).__name__}; let Python "
                                  "run it")
        if is_generator(self.function) or is_coroutine(self.function):
            raise ConversionError(f"{place(self.function)}: '{self.function.__qualname__}' is a generator or a coroutine, which a graph "
                                  "cannot give; give a list")
        with _one_at_a_time:  # conversions note what they find out in the trees of functions, which several may share
            main = self._last_round()
            self.remember()
            return self._finish(main)

    def _last_round(self):
        """Goes on until nothing new is found, and gives the instance that runs."""
        narrowings = 2
        for _ in range(MOST_ROUNDS):
            self.changed = False
            self.is_refused = False
            self.found, self.asked = {}, set()
            self._begin_round()
            knows_drafts = bool(self.drafted)
            main = self._main()
            while self.waiting:
                instance, build = self.waiting.popleft()
                self._define(instance, build)
                if self.drafted and not knows_drafts:
                    break  # the main instance has led to drafts of all others, and another round follows in any case
            if self.notes != number_of_notes():
                self.changed = True
            if self.places and (self.read_anywhere, self.read_of_roots) != (self.read_before, self.roots_before):
                self.changed = True
            if (self.read_whole or self.to_turn) and not self.changed:
                for tree, name in self.read_whole:
                    note_read_as_lists(tree, {name})
                self.turned_before |= self.to_turn
                continue
            if not self.changed and self.is_refused:
                raise ConversionError(self.refusal)
            if not self.gives_mappings and mappings_in(self.assumed.get(("result", main.key), NEVER)):
                self.gives_mappings = True
                continue
            if not self.lets_lists_out and self.may_let_lists_out(main):
                self.lets_lists_out = True
                continue
            if not self.changed and narrowings and self.assumed != self.found:
                # Early rounds knew less, and may have found types that no path gives.
                narrowings -= 1
                is_same = self._asked_for_what_it_found()
                self.assumed = self.found
                if not is_same:
                    continue
            if not self.changed:
                return main
        raise ConversionError(self.refusal or f"{place(self.function)}: '{self.function.__qualname__}': {GROWS}")

    def _finish(self, main):
        if main.result is NEVER:
            self._refuse_never(main)
        self.entry = main.name
        self.main_types = (*main.types, *self.followed_types())
        self.result = main.result
        if self.by_arguments:
            self.entry = self.builder.function_name(self.builder.declare_gradient(main.number))
            floats = (one for type_ in self.types for one in floats_in(type_))
            self.result = Tup((main.result, *floats))
        self.source = self.builder.finish(not self.makes_objects and self._lists_in(main.result, set()) < 2)
        return self

    def _asked_for_what_it_found(self):
        """Whether a round that begins with the types which this one has found would do the same: it asks for the same types, one after the
        other, as long as it is told the same. What nobody asks for any more are types of instances that are not part of the graph."""
        return all(self.assumed.get(what, NEVER) == self.found.get(what, NEVER) for what in self.asked)

    def _begin_round(self):
        self.left, self.fixed_before = [], set(self.fixed)
        self.of_prelude = {}
        self.sites = {}
        self.speculated = {}
        self.whole = {}
        self.is_slow_at = ""
        self.read_whole, self.to_turn = [], set()
        self.read_before, self.read_anywhere = self.read_anywhere, set()
        self.roots_before, self.read_of_roots = self.read_of_roots, set()
        self.reads_are_stale, self.has_new_places = self.has_new_places, False
        before = list(self.places)
        for cls, name in [field for field, type_ in self.fields.items() if self.own_names_grew and field[0] in self.changing and mappings_in(type_)]:
            del self.fields[cls, name]  # these objects were thought to be values of the graph, which hold no such dicts
            self.read.get(cls, {}).pop(name, None)
        if self.own_names_grew and (self.places or self.new_places):
            # What was written down of objects that are now changed in place is found again, if it is needed.
            self.places, self.new_places = ({key: place for key, place in places.items() if not place.is_log or place.cls not in self.changing}
                                            for places in (self.places, self.new_places))
            self.stateful = {id(self.with_own_names(self.function).__code__)} if self.places or self.new_places else set()
        self.places = {key: place for key, place in {**self.places, **self.new_places}.items()
                       if not place.is_log or (place.cls, place.name) not in self.no_logs}
        self.new_places = {}
        notes, self.notes = self.notes, number_of_notes()
        if list(self.places) != before or notes != self.notes or self.own_names_grew:  # functions give other results
            self.assumed = {}
            self.drafted.clear()
            self.writing.clear()
        self.own_names_grew = False
        self.builder = _core.GraphBuilder()
        self.builder.set_source(self.text.name, self.text.whole)
        self.instances = {}
        self.called_again = set()  # the keys of those that were called once more
        self.counts = collections.Counter()
        self.sizes = collections.defaultdict(list)  # by function and the types without sizes: the types of calls around this one
        self.waiting = collections.deque()
        self.gradient_instances = {}  # by instance and the parameters by which they are
        self.guards = {}
        self.cells = {}
        self.learned = []
        self.constants = {}
        self.learned_numbers = {}
        self.boxes = {}
        self.variants = {cls: number + 1 for number, cls in enumerate(self.read)}
        self.object_type = self.builder.declare_data("Object" if len(self.read) != 1 else capital_name(next(iter(self.read))))
        self.laid_out = {cls: list(fields) for cls, fields in self.read.items()}
        variants = [("None_", [])]
        taken = collections.Counter()
        for cls, fields in self.laid_out.items():
            name = capital_name(cls)
            taken[name] += 1
            name += str(taken[name]) if taken[name] > 1 else ""
            parts = []
            for field in fields:
                kinds = self.graph_types(self.fields.get((cls, field), NEVER))
                parts += [(field if len(kinds) == 1 else f"{field}_{i}", kind) for i, kind in enumerate(kinds)]
            # Objects of no fields stay apart from each other by memory of their own.
            variants.append((name, parts or [("bare", graph_type("i64"))]))
        self.builder.define_data(self.object_type, variants)

    def _define(self, instance, build):
        """A body is only complete when the types that it was built with held."""

        def body(graph):
            frame = Frame(self, graph, instance.key)
            values, at = [], 0
            ids = graph.parameters()
            for type_ in (*instance.types, *self.followed_types()):
                count = len(self.graph_types(type_))
                values.append(Value(type_, tuple(ids[at:at + count])))
                at += count
            frame.followed = dict(zip(self.followed, values[len(instance.types):]))
            del values[len(instance.types):]
            try:
                found = build(frame, values)
                if instance.name == self.entry:
                    found = frame.loss_of(found)
            except Unreached as reason:
                found = Value(NEVER)
                self.endings[instance.key] = reason.endings
            if frame.where is None or prelude.is_text_of(frame.where.file):
                self.of_prelude[instance.key] = frame.where and frame.where.function
            if found.type == FLOAT and found.ids[0] in frame.taken_out:
                self.giving_taken_out.add(instance.key)
            known = self.assume(("result", instance.key), found.type)
            if known != instance.result:
                raise Incomplete
            try:
                ids = frame.coerce(found, known).ids
            except Unreached:
                ids = frame.default(known).ids
            return list(ids) or [frame.constant(0, "i64")]

        before = self.defining, self.place, self.user_place
        call = self.called_from[instance.key]
        self.defining, self.place, self.user_place = instance.key, call.place, call.user_place
        try:
            self.builder.define(instance.number, body)
        except Incomplete:
            pass
        except _core.ProgramError as error:
            with contextlib.suppress(Incomplete):
                self.refuse(f"{place(self.function)}: '{instance.name}': {error}; let Python run this function")
        finally:
            self.defining, self.place, self.user_place = before

    # What a round cannot convert.

    def refuse(self, message, key=None):
        """Ends the conversion, if what it was found by holds when the round is over: else another round will tell. `key`: of the
        instance that is refused something."""
        # What a function that is called is refused for comes later, and is the reason for more.
        self.refusal, self.is_refused = self.with_calls(message, key), self.is_refused or not self.changed
        raise Incomplete

    def leaves(self, message):
        """Whether the graph may do without what is refused: it assumes that no call comes there. Not as long as this round
        finds something new, which may tell more of it."""
        if not self.may_leave or self.changed:
            return False
        if message not in self.left:
            self.left.append(message)
        return True

    def is_first_look(self, key, message):
        """Whether nothing is known yet of what the function of the graph gives that is refused something: what calls of itself give
        seems to be nothing as long, and a list of that to be empty. Its other paths may tell more; else the refusal stands."""
        if self.known_type(("result", key)) is not NEVER:
            return False
        self.refusal, self.is_refused = self.with_calls(message, key), self.is_refused or not self.changed
        return True
