from matplotlib.figure import Figure


def cover(ds):
    figure = Figure(figsize=(3, 2))
    figure.subplots().plot(ds["scale"], ds["mean"])
    return figure, f"The mean is {float(ds['mean'][0]):.3f}."


FIGURES = (cover,)
