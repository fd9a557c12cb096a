"""What ends a conversion, or a part of one."""


class ConversionError(TypeError):
    """A function cannot become a graph; the message says where, why, and what to do."""


class Unreached(Exception):
    """This path gives no value: a call in it never returns, or its result is not known yet. `endings` say why."""

    def __init__(self, endings=()):
        super().__init__()
        self.endings = endings


class Incomplete(Exception):
    """A body was built with types that did not hold."""
