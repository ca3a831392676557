"""Look for the γ and the β behind numbers that came out of a layer."""

from torch import Tensor

from lnorm_course.checking.comparing import same
from lnorm_course.diagnose.causes import Cause
from lnorm_course.diagnose.diagnosis import Search
from lnorm_course.diagnose.own_slips import RMS_NORM
from lnorm_utils.words import spoken

__all__ = ["unknown_parameters"]

FEWEST_ROWS = 5  # two of them decide γ and β, the others have to fit


def unknown_parameters(
    y: Tensor, search: Search, within: float
) -> tuple[str, bool, tuple[str, ...]] | None:
    """Return a verdict, False, and the slips if γ and β that weren't given explain y, else None.

    Args:
        y: what came out, of shape (*, D).
        search: it knows what went in, as its input 0.
        within: how far a number may be off.
    """
    rows = y.reshape(-1, y.shape[-1])
    if len(rows) < FEWEST_ROWS:
        return None
    # A mean over the batch would leave γ and β free to turn x into any straight line of it.
    for slips in ((), (RMS_NORM,)):
        x_hat = search.result(Cause(None, slips), 0)
        if not isinstance(x_hat, Tensor) or x_hat.shape != y.shape:
            continue
        columns = x_hat.reshape(rows.shape)
        centered = columns - columns.mean(0)
        gamma = (centered * rows).sum(0) / centered.square().sum(0)
        beta = (rows - gamma * columns).mean(0)
        if not same(gamma * columns + beta, rows, 10 * within):
            continue
        told = [
            f"{letter} = ({', '.join(f'{v:.4g}' for v in p[:4].tolist())}{', …' * (len(p) > 4)})"
            for letter, p, usual in (("γ", gamma, 1.0), ("β", beta, 0.0))
            if (p - usual).abs().max() > 20 * within
        ]
        if told:
            name = "nearly layer norm" if slips else "layer norm"
            also = f", and {slips[0].told}" if slips else ""
            text = f"This is {name} with {spoken(told)}, which wasn't given{also}."
            clauses = [*(f"{each} wasn't given" for each in told), *(s.done for s in slips)]
            return text, False, tuple(clauses)
    return None
