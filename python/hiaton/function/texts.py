"""Texts that are known before the run: their methods, and what is made of them."""

import ast

from hiaton.function.types import Const, Value, as_number


class Texts:
    def method_of_text(self, text, name, args, named):
        """text.startswith("W") and its like."""
        given = [*args, *named.values()]
        if not callable(getattr(text, name, None)) or any(not isinstance(value.type, Const) for value in given):
            self.refuse(f"str.{name} can be converted where the text and the arguments are known before the run; "
                        "call it outside of the function")
        try:
            found = getattr(text, name)(*(value.type.value for value in args), **{key: value.type.value for key, value in named.items()})
        except (TypeError, ValueError, LookupError) as error:
            self.fail(str(error))
        return self.constant_value(found, name)

    def part_of_text(self, text, part):
        """text[1] and text[1:]."""
        if isinstance(part, ast.Slice):
            ends = [Value(Const(None)) if end is None else self.eval(end) for end in (part.lower, part.upper, part.step)]
        else:
            ends = [as_number(self.eval(part))]
        if not all(isinstance(end.type, Const) for end in ends):
            self.refuse(f"a part of {text!r} that the run tells cannot be converted; use a list of numbers")
        ends = [end.type.value for end in ends]
        try:
            return self.known(text[slice(*ends)] if isinstance(part, ast.Slice) else text[ends[0]])
        except (IndexError, TypeError, ValueError) as error:
            self.fail(str(error))

    def eval_JoinedStr(self, node):
        """f"visit_{name}" of texts that are known."""
        made = Value(Const(""))
        for part in node.values:
            is_plain = isinstance(part, ast.Constant) or part.conversion == -1 and part.format_spec is None
            text = self.eval(part if isinstance(part, ast.Constant) else part.value) if is_plain else None
            made = self.joined_texts(made, text) if text is not None else None
            if made is None:
                self.refuse(f"{ast.unparse(node)} cannot be converted, since the run does not make texts; compute it outside of the function",
                            node)
        return made
