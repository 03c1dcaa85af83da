import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from workbench.errors import DataError, ParameterError
from workbench.methods.transport import real_images
from workbench.methods.transport.images import dotmark_image, dotmark_pair, share_out
from workbench.methods.transport.random_fields import gaussian_field, matern_covariance
from workbench.methods.transport.real_images import MICROGRAPHS, PHOTOGRAPHS
from workbench.methods.transport.shapes import draw_shapes
from workbench.methods.transport.spec import CLASSES


@pytest.mark.parametrize("cls", CLASSES)
def test_every_class_is_a_measure_and_deterministic(cls):
    image = dotmark_image(cls, 24, seed=5)
    assert image.shape == (24, 24) and image.dtype == np.float64
    assert image.min() >= 0 and image.sum() == pytest.approx(1, abs=1e-12)
    assert_array_equal(image, dotmark_image(cls, 24, seed=5))
    assert abs(image - dotmark_image(cls, 24, seed=6)).sum() > 0.01


@pytest.mark.parametrize("cls", [name for name in CLASSES if name != "WhiteNoise"])
def test_coarser_sides_are_block_sums(cls):
    fine = dotmark_image(cls, 64, seed=1)
    blocks = fine.reshape(16, 4, 16, 4).sum(axis=(1, 3))
    assert_allclose(dotmark_image(cls, 16, seed=1), blocks, atol=1e-15)


def test_grey_levels_are_whole_numbers_up_to_255_at_512_pixels():
    for cls in ("GRFsmooth", "LogGRF", "CauchyDensity"):
        image = dotmark_image(cls, 512)
        levels = image * (255 / image.max())
        assert_allclose(levels, levels.round(), atol=1e-9)
        assert len(np.unique(image)) > 100


def test_share_out_conserves_mass_by_area():
    image = np.arange(25.0).reshape(5, 5)
    for side in (1, 2, 3, 5, 7, 10):
        assert share_out(image, side).sum() == pytest.approx(300)
    assert_array_equal(share_out(image, 10)[::2, ::2] * 4, image)
    half = share_out(np.ones((3, 3)), 2)
    assert_allclose(half, np.full((2, 2), 2.25))


def test_sides_that_do_not_divide_512_keep_the_centre_of_mass():
    def centre(image):
        positions = (np.arange(len(image)) + 0.5) / len(image)
        return np.array([image.sum(1) @ positions, image.sum(0) @ positions])

    assert_allclose(centre(dotmark_image("Shapes", 100)), centre(dotmark_image("Shapes", 512)), atol=2e-4)


def test_1024_splits_each_pixel_of_512():
    large, small = dotmark_image("GRFmoderate", 1024), dotmark_image("GRFmoderate", 512)
    assert_allclose(large[::2, 1::2] * 4, small, rtol=1e-12)


def test_pairs_are_numbered_by_seed():
    a, b = dotmark_pair("LogitGRF", 16, 2, 7, seed=3)
    assert_array_equal(a, dotmark_image("LogitGRF", 16, seed=32))
    assert_array_equal(b, dotmark_image("LogitGRF", 16, seed=37))


def test_real_images_are_ten_different_ones_in_every_round():
    for cls in ("ClassicImages", "MicroscopyImages"):
        first = {dotmark_image(cls, 16, seed=k).tobytes() for k in range(10)}
        again = {dotmark_image(cls, 16, seed=k).tobytes() for k in range(10, 20)}
        assert len(first) == 10 and first == again
    assert len(set(PHOTOGRAPHS)) == 10 and len(set(MICROGRAPHS)) == 10


def test_shares_of_black_are_those_of_the_benchmark():
    few = ("Shapes", "MicroscopyImages", "CauchyDensity", "ClassicImages")
    black = {cls: np.mean([(dotmark_image(cls, 64, seed=k) == 0).mean() for k in range(10)]) for cls in few}
    assert 0.45 <= black["Shapes"] <= 0.6
    assert 0.3 <= black["MicroscopyImages"] <= 0.5
    assert black["CauchyDensity"] < 0.43
    assert black["ClassicImages"] < 0.02


def test_shapes_at_small_sides_and_varied():
    for side in (1, 2, 5):
        assert draw_shapes(side, rng=np.random.default_rng(0)).shape == (side, side)
    counts = {len(np.unique(draw_shapes(64, rng=np.random.default_rng(k)))) for k in range(10)}
    assert len(counts) > 2


