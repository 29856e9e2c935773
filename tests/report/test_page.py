import base64
import hashlib
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taylorpoda as tp
from taylorpoda.report import UtilityTable, page, utility_table, write_html
from taylorpoda.report.markup import Markup, escape, tag

ALLOWED = set(
    "html head meta title style body header main section footer article div p h1 h2 h3 span "  # noqa: SIM905 - legible
    "dl dt dd ul li table caption thead tbody tr th td details summary "
    "svg desc text tspan line rect circle path g".split()
)


def parsed(text):
    """The page as a tree: it is well-formed XML, so nothing a name holds can have closed or opened an element."""
    assert text.startswith("<!doctype html>\n")
    return ET.fromstring(text.removeprefix("<!doctype html>\n"))  # noqa: S314 - our own page


def texts(tree, name):
    return ["".join(element.itertext()) for element in tree.iter(name)]


def test_hostile_names_neither_run_nor_break_the_page(named):
    tree = parsed(page(named, title="</title><script>alert(0)</script>", description="<script>x</script>"))
    assert {element.tag for element in tree.iter()} <= ALLOWED
    for element in tree.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name not in {"src", "href", "srcdoc", "style", "action"}
            assert "javascript:" not in value
    shown = "".join(tree.itertext())
    assert "<script>alert(1)</script>" in shown
    assert "<td onclick=alert(4)>" in shown
    assert "</title><script>alert(0)</script>" in texts(tree, "h1")


