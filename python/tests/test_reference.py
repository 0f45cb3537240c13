"""The examples of the reference pages print what the pages show."""

import doctest
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES = sorted(FOLDER.glob("*.md"))


def sessions(page):
    """Blocks of Python with their place in the page."""
    for block in page.read_text(encoding="utf-8").split("```python\n")[1:]:
        yield block.split("```")[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_print_what_the_page_shows(page):
    parser, flags = doctest.DocTestParser(), doctest.ELLIPSIS
    failures = []
    for k, text in enumerate(sessions(page)):
        test = parser.get_doctest(text, {}, f"{page.stem}[{k}]", str(page), 0)
        runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
        lines = []
        runner.run(test, out=lines.append)
        if runner.failures:
            failures.append("".join(lines))
    assert not failures, "\n".join(failures)


def test_most_learners_have_an_example():
    assert sum(len(list(sessions(page))) for page in PAGES) > 85
