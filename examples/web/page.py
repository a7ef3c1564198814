"""Makes one HTML file of the page, its scripts, a WebAssembly module and the text to learn:
page.py PAGE MODULE DOCUMENT..."""
import base64
import gzip
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def packed(content):
    """Text that a script may contain, from which the worker unpacks the content."""
    return base64.b64encode(gzip.compress(content, mtime=0)).decode("ascii")


def main(page, module, *documents):
    text = b"".join(pathlib.Path(name).read_bytes() for name in documents)
    parts = {
        "PAGE": (HERE / "page.js").read_text(encoding="utf-8"),
        "WORKER": (HERE / "worker.js").read_text(encoding="utf-8"),
        "MODULE": packed(pathlib.Path(module).read_bytes()),
        "TEXT": packed(text),
    }
    html = (HERE / "page.html").read_text(encoding="utf-8")
    for name, content in parts.items():
        html = html.replace("{{" + name + "}}", content)
    pathlib.Path(page).write_text(html, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
