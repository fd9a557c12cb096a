"""Methods of texts that are known before the run."""

from hiaton.function.types import Const


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
