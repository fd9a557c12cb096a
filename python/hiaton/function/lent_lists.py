"""Lists that calls change: who calls lends the function a list, and the function gives it back as it is then.

    def leaves(t, out):                      leaves(t, out):
        if t.left is None:                       if t.left is None:
            out.append(t.value)                      return None, [*out, t.value]
            return
        leaves(t.left, out)                      _, out = leaves(t.left, out)
        leaves(t.right, out)                     _, out = leaves(t.right, out)
                                                 return None, out

So does a function that is defined inside with the lists of the function around that it changes. A list may be lent where nobody else refers
to it. Which lists calls change is found out from round to round, and noted in the syntax trees; see scopes.py.
"""

import ast
import dataclasses
import inspect
import types

from hiaton.function.array_uses import read_as_lists
from hiaton.function.own_trees import is_field, own_names_of, with_fields, without_fields
from hiaton.function.reasons import may_change_lists
from hiaton.function.scopes import (assigned, body_of, calls_change, changed, lent_names, list_that_it_gives, names_changed_outside,
                                    names_set_inside, nodes_below, nonlocal_names, note_changes, note_lent)
from hiaton.function.source import is_generator, tree_of
from hiaton.function.types import NONE, Lst, Mapping, Own, Tup, Value


@dataclasses.dataclass(frozen=True)
class Lent(Value):
    """An argument: the list that a name stands for, to which nobody else refers."""

    name: str = ""


class LentObject(Lent):
    """An argument: the object that a name stands for, to which nobody else refers; see own_objects.py."""


def _other_arguments(node, argument):
    return [part for part in [*node.args, *(keyword.value for keyword in node.keywords)] if part is not argument]


def _names_changed_meanwhile(node, function):
    """The names of lists that a call of a function of Python is handed, and that what computes another argument may change."""
    if not isinstance(function, types.FunctionType) or is_generator(function) or function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return set()
    names = {argument for argument in node.args if isinstance(argument, ast.Name)}
    return {argument.id for argument in names if argument.id in changed(*_other_arguments(node, argument))}


