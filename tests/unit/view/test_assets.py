from __future__ import annotations

import re

from cognee_hooks.view.assets import PAGE, load_assets


def test_the_pages_files_come_with_us_and_say_what_they_are():
    found = load_assets()
    assert found[PAGE].media_type == "text/html; charset=utf-8"
    types = {name.rpartition(".")[2]: each.media_type for name, each in found.items()}
    assert types == {
        "html": "text/html; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml; charset=utf-8",
    }


def test_every_file_that_a_file_names_is_there():
    found = load_assets()
    named = {
        name.decode()
        for each in found.values()
        for name in re.findall(rb'(?:"assets/|from "\./|import "\./)([\w.-]+)', each.content)
    }
    assert named
    assert named <= set(found)
