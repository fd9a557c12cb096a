"""Lists that become other ones in the graph where something else refers to them, as those in arrays and those that lie with their ends first: so
that a branch, a loop or a comprehension hands on the very list with which the code around it goes on.

What a round finds out of this is noted when it has found nothing else: until then, it may not know what the functions do that are called.
"""

import dataclasses

from hiaton.function.types import Lst, Value


class OneList:
    def cells_of(self, name):
        """The list that a name stands for, as one of cells from now on, of which others may refer to an element."""
        self._note_where_held(name)
        self.env[name] = self.as_cells(self.env[name])
        return self.env[name]

    @staticmethod
    def names_of_lists(env):
        """The names of lists that are those of these names alone, or whose rows are, by what they stand for, and that become other ones where
        something else refers to them."""
        return {name for name, value in env.items() if isinstance(value.type, Lst) and value.type.fresh
                and (value.type.array or value.type.owned or value.type.backward)}

    def held_by(self, holder, names, but=()):
        """What a branch or a comprehension that begins is to keep for the code around it, besides what those around this keep."""
        self.turn_lists(holder)
        held = {**dict.fromkeys(names, holder), **self.held_around}
        return {name: holder for name, holder in held.items() if name not in but}

    def turn_lists(self, holder):
        """Turns the lists that lie with their ends first and to which something refers in the branch or the loop that begins: it is the same
        list before and behind it."""
        for name in {name for by, name in self.converter.turned_before if by == holder} & self.names_of_lists(self.env):
            if self.env[name].type.backward:
                self.env[name] = self.forward(self.env[name])

    def _note_where_held(self, name):
        """A list is made cells inside of a side or a loop, and the code around goes on with its array: cells would be made again there, and
        be another list. If this round finds nothing else, as that what is called looks the list up, the next one makes no array of it."""
        if name in self.held_around and (self.is_array(name) or self.env[name].type.owned):
            self.converter.read_whole.append((self.where.tree, name))

    def shared_list(self, name):
        """What a name stands for, to which others refer from now on: a list as one of cells."""
        value = self.env[name]
        note = (self.held_around.get(name), name)
        if isinstance(value.type, Lst) and value.type.fresh and value.type.backward and name in self.held_around and note not in self.converter.turned_before:
            self.converter.to_turn.add(note)
        if not self.is_array(name):
            return self.shared(value)
        self._note_where_held(name)
        made = self.shared(self.without_array(value))
        if self.loop is not None:
            self.env[f"{self.loop.hidden}.array.{name}"] = Value(dataclasses.replace(value.type, fresh=False), value.ids)
        return made
