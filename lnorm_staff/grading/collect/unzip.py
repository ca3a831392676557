"""Unpack an archive that somebody else made: only what may be a notebook, and never too much."""

import contextlib
import shutil
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Found", "Limits", "names_in", "unzip"]


@dataclass(frozen=True)
class Limits:
    """How much an archive may hold."""

    file: int  # bytes of a file
    total: int  # bytes of all files together
    files: int


@dataclass(frozen=True)
class Found:
    """A file in a folder or an archive."""

    names: tuple[str, ...]  # of the folders that lead to it, and its own
    path: Path | None = None  # where it can be read now
    reason: str = ""  # why it can't


def unzip(
    archive: Path,
    into: Path,
    wanted: tuple[str, ...],
    limits: Limits,
    refusal: Callable[[tuple[str, ...], int], str] = lambda names, size: "",
) -> Iterator[Found]:
    """Unpack an archive file by file, under names that say nothing of those in the archive.

    Args:
        archive: the archive; anything can be in it.
        into: an empty folder; no name in the archive leads out of it.
        wanted: the endings of the files to unpack, in lower case. All others are only named.
        limits: what is larger isn't unpacked.
        refusal: says of a file's names and its bytes why it isn't unpacked; empty if it can be.

    Yields:
        Each file, also one that can't be unpacked, with the reason.

    Raises:
        ValueError: it isn't an archive, or has too many files.
    """
    with _opened(archive) as opened:
        infos = _files(opened)
        if len(infos) > limits.files:
            raise ValueError(f"it has {len(infos):,} files, and at most {limits.files:,} are read.")
        left = limits.total
        for number, info in enumerate(infos):
            names = _names(info)
            reason = _refusal(info, names, limits.file, left)
            is_wanted = _name(info).lower().endswith(wanted)
            if is_wanted and not reason:
                reason = refusal(names, info.file_size)
            if reason or not is_wanted:
                yield Found(names, reason=reason)
                continue
            left -= info.file_size
            yield _extracted(opened, info, names, into / str(number))


def names_in(archive: Path) -> list[tuple[str, ...]]:
    """Name all files in an archive, each with its folders.

    Raises:
        ValueError: it isn't an archive.
    """
    with _opened(archive) as opened:
        return [_names(info) for info in _files(opened)]


def _opened(archive: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(archive)
    except Exception:  # anything can be in a file that somebody else made
        raise ValueError("it can't be read as a zip archive.") from None


def _files(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    infos = [info for info in archive.infolist() if not _name(info).endswith("/")]
    return sorted(infos, key=_name)


def _names(info: zipfile.ZipInfo) -> tuple[str, ...]:
    return tuple(name for name in _name(info).split("/") if name not in ("", ".")) or ("?",)


def _name(info: zipfile.ZipInfo) -> str:
    """Return the name of a file as it was meant, also where the archive doesn't say its encoding.

    Without a flag zipfile takes it for the encoding of MS-DOS, but macOS writes UTF-8.
    """
    name = info.filename
    if not info.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _refusal(info: zipfile.ZipInfo, names: tuple[str, ...], most: int, left: int) -> str:
    """Say why a file isn't unpacked; empty if it can be."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if names == ("?",) or ".." in names or _name(info).startswith("/") or names[0].endswith(":"):
        return "its name leads out of the archive."
    if kind not in (0, stat.S_IFREG):
        return "it is a link or another special file, and only plain files are read."
    if info.flag_bits & 1:
        return "it is encrypted."
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "it is compressed in an unusual way."
    if info.file_size > most:
        return f"it has {info.file_size / 1e6:.0f} MB, and at most {most / 1e6:.0f} MB are read."
    if info.file_size > left:
        return "the files before it in its archive are too large in total."
    return ""


def _extracted(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, names: tuple[str, ...], path: Path
) -> Found:
    try:
        # In pieces, it stops at the size that the archive tells, however much there is.
        with archive.open(info) as packed, path.open("wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)
    except Exception as problem:
        path.unlink(missing_ok=True)
        if isinstance(problem, OSError) and problem.strerror:
            return Found(names, reason=f"it can't be unpacked: {problem.strerror}.")
        return Found(names, reason="it is damaged and can't be unpacked.")
    return Found(names, path)
