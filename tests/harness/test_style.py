import matplotlib
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from PIL import Image

from workbench.harness import style


def test_lines_and_text_stand_out_from_white():
    assert min(map(style.contrast, style.PALETTE)) >= 3
    assert style.contrast(style.TEXT) >= 4.5
    assert len(style.PALETTE) == len(style.DASHES) == len(set(style.PALETTE)) == len(set(map(str, style.DASHES)))


@pytest.mark.parametrize(
    ("color", "ground", "expected"), [("#777777", "white", 4.48), ("white", "white", 1.0), ("blue", "white", 8.59)]
)
def test_contrast_of_known_pairs(color, ground, expected):
    assert style.contrast(color, ground) == pytest.approx(expected, abs=0.01)
    assert style.contrast(ground, color) == style.contrast(color, ground)


def test_what_okabe_and_ito_palette_leaves_out_is_too_light():
    left_out = set(style.OKABE_ITO.values()) - set(style.PALETTE)
    assert left_out and max(map(style.contrast, left_out)) < 3


def test_fonts_are_at_least_ten_points():
    sizes = [value for name, value in style.MATPLOTLIB.items() if name.endswith("size")]
    assert sizes and min(sizes) >= 10


def test_matplotlib_is_as_before_after_the_block():
    before = dict(matplotlib.rcParams)
    with style.use():
        assert matplotlib.rcParams["axes.prop_cycle"].by_key()["color"] == list(style.PALETTE)
    _, axes = style.subplots(2, 1)
    axes[0].plot([0, 1])
    assert dict(matplotlib.rcParams) == before
    assert axes[0].lines[0].get_color() == style.PALETTE[0]
    assert not axes[0].spines["top"].get_visible()


def test_figures_are_not_registered_with_pyplot():
    plt = pytest.importorskip("matplotlib.pyplot")
    before = plt.get_fignums()
    style.subplots()
    assert plt.get_fignums() == before


@pytest.fixture
def figure():
    figure, ax = style.subplots(width=6, height=3)
    ax.plot([0, 1], [1, 2])
    return figure


def test_a_saved_picture_tells_its_caption(tmp_path, figure):
    style.save(figure, tmp_path / "é line.png", "A line from 1 to 2.")
    with Image.open(tmp_path / "é line.png") as picture:
        assert picture.size == (6 * style.DPI, 3 * style.DPI)
        assert picture.info["Description"] == "A line from 1 to 2."


def test_a_shown_picture_has_its_caption_as_alternative_text_and_under_it(figure):
    InteractiveShell.instance()
    try:
        with capture_output() as captured:
            style.show(figure, "A line from 1 to 2.")
    finally:
        InteractiveShell.clear_instance()
    picture, text = captured.outputs
    assert picture.metadata == {"image/png": {"alt": "A line from 1 to 2."}}
    assert len(picture.data["image/png"]) < 40_000
    assert text.data["text/markdown"] == "A line from 1 to 2."


def test_plotly_draws_in_the_same_colours():
    go = pytest.importorskip("plotly.graph_objects")
    figure = go.Figure(go.Scatter(y=[1, 2]))
    figure.update_layout(template=style.plotly_template())
    assert figure.layout.template.layout.colorway == style.PALETTE
