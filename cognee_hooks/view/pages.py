"""Answers that are not the page itself: what went wrong, in a few plain sentences."""

from __future__ import annotations

from html import escape

from starlette.responses import HTMLResponse, JSONResponse, Response

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">{head}
<title>{title} - cognee-hooks</title>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def page(title: str, body: str, *, forward: str = "") -> str:
    """Return a plain page.

    Args:
        title: Its title.
        body: One paragraph; what stands in backticks is shown as code.
        forward: Where the browser goes on at once, or "".
    """
    head = link = ""
    if forward:
        head = f'\n<meta http-equiv="refresh" content="0; url={escape(forward)}">'
        link = f'\n<p><a href="{escape(forward)}">Go on</a></p>'
    return _PAGE.format(title=escape(title), head=head, body=f"<p>{_paragraph(body)}</p>{link}")


def _paragraph(text: str) -> str:
    parts = escape(text).split("`")
    return "".join(
        f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts)
    )


def refusal(path: str, status: int, title: str, body: str) -> Response:
    """Return an answer that says no.

    Args:
        path: What was asked for: programs get JSON, a person gets a page.
        status: HTTP status.
        title: What is wrong, in a word or two.
        body: What that means and what to do; what stands in backticks is shown as code.
    """
    if "/api/" in path:
        return JSONResponse({"error": f"{title}. {body}"}, status)
    return HTMLResponse(page(title, body), status)
