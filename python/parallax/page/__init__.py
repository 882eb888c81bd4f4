"""One self-contained file: markup, style, program and data, under a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import json
from collections.abc import Mapping
from typing import Any

# Marks that turn text around, and marks without width: shown by their numbers, so that nothing reads as what it is not.
_HIDDEN = [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF, 0x061C]
_VISIBLE = {code: f"<U+{code:04X}>" for code in _HIDDEN}


def _part(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def render(title: str, data: Mapping[str, Any]) -> str:
    """Return the page."""
    script, style = _part("timeline.js"), _part("timeline.css")
    title = html.escape(title.translate(_VISIBLE))
    # Half a pair of surrogates, as names of files may hold, is no text.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_VISIBLE).encode("utf-8", "replace").decode()
    # Data that cannot end the element it stands in, nor open a comment there.
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; connect-src 'none'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title} - Parallax</title>\n<style>{style}</style>\n</head>\n<body>\n"
        "<noscript><p>This page needs JavaScript: the timeline is drawn in the browser.</p></noscript>\n"
        f'<script type="application/json" id="page">{text}</script>\n<script>{script}</script>\n</body>\n</html>\n'
    )
