"""Commands that show a model: the page in a browser, the API alone, one page to send to a colleague."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coembed.cli.console import WithBar, say, to_stderr
from coembed.cli.options import ModelPath, Quiet
from coembed.errors import InputError
from coembed.untrusted import reading

if TYPE_CHECKING:
    from coembed.explorer import Serving, Source
    from coembed.fitted import Fitted
    from coembed.fitted.corrections import Correction
    from coembed.progress import EpochProgress, Tell

PORT = 8642
LAYING_OUT = "laying out the map"

Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: any free one.")]
Host = Annotated[
    str, typer.Option("--host", help="Address to listen on; one that others reach needs a token.")
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="COEMBED_TOKEN",
        help="What requests must show; made up, if others can reach the host.",
        show_default=False,
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="A file whose first line is the token: others who use this machine see the command line.",
        show_default=False,
    ),
]
Method = Annotated[
    str,
    typer.Option("--method", help="Layout: `tsne`, `pca`, `umap`, or `auto`: t-SNE if installed and small."),
]
Truth = Annotated[
    Path | None,
    typer.Option(
        "--truth",
        metavar="NETWORK",
        help="A network with labels that were hidden from the model, to judge it by.",
        show_default=False,
    ),
]


Workers = Annotated[
    int, typer.Option("--workers", min=1, max=64, help="Processes that answer, each with its copy.")
]
Cors = Annotated[
    list[str] | None,
    typer.Option(
        "--cors",
        metavar="ORIGIN",
        help="A site whose pages may ask, as https://site.example; may be repeated.",
        show_default=False,
    ),
]
AllowChanges = Annotated[
    bool,
    typer.Option(
        "--allow-changes",
        help="Keep selections and corrections beside the model, load or train it again; needs the token.",
    ),
]
Show = Annotated[
    list[str] | None,
    typer.Option(
        "--show",
        metavar="FIELD",
        help="A column that tooltips and cards tell beside the name; may be repeated.",
        show_default=False,
    ),
]
Link = Annotated[
    str | None,
    typer.Option(
        "--link",
        metavar="URL",
        help="Where the record of an item is, as https://site.example/{id}; {title} and {type}, too.",
        show_default=False,
    ),
]
Images = Annotated[
    Path | None,
    typer.Option(
        "--images",
        metavar="FOLDER",
        help="Pictures of items, called ID.png, ID.jpg or ID.webp; or so in a folder of each type.",
        show_default=False,
    ),
]
AccessLog = Annotated[
    str | None,
    typer.Option(
        "--access-log",
        metavar="FILE",
        help="Add a line of JSON for every answer; - is standard error.",
        show_default=False,
    ),
]


def explore(
    model: ModelPath,
    truth: Truth = None,
    method: Method = "auto",
    show: Show = None,
    link: Link = None,
    images: Images = None,
    host: Host = "127.0.0.1",
    port: Port = PORT,
    token: Token = None,
    token_file: TokenFile = None,
    allow_changes: AllowChanges = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
    quiet: Quiet = False,
) -> None:
    """Look at a model in the browser: its map, a card for everything on it, its training and quality.

    **Examples**

    `coembed explore demo/model`

    `coembed explore model --truth wordnet.npz --no-browser`

    `coembed explore model --allow-changes`
    """
    given = _token(token, token_file)
    _check_extra()
    from coembed.explorer import Serving, Shown, Source

    how = Serving(host, port, given, allow_changes=allow_changes, retrain=_retrain if allow_changes else None)
    _serve(
        Source(model, truth, method, Shown(tuple(show or ()), link, images)),
        how,
        quiet,
        browser=browser,
        elsewhere=True,
    )


def serve(
    model: ModelPath,
    truth: Truth = None,
    method: Method = "auto",
    show: Show = None,
    link: Link = None,
    images: Images = None,
    host: Host = "127.0.0.1",
    port: Port = PORT,
    token: Token = None,
    token_file: TokenFile = None,
    workers: Workers = 1,
    cors: Cors = None,
    allow_changes: AllowChanges = False,
    access_log: AccessLog = None,
    quiet: Quiet = False,
) -> None:
    """Answer questions about a model over HTTP, without opening a browser.

    Sent SIGHUP, it loads the model's folder again without a break.

    **Examples**

    `coembed serve demo/model --port 9000`

    `coembed serve model --host 0.0.0.0 --token-file SECRET --workers 4 --access-log -`
    """
    given = _token(token, token_file)
    _check_extra()
    from coembed.explorer import Serving, Shown, Source

    how = Serving(host, port, given, workers, tuple(cors or ()), allow_changes, access_log)
    _serve(
        Source(model, truth, method, Shown(tuple(show or ()), link, images)),
        how,
        quiet,
        browser=False,
        elsewhere=False,
    )


def report(
    model: ModelPath,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A .html file to write.")
    ] = Path("report.html"),
    truth: Truth = None,
    method: Method = "auto",
    show: Show = None,
    link: Link = None,
    cards: Annotated[
        int, typer.Option("--cards", min=0, help="Nodes, and attributes, that get a card, at most.")
    ] = 3000,
    quiet: Quiet = False,
) -> None:
    """The page of a model as one file, to be opened without a server and sent to a colleague.

    **Examples**

    `coembed report demo/model -o report.html`

    `coembed report model --truth wordnet.npz --cards 500`
    """
    from coembed.explorer import Shown, Source
    from coembed.explorer.single_page import check_report, write_report

    check_report(output)
    source = Source(model, truth, method, Shown(tuple(show or ()), link))
    with WorkProgress(LAYING_OUT, quiet) as progress:
        explorer = source.explorer(*source.read(), progress)
    with WorkProgress("writing cards", quiet) as progress:
        write_report(explorer, output, cards, progress)
    say(f"wrote {output}: {output.stat().st_size / 1e6:.1f} MB; open it in a browser")


def _retrain(
    fitted: Fitted, corrections: Sequence[Correction], progress: EpochProgress, steps: Tell
) -> Fitted:
    """Train again; torch is only needed now."""
    from coembed.training.retraining import retrain

    return retrain(fitted, corrections, progress=progress, steps=steps)


def _token(token: str | None, file: Path | None) -> str | None:
    """The token itself, or the first line of a file."""
    if file is None:
        return token
    if token is not None:
        raise InputError("give --token or --token-file, not both")
    with reading(file, "a text", pipes=True):
        lines = file.read_text(encoding="utf-8").splitlines()
    if not lines or not lines[0].strip():
        raise InputError(f"{file} is empty; put the token on its first line")
    return lines[0].strip()


def _serve(source: Source, how: Serving, quiet: bool, *, browser: bool, elsewhere: bool) -> None:
    from coembed.explorer import serve as run

    def tell(address: str) -> None:
        say(f"{source.model} is at {address} (Ctrl-C ends it)", "green")

    with WorkProgress(LAYING_OUT, quiet) as progress:
        run(source, how, browser=browser, elsewhere=elsewhere, tell=tell, progress=progress)


def _check_extra() -> None:
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(f"the explorer needs {error.name}; install coembed[explore]") from None


class WorkProgress(WithBar):
    """A bar while something is computed; where nobody looks, one line."""

    def __init__(self, what: str, quiet: bool = False) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

        console = to_stderr()
        self.live = console.is_terminal and not quiet
        self.what, self.quiet, self.told = what, quiet, False
        self.bar = Progress(
            SpinnerColumn(),
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=28),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not self.live,
        )
        self.task = self.bar.add_task(what, total=None)

    def __call__(self, done: int, steps: int) -> None:
        self.bar.update(self.task, completed=done, total=steps)
        if not (self.live or self.quiet or self.told):
            say(f"{self.what} ...", "dim")
            self.told = True
