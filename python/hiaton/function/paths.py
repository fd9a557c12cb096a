"""Paths: names that lead to a field or an element of a value, of which conditions tell something."""

import ast

from hiaton.function.own_trees import is_field
from hiaton.function.rewrite import PatternItem
from hiaton.function.types import Tup


class Paths:
    def path_of(self, node):
        """Names that lead to a field, ("t", "left"); None where it is something else."""
        if isinstance(node, ast.Name):
            return self.path_of_field(node.id) if is_field(node.id) else (node.id,) if node.id in self.env else None
        if isinstance(node, ast.Attribute):
            path = self.path_of(node.value)
            return None if path is None else (*path, node.attr)
        if isinstance(node, PatternItem):
            path, name = self.path_of(node.subject), self.item_name(node)
            return path if path is None or name is None else (*path, name)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is int:
            path = self.path_of(node.value)
            if path is not None and isinstance(self.read_path(path).type, Tup):
                count = len(self.read_path(path).type.items)
                return (*path, node.slice.value % count) if -count <= node.slice.value < count else None
        return None

    def read_path(self, path):
        key = path if len(path) > 1 else path[0]
        if key in self.env:
            return self.env[key]
        holder = self.read_path(path[:-1])
        return self.items(holder)[path[-1]] if isinstance(path[-1], int) else self.attribute(holder, path[-1])

    def path_of_field(self, name):
        """Names that lead to a field of what a name stands for; None: to none."""
        owner, fields = name, []
        while owner and owner not in self.env:
            owner, _, field = owner.rpartition(".")
            fields.insert(0, field)
        return (owner, *fields) if owner and not (fields and self.is_own(owner)) else None