@pytest.mark.parametrize(
    ("nu", "closed"),
    [
        (0.5, lambda t: np.exp(-t)),
        (1.5, lambda t: (1 + t) * np.exp(-t)),
        (2.5, lambda t: (1 + t + t**2 / 3) * np.exp(-t)),
    ],
)
def test_matern_covariance_of_half_integer_smoothness(nu, closed):
    distance = np.linspace(0, 3, 30)
    for convention, factor in (("handcock", 2 * nu**0.5), ("matern", (2 * nu) ** 0.5), ("whittle", 1.0)):
        ours = matern_covariance(distance, variance=3.0, nu=nu, scale=0.7, convention=convention)
        assert_allclose(ours, 3 * closed(factor * distance / 0.7), rtol=1e-10)


def test_gaussian_field_has_the_covariance():
    rng = np.random.default_rng(1)
    settings = {"variance": 2.0, "nu": 1.0, "scale": 0.2}
    fields = np.stack([gaussian_field(16, **settings, rng=rng) for _ in range(4000)])
    origin = fields[:, 3, 4]
    for row, column in ((3, 4), (3, 5), (6, 8), (14, 4)):
        expected = matern_covariance(np.hypot(row - 3, column - 4) / 16, **settings)
        assert np.mean(origin * fields[:, row, column]) == pytest.approx(float(expected), abs=0.15)
    assert abs(fields.mean()) < 0.1


def test_long_ranges_keep_the_variance():
    rng = np.random.default_rng(2)
    values = [gaussian_field(8, nu=2.5, scale=2.0, convention="whittle", rng=rng)[0, 0] for _ in range(4000)]
    assert np.var(values) == pytest.approx(1, abs=0.08)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dotmark_image("Shape", 64), "cls = 'Shape' is not a class of images; did you mean 'Shapes'?"),
        (lambda: dotmark_image("Shapes", 0), "side = 0 is not allowed: it takes a whole number from 2 to 4096"),
        (lambda: dotmark_image("Shapes", True), "side = True is not allowed"),
        (lambda: dotmark_image("Shapes", 8, seed=-1), "seed = -1 is not allowed"),
        (lambda: dotmark_pair("Shapes", 8, 0, 10), "j = 10 is not allowed: it takes a whole number from 0 to 9"),
        (lambda: dotmark_image("GRFrough", 8, matern="stein"), "matern = 'stein' is not a convention"),
    ],
)
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises(ParameterError) as refusal:
        call()
    assert message in str(refusal.value)


def test_a_file_that_scikit_image_lacks_is_named(monkeypatch):
    monkeypatch.setattr(real_images, "PHOTOGRAPHS", ("lena.png",))
    with pytest.raises(DataError, match=r"lena.png is not inside the installed scikit-image"):
        real_images.photograph(0)


@pytest.mark.parametrize("below", ["", "Data"])
def test_files_of_a_folder_are_read(tmp_path, below):
    levels = np.random.default_rng(0).integers(0, 256, (8, 8))
    place = tmp_path / below / "Shapes"
    place.mkdir(parents=True)
    np.savetxt(place / "data8_1003.csv", levels, fmt="%d", delimiter=",")
    np.savetxt(place / "data8_1001.csv", levels.T, fmt="%d", delimiter=",")
    a, b = dotmark_pair("Shapes", 8, 2, 0, folder=tmp_path)
    assert_allclose(a, levels / levels.sum())
    assert_allclose(b, levels.T / levels.sum())


def test_a_folder_without_the_file_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"is not a DOTmark folder: it has neither Shapes/ nor Data/Shapes/"):
        dotmark_image("Shapes", 32, folder=tmp_path)
    (tmp_path / "Shapes").mkdir()
    (tmp_path / "Shapes" / "data64_1001.csv").write_text("1,2\n3,4\n")
    with pytest.raises(DataError, match=r"data32_1001.csv does not exist; sides found there: 64"):
        dotmark_image("Shapes", 32, folder=tmp_path)
    with pytest.raises(DataError, match=r"not 64 x 64 finite grey levels"):
        dotmark_image("Shapes", 64, folder=tmp_path)
    (tmp_path / "Shapes" / "data2_1001.csv").write_text("1,2\n3,four\n")
    with pytest.raises(DataError, match=r"line 2, field 2: 'four' is not a number"):
        dotmark_image("Shapes", 2, folder=tmp_path)