class LentLists:
    side_lists = ()  # names of lists that the sides of the expression that is being read may change

    def is_list(self, name):
        """Whether the name stands for a list here."""
        return isinstance(getattr(self.env.get(name), "type", None), Lst)

    def is_changeable(self, name):
        """Whether the name stands for something that changes in Python: a list, a dict whose keys the run tells, or a set."""
        return isinstance(getattr(self.env.get(name), "type", None), (Lst, Mapping))

    def is_lendable(self, name):
        """Whether calls may give the name another value: it stands for what changes, or for a field of an object that does, or functions
        defined inside set it by `nonlocal`."""
        return self.is_changeable(name) or self.is_own(name) or name in self.env and (
            is_field(name) or name in names_set_inside(tree_of(self.where.function)))

    # The caller.

    def lend(self, node, argument, function):
        """An argument of a call, if that, or what computes another argument, may change it and it is a list that nobody else refers to; None
        elsewhere."""
        if not isinstance(argument, ast.Name) or argument.id not in calls_change(node) | _names_changed_meanwhile(node, function):
            return None
        name, value = argument.id, self.env.get(argument.id)
        if not self.is_changeable(name) or not value.type.fresh:
            return None
        others = _other_arguments(node, argument)
        if name in assigned(*others) - changed(*others) or any(isinstance(part, ast.Name) and part.id == name for part in others):
            self.refuse(f"another argument of this call is, or sets, the list '{name}', too; compute that on a line before", node)
        return Lent(value.type, value.ids, name)

    def share_what_was_not_taken(self, node, before):
        """Behind a call: lists that it might have changed, and that were handed on to something else."""
        self.share([name for name in calls_change(node) if name in before and self.env.get(name) is before[name]])

    def lent_to(self, function, tree, parameters, values):
        """Takes lists out of the arguments: by name of a parameter that is given back, the name of the list here; None: of no name, or no
        list."""
        lent = {}
        for number, parameter in enumerate(parameters):
            value = values[number]
            if isinstance(value, Lent) and value.name in self.env and not isinstance(value.type, Own):
                value = Lent(self.env[value.name].type, self.env[value.name].ids, value.name)  # as the other arguments have left it
            is_list = isinstance(value, Lent) and not isinstance(value.type, Own)
            if is_list and parameter not in lent_names(tree) and not is_generator(function):
                self._note_lent(tree, parameter, True)
            if parameter not in lent_names(tree):
                continue
            name = value.name if isinstance(value, Lent) else None
            if isinstance(value.type, (Lst, Mapping)) and not value.type.fresh:
                self._ask_for_list_of_name(value, lent_names(tree)[parameter])
            if name is not None:
                values[number] = self.env[name]
            lent[parameter] = name
        if lent and self.wanted is not None and self.wanted.code in (id(function.__code__), id(tree)):
            self.refuse("the gradient of a function that changes a list cannot be converted here; let it make the list and give it back")
        self._may_change(lent.values())
        return lent

    def lent_to_closure(self, value, tree):
        """The names of lists of the function around which a function defined inside changes, itself or by others."""
        scope = value.type.scope
        names = sorted(names_changed_outside(scope, tree))
        if not names:
            return []
        if not self._is_in_scope(value):
            captured = {name for name, _ in value.type.captured}
            foreign = [name for name in names if name not in captured and name in scope.locals]
            if foreign:
                is_set = foreign[0] in names_set_inside(tree_of(scope.function))
                advice = "give the value back" if is_set else "give that function the list as an argument"
                self.refuse(f"'{foreign[0]}' is changed by '{value.type}', which is called by another function here; {advice}")
            return []
        unset = [name for name in names if name in nonlocal_names(tree) and name not in self.env]
        if unset:
            self.refuse(f"'{unset[0]}' is set by '{value.type}' and has no value yet; give it one before that function is called")
        names = [name for name in names if self.is_lendable(name)]
        for name in names:
            if name in read_as_lists(tree) and self.is_array(name):
                self.cells_of(name)
            self.lay_out_for(name, tree)
            if name not in lent_names(tree):
                self._note_lent(tree, name, False)
        if names and not set(names) <= calls_change(self.node):
            self._note_changes(set(names))
        self._may_change(names)
        return names

    def taken_back(self, made, tree, has_state, lent, kept=None):
        """What a call gives, without the state that it leaves and the lists that it gives back. `lent`: as lent_to() gives it. `kept`: the
        fields of objects that stay as they are, by the names of these."""
        names = [lent[parameter] for parameter in sorted(lent)]
        states = len(self.converter.places) if has_state else 0
        if not has_state and not names:
            return made
        if not isinstance(made.type, Tup) or len(made.type.items) != 1 + states + len(names):
            self.converter.changed = True
            self.fail()
        value, *others = self.items(made)
        if has_state:
            self.take_state(others[:states])
        for name, held in zip(names, others[states:]):
            if kept and name in kept:
                self.take_object_back(name, held, kept[name])
            elif name is not None:
                self.bind(name, held)
        given = list_that_it_gives(tree)
        if given not in lent:
            return value
        if lent[given] is None:
            return self.forward(others[states + sorted(lent).index(given)])
        if self.node is self.receiver and self.is_own(lent[given]):
            return LentObject(self.env[lent[given]].type, (), lent[given])
        return Value(NONE) if self.node is self.unused else self.name_value(lent[given])

    def _is_in_scope(self, value):
        """Whether a function that was defined inside is called where it reads the lists of this very call of the function around."""
        if value.type.own and value.type.scope is self.where:
            return True
        named = self.node.func if isinstance(self.node, ast.Call) else None
        found = self.where.functions.get(named.id) if isinstance(named, ast.Name) else None
        return found is not None and found[0] is value.type.node

    def is_lent_to(self, scope, tree, name):
        """Whether a function defined inside gets what the name stands for at each call, since it changes it."""
        return self.is_lendable(name) and name in names_changed_outside(scope, tree)

    def _may_change(self, names):
        """Elements of a comprehension that change lists hand these on from one to the next, or are computed by a loop where it goes
        over several things."""
        node, converter = self.element_of, self.converter
        if node is None or id(node) in converter.handing_on or all(name is None for name in names):
            return
        (converter.in_order if any(map(self.is_own, names)) else converter.handing_on if len(node.generators) == 1 else converter.in_order).add(id(node))
        converter.changed = True
        self.fail()

    def lists_of_elements(self, node):
        """The names of lists that the elements of a comprehension hand on."""
        if id(node) not in self.converter.handing_on:
            return []
        names = sorted(changed(node.elt, *node.generators[0].ifs))
        return [name for name in names if self.is_lendable(name)]

    def parts_of_elements(self, made, lists):
        """A list of elements, and the lists that these have handed on."""
        if not lists:
            return [made]
        if not isinstance(made.type, Tup) or len(made.type.items) != 1 + len(lists):
            self.converter.changed = True
            self.fail()
        return self.items(made)

    def _ask_for_list_of_name(self, value, grows):
        """A list that others may refer to is an argument where one is to be lent: the next round lends that of a name."""
        if not isinstance(self.node, ast.Call) or not may_change_lists(self.where.file):
            return
        names = set()
        for argument in [*self.node.args, *(keyword.value for keyword in self.node.keywords)]:
            if isinstance(argument, ast.Name) and self.is_changeable(argument.id):
                array = self.array_of(argument.id)
                if value.ids in (self.env[argument.id].ids, array and array.ids):
                    names.add(argument.id)
        if names - calls_change(self.node):
            self._note_changes(names)
        for argument in self.node.args if not names else ():
            if isinstance(argument, ast.Attribute):
                self.ask_for_own_holder(argument)
        for name in names:
            self.ask_to_lend(name, grows)

    # The function that changes a list.

    def ask_to_lend(self, name, grows):
        """A list that is a parameter is changed: from the next round on it is lent, and given back. `grows`: it is only appended to; then
        a list of the caller of the graph is not read, and grows when the run is over."""
        where = self.where
        if name not in where.parameters or self._is_deleted(name) or is_generator(where.function) or not may_change_lists(where.file):
            return
        if grows and where.tree is tree_of(self.converter.with_own_names(self.converter.function)):
            self.ask_for_sink(where.parameters.index(name))
        if name not in lent_names(where.tree) or lent_names(where.tree)[name] > grows:
            self._note_lent(where.tree, name, grows)

    def _is_deleted(self, name):
        parts = nodes_below(body_of(self.where.tree))
        return any(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Del) for part in parts)

    def refuse_another_list(self, name):
        """A name is set: not that of a list or an object that the function was lent."""
        if name in lent_names(self.where.tree) and name in own_names_of(self.where.tree):
            self.refuse(f"'{name}' is an object of who calls this function, which is changed, and gets another value; call the other object "
                        "something else")
        if name in lent_names(self.where.tree) and self.is_changeable(name) and name not in nonlocal_names(self.where.tree):
            self.refuse(f"'{name}' is a list of who calls this function, which is changed, and gets another value; call the other list "
                        "something else")

    def gives_lent_list(self):
        """Whether what the function gives is a list that it gives back anyway."""
        return list_that_it_gives(self.where.tree) in lent_names(self.where.tree)

    def lists_to_give_back(self):
        return [self.held(self.given_back(name)) for name in sorted(lent_names(self.where.tree)) if name in self.env]

    def without_lists(self, made):
        """What the function gives that runs as the graph: lists that are arguments stay the caller's."""
        if not isinstance(made.type, Tup) or not lent_names(self.where.tree):
            return made
        value, *others = self.items(made)
        states, lists = others[:len(self.converter.places)], others[len(self.converter.places):]
        if self.gives_lent_list():
            value = self.forward(lists[sorted(lent_names(self.where.tree)).index(list_that_it_gives(self.where.tree))])
        return self.tuple_of([value, *states]) if states else value

    # Branches inside of expressions.

    def names_of_sides(self):
        """What both sides of a branch give besides its value."""
        return [*(self.state_names() if self.carries_state() else ()), *self.side_lists]

    def changing_on_sides(self, names, run):
        """What `run` gives, a branch whose sides may change the lists of these names."""
        before = self.side_lists
        held = [name for name in without_fields(names) if self.is_lendable(name)]
        self.side_lists = (*before, *(name for name in held if name not in before))
        try:
            return run()
        finally:
            self.side_lists = before

    def keep_changes(self, before, targets):
        """Takes over into names and values from before what an expression has changed; `targets`: names that are its own."""
        for name in [name for name, value in before.items() if isinstance(value.type, Own) and not is_field(name)]:
            for key in with_fields([name], before):
                del before[key]
            before.update({key: self.env[key] for key in with_fields([name], self.env)})
        names = {name for name, value in before.items() if isinstance(value.type, (Lst, Mapping)) and value.type.fresh and name not in targets}
        names |= {*self.state_names()} | (names_set_inside(tree_of(self.where.function)) & before.keys() - targets)
        before.update({name: self.env[name] for name in names if name in self.env})

    # Notes in the trees.

    def _note_lent(self, tree, name, grows):
        """This round goes on, and finds more that the next one goes by."""
        note_lent(tree, name, grows)
        self.converter.changed = True

    def _note_changes(self, names):
        note_changes(tree_of(self.where.function), self.node, names)
        self.converter.changed = True
        self.fail()