def test_nothing_is_loaded_and_only_the_own_style_sheet_is_allowed(named):
    tree = parsed(page(named))
    (style,) = tree.iter("style")
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    policy = next(m.get("content") for m in tree.iter("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "url(" not in style.text
    assert "@import" not in style.text


def test_pictures_have_names_and_tables_have_headers(named):
    tree = parsed(page(named))
    charts = [element for element in tree.iter("svg") if element.get("class") == "chart"]
    assert len(charts) == 2 + 10
    for chart in charts:
        assert chart.get("role") == "img"
        assert chart.get("aria-label")
        assert chart.find("desc").text
    for table in tree.iter("table"):
        assert table.find("caption").text
        assert all(head.get("scope") in {"col", "row"} for head in table.iter("th"))


def drawn(card, kind="chart"):
    """The picture of a card for a wide screen, or the one for a narrow screen."""
    (chart,) = (element for element in card.iter("svg") if element.get("class") == kind)
    return chart


def waterfall(card, kind="chart"):
    """Left and right ends of the bars of a card, as drawn."""
    kinds = {"pos", "neg", "other"}
    bars = [rect for rect in drawn(card, kind).iter("rect") if rect.get("class") in kinds]
    return [(float(bar.get("x")), float(bar.get("x")) + float(bar.get("width"))) for bar in bars]


@pytest.mark.parametrize("kind", ["chart", "chart narrow"])
def test_bars_are_as_long_as_the_attributions(hostile, kind):
    tree = parsed(page(hostile, rows=[3]))
    (card,) = tree.iter("article")
    lengths = np.array([right - left for left, right in waterfall(card, kind)])
    sizes = np.sort(np.abs(hostile.values[3]))[::-1]
    visible = lengths > 1
    assert visible.sum() >= 4
    scale = lengths[0] / sizes[0]
    assert abs(lengths[visible] - scale * sizes[visible]).max() < 0.05


@pytest.mark.parametrize("kind", ["chart", "chart narrow"])
def test_bars_join_the_average_to_the_prediction(hostile, kind):
    tree = parsed(page(hostile, rows=[3]))
    (card,) = tree.iter("article")
    dots = [float(dot.get("cx")) for dot in drawn(card, kind).iter("circle") if dot.get("r") == "4"]
    ends = waterfall(card, kind)
    level = dots[0]
    for left, right in ends:
        assert min(abs(left - level), abs(right - level)) < 0.9
        level = right if abs(left - level) < abs(right - level) else left
    assert abs(level - dots[1]) < 0.9
    assert dots[0] != dots[1]


def test_the_picture_for_a_narrow_screen_says_the_same_and_stays_inside(hostile):
    """It was the wide one, cut off in the middle."""
    tree = parsed(page(hostile))
    assert sum(element.get("class") == "chart narrow" for element in tree.iter("svg")) == 2 + 10
    for card in tree.iter("article"):
        wide, narrow = drawn(card), drawn(card, "chart narrow")
        assert wide.find("desc").text == narrow.find("desc").text
        *_, width, height = (float(number) for number in narrow.get("viewBox").split())
        for mark, x, y in (("rect", "x", "y"), ("circle", "cx", "cy"), ("text", "x", "y")):
            placed = [(float(element.get(x)), float(element.get(y))) for element in narrow.iter(mark)]
            assert all(0 <= left <= width and 0 <= top <= height for left, top in placed)
            assert placed
        intervals = [
            [e.findtext("title") for e in chart.iter("rect") if (e.get("class") or "").endswith("-line")]
            for chart in (wide, narrow)
        ]
        assert intervals[0] == intervals[1]


def test_every_number_of_a_row_is_in_its_table(named, hostile):
    tree = parsed(page(named, rows=[5]))
    (card,) = tree.iter("article")
    lines = [["".join(cell.itertext()) for cell in line] for line in card.find(".//tbody")]
    order = np.argsort(-np.abs(hostile.values[5]), kind="stable")

    def number(text):
        return float(text.replace("\N{MINUS SIGN}", "-").replace(",", ""))

    shapley = named["shapley"]
    columns = [shapley.values, hostile.values, hostile.lower, hostile.upper]
    for line, player in zip(lines, order, strict=True):
        for text, column in zip(line[2:6], columns, strict=True):
            assert abs(number(text) - column[5, player]) < 0.0051 * np.abs(hostile.upper[5]).max() + 0.006
        certain = hostile.lower[5, player] > 1e-9 or hostile.upper[5, player] < -1e-9
        assert line[6].startswith("certain") == certain


def test_rows_are_chosen_and_counted(hostile):
    tree = parsed(page(hostile, rows=[7, 2, -1]))
    titles = [text for text in texts(tree, "h3") if text.startswith("Row")]
    assert titles == [f"Row {k} \N{MIDDLE DOT} <b>{k}</b>" for k in (7, 2, 11)]
    assert any("3 of 12 rows" in text for text in texts(tree, "p"))
    assert sum(text.startswith("Row") for text in texts(parsed(page(hostile)), "h3")) == 10


def test_folding_reaches_the_prediction(hostile):
    whole = page(hostile, rows=[0], max_display=2)
    assert "5 other features" in whole
    (card,) = parsed(whole).iter("article")
    assert len(waterfall(card)) == 2


def test_each_card_shows_the_output_the_model_gives_most_to(three_outputs):
    tree = parsed(page(three_outputs))
    cards = list(tree.iter("article"))
    assert len(cards) == 4
    for row, card in enumerate(cards):
        shown = next("".join(item.itertext()) for item in card.iter("li") if item.get("class") == "shown")
        best = int(np.argmax(three_outputs.predictions[row]))
        number = float(shown.rpartition("= ")[2].replace("\N{MINUS SIGN}", "-"))
        assert abs(number - three_outputs.predictions[row, best]) < 0.02
    parsed(page(three_outputs, output=1))


def test_the_table_of_policies_says_the_means(named, hostile):
    table = utility_table(named)
    assert table.labels == ("shapley", "<i>adapted</i>")
    assert table.utilities == (
        "inclusion_aup",
        "exclusion_aup",
        "inclusion_mse",
        "exclusion_mse",
        "inclusion_auc",
        "exclusion_auc",
    )
    for j, utility in enumerate(table.utilities):
        assert abs(table.means[0, j] - named["shapley"].scores(utility).mean()) < 1e-12
        assert abs(table.means[1, j] - hostile.reallocate(utility=utility).score.mean()) < 1e-12
        sign = 1 if table.higher_is_better[j] else -1
        assert sign * table.means[1, j] >= sign * table.means[0, j] - 1e-12
        assert sign * table.ceilings[j] >= sign * table.means[1, j] - 1e-12
    assert table.best.any(axis=0).all()
    assert abs(table.shares[0][np.isfinite(table.shares[0])]).max() < 1e-12


def test_the_best_of_a_column_depends_on_its_direction():
    means = np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 2.0 + 1e-12]])
    unknown = np.full((2, 3), np.nan)
    table = UtilityTable(("a", "b"), ("x", "y", "z"), (False, True, True), means, unknown, unknown[0], 5)
    assert table.best.tolist() == [[True, False, True], [False, True, True]]


