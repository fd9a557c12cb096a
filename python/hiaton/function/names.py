"""Names of Python as names of a program."""

_KEYWORDS = set("fn let in if then else on with while for do and or not true false nan inf nanf32 inff32 _ data match param "
                "grad value_and_grad vjp value_and_vjp bool i32 i64 f32 f64 size recompute".split())


def plain_name(name):
    name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name).strip("_") or "f"
    if name[0].isdigit():
        name = "f" + name
    return name + "_" if name in _KEYWORDS else name


def capital_name(cls):
    name = plain_name(cls.__name__)
    return name[0].upper() + name[1:]
