"""A pre-LN block of two branches with slips, those of its layer norm among them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.forward import NormWithSlips
from lnorm_course.slips.known import SLIPS
from lnorm_course.slips.layout import SENTENCES, Layout
from lnorm_course.slips.slip import Slip

__all__ = ["PRE_BLOCK", "BlockWithSlips"]


def _as_it_is(norm: Callable, x: Tensor) -> Tensor:
    return x


def _normed(norm: Callable, x: Tensor) -> Tensor:
    return norm(x)


def _added(stream: Tensor, result: Tensor) -> Tensor:
    return stream + result


@dataclass
class BlockWithSlips(NormWithSlips):
    """A pre-LN block, step by step; every field is a switch, and its default is right.

    Its two norms are the same, with the switches of `NormWithSlips`.
    """

    branches: Callable = lambda f, g: (f, g)
    # Where else than in front of a branch a norm may stand: (norm, numbers) -> numbers.
    start: Callable = _as_it_is
    first_result: Callable = _as_it_is
    between: Callable = _as_it_is
    second_result: Callable = _as_it_is
    end: Callable = _as_it_is
    # What the branches read, and what becomes of their results.
    first_reads: Callable = _normed
    first_sum: Callable = _added
    second_of: Callable = lambda x, first, stream: stream
    second_reads: Callable = _normed
    second_stream: Callable = lambda x, stream: stream
    second_sum: Callable = _added

    def block(self, x: Tensor, f: Callable, g: Callable) -> Tensor:
        """Return the stream behind the branches `f` and `g`."""
        norm = self.standardize
        f, g = self.branches(f, g)
        x = self.start(norm, x)
        first = self.first_result(norm, f(self.first_reads(norm, x)))
        stream = self.between(norm, self.first_sum(x, first))
        read = self.second_reads(norm, self.second_of(x, first, stream))
        second = self.second_result(norm, g(read))
        return self.end(norm, self.second_sum(self.second_stream(x, stream), second))


def _alone(stream: Tensor, result: Tensor) -> Tensor:
    return result


def _subtracted(stream: Tensor, result: Tensor) -> Tensor:
    return stream - result


def _slip(
    done: str, instead: str, belief: Belief | None = None, detail: str = "", **changes: Callable
) -> Slip:
    return Slip(done, instead, changes, belief, detail, of="Pre-LN")


AS_IT_WAS = "normalizes only what a branch reads, and adds its result to the stream as it was"

# The likeliest first.
BLOCK_SLIPS = (
    _slip(
        "that is post-LN",
        "normalizes only what a branch reads",
        Belief.PRE_NORM_IS_POST_NORM,
        "because you normalized after each addition",
        first_reads=_as_it_is,
        between=_normed,
        second_reads=_as_it_is,
        end=_normed,
    ),
    _slip(
        "nothing is normalized",
        "normalizes the stream for each branch",
        first_reads=_as_it_is,
        second_reads=_as_it_is,
    ),
    _slip(
        "`g` reads the stream as it is",
        "gives it the normalized stream, as it gives it to `f`",
        second_reads=_as_it_is,
    ),
    _slip(
        "`f` reads the stream as it is",
        "gives it the normalized stream, as it gives it to `g`",
        first_reads=_as_it_is,
    ),
    _slip(
        "both branches read the x from the beginning",
        "gives `g` the stream to which f's result was added already",
        second_of=lambda x, first, stream: x,
    ),
    _slip("you took `g` first", "begins with `f`", branches=lambda f, g: (g, f)),
    _slip("you used `f` twice", "has `g` for its second branch", branches=lambda f, g: (f, f)),
    _slip("you used `g` twice", "has `f` for its first branch", branches=lambda f, g: (g, g)),
    _slip("you used `f` only", "goes on with `g`", second_sum=lambda stream, result: stream),
    _slip(
        "your `g` reads f's result alone",
        "gives it the stream to which that result was added, normalized",
        second_of=lambda x, first, stream: first,
    ),
    _slip(
        "your `g` reads what `f` returned, as it is, and f's result is lost",
        "adds that to the stream, and lets `g` read the stream, normalized",
        second_of=lambda x, first, stream: first,
        second_reads=_as_it_is,
        second_stream=lambda x, stream: x,
    ),
    _slip(
        "you added g's result to the x from the beginning, so f's result is lost",
        "adds it to the stream that already has it",
        second_stream=lambda x, stream: x,
    ),
    _slip(
        "you added f's result to the normalized x",
        "normalizes only what `f` reads, and adds its result to x as it was",
        start=_normed,
        first_reads=_as_it_is,
    ),
    _slip(
        "you added g's result to the normalized stream",
        "normalizes only what `g` reads, and adds its result to the stream as it was",
        between=_normed,
        second_reads=_as_it_is,
    ),
    _slip(
        "you added to the normalized stream",
        AS_IT_WAS,
        start=_normed,
        first_reads=_as_it_is,
        between=_normed,
        second_reads=_as_it_is,
    ),
    _slip(
        "you normalized the stream once, at the beginning",
        "normalizes it anew for each branch, and adds the result to the stream as it was",
        start=_normed,
        first_reads=_as_it_is,
        second_reads=_as_it_is,
    ),
    _slip(
        "you normalized the stream at the end of the block",
        "has that norm once, behind the last block",
        end=_normed,
    ),
    _slip(
        "you normalized what the branches return",
        "normalizes what they read",
        first_reads=_as_it_is,
        first_result=_normed,
        second_reads=_as_it_is,
        second_result=_normed,
    ),
    _slip(
        "you subtracted what the branches return",
        "adds it to the stream",
        first_sum=_subtracted,
        second_sum=_subtracted,
    ),
    _slip("you subtracted what `f` returns", "adds it to the stream", first_sum=_subtracted),
    _slip("you subtracted what `g` returns", "adds it to the stream", second_sum=_subtracted),
    _slip(
        "nothing is added",
        "adds to the stream what each branch returns",
        first_sum=_alone,
        second_sum=_alone,
    ),
    _slip(
        "the result of `f` is not added to x",
        "adds it, because without that the row from the beginning is lost",
        first_sum=_alone,
    ),
    _slip("the result of `g` is not added to the stream", "adds it", second_sum=_alone),
    Slip(
        "that is RMSNorm",
        "subtracts the mean first",
        {"numerator": lambda x, mean: x, "inner_mean": lambda x, mean: x},
    ),
)


@dataclass(frozen=True)
class _Block(Layout):
    model: ClassVar[Callable[..., Any]] = BlockWithSlips
    slips: ClassVar[tuple[Slip, ...]] = (
        *BLOCK_SLIPS,
        *(slip for slip in SLIPS if not slip.is_affine),
    )


PRE_BLOCK = _Block(SENTENCES.axes, SENTENCES.right, SENTENCES.beliefs)