def test_a_table_of_one_s_own_is_shown(hostile):
    table = utility_table({"mine": hostile}, ["exclusion_mse"])
    tree = parsed(page(hostile, table=table))
    head = texts(next(iter(tree.iter("thead"))), "th")
    assert [text.split()[0] for text in head] == ["policy", "exclusion_msehigher"]


def test_utilities_that_read_labels_are_left_out_where_there_are_none(three_outputs):
    table = utility_table({"x": three_outputs})
    assert not any("auc" in name for name in table.utilities)
    one = utility_table({"x": three_outputs}, ["inclusion_aup"], output=2)
    assert abs(one.means[0, 0] - three_outputs.score[:, 2].mean()) < 1e-12
    with pytest.raises(ValueError, match="Did you mean"):
        utility_table({"x": three_outputs}, ["inclusion_aupp"])


def test_a_utility_without_a_ceiling_is_shown_without_one(hostile):
    spread = tp.Utility("<u>spread</u>", evaluate=lambda a, _: (a**2).sum(axis=-1), higher_is_better=False)
    explanation = hostile[:3].reallocate(policy="shapley", utility=spread)
    parsed(page(explanation, table=utility_table({"x": explanation}, ["inclusion_aup"])))


def test_the_file_appears_whole_or_not_at_all(hostile, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    assert write_html(path, hostile, rows=[0]) == path
    before = path.read_bytes()
    assert before.decode("utf-8") == page(hostile, rows=[0])

    def broken(*_, **__):
        raise OSError

    monkeypatch.setattr("pathlib.Path.replace", broken)
    with pytest.raises(OSError):
        write_html(str(path), hostile, rows=[1])
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    ("explanations", "options", "error", "message"),
    [
        (None, {}, TypeError, "explanations has type NoneType"),
        ({}, {}, ValueError, "explanations is empty"),
        ({"a": 1}, {}, TypeError, r"explanations\['a'\] has type int"),
        ("hostile", {"rows": [12]}, ValueError, "row=12 does not exist"),
        ("hostile", {"rows": ["a"]}, TypeError, "row='a' has type str"),
        ("hostile", {"output": 3}, ValueError, "output=3"),
        ("hostile", {"max_display": 0}, ValueError, "max_display=0"),
        ("empty", {}, ValueError, "no rows"),
        ("mixed", {}, ValueError, "explains other rows"),
    ],
)
def test_what_cannot_be_shown_is_refused(hostile, explanations, options, error, message):
    choices = {"hostile": hostile, "empty": hostile[:0], "mixed": {"a": hostile, "b": hostile[:3]}}
    given_ = choices[explanations] if isinstance(explanations, str) else explanations
    with pytest.raises(error, match=message):
        page(given_, **options)


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_survives_in_elements_and_attributes(inside, value):
    tree = ET.fromstring(tag("p", inside, title=value))  # noqa: S314 - our own markup
    assert list(tree) == []
    assert set(tree.attrib) == {"title"}
    harmless = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
    if not harmless.search(inside) and inside.isprintable():
        assert (tree.text or "") == inside


def test_markup_is_not_escaped_twice():
    assert tag("p", tag("b", "<"), class_="x", hidden=True, lang=None) == '<p class="x" hidden=""><b>&lt;</b></p>'
    assert escape(Markup("<b/>")) == "<b/>"


@pytest.mark.parametrize(("bound", "said"), [(0.5, "No admissible split is better than 0.50"), (np.nan, None)])
def test_a_search_that_was_stopped_claims_no_more_than_its_bound(hostile, bound, said):
    stopped = hostile[:1]
    stopped.__dict__.update(certified=np.array([False]), bound=np.array([bound]), ceiling=np.array([0.25]))
    (card,) = parsed(page(stopped, table=utility_table({"x": hostile}, ["inclusion_aup"]))).iter("article")
    proof = next("".join(p.itertext()) for p in card.iter("p") if p.get("class") == "proof")
    assert proof.startswith("Best found, not proven.")
    assert (said or "Best found") in proof
    assert ("No admissible" in proof) == (said is not None)
