"""Places in C++ sources: a few tokens in the definition of a function, a class or a table.

`find` reads a file as tokens, so comments and layout do not matter. In a fragment `$name` stands for
any identifier, the same one wherever it occurs, and `...` for as few tokens as there may be, with
brackets in pairs; in a replacement they stand for what was found.
"""

import re

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+'
  | \$?[A-Za-z_]\w* | \.?\d(?:[eEpP][+-]|'?[\w.])*
  | \.\.\. | ::|->|\+\+|--|&&|\|\||[-+*/%&|^!=<>]= | \S""", re.X | re.S)
PAIRS = {"(": ")", "[": "]", "{": "}"}
# What may stand between the parameters of a function and its body, besides names: const, a type, what
# a constructor initializes.
BEFORE_BODY = set(":: -> < > & && * , : ...".split())


class Missing(Exception):
    """There is no such place, or more than one."""


def tokens(text):
    """(token, begin, end) of each token."""
    return [(m[0], *m.span()) for m in TOKEN.finditer(text) if not m["comment"]]


def after_pair(words, i):
    """Where what the bracket at i begins has ended."""
    depth = 0
    for j in range(i, len(words)):
        depth += (words[j] in PAIRS) - (words[j] in PAIRS.values())
        if depth == 0:
            return j + 1
    return len(words)


def is_name(word):
    return word[0].isalpha() or word[0] == "_"


def body_of(words, i, is_class):
    """The body that follows the name which ends at i, or None."""
    if words[i:i + 1] == ["{"]:
        return i
    if not is_class:
        if i >= len(words) or words[i] != "(":
            return None
        i = after_pair(words, i)
    while i < len(words):
        if words[i] == "{":
            end = after_pair(words, i)
            # In a constructor's list of what it initializes, another follows or the body.
            if words[end:end + 1] not in ([","], ["{"]):
                return i
            i = end
        elif words[i] in PAIRS:
            i = after_pair(words, i)
        elif is_name(words[i]) or words[i][0].isdigit() or words[i] in BEFORE_BODY:
            i += 1
        else:
            return None
    return None


def definitions(words, name):
    """The ranges of tokens of all definitions of this name, from the name to the last brace."""
    name = [word for word, _, _ in tokens(name)]
    for i in range(len(words) - len(name)):
        if words[i:i + len(name)] == name:
            body = body_of(words, i + len(name), i > 0 and words[i - 1] in ("struct", "class"))
            if body is not None:
                yield i, after_pair(words, body)


def match(words, i, end, fragment):
    """Where the fragment ends that begins at i, and what its placeholders stand for; or None."""
    if not fragment:
        return i, {}
    first, *rest = fragment
    if first == "...":
        begin = i
        while True:
            if found := match(words, i, end, rest):
                return found[0], {**found[1], "...": [(begin, i), *found[1].get("...", [])]}
            if i >= end or words[i] in PAIRS.values():
                return None
            i = after_pair(words, i) if words[i] in PAIRS else i + 1
    if i >= end or (words[i] != first if first[0] != "$" else not is_name(words[i])):
        return None
    found = match(words, i + 1, end, [words[i] if f == first else f for f in rest])
    if found and first[0] == "$":
        found[1][first] = i, i + 1
    return found


def replaced(text, within, fragment, new):
    """The text with the fragment, which has to occur once in the definition `within`, replaced."""
    all_tokens = tokens(text)
    words = [word for word, _, _ in all_tokens]
    wanted = [word for word, _, _ in tokens(fragment)]
    ranges = list(definitions(words, within))
    if not ranges:
        raise Missing(f"'{within}' is not defined")
    found = {}
    for begin, end in ranges:
        for i in range(begin, end):
            if here := match(words, i, end, wanted):
                found[i] = here
    if len(found) != 1:
        raise Missing(f"'{fragment}' occurs {len(found)} times in '{within}'")
    (begin, (end, stand)), = found.items()

    dots = iter(stand.get("...", ()))

    def source(placeholder):
        first, last = next(dots) if placeholder[0] == "..." else stand[placeholder[0]]
        return text[all_tokens[first][1]:all_tokens[last - 1][2]] if first < last else ""

    new = re.sub(r"\.\.\.|\$\w+", source, new)
    return text[:all_tokens[begin][1]] + new + text[all_tokens[end - 1][2]:]
